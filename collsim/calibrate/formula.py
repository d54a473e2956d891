"""The formula of an algorithm as a model of measured times."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from collsim.algorithms import algorithm_names, find
from collsim.core.algorithm import Terms
from collsim.core.cluster import Cluster
from collsim.core.collective import check_ranks
from collsim.core.profile import Profile
from collsim.errors import InputError

__all__ = ["Predicted", "Predictor", "formula_of", "predictor_of", "terms_of"]


@dataclass(frozen=True)
class Predicted:
    """A predicted time and its parts.

    Parameters
    ----------
    seconds : float
        The time.
    latency : float
        The part that does not depend on the size: launch and every alpha.
    transfer : float
        The part that grows with the size: bytes times beta.
    """

    seconds: float
    latency: float
    transfer: float


Predictor = Callable[[str, int, float], Predicted]
"""``(collective, ranks, nbytes) -> Predicted``: any model that can be checked."""


@cache
def terms_of(collective: str, algorithm: str, ranks: int, chunks: int = 1) -> Terms:
    """Return the cost of an algorithm; a collective that has only one takes that one.

    Raises
    ------
    InputError
        If the algorithm does not run on so many ranks, or is not cut into chunks.

    Examples
    --------
    >>> terms_of("all_reduce", "ring", 8).betas, terms_of("sendrecv", "ring", 8).alphas
    (1.75, 1)
    """
    check_ranks(ranks)
    known = algorithm_names(collective)
    name = known[0] if len(known) == 1 else algorithm
    found = find(collective, name)
    reason = found.limits(ranks)
    if reason is not None:
        raise InputError(f"{collective}/{name}: {reason}")
    if ranks == 1:
        return Terms(0.0, 0.0)
    return found.terms(ranks, chunks if found.chunked else 1)


def formula_of(
    alpha: float, beta: float, launch: float, algorithm: str, chunks: int = 1
) -> Predictor:
    """Return the model ``launch + alphas * alpha + betas * n * beta``.

    Examples
    --------
    >>> model = formula_of(alpha=0.5, beta=0.25, launch=1.0, algorithm="ring")
    >>> model("all_reduce", 2, 8)
    Predicted(seconds=4.0, latency=2.0, transfer=2.0)
    """

    def predict(collective: str, ranks: int, nbytes: float) -> Predicted:
        terms = terms_of(collective, algorithm, ranks, chunks)
        latency = launch + terms.alphas * alpha
        transfer = terms.betas * nbytes * beta
        return Predicted(latency + transfer, latency, transfer)

    return predict


def predictor_of(model: Profile | Cluster, algorithm: str | None = None) -> Predictor:
    """Return the formula of a profile or a cluster as a model.

    Parameters
    ----------
    model : Profile or Cluster
        With one class of links; its algorithm's formula must hold.
    algorithm : str, optional
        By default the profile's own, or ring.

    Raises
    ------
    InputError
        If the formula does not hold there.
    """
    if isinstance(model, Profile):
        found = model.uniform
        if found is None:
            classes = ", ".join(model.classes)
            raise InputError(
                f"profile {model.name}: has link classes {classes}, "
                "expected one with alpha and beta for the formula"
            )
        return formula_of(*found, algorithm or model.algorithm, model.chunks)
    if model.uniform is None:
        raise InputError(
            f"cluster {model.name}: the formula is not exact on it, "
            "expected an ideal network or one switch"
        )
    return formula_of(*model.uniform, model.launch, algorithm or "ring")
