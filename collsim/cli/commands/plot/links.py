"""``collsim plot links``: how busy links and ports are over a run."""

from typing import Unpack

import click

from collsim.cli.clusters.choice import ClusterChoice
from collsim.cli.options.asked import AskedPicture
from collsim.cli.options.types import Whole
from collsim.cli.program.command import command as _command
from collsim.cli.runs.drawn import drawn_run, drawn_run_choices, drawn_run_options

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
@drawn_run_options
@click.option("--most", type=Whole(), default=40, show_default=True, help="Rows at most.")
@drawn_run_choices
def command(
    collective: str | None,
    path: str,
    sizes: tuple[int, ...],
    schedule: str | None,
    most: int,
    cluster: ClusterChoice,
    **run: Unpack[AskedPicture],
) -> None:
    """Simulate, draw and write."""
    ran = drawn_run(collective, sizes, schedule, cluster, run)
    from collsim.plot.links import plot_links

    plot_links(ran.timeline, ran.network, path, algorithm=ran.algorithm, most=most)
