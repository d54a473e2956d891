"""What a cluster or a profile predicts: by formula where it is exact, simulated elsewhere."""

from collections.abc import Callable
from functools import cache

from collsim.algorithms import build, refusal
from collsim.calibrate.formula import (
    Chunks,
    Predicted,
    Predictor,
    check_chunks,
    formula_of,
    found_for,
    terms_of,
)
from collsim.core.cluster import Cluster
from collsim.core.profile import Profile
from collsim.engine.chunks import best_chunks, channels_of, fastest_channels
from collsim.engine.prepared import Prepared
from collsim.errors import InputError

__all__ = ["is_ideal", "predictor_of"]


def predictor_of(
    model: Profile | Cluster, algorithm: str | None = None, chunks: Chunks | None = None
) -> Predictor:
    """Return a profile or a cluster as a model; it predicts what `predict` does.

    An ideal network has as many ranks as are asked for; any other cluster has its own.

    Parameters
    ----------
    model : Profile or Cluster
        A profile has one class of links, which make an ideal network.
    algorithm : str, optional
        By default the profile's own, or ring.
    chunks : int or "auto", optional
        By default the profile's own, or auto.

    Raises
    ------
    InputError
        If the profile has several classes of links.

    Examples
    --------
    >>> model = predictor_of(Cluster.load("dgx-h100", nodes=2), "mst")
    >>> found = model("broadcast", 16, 2**30)
    >>> found.model, found.latency + found.transfer == found.seconds
    ('event', True)
    """
    if isinstance(model, Cluster):
        return _Times(_sized(model), algorithm or "ring", "auto" if chunks is None else chunks)
    algorithm = algorithm or model.algorithm
    chunks = model.chunks if chunks is None else chunks
    found = model.uniform
    if found is None:
        raise InputError(
            f"profile {model.name}: has link classes {', '.join(model.classes)}, "
            "expected one with alpha and beta"
        )
    alpha, beta, launch = found
    if beta == 0:
        # No cluster has that bandwidth; the formula has no need of one.
        return formula_of(alpha, beta, launch, algorithm, chunks)
    key = f"{model.classes[0]}.alpha_busy"
    busy = model.value(key) if key in model.parameters else None
    network = Cluster.ideal(2, alpha, 1.0 / beta, launch=launch, alpha_busy=busy)
    return _Times(_sized(network), algorithm, chunks)


def is_ideal(cluster: Cluster) -> bool:
    """Return whether a cluster is an ideal network, which can have any rank count.

    Examples
    --------
    >>> is_ideal(Cluster.load("textbook-h100")), is_ideal(Cluster.load("dgx-h100"))
    (True, False)
    """
    return cluster.shape == Cluster.ideal(1, 0.0, 1.0).shape


def _sized(cluster: Cluster) -> Callable[[int], Cluster]:
    """Return the function that gives a cluster of so many ranks."""

    def sized(ranks: int) -> Cluster:
        if cluster.ranks == ranks:
            return cluster
        if not is_ideal(cluster):
            raise InputError(
                f"cluster {cluster.name}: has {cluster.ranks} ranks, expected {ranks}"
            )
        link = cluster.links.classes[0]
        return Cluster.ideal(
            ranks,
            link.alpha,
            link.bandwidth,
            gamma=cluster.gamma,
            launch=cluster.launch,
            alpha_busy=link.alpha_busy,
            name=cluster.name,
        )

    return cache(sized)


