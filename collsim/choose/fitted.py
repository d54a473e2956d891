"""Rows from fitted times of a library, rather than from a schedule."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from collsim.algorithms import algorithm_names
from collsim.choose.curve import Time
from collsim.choose.rows import Made, Row, made_row
from collsim.core.cluster import Cluster
from collsim.core.collective import Collective, collective
from collsim.core.timeline import Breakdown
from collsim.engine.bound import lower_bound
from collsim.nccl.families import FAMILIES, PEERS
from collsim.nccl.names import OUR_NAME

__all__ = ["FittedCurve", "FittedTimes", "Pieces", "all_fitted"]

_P2P: Final = "p2p"


class FittedTimes(Protocol):
    """What is asked of fitted times; algorithms and protocols by NCCL's names."""

    def covers(self, collective: str) -> bool:
        """Return whether there are times of a collective."""

    def available(
        self, collective: str, ranks: int, nodes: int, *, dtype: str = ..., op: str = ...
    ) -> tuple[tuple[str, str], ...]:
        """Return every algorithm and protocol that there is on so many ranks and nodes."""

    def choice(
        self,
        collective: str,
        ranks: int,
        nodes: int,
        nbytes: float,
        *,
        dtype: str | None = ...,
        op: str | None = ...,
    ) -> tuple[str, str]:
        """Return the algorithm and protocol that run by themselves."""

    def named(
        self,
        collective: str,
        ranks: int,
        nodes: int,
        nbytes: float,
        algorithm: str,
        protocol: str | None = None,
    ) -> tuple[str, float]:
        """Return the best protocol of an algorithm, or the one named, and its seconds."""

    def launch(self, collective: str) -> float:
        """Return the seconds that are spent before anything is sent."""


def _our_name(algorithm: str) -> str:
    """Return our name of an algorithm of NCCL; its sends and receives are direct.

    Examples
    --------
    >>> _our_name("tree"), _our_name("p2p")
    ('double_binary_tree', 'direct')
    """
    return PEERS if algorithm == _P2P else OUR_NAME[algorithm]


@dataclass(frozen=True)
class FittedCurve:
    """Fitted times of one algorithm with the best of its protocols, as a function of size.

    Parameters
    ----------
    name : str
        Our name of it.
    pieces : Pieces
        Its times.
    """

    name: str
    pieces: "Pieces"

    @property
    def cluster(self) -> Cluster:
        """Where."""
        return self.pieces.cluster

    def at(self, nbytes: float) -> Time:
        """Return the time at a size in bytes, with its parts."""
        made = self.pieces.made(nbytes, self.pieces.algorithms[0])
        return Time(made.seconds, made.parts, made.chunks, made.model)

    def seconds(self, nbytes: float) -> float:
        """Return the time in seconds at a size in bytes."""
        return self.pieces.timed(nbytes, self.pieces.algorithms[0])[1]


@dataclass(frozen=True)
class Pieces:
    """Fitted times of one collective on one cluster.

    Parameters
    ----------
    fitted : FittedTimes
        The times.
    kind : Collective
        Of what.
    cluster : Cluster
        Where.
    algorithms : tuple of str
        NCCL's names of those that are asked for; empty for what NCCL chooses itself.
    others : bool
        Whether what NCCL lacks is asked for, too.
    dtype, op : str
        Type of the elements and reduction, which count for NCCL's choice.
    root : int
        Of a rooted collective; times are the same for all.
    """

    fitted: FittedTimes
    kind: Collective
    cluster: Cluster
    algorithms: tuple[str, ...]
    others: bool
    dtype: str = "float"
    op: str = "sum"
    root: int = 0

    @staticmethod
    def of(
        fitted: FittedTimes | None,
        kind: Collective,
        cluster: Cluster,
        algorithm: str,
        *,
        dtype: str = "float",
        op: str = "sum",
        root: int = 0,
    ) -> "Pieces | None":
        """Return the fitted times that answer a question; None where there are none."""
        if fitted is None or cluster.ranks == 1 or not fitted.covers(kind.name):
            return None
        if algorithm in FAMILIES:
            return Pieces(fitted, kind, cluster, (), False, dtype, op, root)
        where = kind.name, cluster.ranks, cluster.nodes
        pieces = fitted.available(*where)
        if algorithm == "all":
            pieces = fitted.available(*where, dtype=dtype, op=op)
        known = algorithm_names(kind.name)
        theirs = {_our_name(a): a for a, _ in pieces if _our_name(a) in known}
        if algorithm == "all":
            return Pieces(fitted, kind, cluster, tuple(theirs.values()), True, dtype, op, root)
        if algorithm in theirs:
            return Pieces(fitted, kind, cluster, (theirs[algorithm],), False, dtype, op, root)
        return None

    @property
    def names(self) -> tuple[str, ...]:
        """Our names of the algorithms that are asked for."""
        return tuple(map(_our_name, self.algorithms))

    def rows(self, sizes: Sequence[float]) -> list[Row]:
        """Return a row per size and algorithm."""
        return [
            self._row(size, algorithm)
            for size in sizes
            for algorithm in self.algorithms or (None,)
        ]

    @property
    def curve(self) -> FittedCurve:
        """The times of the one algorithm that is asked for."""
        return FittedCurve(self.names[0], self)

    def timed(
        self, size: float, algorithm: str, protocol: str | None = None
    ) -> tuple[str, float]:
        """Return the best protocol of an algorithm of NCCL's, or the one named, and seconds."""
        where = self.kind.name, self.cluster.ranks, self.cluster.nodes
        return self.fitted.named(*where, size, algorithm, protocol)

    def made(self, size: float, algorithm: str | None) -> Made:
        """Return the time at a size with its parts; of what NCCL chooses, if none is named."""
        protocol = None
        if algorithm is None:
            where = self.kind.name, self.cluster.ranks, self.cluster.nodes
            algorithm, protocol = self.fitted.choice(*where, size, dtype=self.dtype, op=self.op)
        protocol, seconds = self.timed(size, algorithm, protocol)
        _, start = self.timed(0.0, algorithm, protocol)
        launch = self.fitted.launch(self.kind.name)
        parts = Breakdown(
            alpha=start - launch, beta=seconds - start, gamma=0.0, launch=launch, waiting=0.0
        )
        return Made(_our_name(algorithm), protocol, 1, 1, "fit", seconds, parts)

    def _row(self, size: float, algorithm: str | None) -> Row:
        made = self.made(size, algorithm)
        bound = min(made.seconds, lower_bound(self.kind, self.cluster, size))
        root = self.root if self.kind.rooted else None
        return made_row(self.kind, self.cluster, size, made, bound, self.dtype, self.op, root)


def all_fitted(
    fitted: FittedTimes | None, collective_name: str, cluster: Cluster, names: Sequence[str]
) -> bool:
    """Return whether there are fitted times of all that is asked for, and none is simulated.

    Examples
    --------
    >>> all_fitted(None, "all_reduce", Cluster.load("dgx-h100"), ["ring"])
    False
    """
    kind = collective(collective_name)
    pieces = [Pieces.of(fitted, kind, cluster, name) for name in names]
    return bool(pieces) and all(one is not None and not one.others for one in pieces)
