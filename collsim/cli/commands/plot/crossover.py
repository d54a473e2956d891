"""``collsim plot crossover``: two curves of time, and where they swap."""

from typing import Unpack

import click

from collsim.cli.clusters.choice import ClusterChoice
from collsim.cli.clusters.unlike import unlike
from collsim.cli.clusters.what_if import opened
from collsim.cli.measured.fitted import fitted_times
from collsim.cli.options import (
    chunks_option,
    cluster_options,
    collective_argument,
    model_option,
    range_options,
    root_option,
)
from collsim.cli.options.asked import AskedModel
from collsim.cli.options.sizes import FIRST, LAST, check_range
from collsim.cli.options.types import SPEC
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import note
from collsim.cli.runs.chunks import chosen_chunks
from collsim.cli.runs.plotting import picture_option, tell_rivals
from collsim.errors import UsageError

__all__ = ["command"]


@_command(
    """Draw the times of A and B, and where they swap.

    With --measured FILE, of `calibrate measure`, they are drawn as they were measured, and as
    the messages between pairs in that file predict them.

    \b
    Examples:
      collsim plot crossover all_reduce mst ring -o crossover.png
      collsim plot crossover all_reduce mst ring -o m.png --measured examples/gloo_4_ranks.jsonl
    """
)
@collective_argument
@click.argument("a", metavar="A", type=SPEC)
@click.argument("b", metavar="B", type=SPEC)
@picture_option
@click.option("--measured", metavar="FILE", help="Rows of `calibrate measure`.")
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
    measured: str | None,
    first: int | None,
    last: int | None,
    cluster: ClusterChoice,
    **run: Unpack[AskedModel],
) -> None:
    """Draw and write."""
    check_range(first, last)
    if measured is not None:
        _refuse_model(cluster, first, last, run)
        from collsim.calibrate.neighbours import slow_points
        from collsim.calibrate.usable import usable
        from collsim.core.measurements_file import read_rows
        from collsim.plot.measured import plot_measured

        rows, left_out = usable(read_rows(measured))
        for text in (*left_out, *slow_points(rows)):
            note(text)
        plot_measured(collective, a, b, rows, path)
        return
    network = opened(cluster)
    from collsim.plot.crossover import plot_crossover

    profile = cluster.load_profile()
    fitted = fitted_times(profile, unlike(cluster))
    run["chunks"] = chosen_chunks(run["chunks"], profile, collective)
    plot_crossover(
        *(collective, a, b, network, path),
        min_bytes=first,
        max_bytes=last,
        fitted=fitted,
        **run,
    )
    tell_rivals(
        profile,
        fitted if run["model"] == "auto" else None,
        collective,
        (a, b),
        network,
        [FIRST if first is None else first, LAST if last is None else last],
    )


def _refuse_model(
    cluster: ClusterChoice, first: int | None, last: int | None, run: AskedModel
) -> None:
    """Refuse what a file of measurements says itself."""
    plain = {"chunks": "auto", "model": "auto", "root": 0}
    if cluster != ClusterChoice() or (first, last) != (None, None) or run != plain:
        raise UsageError(
            "--measured: ranks, sizes and the network are those of its file, expected no "
            "option about them"
        )
