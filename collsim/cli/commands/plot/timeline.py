"""``collsim plot timeline``: who sends when, and the critical path."""

from typing import Any

import click

from collsim.cli.clusters import ClusterChoice
from collsim.cli.lazy import command as _command
from collsim.cli.one_run import one_run, one_size_option
from collsim.cli.options import (
    algorithm_option,
    channels_option,
    chunks_option,
    cluster_options,
    root_option,
)
from collsim.cli.plotting import picture_option
from collsim.cli.schedules import optional_collective, schedule_option

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
@optional_collective
@picture_option
@one_size_option
@algorithm_option("auto", "NAME|auto")
@schedule_option
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
@chunks_option
@channels_option
@root_option
@cluster_options
def command(
    collective: str | None,
    path: str,
    sizes: tuple[int, ...],
    by: Any,
    per: Any,
    cluster: ClusterChoice,
    **run: Any,
) -> None:
    """Simulate, draw and write."""
    run |= {"dtype": "float", "op": "sum"}
    ran = one_run(collective, sizes, cluster, {**run, "fold": False})
    answer, network, timeline = ran.answer, ran.network, ran.timeline
    from collsim.plot.timeline import plot_timeline

    name = answer.rows[0].algorithm
    plot_timeline(timeline, network, path, algorithm=name, by=by, per=per)
