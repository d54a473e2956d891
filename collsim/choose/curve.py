"""The time of one algorithm on one cluster, as a function of size."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from collsim.algorithms import build, canonical, find, refusal
from collsim.choose.bounds import SURE, Bounds, highest
from collsim.choose.folding import Folding
from collsim.choose.runs import Runs, best_channels
from collsim.choose.schedule_size import check_size
from collsim.core.algorithm import Terms
from collsim.core.cluster import Cluster
from collsim.core.collective import check_root, collective
from collsim.core.dependencies import MAX_CARRIED
from collsim.core.schedule import Schedule
from collsim.core.timeline import Breakdown
from collsim.engine.chunks import best_chunks, candidates, channels_of
from collsim.engine.prepared import Prepared
from collsim.engine.simulate import Simulation, check_nbytes
from collsim.errors import InputError

__all__ = ["MODELS", "TIE", "Counts", "Curve", "Model", "Time", "tie_of"]

# One number, the best of the usual ones, or the best of some.
Counts = int | Literal["auto"] | Sequence[int]
Model = Literal["event", "formula", "auto"]
MODELS: Final = ("event", "formula", "auto")

# Times that differ by less, relative, are equal: sums of some thousand floats agree to it.
TIE: Final = 1e-11
# The same under fair sharing: there the grid of time is told from start-ups in turn, though
# they overlap, and in 1,024 chunks equal times were seen to be off by 1e-10.
_FAIR_TIE: Final = 1e-9


def tie_of(cluster: Cluster) -> float:
    """Return by how much, relative, times on a cluster differ that count as equal.

    Examples
    --------
    >>> tie_of(Cluster.load("pcie-2")), tie_of(Cluster.load("pcie-2", nodes=2))
    (1e-11, 1e-09)
    """
    return _FAIR_TIE if cluster.sharing == "fair" else TIE


@dataclass(frozen=True)
class Time:
    """A time in seconds, where it goes, and how it was found."""

    seconds: float
    breakdown: Breakdown
    chunks: int
    model: str
    channels: int = 1


class Curve:
    """Times of one algorithm at any size.

    Parameters
    ----------
    collective_name, algorithm : str
        For example ``"broadcast"``, ``"ring"``; options may follow the name.
    cluster : Cluster
        Where it runs.
    root : int
        Root of a rooted collective.
    chunks : int, "auto" or sequence of int
        Chunks of a pipelined algorithm; auto takes the best power of two at each size, of
        several numbers the best is taken. What sends its messages whole has 1.
    channels : int, "auto" or sequence of int
        Copies that run at once, each on its share; of several numbers the best is taken.
    model : {"auto", "event", "formula"}
        Auto uses the closed formula only where it is exact, and simulates elsewhere.
    fold : bool
        Whether a few ranks are simulated on a large cluster that is shown to be the same for
        all; the times are the same.
    most : int
        Pieces that the messages of a schedule may carry; larger ones are not built.

    Raises
    ------
    InputError
        If the algorithm can't run on so many ranks or on these nodes, takes no chunks, the
        root is no rank, or a formula is asked for where none is exact.

    Notes
    -----
    On several nodes, an algorithm that can run in several channels takes the faster of one
    and as many as a node has GPUs, at each size; on one node whose GPUs are joined directly,
    rings take the faster of one and as many as there are rings over cables of their own.

    Examples
    --------
    >>> curve = Curve("broadcast", "mst", Cluster.ideal(8, "10us", "900GB/s"))
    >>> round(curve.at(1024).seconds * 1e6, 4), curve.at(1024).model
    (30.0034, 'formula')
    """

    def __init__(
        self,
        collective_name: str,
        algorithm: str,
        cluster: Cluster,
        *,
        root: int = 0,
        chunks: Counts = "auto",
        channels: Counts = "auto",
        model: Model = "auto",
        fold: bool = True,
        most: int = MAX_CARRIED,
    ) -> None:
        self.collective = collective(collective_name)
        self.name = canonical(self.collective.name, algorithm)
        self.cluster = cluster
        self.root = check_root(root, cluster.ranks)
        self.algorithm = find(self.collective.name, algorithm)
        setting = cluster.setting
        reason = refusal(
            self.collective.name, algorithm, cluster.ranks, cluster.node, setting.multicast
        )
        if reason is not None:
            raise InputError(reason)
        if model not in MODELS:
            raise InputError(f"model: got {model!r}, expected one of {', '.join(MODELS)}")
        self.model = model
        self._prepared = Prepared(cluster, self._build)
        self.most = min(most, MAX_CARRIED)
        self.folding = Folding(
            self.collective.name, self.name, self.algorithm, cluster, wanted=fold
        )
        self._terms: dict[int, Terms | None] = {}
        self._bounds = Bounds(self.simulation)
        self._sizes: set[float] = set()
        whole = f"{self.collective.name}/{self.name}"
        wanted = _counts("channels", channels, self.algorithm.channeled, f"{whole} runs in one")
        if wanted is not None:
            setting.check_channels(wanted[-1])
        self.channels = channels_of(self.algorithm, setting) if wanted is None else wanted
        refused = f"{whole} sends each message whole"
        counts = _counts("chunks", chunks, self.algorithm.chunked, refused)
        if counts is None and not self.algorithm.chunked:
            counts = (1,)
        self.chunks = counts[0] if counts is not None and len(counts) == 1 else None
        self.asked = counts
        if model == "formula":
            self._check_formula()

    def _check_formula(self) -> None:
        where = f"{self.collective.name}/{self.name} on cluster {self.cluster.name!r}"
        if self.cluster.uniform is None:
            raise InputError(
                f"model: no formula is exact for {where}, which is no ideal one-port network; "
                "expected event or auto"
            )
        terms = None if self.chunks is None else self.terms(self.chunks)
        if terms is not None and not terms.holds(self.cluster.gamma):
            raise InputError(
                f"model: the formula of {where} is a bound, not exact; expected event or auto"
            )
        if self.terms(self.chunks or 1) is None:
            raise InputError(f"model: {where} has no formula; expected event or auto")

    def terms(self, chunks: int) -> Terms | None:
        """Return the algorithm's claimed cost at a chunk count, if it has one."""
        if chunks not in self._terms:
            self._terms[chunks] = self.algorithm.terms(self.cluster.ranks, chunks)
        return self._terms[chunks]

    def by_formula(self, chunks: int) -> bool:
        """Return whether times with so many chunks come from the formula."""
        if self.model == "event" or self.cluster.uniform is None or self.channels != (1,):
            return False
        terms = self.terms(chunks)
        return terms is not None and terms.holds(self.cluster.gamma)

    def at(self, nbytes: float, at_most: float = math.inf) -> Time:
        """Return the time at a size in bytes, with the best chunks and channels.

        If it takes longer than `at_most` seconds, in any.
        """
        runs, chunks, channels = self._best(check_nbytes(nbytes), at_most)
        if self.by_formula(chunks):
            return self._formula(runs.nbytes, chunks)
        seconds, parts = runs.timed(chunks, channels)
        self.folding.tell(chunks, channels)
        return Time(seconds, parts, chunks, "event", channels)

    def seconds(self, nbytes: float) -> float:
        """Return the time in seconds at a size in bytes."""
        runs, chunks, channels = self._best(check_nbytes(nbytes))
        return self._seconds(runs, chunks, channels)

    @property
    def pipelined(self) -> bool:
        """Whether its time takes a simulation for each of several chunk counts."""
        return self.chunks is None and not self.by_formula(2)

    def floor(self, nbytes: float) -> float:
        """Return a time in seconds below which it is in no number of chunks and channels.

        To know it of what is run in few ways costs as much as to run it, so at its first
        size that is 0.
        """
        if not self.pipelined and (
            self.by_formula(self.chunks or 1) or not self._sizes - {nbytes}
        ):
            return 0.0
        return min(self._floor(nbytes, channels) for channels in self.channels)

    def bytes_floor(self, nbytes: float) -> float:
        """Return the seconds that its busiest link or port takes for bytes alone.

        It holds whatever the latencies are, in any number of chunks.
        """
        own = [self._bounds.own(1, channels).for_any_chunks() for channels in self.channels]
        return nbytes * min(float(bound.slope.max()) for bound in own)

    def _floor(self, nbytes: float, channels: int) -> float:
        if self.chunks is None:
            lines = self._bounds.any_chunks(channels)
        else:
            lines = self._bounds.lines(self.chunks, channels)
        return highest(lines, nbytes) * (1 - SURE)

    @property
    def candidates(self) -> tuple[int, ...]:
        """Chunk counts among which the best is taken, where they are free."""
        return self.asked or candidates(self.by_formula(2), self.cluster.ranks)

    def _best(self, nbytes: float, at_most: float = math.inf) -> tuple[Runs, int, int]:
        """Return the runs at a size, and the best chunks and channels."""
        runs = Runs(nbytes, self.simulation)
        self._sizes.add(nbytes)
        chunks, channels = best_channels(
            self.channels,
            nbytes,
            self._bounds,
            lambda k: self._floor(nbytes, k) if self.pipelined or self._many else 0.0,
            lambda k, floor: self._best_chunks(runs, k, at_most, floor),
            lambda c, k: self._seconds(runs, c, k),
        )
        return runs, chunks, channels

    @property
    def _many(self) -> bool:
        """Whether it was asked for at several sizes, so that bounds repay finding them."""
        return len(self._sizes) > 1

    def _best_chunks(
        self, runs: Runs, channels: int, at_most: float, floor: Callable[[int], float]
    ) -> int:
        if self.chunks is not None:
            return self.chunks
        formula = self.by_formula(2)
        if self.model == "formula" and not formula:
            return 1
        return best_chunks(
            runs.nbytes,
            lambda c: self._seconds(runs, c, channels),
            formula,
            self.cluster.ranks * channels,
            self.asked,
            at_most,
            floor,
        )

    def _seconds(self, runs: Runs, chunks: int, channels: int) -> float:
        if self.by_formula(chunks):
            return self._formula(runs.nbytes, chunks).seconds
        return runs.seconds(chunks, channels)

    def _formula(self, nbytes: float, chunks: int) -> Time:
        costs = self.algorithm.costs(self.cluster)
        if costs is None:
            raise InputError(f"model: cluster {self.cluster.name!r} has no exact formula")
        alpha, beta = costs
        terms, cluster = self.terms(chunks), self.cluster
        if terms is None:
            raise InputError(f"model: {self.collective.name}/{self.name} has no formula")
        parts = Breakdown(
            alpha=terms.alphas * alpha,
            beta=terms.betas * nbytes * beta,
            gamma=terms.gammas * nbytes * cluster.gamma,
            launch=cluster.launch,
        )
        seconds = cluster.launch + terms.seconds(nbytes, alpha, beta, cluster.gamma)
        return Time(seconds, parts, chunks, "formula")

    def schedule(self, chunks: int, channels: int = 1) -> Schedule:
        """Return the schedule in so many chunks and channels."""
        return self._prepared.schedule(chunks, channels)

    def _build(self, chunks: int, channels: int) -> Schedule:
        check_size(self.collective.name, self.name, self.cluster.setting, channels, self.most)
        ranks, node = self.cluster.ranks, self.cluster.node
        return build(
            self.collective.name, self.name, ranks, self.root, chunks, node=node,
            channels=channels, multicast=self.cluster.setting.multicast,
            rings=self.cluster.setting.rings,
        )  # fmt: skip

    def simulation(self, chunks: int, channels: int = 1) -> Simulation:
        """Return the prepared simulation in so many chunks and channels; built once."""
        folded = self.folding.simulation(chunks, channels)
        return self._prepared.simulation(chunks, channels) if folded is None else folded


def _counts(what: str, given: Any, free: bool, refused: str) -> tuple[int, ...] | None:
    """Return numbers in rising order, or None where the usual ones are to be tried."""
    if given == "auto":
        return None
    several = list(given) if isinstance(given, Sequence | set) else [given]
    if not several or not all(type(n) is int and n > 0 for n in several):
        raise InputError(
            f"{what}: got {given!r}, expected auto or a whole number from 1 up, or several"
        )
    found = tuple(sorted(set(several)))
    if found != (1,) and not free:
        raise InputError(f"{what}: {refused}, got {given}")
    return found
