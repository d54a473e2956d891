"""Simulate a few ranks in place of all, where that is shown to give the same times."""

import math
from collections.abc import Iterable, Iterator
from typing import Final, Protocol

import numpy as np

from collsim.algorithms import build_folded
from collsim.core.algorithm import Algorithm
from collsim.core.cluster import Cluster
from collsim.core.symmetry import Fold, Symmetry
from collsim.engine.fold.proof import prove
from collsim.engine.fold.simulation import FoldedSimulation, NotFoldedError
from collsim.errors import InputError, TooLargeError

__all__ = [
    "FOLD_FROM",
    "Folding",
    "folded_of",
    "folded_simulation",
    "why_none_stand_for_all",
]

# Ranks from which it is tried by itself. Below, all are simulated in a second or two, and
# timelines show every rank.
FOLD_FROM: Final = 1024


class Folding:
    """Folded simulations of one algorithm on one cluster, each prepared once.

    Parameters
    ----------
    collective, name : str
        Of the algorithm.
    algorithm : Algorithm
        The same.
    cluster : Cluster
        Where it runs.
    wanted : bool
        Whether to fold at all.

    Attributes
    ----------
    refused : str or None
        Why all ranks are simulated, where a symmetry is claimed.
    """

    def __init__(
        self, collective: str, name: str, algorithm: Algorithm, cluster: Cluster, wanted: bool
    ) -> None:
        self._collective, self._name, self._cluster = collective, name, cluster
        self._algorithm = algorithm
        self._wanted = wanted and cluster.ranks >= FOLD_FROM
        self._found: dict[tuple[int, int], FoldedSimulation | None] = {}
        self._told: set[tuple[int, int]] = set()
        self.refused: str | None = None

    def simulation(self, chunks: int, channels: int) -> FoldedSimulation | None:
        """Return the folded simulation in so many chunks and channels, if there is one."""
        key = chunks, channels
        if key not in self._found:
            self._found[key] = self._made(chunks, channels) if self._wanted else None
        return self._found[key]

    def _made(self, chunks: int, channels: int) -> FoldedSimulation | None:
        if self._algorithm.claim(self._cluster.setting) is None:
            return None
        try:
            found = folded_simulation(
                self._collective, self._name, self._algorithm, self._cluster, chunks, channels
            )
        except NotFoldedError as error:
            self.refused = str(error)
            return None
        return found

    def tell(self, chunks: int, channels: int) -> None:
        """Note that an answer is of so many chunks and channels."""
        self._told.add((chunks, channels))

    @property
    def said(self) -> str | None:
        """How many ranks are simulated: for what was told, or else for all that was tried."""
        made = {key: one for key, one in self._found.items() if one is not None}
        told = [one for key, one in made.items() if key in self._told]
        found = dict.fromkeys(one.folded.said for one in (told or made.values()))
        return "; ".join(found) or None if told or not self._told else None


def folded_simulation(
    collective: str,
    name: str,
    algorithm: Algorithm,
    cluster: Cluster,
    chunks: int = 1,
    channels: int = 1,
) -> FoldedSimulation:
    """Return the simulation of the fewest ranks that stand for all.

    Raises
    ------
    NotFoldedError
        If it can't be shown that any do, with the reason of the last try.

    Examples
    --------
    >>> from collsim.algorithms import find
    >>> cluster = Cluster.load("dgx-h100", nodes=4)
    >>> found = folded_simulation("all_gather", "ring", find("all_gather", "ring"), cluster)
    >>> found.folded.fold
    Fold(kind='shift', ranks=32, step=8)
    """
    claim = algorithm.claim(cluster.setting)
    if claim is None:
        raise NotFoldedError(f"{collective}/{name} claims no symmetry")
    reason = f"no part of {cluster.ranks} ranks can stand for all"
    for fold in _folds(claim, cluster, channels):
        # What is cheap to refuse is refused before anything is built.
        proof = prove(cluster, fold)
        if isinstance(proof, str):
            reason = proof
            continue
        try:
            folded = build_folded(
                collective, name, fold, chunks, node=cluster.node, channels=channels,
                rings=cluster.setting.rings,
            )  # fmt: skip
            return FoldedSimulation(folded, cluster, orbits=proof)
        except TooLargeError:
            # All ranks would be larger still.
            raise
        except InputError as error:
            reason = str(error)
    raise NotFoldedError(reason)


def _folds(claim: Symmetry, cluster: Cluster, channels: int) -> Iterator[Fold]:
    """Yield renamings worth a try, those of the fewest representatives first.

    By the claim's own step, and by whole groups of the cuts that the topology names: nodes,
    leaves, pods. One more is tried of two nodes at once.
    """
    ranks = cluster.ranks
    base = claim.step(cluster.setting, channels)
    sizes = {1}
    for cut in cluster.cuts:
        size = int(np.count_nonzero(cut.group == cut.group[0]))
        if ranks % size == 0 and (cut.group == cut.group[::size].repeat(size)).all():
            sizes |= {size, 2 * size}
    for step in sorted({math.lcm(base, size) for size in sizes}):
        if step >= ranks or ranks % step:
            continue
        try:
            yield Fold(claim.kind, ranks, step)
        except InputError:
            # XOR takes powers of two.
            continue


class _Curve(Protocol):
    name: str
    folding: Folding


def folded_of(curves: Iterable[_Curve]) -> dict[str, str]:
    """Return, of the curves of which a few ranks were simulated, how many and why."""
    return {
        curve.name: curve.folding.said for curve in curves if curve.folding.said is not None
    }


def why_none_stand_for_all(cluster: Cluster) -> str | None:
    """Return why no node of a cluster can stand for another, or None if one might.

    Examples
    --------
    >>> from collsim.topology import degrade
    >>> cluster = Cluster.load("dgx-h100", nodes=4)
    >>> why_none_stand_for_all(cluster)
    >>> why_none_stand_for_all(degrade(cluster, "nic[3]", 0.25))
    'nic[3].up differs from nic[19].up'
    """
    here, rest = divmod(cluster.ranks, cluster.nodes)
    if rest or cluster.nodes == 1:
        return None
    # Half of the nodes for the other half asks the least.
    steps = [here * cluster.nodes // 2, here] if cluster.nodes % 2 == 0 else [here]
    found = [prove(cluster, Fold("shift", cluster.ranks, step)) for step in steps]
    reasons = [reason for reason in found if isinstance(reason, str)]
    return reasons[0] if len(reasons) == len(found) else None
