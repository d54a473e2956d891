"""Clusters of several sizes, as one command compares them."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

import click

from collsim.cli.clusters.choice import ClusterChoice
from collsim.cli.clusters.unlike import unlike
from collsim.cli.clusters.what_if import opened
from collsim.cli.options import NETWORK_OPTIONS, chained, cluster_option, gpus_option
from collsim.cli.options.types import RANK_LIST
from collsim.errors import UsageError

if TYPE_CHECKING:
    from collsim.core.cluster import Cluster
    from collsim.core.profile import Profile

__all__ = ["ClusterSeries", "series_options"]

_NODES: Final = (1, 2, 4, 8)
_RANKS: Final = (2, 4, 8, 16, 32, 64)
_MOST: Final = 64


@dataclass(frozen=True)
class ClusterSeries:
    """The options that choose clusters, as parsed: all but sizes, and the sizes."""

    base: ClusterChoice
    nodes: tuple[int, ...] | None
    ranks: tuple[int, ...] | None

    def load(self) -> "list[Cluster]":
        """Return the clusters by size, and say what a reader has to know of the largest.

        Raises
        ------
        UsageError
            If the options contradict each other, or ask for more than 64 sizes.
        CollsimError
            If there is no such cluster or profile, or it has no such size or part.
        """
        choices = list(self._choices())
        last = opened(choices[-1])
        return [*(choice.load() for choice in choices[:-1]), last]

    def load_profile(self) -> "Profile | None":
        """Return the profile that was named, or None."""
        return self.base.load_profile()

    def unlike(self) -> "Cluster | None":
        """Return the largest cluster as fitted times know it; None where it is so."""
        return unlike(list(self._choices())[-1])

    def _choices(self) -> list[ClusterChoice]:
        if self.nodes is not None and self.ranks is not None:
            raise UsageError(
                "--ranks takes GPUs of one node, so it can't be combined with --nodes"
            )
        what, counts = "nodes", self.nodes
        if counts is None:
            named = (self.base.cluster, self.base.profile) != (None, None)
            what, counts = ("nodes", _NODES) if named else ("ranks", _RANKS)
        if self.ranks is not None:
            what, counts = "ranks", self.ranks
        if len(counts) > _MOST:
            raise UsageError(f"--{what}: got {len(counts)} numbers, expected at most {_MOST}")
        if what == "nodes":
            return [replace(self.base, nodes=count) for count in counts]
        return [replace(self.base, ranks=count) for count in counts]


def series_options(function: Callable[..., object]) -> Callable[..., object]:
    """Add the options of clusters of several sizes, passed on as one `series`."""

    @wraps(function)
    def wrapper(**given: Any) -> object:
        nodes, ranks = given.pop("node_counts"), given.pop("rank_counts")
        sizes = {"nodes", "ranks"}
        own = {f.name: given.pop(f.name) for f in fields(ClusterChoice) if f.name not in sizes}
        return function(**given, series=ClusterSeries(ClusterChoice(**own), nodes, ranks))

    return chained(
        cluster_option,
        click.option(
            "--nodes",
            "node_counts",
            type=RANK_LIST,
            help="So many nodes of it each, e.g. 1,2,4.  [default with -c: 1,2,4,8]",
        ),
        gpus_option,
        click.option(
            "--ranks",
            "rank_counts",
            type=RANK_LIST,
            help="So many GPUs of one node each.  [default without -c: 2,4,8,16,32,64]",
        ),
        *NETWORK_OPTIONS,
    )(wrapper)
