"""``collsim plot winners``: which algorithm is the fastest, by size and number of nodes."""

from typing import Unpack

import click

from collsim.cli.clusters.series import ClusterSeries, series_options
from collsim.cli.clusters.what_if import tell_large
from collsim.cli.measured.fitted import tell_simulated
from collsim.cli.options import (
    all_given,
    collective_argument,
    run_options,
)
from collsim.cli.options.asked import AskedRun
from collsim.cli.options.sizes import FIRST, LAST
from collsim.cli.options.types import SIZE, SPECS
from collsim.cli.program.command import command as _command
from collsim.cli.runs.chunks import chosen_chunks
from collsim.cli.runs.plotting import picture_option
from collsim.errors import UsageError

__all__ = ["command"]


@_command(
    """Draw which algorithm is the fastest, by size and by the number of nodes or ranks.

    The borders are those that `choose` prints.

    \b
    Examples:
      collsim plot winners all_reduce -c dgx-h100 --nodes 1,2,4,8 -o winners.png
      collsim plot winners broadcast --ranks 2-8,16 -o winners.svg
    """
)
@collective_argument
@picture_option
@click.option("-b", "first", type=SIZE, default=FIRST, help="From this size.  [default: 8]")
@click.option("-e", "last", type=SIZE, default=LAST, help="To this size.  [default: 8G]")
@click.option(
    "--algorithm",
    "algorithms",
    type=SPECS,
    multiple=True,
    callback=all_given,
    help="Only these, with commas.  [default: all]",
)
@run_options
@series_options
def command(
    collective: str,
    path: str,
    first: int,
    last: int,
    algorithms: tuple[str, ...] | None,
    series: ClusterSeries,
    **run: Unpack[AskedRun],
) -> None:
    """Choose, draw and write."""
    if max(first, 1) >= last:
        raise UsageError(f"-b {first} is not below -e {last}, expected a range of sizes")
    clusters = series.load()
    tell_large(clusters[-1], every_size=True)
    from collsim.plot.winners import plot_winners, winners_map

    profile = series.load_profile()
    tell_simulated(profile)
    run["chunks"] = chosen_chunks(run["chunks"], profile, collective)
    only = None if algorithms in (None, ("all",), ("auto",)) else algorithms
    found = winners_map(
        collective, clusters, algorithms=only, min_bytes=first, max_bytes=last, **run
    )
    plot_winners(found, path)
