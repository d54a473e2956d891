"""``collsim report``: which algorithm, from which size and why, as one HTML file."""

from typing import Final, Unpack

import click

from collsim.cli.clusters.choice import ClusterChoice
from collsim.cli.clusters.what_if import opened, tell_large
from collsim.cli.measured.fitted import tell_scope, tell_simulated
from collsim.cli.options import (
    cluster_options,
    collective_argument,
    run_options,
)
from collsim.cli.options.asked import AskedRun
from collsim.cli.options.sizes import FIRST, LAST
from collsim.cli.options.types import SIZE, SPECS
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import note
from collsim.cli.runs.chunks import chosen_chunks
from collsim.errors import UsageError

__all__ = ["command"]

# Ranks on which the simulations of all contenders take long; of more, others say so.
_SLOW: Final = range(32, 512)


@_command(
    """Report on a collective as one HTML file, which needs no network to be read.

    It holds what `choose` answers, the times of all contenders against size, the messages of
    the fastest at some sizes, where the time goes, every number of the cluster with its source,
    and what was left out. Needs plotly: pip install 'collsim[report]'.

    \b
    Examples:
      collsim report all_reduce -c dgx-h100 --nodes 2 -o report.html
      collsim report broadcast --ranks 16 -b 1K -e 1G -s 64K -s 16M -o broadcast.html
    """
)
@collective_argument
@click.option(
    "-o", "--output", "path", metavar="FILE", required=True, help="Its name; ends in .html."
)
@click.option("-b", "first", type=SIZE, default=FIRST, help="From this size.  [default: 8]")
@click.option("-e", "last", type=SIZE, default=LAST, help="To this size.  [default: 8G]")
@click.option(
    "-s",
    "--size",
    "sizes",
    type=SIZE,
    multiple=True,
    help="Show the messages at this size; repeatable.  [default: the middle of each range]",
)
@click.option(
    "--algorithm",
    "algorithms",
    type=SPECS,
    multiple=True,
    help="Compare these only; repeatable, or with commas.  [default: all]",
)
@run_options
@cluster_options
def command(
    collective: str,
    path: str,
    first: int,
    last: int,
    sizes: tuple[int, ...],
    algorithms: tuple[tuple[str, ...], ...],
    cluster: ClusterChoice,
    **run: Unpack[AskedRun],
) -> None:
    """Find all that it tells, and write."""
    if first > last:
        raise UsageError(f"-b {first} is above -e {last}, expected it below or equal")
    from collsim.report.page.write import check_report_path, write_report

    check_report_path(path)
    only = [name for names in algorithms for name in names if name not in ("auto", "all")]
    network = opened(cluster)
    tell_large(network, every_size=True)
    if network.uniform is None and network.sharing == "fifo" and network.ranks in _SLOW:
        note(f"simulating all contenders on {network.ranks} ranks, which can take a minute")
    profile = cluster.load_profile()
    from collsim.config.changes import parse_changes
    from collsim.core.collective import collective as kind

    name = kind(collective).name
    tell_scope(profile, (name,), network, (first, last))
    tell_simulated(profile)
    run["chunks"] = chosen_chunks(run["chunks"], profile, name)
    answer = write_report(
        name,
        network,
        path,
        min_bytes=first,
        max_bytes=last,
        sizes=sizes,
        algorithms=only or None,
        profile=profile,
        file=cluster.file,
        keys=parse_changes(cluster.changes),
        changes=cluster.said,
        **run,
    )
    note(answer)
