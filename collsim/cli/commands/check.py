"""``collsim check``: measured beside predicted."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from collsim.cli.clusters.choice import ClusterChoice
from collsim.cli.measured.changed import tell_changed_check
from collsim.cli.measured.datasheets import caveat
from collsim.cli.measured.logs import (
    compared_with,
    on_nodes,
    refuse_nodes,
    refuse_ranks,
    tell,
)
from collsim.cli.measured.named import is_named, named_by, with_named
from collsim.cli.options import (
    LogChoice,
    algorithm_option,
    cluster_options,
    log_options,
    output_options,
)
from collsim.cli.options.types import TOLERANCE
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import Output, note
from collsim.errors import CollsimError, UsageError

if TYPE_CHECKING:
    from collsim.calibrate.check import CheckResult
    from collsim.calibrate.check.suggest import Network
    from collsim.core.cluster import Cluster
    from collsim.core.profile import Profile

__all__ = ["command"]

_BY_MODEL = "NCCL's choice by its model"
_FASTEST = "the fastest that NCCL has"


@_command(
    """Hold measured times beside predicted ones, and say where they fall short.

    LOG is the output of nccl-tests, or - for standard input. Exits with 1 if a row takes
    longer than predicted by more than the tolerance, or if a run failed: wrong results, an end
    by an error. The algorithm that ran is predicted, where the log names it, or else what the
    profile says, or without one what NCCL chooses by its own model, or ring where that is not
    known; --algorithm predicts another. With a profile of NCCL and something changed, as by
    --degrade, it is the fastest that NCCL has, as in predict. Without -c and --profile the
    GPU's name in a log of NCCL on one node tells the cluster, as it does for calibrate fit, and
    what --degrade, --launch and the like change is changed there.

    Where the numbers say so it is said what a shortfall looks like, as "2 of 8 NICs used".

    \b
    Verdicts, for a tolerance of 20%:
      ok         measured / predicted is from 1/1.2 to 1.2
      latency    longer, because each message starts late: small sizes suffer
      bandwidth  longer, because bytes move slowly: large sizes suffer
      both       longer, and neither alone explains it
      faster     shorter than predicted / 1.2

    \b
    Examples:
      collsim check examples/nccl_tests_all_reduce_8gpu.txt --alpha 1.5us --bandwidth 370GB/s
    """
)
@log_options
@click.option(
    "--tolerance",
    type=TOLERANCE,
    default=0.2,
    help="Measured may be so much above predicted; 0.2 and 20% are the same.  [default: 0.2]",
)
@algorithm_option(None, "NAME")
@cluster_options
@output_options
def command(
    rows: LogChoice,
    tolerance: float,
    algorithm: str | None,
    cluster: ClusterChoice,
    output: Output,
) -> None:
    """Read, compare and print; fail if anything falls short."""
    output.check()
    from collsim.calibrate.check import CheckRow, check
    from collsim.calibrate.importers import read_logs
    from collsim.calibrate.nccl_model import fitted_of
    from collsim.calibrate.select import select
    from collsim.core.cluster import Cluster
    from collsim.core.profile import Profile
    from collsim.nccl.families import SEVERAL
    from collsim.report.check_text import Compared, check_text
    from collsim.report.records import keys_of, records

    if algorithm in SEVERAL:
        raise UsageError(
            f"--algorithm {algorithm}: check predicts what ran, or what NCCL chooses, without "
            "the option: leave it out, or name one algorithm"
        )
    if is_named(cluster):
        # Before the log, which may take long to read.
        model, profile = compared_with(cluster)
    measured = read_logs(rows.logs, rows.collective, cluster.ranks, cluster.gpus_per_node)
    measured = on_nodes(measured, cluster.nodes)
    why = why_not = ""
    if not is_named(cluster):
        judged = select(measured, rows.columns, rows.where).rows
        refuse_nodes(judged, cluster.nodes)
        refuse_ranks(judged, cluster.ranks)
        cluster, why, why_not = named_by(judged, replace(cluster, nodes=None))
        model, profile = with_named(cluster, why_not)
    name = model.name if isinstance(model, Cluster) else model.cluster
    if profile is not None and cluster.cluster is None:
        name = profile.cluster
    found = check(
        *(measured, model, tolerance, algorithm, rows.columns, rows.where),
        profile=profile,
        network=None if isinstance(model, Cluster) else _cards(name),
    )
    refuse_ranks(found.rows, cluster.ranks)
    refuse_nodes(found.rows, cluster.nodes)
    tell(measured, (*_default(cluster, name, why_not), *found.notes))
    fitted = isinstance(model, Profile) and model.model == "nccl"
    own = _BY_MODEL if found.chosen else "ring" if profile is None else profile.algorithm
    if isinstance(model, Profile) and fitted:
        by_table = fitted_of(model).by_table
        own = "NCCL's own choice" if by_table else _FASTEST
        if not by_table and not all(row.algorithm for row in found.rows):
            note(f"{_FASTEST} is predicted: its table does not tell what ran on this system")
    elif found.chosen and profile is not None:
        own = _FASTEST
        tell_changed_check(profile, found)
    compared = Compared(
        cluster=name,
        profile=None if profile is None else profile.name,
        algorithm=algorithm or _predicted(found, own),
        network="fitted times" if fitted else _network(model),
        why=why,
    )
    weak = caveat(found, cluster, tolerance)
    if weak and (output.as_json or output.as_csv):
        note(weak)
    kinds, counts = ({getattr(r, key) for r in found.rows} for key in ("collective", "ranks"))
    output.emit(
        "check",
        records(found.rows) if output.as_json or output.as_csv else [],
        keys_of(CheckRow),
        lambda: check_text(found, compared, weak),
        cluster=name,
        profile=compared.profile,
        algorithm=compared.algorithm,
        collective=kinds.pop() if len(kinds) == 1 else None,
        ranks=counts.pop() if len(counts) == 1 else None,
        summary=found.summary,
        failures=list(found.failures),
        suggestions=list(found.suggestions),
    )
    if not found.ok:
        raise CollsimError(f"check: {'; '.join(_reasons(found, tolerance))}")


def _reasons(found: "CheckResult", tolerance: float) -> list[str]:
    """Return why a check fails."""
    slow = sum(row.ratio > 1 + tolerance for row in found.rows)
    times = (
        f"{slow} of {len(found.rows)} rows take more than {1 + tolerance:.4g} times the "
        "predicted time"
    )
    return [*found.failures, *([times] if slow else [])]


def _predicted(found: "CheckResult", own: str) -> str:
    """Return which algorithms were predicted: those that ran, where rows name them."""
    from collsim.nccl.names import OUR_NAME

    if found.chosen:
        own = f"{own} ({', '.join(found.chosen)})"
    ran = {own if r.algorithm is None else OUR_NAME.get(r.algorithm, r.algorithm)
           for r in found.rows}  # fmt: skip
    return ", ".join(sorted(ran))


def _cards(name: str) -> "Network | None":
    """Return the network cards of the cluster that a profile was fitted on."""
    from collsim.calibrate.check.suggest import network_of
    from collsim.core.cluster import Cluster

    if name == "ideal":
        return None
    try:
        return network_of(Cluster.load(name, nodes=2))
    except CollsimError:
        # Nothing hangs on it but what a shortfall may look like.
        return None


def _network(model: "Cluster | Profile") -> str:
    return getattr(model, "shape", "ideal one-port network")


def _default(cluster: ClusterChoice, name: str, why: str) -> list[str]:
    """Say what was compared with if nobody chose it, and why it is no better."""
    if (cluster.cluster, cluster.profile, cluster.alpha) != (None,) * 3:
        return []
    text = f"compared with {name}, an ideal 900GB/s network: give -c or --profile"
    return [f"{text}; {why}" if why else text]
