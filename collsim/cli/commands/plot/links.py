"""``collsim plot links``: how busy links and ports are over a run."""

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
from collsim.cli.types import Whole

__all__ = ["command"]


@_command(
    """Draw how busy links and ports are over a run, that of the most use on top.

    Links of one kind that are used alike share a row.

    \b
    Examples:
      collsim plot links all_reduce --algorithm ring -s 16MiB -c dgx-h100 --nodes 2 -o links.png
      collsim plot links all_to_all -s 16MiB -c pcie-8 -o links.svg
    """
)
@optional_collective
@picture_option
@one_size_option
@algorithm_option("auto", "NAME|auto")
@schedule_option
@click.option("--most", type=Whole(), default=40, show_default=True, help="Rows at most.")
@chunks_option
@channels_option
@root_option
@cluster_options
def command(
    collective: str | None,
    path: str,
    sizes: tuple[int, ...],
    most: int,
    cluster: ClusterChoice,
    **run: Any,
) -> None:
    """Simulate, draw and write."""
    run |= {"dtype": "float", "op": "sum"}
    ran = one_run(collective, sizes, cluster, {**run, "fold": False})
    answer, network, timeline = ran.answer, ran.network, ran.timeline
    from collsim.plot.links import plot_links

    plot_links(timeline, network, path, algorithm=answer.rows[0].algorithm, most=most)
