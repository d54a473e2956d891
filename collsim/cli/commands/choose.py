"""``collsim choose``: which algorithm is the fastest, at every size."""

from typing import TYPE_CHECKING, Unpack

import click

from collsim.cli.clusters.choice import ClusterChoice
from collsim.cli.clusters.notes import tell_alpha_busy, tell_rootless
from collsim.cli.clusters.what_if import as_folded, opened, tell_folded, tell_large
from collsim.cli.measured.datasheets import tell_datasheet
from collsim.cli.measured.fitted import tell_scope, tell_simulated
from collsim.cli.nccl.compared import compared
from collsim.cli.options import (
    chained,
    channels_option,
    chunks_option,
    cluster_options,
    fold_option,
    model_option,
    output_options,
    root_option,
)
from collsim.cli.options.asked import AskedFolded
from collsim.cli.options.nccl import NcclChoice, nccl_options
from collsim.cli.options.sizes import FIRST, LAST
from collsim.cli.options.types import SIZE, SPECS
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import Output, note
from collsim.cli.runs.chunks import chosen_chunks
from collsim.cli.runs.left_out import tell_left_out
from collsim.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from collsim.choose.ranges import Policy
    from collsim.core.cluster import Cluster

__all__ = ["command"]

_range = chained(
    click.option("-b", "first", type=SIZE, default=FIRST, help="From this size.  [default: 8]"),
    click.option("-e", "last", type=SIZE, default=LAST, help="To this size.  [default: 8G]"),
)


@_command(
    """Choose the fastest algorithm at every size.

    Prints ranges of sizes, each with its algorithm; of COLLECTIVE all, of every collective.
    What NCCL would choose stands beside the best that it has with --against; --nccl-tuner and
    --nccl-env hand the answer to NCCL.

    \b
    Examples:
      collsim choose all_reduce
      collsim choose broadcast -c dgx-h100 --nodes 2 -b 1K -e 1G --json
      collsim choose all_reduce -c dgx-h100 --nodes 2 --against nccl
      collsim choose all -c dgx-h100 --nodes 2 --nccl-tuner tuner.csv
    """
)
@click.argument("collective", metavar="COLLECTIVE|all")
@_range
@click.option(
    "--algorithm",
    "algorithms",
    type=SPECS,
    multiple=True,
    help="Choose among these only; repeatable; nccl is what NCCL has. Options follow: "
    "NAME:KEY=VALUE,..., e.g. bruck:radix=8.  [default: all]",
)
@chunks_option
@channels_option
@model_option
@fold_option
@root_option
@nccl_options
@cluster_options
@output_options
def command(
    collective: str,
    first: int,
    last: int,
    algorithms: tuple[tuple[str, ...], ...],
    nccl: NcclChoice,
    cluster: ClusterChoice,
    output: Output,
    **run: Unpack[AskedFolded],
) -> None:
    """Choose and print."""
    output.check()
    if first > last:
        raise UsageError(f"-b {first} is above -e {last}, expected it below or equal")
    nccl.check(output, named=bool(algorithms))
    only = [name for names in algorithms for name in names if name not in ("auto", "all")]
    names = _names(collective, nccl.asked)
    network = opened(cluster)
    tell_large(network, every_size=True, fold=run["fold"])
    tell_datasheet(cluster, network, names)
    profile = cluster.load_profile()
    # What NCCL would choose is kept where nothing was shown, which is told there.
    tell_scope(
        profile, () if nccl.asked else names, network, () if nccl.asked else (first, last)
    )
    if nccl.asked:
        compared(
            names, network, nccl, profile, (first, last), run["root"], output, cluster.said
        )
        return
    if len(names) == 1:
        tell_rootless(names[0], run["root"], network.ranks)
    left_out = _without(names, only)
    found: list[Policy] = []
    failed: list[InputError] = []
    for name in names:
        own: AskedFolded = {**run, "chunks": chosen_chunks(run["chunks"], profile, name)}
        wanted = [spec for spec in only if spec not in left_out.get(name, {})]
        if only and not wanted:
            continue
        try:
            policy = _policy(name, network, (first, last), wanted, own)
        except InputError as error:
            # Of all collectives, those where nothing that is named runs are no error.
            if len(names) == 1 or not wanted:
                raise
            left_out.setdefault(name, {}).update(dict.fromkeys(wanted, str(error)))
            failed.append(error)
            continue
        policy.left_out.update(left_out.pop(name, {}))
        found.append(policy)
    if not found:
        raise InputError("; ".join(map(str, failed)))

    def tell() -> None:
        tell_simulated(profile, "--against nccl compares fitted times of what NCCL has")
        tell_alpha_busy(cluster, network)
        for name, reasons in left_out.items():
            note(f"left out {name}: {'; '.join(dict.fromkeys(reasons.values()))}")
        for policy in found:
            _tell(policy, policy.collective if len(names) > 1 else None)
            tell_folded(policy.folded)

    _emit(found, left_out, network, cluster.said, output, tell)


