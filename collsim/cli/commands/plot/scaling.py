"""``collsim plot scaling``: time or bus bandwidth against nodes or ranks."""

from typing import Literal, Unpack

import click

from collsim.cli.clusters.series import ClusterSeries, series_options
from collsim.cli.clusters.what_if import tell_large
from collsim.cli.measured.fitted import auto_by, fitted_times
from collsim.cli.options import (
    algorithm_option,
    collective_argument,
    run_options,
)
from collsim.cli.options.asked import AskedRun
from collsim.cli.program.command import command as _command
from collsim.cli.runs.chunks import chosen_chunks
from collsim.cli.runs.plotting import picture_option, tell_left_out, tell_profile
from collsim.cli.runs.several import names_alone
from collsim.cli.runs.simulated import one_size, one_size_option

__all__ = ["command"]


@_command(
    """Draw time or bus bandwidth against the number of nodes or ranks, by algorithm.

    Of all algorithms eight are drawn, each with its fastest options: those that come nearest to
    the fastest.

    \b
    Examples:
      collsim plot scaling all_reduce -s 16MiB -c dgx-h100 --nodes 1,2,4,8 -o scaling.png
      collsim plot scaling all_gather -s 1G --ranks 2-16 --value busbw -o scaling.svg
    """
)
@collective_argument
@picture_option
@one_size_option
@click.option(
    "--value",
    type=click.Choice(["time", "busbw"]),
    default="time",
    show_default=True,
    help="What is drawn upwards.",
)
@algorithm_option("all", "NAME[,NAME]|auto|nccl|all", several=True, fitted=True)
@run_options
@series_options
def command(
    collective: str,
    path: str,
    sizes: tuple[int, ...],
    value: Literal["time", "busbw"],
    algorithm: tuple[str, ...],
    series: ClusterSeries,
    **run: Unpack[AskedRun],
) -> None:
    """Predict, draw and write."""
    size = one_size(sizes)
    names_alone(algorithm)
    clusters = series.load()
    tell_large(clusters[-1])
    from collsim.plot.scaling import plot_scaling, scaling_curves

    profile = series.load_profile()
    algorithm = tuple(auto_by(profile, collective, name) for name in algorithm)
    run["chunks"] = chosen_chunks(run["chunks"], profile, collective)
    fitted = fitted_times(profile, series.unlike())
    found = scaling_curves(collective, clusters, size, algorithm, fitted=fitted, **run)
    plot_scaling(found, path, value)
    rows = [row for line in found.lines.values() for row in line if row is not None]
    tell_profile(profile, found.collective, clusters[-1], rows)
    tell_left_out(found.left_out)
