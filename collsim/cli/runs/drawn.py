"""One run that is drawn message by message: its options, and what comes of it."""

from typing import TYPE_CHECKING, Final

from collsim.cli.options import (
    algorithm_option,
    chained,
    channels_option,
    chunks_option,
    cluster_options,
    root_option,
)
from collsim.cli.options.asked import AskedPicture
from collsim.cli.runs.plotting import picture_option
from collsim.cli.runs.schedules import optional_collective, schedule_option
from collsim.cli.runs.simulated import OneRun, one_run, one_size_option

if TYPE_CHECKING:
    from collsim.cli.clusters.choice import ClusterChoice

__all__ = ["drawn_run", "drawn_run_choices", "drawn_run_options"]

# Those of one picture stand between these two groups in its help.
drawn_run_options: Final = chained(
    optional_collective,
    picture_option,
    one_size_option,
    algorithm_option("auto", "NAME|auto|nccl"),
    schedule_option,
)
drawn_run_choices: Final = chained(chunks_option, channels_option, root_option, cluster_options)


def drawn_run(
    collective: str | None,
    sizes: tuple[int, ...],
    schedule: str | None,
    cluster: "ClusterChoice",
    run: AskedPicture,
) -> OneRun:
    """Return a run of all ranks: those of a folded one could not be drawn."""
    return one_run(
        collective,
        sizes,
        schedule,
        cluster,
        {**run, "dtype": "float", "op": "sum", "fold": False},
    )
