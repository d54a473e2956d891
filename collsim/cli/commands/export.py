"""``collsim export``: the schedule of an algorithm as a file."""

from typing import TYPE_CHECKING, Final

import click

from collsim.cli.clusters.choice import ClusterChoice
from collsim.cli.options import (
    algorithm_option,
    cluster_options,
    root_option,
)
from collsim.cli.options.types import Whole
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import Output, note
from collsim.cli.runs.schedules import (
    needed,
    opened_schedule,
    optional_collective,
    refuse_beside_schedule,
    schedule_option,
)
from collsim.errors import UsageError

if TYPE_CHECKING:
    from collsim.core.schedule import Schedule

__all__ = ["command"]

# What says how an algorithm is built, or where; a file says its own.
_OPTIONS: Final = ("algorithm", "chunks", "channels", "cluster", "nodes", "ranks", "profile")


@_command(
    """Write the schedule of an algorithm, or of another file, as a file.

    As MSCCL XML, or as the text that docs/schedules.md describes; --schedule of verify,
    simulate and predict reads both. The cluster says how many ranks there are on which nodes;
    a --schedule says its own.

    \b
    Examples:
      collsim export all_reduce --algorithm ring --ranks 4 --format text
      collsim export all_gather --algorithm pat --ranks 8 --format msccl -o pat.xml
      collsim export broadcast --algorithm ring --chunks 4 --ranks 4 --format msccl -o ring.xml
      collsim export --schedule examples/schedule_all_reduce_4.txt --format msccl -o mine.xml
    """
)
@optional_collective
@algorithm_option(None, "NAME")
@schedule_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["msccl", "text"]),
    required=True,
    help="MSCCL XML, or text.",
)
@click.option(
    "--chunks", type=Whole(), default=1, help="Of pipelined algorithms.  [default: 1]"
)
@click.option(
    "--channels", type=Whole(), default=1, help="Copies that run at once.  [default: 1]"
)
@root_option
@click.option(
    "-o", "--output", "path", metavar="FILE", default="-", help="Write it there, not to stdout."
)
@cluster_options
def command(
    collective: str | None,
    algorithm: str | None,
    schedule: str | None,
    form: str,
    chunks: int,
    channels: int,
    root: int,
    path: str,
    cluster: ClusterChoice,
) -> None:
    """Build, write, and read what was written."""
    if schedule is not None:
        refuse_beside_schedule(_OPTIONS)
        file = opened_schedule(schedule, collective, root)
        _write(file.right(), form, file.name, path)
        return
    collective = needed(collective)
    if algorithm is None:
        raise UsageError("expected --algorithm or --schedule")
    if algorithm in ("auto", "nccl", "all"):
        raise UsageError(
            f"--algorithm {algorithm}: expected one NAME, as there is no size here"
        )
    network = cluster.load()
    from collsim.algorithms import build, canonical
    from collsim.core.collective import check_root
    from collsim.core.collective import collective as named

    kind = named(collective)
    check_root(root, network.ranks)
    built = build(
        kind.name,
        algorithm,
        network.ranks,
        root,
        chunks,
        node=network.node,
        channels=channels,
        multicast=network.setting.multicast,
        rings=network.setting.rings,
    )
    name = f"{kind.name}_{canonical(kind.name, algorithm)}"
    _write(built, form, name, path)


def _write(schedule: "Schedule", form: str, name: str, path: str) -> None:
    """Write a schedule, and tell what its file breaks."""
    from collsim.interop.schedule_file import written

    text, warnings = written(schedule, form, name)
    Output(as_json=False, as_csv=False, path=path).write(text)
    for warning in warnings:
        note(f"breaks a limit of MSCCL's runtime: {warning}")
