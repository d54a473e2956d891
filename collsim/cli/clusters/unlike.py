"""Whether fitted times of a profile are of the cluster that options make."""

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collsim.cli.clusters.choice import ClusterChoice
    from collsim.core.cluster import Cluster

__all__ = ["unlike"]


def unlike(choice: "ClusterChoice") -> "Cluster | None":
    """Return the cluster that fitted times are of; None where it is what options make.

    There nothing is changed, slow, broken or late, and ranks sit and messages share links as
    they do without options.
    """
    well = choice.healthy()
    if well is not None or (choice.order is None and choice.sharing is None):
        return well
    plain, mine = replace(choice, order=None, sharing=None).unhurt(), choice.unhurt()
    moved = mine.order is not None and mine.order.tolist() != list(range(mine.ranks))
    return plain if moved or mine.sharing != plain.sharing else None
