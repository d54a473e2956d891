"""What the page of the validation says beside its numbers."""

from typing import Final

__all__ = ["HEAD", "HOW_MADE", "SHEETS_HEAD", "unmet"]

HEAD: Final = """# How far to trust a fit

Generated: `collsim calibrate report -o docs/validation.md` writes it anew from measurements,
and every number is from that run.

The logs are of machines of others, and not part of collsim; those of one H200 are. From a
checkout `collsim calibrate report --data examples/h200_one_gpu` makes their rows of this page
anew. `collsim calibrate fit LOG` prints the same kind of error of a log of yours: fitted to
some of its rows, tried on the others (`--hold-out`).

An error is |predicted / measured - 1| of a time, given as median / 90th percentile in per cent.
Rows are out of place; of tables of several element types those of `half` count. A fit never saw
the rows whose errors are given: what was held out is said beside each. "Without" leaves out
outliers, by a rule on the data alone that was fixed before anything was fitted: a time above
1.3 times both its neighbours in size, or a first one above 1.3 times the second. Rows that the
log itself calls wrong are in neither.

Beside the fitted model, which is that of `collsim calibrate fit` for logs of NCCL, stand on the
same rows:

- three lines: the least of three fitted lines, one set for each collective and rank count where
  those were fitted too, else one for all, of the steps and bytes of a ring;
- NCCL's model: the time by which NCCL chooses, from documented numbers, with nothing fitted; it
  has none of all_to_all;
- torch: the estimator of torch's compiler{torch}, told the GPU, the bus bandwidth in a node
  and that of a GPU's network card, as torch documents them.
"""

SHEETS_HEAD: Final = """## Datasheets alone

What `collsim predict -c PRESET --algorithm nccl` says with nothing fitted: the presets'
latencies and bandwidths, simulated, the fastest of the algorithms that NCCL has; every third
size. Latencies of presets are mostly assumptions, and presets know of no protocols, so small
sizes are far off, and large ones much less: two columns are of sizes from 64 MiB on, and the
last line is of all of those. Bias is the median of predicted / measured.

The columns of auto are of what `collsim predict -c PRESET` says, on the same rows: the fastest
of all algorithms, among them ones that no library ran there. So it says how fast a collective
could be, and is no prediction of these logs.
"""

HOW_MADE: Final = """## How the model was made

Held out means held out of every fit. It does not mean unseen by those who made the model, so
each system is marked by what it was for:

{roles}

- Structure and widths of priors were tried on the design systems only. Widths were not tuned to
  a point: others, up to a factor of two away, gave nearly the same errors.
- The first result on the B200 table was the prototype's. Later two ratios were merged, the
  errors there got worse, and they were parted again, so it is not blind any more.
- The factors for PCIe, and the list of readings of NCCL's table that is tried there, were made
  while looking at the L40S table.
- The held-out errors of GH200 were looked at about nine times. Each change was argued from the
  training rows or from another system, and one that helped GH200 was dropped because it hurt
  the A100 nodes. Still, read its errors as the lower end of what a new system would show.
- The confirmation systems told nobody anything: no part of the model was chosen or changed by
  what they showed.
"""

_REASONS: Final = {
    ("sizes", "l40s-pcie-8"): "through PCIe switches and CPUs, times jump between neighbouring "
    "sizes; three lines for each series alone miss it too",
    ("reduce_scatter", "l40s-pcie-8"): "each rank count spans other links of the PCIe tree, so "
    "that fewer rows tell of each",
    ("reduce_scatter", "h100-shared"): "small reduce_scatters start later there than "
    "all_gathers of as many steps; with one rank count the fit takes the difference for steps",
    (
        "nodes",
        "gh200-slingshot",
    ): "the latency of LL grows with the nodes beyond what 8 of them "
    "show, and medium sizes at 8 nodes took steps far longer than those beside them",
    ("sizes", "h100-two-nodes"): "one small row is an outlier, and at 256KiB the tree does not "
    "yet change its protocol where NCCL's newest table says so",
    ("sizes", "a100-two-nodes"): "LL messages of 32KiB to 128KiB between nodes cost more than "
    "the sizes beside them tell",
    ("sizes", "h100-efa"): "at 256KiB the tree does not yet change its protocol where NCCL's "
    "newest table says so",
    ("sizes", "a100-one-process"): "its NCCL is of 2021, whose protocols change at other sizes "
    "than the newest table says: it is off around 1MiB to 16MiB",
}
"""Why a line is missed, by line and system, as far as it is known."""


def unmet(line: str, system: str) -> str:
    """Return why a target is missed.

    Examples
    --------
    >>> unmet("sizes", "mine")
    'why is not known'
    """
    return _REASONS.get((line, system), "why is not known")