def _policy(
    name: str,
    network: "Cluster",
    sizes: tuple[int, int],
    wanted: "Sequence[str]",
    run: AskedFolded,
) -> "Policy":
    from collsim.choose.policy import choose

    low, high = sizes
    return choose(
        name, network, min_bytes=low, max_bytes=high, algorithms=wanted or None, **run
    )


def _without(names: "Sequence[str]", only: "Sequence[str]") -> dict[str, dict[str, str]]:
    """Return, of several collectives, which algorithms they can't have, and why."""
    if len(names) == 1 or not only:
        return {}
    from collsim.choose.specs import having

    reasons = {
        kind: {spec: reason for spec, reason in found.items() if reason is not None}
        for kind, found in having(only).items()
    }
    return {kind: found for kind, found in reasons.items() if found}


def _names(collective: str, nccl: bool) -> tuple[str, ...]:
    from collsim.core.collective import COLLECTIVES
    from collsim.core.collective import collective as kind

    if collective != "all":
        return (kind(collective).name,)
    if not nccl:
        return COLLECTIVES
    from collsim.nccl import COLLECTIVES as THEIRS

    return THEIRS


def _tell(policy: "Policy", collective: str | None) -> None:
    where = f"{collective}: " if collective else ""
    tell_left_out(policy.collective, policy.left_out, policy.slow, where)
    for row in policy.rows:
        if row.confirmed is False:
            note(
                f"{where}{row.algorithm} at {row.size} B: the simulation does not confirm the "
                f"formula's {row.chunks} chunks; --model event asks the simulation alone"
            )


def _emit(
    found: "list[Policy]",
    without: "Mapping[str, dict[str, str]]",
    network: "Cluster",
    said: "Sequence[str]",
    output: Output,
    tell: "Callable[[], None]",
) -> None:
    from collsim.choose.ranges import Range
    from collsim.report.policy_text import policy_text
    from collsim.report.records import keys_of, record

    several = len(found) > 1 or bool(without)
    rows = [
        ({"collective": one.collective} if several else {}) | record(row)
        for one in found
        for row in one.rows
    ]
    one = found[0]
    output.emit(
        "choose",
        rows,
        (("collective",) if several else ()) + keys_of(Range),
        lambda: "\n\n".join(policy_text(p, network.sharing, said) for p in found),
        cluster=one.cluster,
        collective=None if several else one.collective,
        ranks=one.ranks,
        changes=list(said),
        after=tell,
        min_bytes=one.min_bytes,
        max_bytes=one.max_bytes,
        chunks=sorted({n for p in found for n in p.chunks}),
        channels=sorted({n for p in found for n in p.channels}),
        left_out={**{p.collective: p.left_out for p in found}, **without}
        if several
        else one.left_out,
        **as_folded({k: why for p in found for k, why in p.folded.items()}),
    )
