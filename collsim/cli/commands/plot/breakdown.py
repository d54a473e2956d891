"""``collsim plot breakdown``: what the time of every algorithm goes into."""

from typing import Unpack

from collsim.cli.clusters.choice import ClusterChoice
from collsim.cli.clusters.unlike import unlike
from collsim.cli.clusters.what_if import opened, tell_large
from collsim.cli.measured.fitted import auto_by, fitted_times
from collsim.cli.options import (
    algorithm_option,
    cluster_options,
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
    """Draw what the time of every algorithm goes into: alpha, beta, gamma, launch, waiting.

    Of all algorithms the twelve fastest are drawn, and none 20 times as slow as the fastest.

    \b
    Examples:
      collsim plot breakdown all_reduce -s 4MiB -c dgx-h100 --nodes 2 -o breakdown.png
      collsim plot breakdown all_gather -s 4MiB -c pcie-8 --algorithm ring,direct -o two.svg
    """
)
@collective_argument
@picture_option
@one_size_option
@algorithm_option("all", "NAME[,NAME]|auto|nccl|all", several=True)
@run_options
@cluster_options
def command(
    collective: str,
    path: str,
    sizes: tuple[int, ...],
    algorithm: tuple[str, ...],
    cluster: ClusterChoice,
    **run: Unpack[AskedRun],
) -> None:
    """Predict, draw and write."""
    size = one_size(sizes)
    names_alone(algorithm)
    network = opened(cluster)
    tell_large(network)
    from collsim.plot.breakdown import plot_breakdown, time_breakdown

    profile = cluster.load_profile()
    algorithm = tuple(auto_by(profile, collective, name) for name in algorithm)
    run["chunks"] = chosen_chunks(run["chunks"], profile, collective)
    fitted = fitted_times(profile, unlike(cluster))
    found = time_breakdown(collective, network, size, algorithm, fitted=fitted, **run)
    plot_breakdown(found, path)
    tell_profile(profile, found.collective, network, found.rows)
    tell_left_out(found.left_out)
