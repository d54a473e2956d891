"""``collsim plot timeline``: who sends when, and the critical path."""

from typing import Literal, Unpack

import click

from collsim.cli.clusters.choice import ClusterChoice
from collsim.cli.options.asked import AskedPicture
from collsim.cli.program.command import command as _command
from collsim.cli.runs.drawn import drawn_run, drawn_run_choices, drawn_run_options

__all__ = ["command"]


@_command(
    """Draw who sends when, and the critical path.

    A bar is a message; it lies in the lane of its sender. Of more than 64 ranks, or 12,000
    messages, groups of ranks are drawn, and how many of them are sending.

    \b
    Examples:
      collsim plot timeline all_reduce --algorithm ring -s 1MiB -o timeline.png
      collsim plot timeline broadcast -s 64MiB --algorithm ring --chunks 8 --per port -o t.svg
      collsim plot timeline --schedule examples/schedule_all_reduce_4.txt -s 1MiB -o swing.png
    """
)
@drawn_run_options
@click.option(
    "--by",
    type=click.Choice(["round", "chunk"]),
    default="round",
    show_default=True,
    help="What the fillings of messages tell apart.",
)
@click.option(
    "--per",
    type=click.Choice(["rank", "port"]),
    default="rank",
    show_default=True,
    help="A lane for each rank, or one for what it sends and one for what it receives.",
)
@drawn_run_choices
def command(
    collective: str | None,
    path: str,
    sizes: tuple[int, ...],
    schedule: str | None,
    by: Literal["round", "chunk"],
    per: Literal["rank", "port"],
    cluster: ClusterChoice,
    **run: Unpack[AskedPicture],
) -> None:
    """Simulate, draw and write."""
    ran = drawn_run(collective, sizes, schedule, cluster, run)
    from collsim.plot.timeline import plot_timeline

    plot_timeline(ran.timeline, ran.network, path, algorithm=ran.algorithm, by=by, per=per)
