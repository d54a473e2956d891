"""``collsim crossover``: every size at which two algorithms swap."""

from typing import Unpack

import click

from collsim.cli.clusters.choice import ClusterChoice
from collsim.cli.clusters.unlike import unlike
from collsim.cli.clusters.what_if import as_folded, opened, tell_folded, tell_uncrossed
from collsim.cli.measured.fitted import fitted_times
from collsim.cli.options import (
    channels_option,
    chunks_option,
    cluster_options,
    collective_argument,
    fold_option,
    model_option,
    output_options,
    range_options,
    root_option,
)
from collsim.cli.options.asked import AskedFolded
from collsim.cli.options.sizes import check_range
from collsim.cli.options.types import SPEC
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import Output
from collsim.cli.runs.chunks import chosen_chunks
from collsim.cli.runs.plotting import tell_rivals

__all__ = ["command"]


@_command(
    """Find every size at which algorithms A and B swap.

    Sizes are real numbers.

    \b
    Examples:
      collsim crossover all_reduce mst ring
      collsim crossover broadcast mst ring -c dgx-h100 --nodes 2 -b 1K -e 1G --json
    """
)
@collective_argument
@click.argument("a", metavar="A", type=SPEC)
@click.argument("b", metavar="B", type=SPEC)
@range_options
@chunks_option
@channels_option
@model_option
@fold_option
@root_option
@click.option("--plot", metavar="FILE", help="Draw both too, as PNG, SVG or PDF.")
@cluster_options
@output_options
def command(
    collective: str,
    a: str,
    b: str,
    first: int | None,
    last: int | None,
    plot: str | None,
    cluster: ClusterChoice,
    output: Output,
    **run: Unpack[AskedFolded],
) -> None:
    """Search and print."""
    output.check()
    low, high = check_range(first, last)
    network = opened(cluster)
    from collsim.choose.crossover import Swap, crossover
    from collsim.report.crossover_text import crossover_text
    from collsim.report.records import keys_of, records

    profile = cluster.load_profile()
    fitted = fitted_times(profile, unlike(cluster))
    run["chunks"] = chosen_chunks(run["chunks"], profile, collective)
    found = crossover(
        collective, a, b, network, min_bytes=low, max_bytes=high, fitted=fitted, **run
    )
    tell_rivals(
        profile,
        fitted if found.fitted else None,
        found.collective,
        (found.a, found.b),
        network,
        [max(1, round(swap.size)) for swap in found.rows] or [low, high],
    )
    tell_uncrossed(cluster, found.collective, (found.a, found.b), run["root"])
    tell_folded(found.folded)
    changes = [change for change in cluster.said if not change.startswith("sharing ")]
    if plot is not None:
        from collsim.plot.crossover import plot_crossover

        plot_crossover(
            *(collective, a, b, network, plot),
            min_bytes=first, max_bytes=last, fitted=fitted, **run,
        )  # fmt: skip
    output.emit(
        "crossover",
        records(found.rows),
        keys_of(Swap),
        lambda: crossover_text(found, network.sharing, changes),
        cluster=found.cluster,
        collective=found.collective,
        ranks=found.ranks,
        changes=list(cluster.said),
        a=found.a,
        b=found.b,
        min_bytes=found.min_bytes,
        max_bytes=found.max_bytes,
        identical=found.identical,
        faster=found.faster,
        fitted=found.fitted,
        head=as_folded(found.folded),
    )
