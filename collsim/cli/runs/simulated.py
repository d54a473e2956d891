"""One run of a collective, as the options ask for it: simulated, message by message."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from collsim.cli.clusters.what_if import opened, tell_large, tell_uncrossed
from collsim.cli.measured.fitted import auto_by, tell_simulated
from collsim.cli.options.asked import AskedSimulation
from collsim.cli.options.types import SIZE
from collsim.cli.runs.chunks import chosen_chunks
from collsim.cli.runs.schedules import needed, scheduled_run
from collsim.errors import UsageError

if TYPE_CHECKING:
    from collsim.choose.rows import Prediction
    from collsim.cli.clusters.choice import ClusterChoice
    from collsim.core.cluster import Cluster
    from collsim.core.folded import Folded
    from collsim.core.timeline import Timeline

__all__ = ["OneRun", "one_run", "one_size", "one_size_option"]

one_size_option = click.option(
    "-s",
    "--size",
    "sizes",
    type=SIZE,
    multiple=True,
    required=True,
    help="The size n, such as 64MiB; one.",
)


def one_size(sizes: tuple[int, ...]) -> int:
    """Return the one size that is given; UsageError for more."""
    if len(sizes) != 1:
        raise UsageError(f"-s/--size: got {len(sizes)} sizes, expected one")
    return sizes[0]


@dataclass(frozen=True)
class OneRun:
    """What a run is, and what came of it.

    Parameters
    ----------
    answer : Prediction
        Of one row.
    network : Cluster
        Where it ran.
    timeline : Timeline
        Start and end of every message.
    folded : Folded, optional
        What ran, if only the ranks did that stand for all.
    """

    answer: "Prediction"
    network: "Cluster"
    timeline: "Timeline"
    folded: "Folded | None" = None

    @property
    def algorithm(self) -> str:
        """What ran."""
        return self.answer.rows[0].algorithm


def one_run(
    collective: str | None,
    sizes: tuple[int, ...],
    schedule: str | None,
    cluster: "ClusterChoice",
    run: AskedSimulation,
) -> OneRun:
    """Simulate, and tell what a reader has to know of it.

    Parameters
    ----------
    collective : str, optional
        Any spelling; a file of a schedule says its own.
    sizes : tuple of int
        One.
    schedule : str, optional
        A file that takes the place of an algorithm.
    cluster : ClusterChoice
        Where it runs.
    run : dict
        Further options as :func:`collsim.choose.predict.predict` takes them.
    """
    size = one_size(sizes)
    if schedule is not None:
        return OneRun(*scheduled_run(schedule, collective, size, cluster, run))
    collective = needed(collective)
    if run["algorithm"] == "all":
        raise UsageError("--algorithm all: expected one NAME, or auto")
    network = opened(cluster)
    from collsim.core.collective import check_root

    check_root(run["root"], network.ranks)
    from collsim.algorithms import build, find
    from collsim.choose.folding import folded_simulation
    from collsim.choose.predict import predict
    from collsim.engine.simulate import simulate

    profile = cluster.load_profile()
    tell_simulated(profile)
    run["algorithm"] = auto_by(profile, collective, run["algorithm"])
    run["chunks"] = chosen_chunks(run["chunks"], profile, collective)
    tell_large(network, fold=run["fold"])
    answer = predict(collective, network, size, **run)
    (row,) = answer.rows
    tell_uncrossed(cluster, answer.collective, [row.algorithm], row.root)
    if answer.folded:
        few = folded_simulation(
            answer.collective, row.algorithm, find(answer.collective, row.algorithm),
            network, row.chunks, row.channels,
        )  # fmt: skip
        return OneRun(answer, network, few.run(size), few.folded)
    built = build(
        answer.collective,
        row.algorithm,
        network.ranks,
        row.root or 0,
        row.chunks,
        node=network.node,
        channels=row.channels,
        multicast=network.setting.multicast,
        rings=network.setting.rings,
    )
    return OneRun(answer, network, simulate(built, network, size))
