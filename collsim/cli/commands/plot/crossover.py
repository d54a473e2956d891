"""``collsim plot crossover``: two curves of time, and where they swap."""

from typing import Any

import click

from collsim.cli.clusters import ClusterChoice
from collsim.cli.lazy import command as _command
from collsim.cli.options import (
    chunks_option,
    cluster_options,
    collective_argument,
    model_option,
    range_options,
    root_option,
)
from collsim.cli.sizes import check_range
from collsim.cli.what_if import opened

__all__ = ["command"]


@_command(
    """Draw the times of A and B, and where they swap.

    \b
    Example:
      collsim plot crossover all_reduce mst ring -o crossover.png
    """
)
@collective_argument
@click.argument("a")
@click.argument("b")
@click.option(
    "-o",
    "--output",
    "path",
    metavar="FILE",
    required=True,
    help="PNG, SVG or PDF by its ending.",
)
@range_options
@chunks_option
@model_option
@root_option
@cluster_options
def command(
    collective: str,
    a: str,
    b: str,
    path: str,
    first: int | None,
    last: int | None,
    cluster: ClusterChoice,
    **run: Any,
) -> None:
    """Draw and write."""
    check_range(first, last)
    network = opened(cluster)
    from collsim.plot.crossover import plot_crossover

    plot_crossover(collective, a, b, network, path, min_bytes=first, max_bytes=last, **run)