class _Times:
    """Times of one algorithm; what was simulated is kept."""

    def __init__(
        self, sized: Callable[[int], Cluster], algorithm: str, chunks: int | str
    ) -> None:
        self.sized = sized
        self.algorithm = algorithm
        self.chunks = check_chunks(chunks)
        self._prepared: dict[tuple[str, int], Prepared] = {}
        self._found: dict[tuple[str, int, float], Predicted] = {}

    def __call__(self, collective: str, ranks: int, nbytes: float) -> Predicted:
        key = collective, ranks, nbytes
        if key not in self._found:
            count, channels = self._best(collective, ranks, nbytes)
            self._found[key] = self._at(collective, ranks, nbytes, count, channels)
        return self._found[key]

    def _best(self, collective: str, ranks: int, nbytes: float) -> tuple[int, int]:
        """Return the best chunks and channels, as `predict` takes them."""
        algorithm, cluster = found_for(collective, self.algorithm)[1], self.sized(ranks)
        possible = channels_of(algorithm, cluster.setting)
        chosen: dict[int, int] = {}

        def seconds(channels: int) -> float:
            chosen[channels] = self._count(collective, ranks, nbytes, channels)
            return self._seconds(collective, ranks, nbytes, chosen[channels], channels)

        if len(possible) == 1:
            return self._count(collective, ranks, nbytes, possible[0]), possible[0]
        channels, _ = fastest_channels(possible, seconds)
        return chosen[channels], channels

    def _count(self, collective: str, ranks: int, nbytes: float, channels: int) -> int:
        if not found_for(collective, self.algorithm)[1].chunked:
            return 1
        if self.chunks != "auto":
            return self.chunks
        return best_chunks(
            nbytes,
            lambda c: self._seconds(collective, ranks, nbytes, c, channels),
            self._by_formula(collective, ranks, 2, channels),
            ranks * channels,
        )

    def _by_formula(self, collective: str, ranks: int, chunks: int, channels: int) -> bool:
        cluster = self.sized(ranks)
        if cluster.uniform is None or channels > 1:
            return False
        name, found = found_for(collective, self.algorithm)
        reason = refusal(collective, name, ranks, cluster.node, cluster.setting.multicast)
        if reason is not None:
            raise InputError(reason)
        terms = found.terms(ranks, chunks)
        return terms is not None and terms.holds(cluster.gamma)

    def _seconds(
        self, collective: str, ranks: int, nbytes: float, chunks: int, channels: int
    ) -> float:
        if self._by_formula(collective, ranks, chunks, channels):
            return self._formula(collective, ranks, nbytes, chunks).seconds
        simulations = self._simulations(collective, ranks)
        return simulations.simulation(chunks, channels).makespan(nbytes)

    def _at(
        self, collective: str, ranks: int, nbytes: float, chunks: int, channels: int
    ) -> Predicted:
        if self._by_formula(collective, ranks, chunks, channels):
            return self._formula(collective, ranks, nbytes, chunks)
        simulations = self._simulations(collective, ranks)
        seconds = simulations.simulation(chunks, channels).makespan(nbytes)
        # What no bytes take, waiting for each other's start-up included; further channels
        # are for bytes alone.
        latency = min(seconds, simulations.simulation(chunks, 1).makespan(0.0))
        return Predicted(seconds, latency, seconds - latency, chunks, "event")

    def _formula(self, collective: str, ranks: int, nbytes: float, chunks: int) -> Predicted:
        cluster = self.sized(ranks)
        costs = found_for(collective, self.algorithm)[1].costs(cluster)
        alpha, beta = costs or (0.0, 0.0)
        terms = terms_of(collective, self.algorithm, ranks, chunks)
        seconds = cluster.launch + terms.seconds(nbytes, alpha, beta, cluster.gamma)
        latency = cluster.launch + terms.alphas * alpha
        return Predicted(seconds, latency, seconds - latency, chunks)

    def _simulations(self, collective: str, ranks: int) -> Prepared:
        key = collective, ranks
        if key not in self._prepared:
            name, cluster = found_for(collective, self.algorithm)[0], self.sized(ranks)
            self._prepared[key] = Prepared(
                cluster,
                lambda c, k: build(
                    *(collective, name, ranks),
                    chunks=c,
                    node=cluster.node,
                    channels=k,
                    multicast=cluster.setting.multicast,
                    rings=cluster.setting.rings,
                ),
            )
        return self._prepared[key]
