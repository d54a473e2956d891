"""The ideal one-port network: a private link per ordered pair, one port each way."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster, Cut, Ports
from collsim.core.collective import check_ranks
from collsim.core.link import LinkClass, Links
from collsim.errors import InputError
from collsim.topology._shape import Key, NodeShape
from collsim.units import parse_bandwidth, parse_time

__all__ = ["SHAPE", "ideal", "one_port"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class _OneLink:
    """Every pair has its own link, all alike: one entry without a limit stands for all."""

    def __call__(
        self,
        src: IntArray,
        dst: IntArray,  # noqa: ARG002 - whoever it is for, the link is a private one
    ) -> tuple[IntArray, IntArray]:
        return np.arange(src.size + 1), np.zeros(src.size, dtype=np.int64)

    def renamed(self, to: IntArray) -> tuple[IntArray, IntArray] | None:  # noqa: ARG002
        """Return that the one entry, which stands for all links, stays."""
        return np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)


def ideal(
    ranks: int,
    alpha: float | str,
    bandwidth: float | str,
    gamma: float | str,
    launch: float | str,
    alpha_busy: float | str | None,
    name: str,
) -> Cluster:
    """Return an ideal one-port network; see :meth:`collsim.Cluster.ideal`.

    Examples
    --------
    >>> ideal(4, "1us", "1GB/s", 0, 0, None, "four").shape
    'ideal one-port network'
    """
    link = LinkClass(
        name="link",
        alpha=_seconds("alpha", alpha),
        bandwidth=_number("bandwidth", bandwidth, parse_bandwidth),
        alpha_busy=None if alpha_busy is None else _seconds("alpha_busy", alpha_busy),
        source="given",
    )
    return one_port(ranks, link, name, _seconds("gamma", gamma), _seconds("launch", launch))


def one_port(
    ranks: int, link: LinkClass, name: str, gamma: float = 0.0, launch: float = 0.0
) -> Cluster:
    """Return an ideal one-port network whose links and ports are of one class."""
    ranks = check_ranks(ranks)
    links = Links(
        names=(link.name,),
        classes=(link,),
        kind=np.zeros(1, dtype=np.int64),
        alpha=np.array([link.alpha]),
        beta=np.array([link.beta]),
        busy=np.array([link.busy]),
        lanes=np.zeros(1, dtype=np.int64),
    )
    return Cluster(
        name=name,
        ranks=ranks,
        links=links,
        router=_OneLink(),
        least_alpha=link.alpha,
        least_busy=link.busy,
        node=np.zeros(ranks, dtype=np.int64),
        egress=Ports(link.beta),
        ingress=Ports(link.beta),
        cuts=(Cut("rank", np.arange(ranks), link.bandwidth, link.bandwidth),),
        gamma=gamma,
        launch=launch,
        uniform=(link.alpha, link.beta) if link.busy == link.alpha else None,
        shape="ideal one-port network",
    )


def _seconds(name: str, value: float | str) -> float:
    seconds = _number(name, value, parse_time)
    if not 0 <= seconds < float("inf"):
        raise InputError(f"{name}: got {value!r}, expected seconds, 0 or more and finite")
    return seconds


def _number(name: str, value: float | str, parse: Callable[[str], float]) -> float:
    if isinstance(value, str):
        return parse(value)
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise InputError(f"{name}: got {value!r}, expected a number or text with a unit")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{name}: got a number of more than 308 digits") from None


def _build(gpus: int, link: LinkClass, name: str, gamma: float, launch: float) -> Cluster:
    return one_port(gpus, link, name, gamma, launch)


SHAPE = NodeShape(
    build=_build, keys={"gpus": Key("count", 8), "link": Key("link")}, elastic=True
)
