"""``collsim calibrate fit``: measurements to a profile."""

from typing import TYPE_CHECKING, Any

import click

from collsim.cli.lazy import command as _command
from collsim.cli.logs import tell
from collsim.cli.options import (
    LogChoice,
    algorithm_option,
    chunks_option,
    log_options,
    output_options,
)
from collsim.cli.output import Output
from collsim.cli.types import Whole
from collsim.errors import InputError, UsageError
from collsim.files import write_whole

if TYPE_CHECKING:
    from collsim.core.profile import Profile

__all__ = ["command"]

_STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


@_command(
    """Fit alpha, beta and launch to measured times, and write them as a profile.

    LOG is the output of nccl-tests, or - for standard input. The profile is TOML and goes
    to stdout, or with -o to a file; then, and with --json or --csv, a summary is printed.
    With -c it is of that cluster, whose links must be of one class; else of an ideal network.

    \b
    Examples:
      collsim calibrate fit examples/nccl_tests_all_reduce_8gpu.txt
      collsim calibrate fit examples/nccl_tests_all_reduce_8gpu.txt -o mine.toml --json
      collsim calibrate fit examples/nccl_tests_all_reduce_8gpu.txt -c dgx-h100 -o mine.toml
    """
)
@log_options
@click.option("--ranks", type=Whole(name="P"), help="Of logs that do not say it.")
@click.option("--gpus-per-node", type=Whole(), help="Of logs that do not say it.")
@algorithm_option("ring", "NAME")
@chunks_option
@click.option(
    "--hold-out",
    type=click.Choice(["sizes", "collectives", "ranks", "nodes"]),
    default="sizes",
    show_default=True,
    help="Errors are of rows that the fit did not see: every second size, or each collective, "
    "rank count or node count in turn. The profile is of all rows.",
)
@click.option(
    "-c", "--cluster", "machine", metavar="NAME|FILE", help="What was measured: one node of it."
)
@click.option("--nodes", type=Whole(), hidden=True)
@click.option("--name", default="fitted", help="Name of the profile.  [default: fitted]")
@output_options
def command(
    rows: LogChoice,
    ranks: int | None,
    gpus_per_node: int | None,
    machine: str | None,
    nodes: int | None,
    output: Output,
    **how: Any,
) -> None:
    """Read, fit and write."""
    output.check()
    if nodes is not None:
        raise UsageError("--nodes: links of several classes are not fitted yet, only one node")
    from collsim.calibrate.fit import fit
    from collsim.calibrate.importers import read_logs
    from collsim.config.links import fastest_link
    from collsim.config.profile import dumps
    from collsim.report.fit_text import fit_head, fit_rows, fit_text, parameter_rows

    if machine is not None:
        how |= {"cluster": machine, "link_class": _link_class(machine)}
    measured = read_logs(rows.logs, rows.collective, ranks, gpus_per_node)
    fastest = fastest_link()
    found = fit(
        measured,
        columns=rows.columns,
        where=rows.where,
        fastest=(fastest.name, fastest.bandwidth),
        **how,
    )
    if machine is not None:
        _check_size(found.profile, machine)
    tell(measured, found.profile.notes)
    profile = dumps(found.profile)
    summary = output.as_json or output.as_csv
    if not summary or output.path != "-":
        write_whole(output.path, profile)
    if not summary and output.path in _STDOUT:
        return
    collectives, counts = found.profile.collectives, found.profile.ranks
    shown = parameter_rows(found) if output.as_csv else fit_rows(found)
    Output(output.as_json, output.as_csv, "-").emit(
        "calibrate fit",
        shown,
        tuple(shown[0]),
        lambda: fit_text(found),
        cluster=found.profile.cluster,
        collective=collectives[0] if len(collectives) == 1 else None,
        ranks=counts[0] if len(counts) == 1 else None,
        **fit_head(found),
    )


def _link_class(machine: str) -> str:
    """Return the class of a cluster's links, or raise InputError if there are several."""
    from collsim.core.cluster import Cluster

    cluster = Cluster.load(machine)
    classes = [link.name for link in cluster.links.classes]
    if len(classes) != 1 or cluster.uniform is None:
        raise InputError(
            f"cluster {machine}: has links of {', '.join(classes)} and {cluster.nodes} nodes; "
            "links of several classes are not fitted yet, expected one node of one class"
        )
    return classes[0]


def _check_size(profile: "Profile", machine: str) -> None:
    """Refuse rows that one node of a cluster cannot have made."""
    from collsim.core.cluster import Cluster

    if max(profile.nodes, default=1) > 1:
        raise InputError(
            f"rows of {max(profile.nodes)} nodes: links of several classes are not fitted yet; "
            f"fit one node of {machine} with --where 'nodes == 1', or without -c"
        )
    # The loader refuses more ranks than a node has.
    Cluster.load(machine, ranks=max(profile.ranks))
