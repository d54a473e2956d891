"""The time of one algorithm on one cluster, as a function of size."""

from dataclasses import dataclass
from typing import Final, Literal

from collsim.algorithms import build, find
from collsim.core.algorithm import Terms
from collsim.core.cluster import Cluster
from collsim.core.collective import check_root, collective
from collsim.core.schedule import Schedule
from collsim.core.timeline import Breakdown
from collsim.engine.chunks import best_chunks, candidates
from collsim.engine.prepared import Prepared
from collsim.engine.simulate import Simulation, check_nbytes
from collsim.errors import InputError

__all__ = ["MODELS", "TIE", "Curve", "Model", "Time"]

Model = Literal["event", "formula", "auto"]
MODELS: Final = ("event", "formula", "auto")

# Times that differ by less, relative, are equal: sums of some thousand floats agree to it.
TIE: Final = 1e-11


@dataclass(frozen=True)
class Time:
    """A time in seconds, where it goes, and how it was found."""

    seconds: float
    breakdown: Breakdown
    chunks: int
    model: str


class Curve:
    """Times of one algorithm at any size.

    Parameters
    ----------
    collective_name, algorithm : str
        For example ``"broadcast"``, ``"ring"``.
    cluster : Cluster
        Where it runs.
    root : int
        Root of a rooted collective.
    chunks : int or "auto"
        Chunks of a pipelined algorithm; auto takes the best power of two at each size.
        An algorithm that sends its messages whole has 1.
    model : {"auto", "event", "formula"}
        Auto uses the closed formula only where it is exact, and simulates elsewhere.

    Raises
    ------
    InputError
        If the algorithm can't run on so many ranks, takes no chunks, the root is no
        rank, or a formula is asked for where none is exact.

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
        chunks: int | Literal["auto"] = "auto",
        model: Model = "auto",
    ) -> None:
        self.collective = collective(collective_name)
        self.name = algorithm
        self.cluster = cluster
        self.root = check_root(root, cluster.ranks)
        self.algorithm = find(self.collective.name, algorithm)
        reason = self.algorithm.limits(cluster.ranks)
        if reason is not None:
            raise InputError(f"{self.collective.name}/{algorithm}: {reason}")
        if model not in MODELS:
            raise InputError(f"model: got {model!r}, expected one of {', '.join(MODELS)}")
        self.model = model
        self._prepared = Prepared(cluster, self._build)
        self._terms: dict[int, Terms] = {}
        self.chunks = self._check_chunks(chunks)
        if model == "formula":
            self._check_formula()

    def _check_chunks(self, chunks: int | str) -> int | None:
        """Return the chunk count, or None where the best one is to be found."""
        if chunks == "auto":
            return None if self.algorithm.chunked else 1
        if isinstance(chunks, bool) or not isinstance(chunks, int) or chunks < 1:
            raise InputError(
                f"chunks: got {chunks!r}, expected auto or a whole number from 1 up"
            )
        if chunks != 1 and not self.algorithm.chunked:
            raise InputError(
                f"chunks: {self.collective.name}/{self.name} sends each message whole, "
                f"got {chunks}"
            )
        return chunks

    def _check_formula(self) -> None:
        where = f"{self.collective.name}/{self.name} on cluster {self.cluster.name!r}"
        if self.cluster.uniform is None:
            raise InputError(
                f"model: no formula is exact for {where}, which is no ideal one-port network; "
                "expected event or auto"
            )
        if self.chunks is not None and not self.terms(self.chunks).holds(self.cluster.gamma):
            raise InputError(
                f"model: the formula of {where} is a bound, not exact; expected event or auto"
            )

    def terms(self, chunks: int) -> Terms:
        """Return the algorithm's claimed cost at a chunk count."""
        if chunks not in self._terms:
            self._terms[chunks] = self.algorithm.terms(self.cluster.ranks, chunks)
        return self._terms[chunks]

    def by_formula(self, chunks: int) -> bool:
        """Return whether times with so many chunks come from the formula."""
        return (
            self.model != "event"
            and self.cluster.uniform is not None
            and self.terms(chunks).holds(self.cluster.gamma)
        )

    def at(self, nbytes: float) -> Time:
        """Return the time at a size in bytes, with the best chunks if they are free."""
        nbytes = check_nbytes(nbytes)
        if self.chunks is not None:
            return self._at(nbytes, self.chunks)
        return self._at(nbytes, self._best_chunks(nbytes))

    def seconds(self, nbytes: float) -> float:
        """Return the time in seconds at a size in bytes."""
        nbytes = check_nbytes(nbytes)
        chunks = self.chunks if self.chunks is not None else self._best_chunks(nbytes)
        return self._seconds(nbytes, chunks)

    @property
    def candidates(self) -> tuple[int, ...]:
        """Chunk counts among which the best is taken, where they are free."""
        return candidates(self.by_formula(2), self.cluster.ranks)

    def _best_chunks(self, nbytes: float) -> int:
        formula = self.by_formula(2)
        if self.model == "formula" and not formula:
            return 1
        ranks = self.cluster.ranks
        return best_chunks(nbytes, lambda c: self._seconds(nbytes, c), formula, ranks)

    def _seconds(self, nbytes: float, chunks: int) -> float:
        if self.by_formula(chunks):
            return self._formula(nbytes, chunks).seconds
        return self.simulation(chunks).makespan(nbytes)

    def _at(self, nbytes: float, chunks: int) -> Time:
        if self.by_formula(chunks):
            return self._formula(nbytes, chunks)
        timeline = self.simulation(chunks).run(nbytes)
        return Time(timeline.makespan, timeline.breakdown, chunks, "event")

    def _formula(self, nbytes: float, chunks: int) -> Time:
        uniform = self.cluster.uniform
        if uniform is None:
            raise InputError(f"model: cluster {self.cluster.name!r} has no exact formula")
        alpha, beta = uniform
        terms, cluster = self.terms(chunks), self.cluster
        parts = Breakdown(
            alpha=terms.alphas * alpha,
            beta=terms.betas * nbytes * beta,
            gamma=terms.gammas * nbytes * cluster.gamma,
            launch=cluster.launch,
        )
        seconds = cluster.launch + terms.seconds(nbytes, alpha, beta, cluster.gamma)
        return Time(seconds, parts, chunks, "formula")

    def schedule(self, chunks: int) -> Schedule:
        """Return the schedule at a chunk count."""
        return self._prepared.schedule(chunks)

    def _build(self, chunks: int) -> Schedule:
        return build(self.collective.name, self.name, self.cluster.ranks, self.root, chunks)

    def simulation(self, chunks: int) -> Simulation:
        """Return the prepared simulation at a chunk count, for one run; built once."""
        return self._prepared.simulation(chunks)
