"""One node whose GPUs hang on one non-blocking switch (NVSwitch)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster, Cut
from collsim.core.collective import check_ranks
from collsim.core.in_switch import InSwitch
from collsim.core.link import Bundle, LinkClass, Links
from collsim.topology._node import plural
from collsim.topology._shape import Key, NodeShape

__all__ = ["SHAPE", "switch"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class _UpAndDown:
    ranks: int

    def __call__(self, src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray]:
        link = np.stack([src, dst + self.ranks], axis=1).ravel()
        return np.arange(src.size + 1, dtype=np.int64) * 2, link

    def renamed(self, to: IntArray) -> tuple[IntArray, IntArray] | None:
        """Return which link becomes which: those of a rank go with it."""
        if to.size != self.ranks:
            return None
        return np.arange(2 * self.ranks), np.concatenate([to, to + self.ranks])


def switch(
    gpus: int,
    link: LinkClass,
    name: str,
    *,
    gamma: float = 0.0,
    launch: float = 0.0,
    multicast: bool = False,
    multicast_efficiency: float = 1.0,
) -> Cluster:
    """Return one node: every GPU has one cable to a switch that never blocks.

    Parameters
    ----------
    gpus : int
        GPUs of the node.
    link : LinkClass
        From a GPU to the switch; alpha is that of a whole message, through the switch.
    name : str
        Name of the cluster.
    gamma, launch : float
        As in :class:`collsim.core.cluster.Cluster`, seconds per byte and seconds.
    multicast : bool
        Whether the switch can multicast and reduce.
    multicast_efficiency : float
        Part of a link's bandwidth that messages reach which it multicasts or reduces.

    Examples
    --------
    >>> wire = LinkClass("wire", alpha=1e-6, bandwidth=1e9)
    >>> switch(4, wire, "four").route(0, 3)
    (0, 7)
    """
    gpus = check_ranks(gpus)
    up, down = ([f"gpu[{r}].{way}" for r in range(gpus)] for way in ("up", "down"))
    every, hub = np.arange(gpus), np.full(gpus, gpus)
    inside = InSwitch(every.copy(), every + gpus, multicast_efficiency)
    return Cluster(
        name=name,
        ranks=gpus,
        links=Links.assemble(
            Bundle(up, link, True, every, hub), Bundle(down, link, False, hub, every)
        ),
        router=_UpAndDown(gpus),
        least_alpha=link.alpha,
        least_busy=link.busy,
        node=np.zeros(gpus, dtype=np.int64),
        cuts=(Cut("rank", np.arange(gpus), link.bandwidth, link.bandwidth),),
        gamma=gamma,
        launch=launch,
        uniform=(link.alpha, link.beta) if link.busy == link.alpha else None,
        multicast=multicast,
        shape=f"one node, {plural(gpus, 'GPU')} on a switch",
        devices=("switch[0]",),
        in_switch=inside if multicast else None,
    )


SHAPE = NodeShape(
    build=switch,
    keys={
        "gpus": Key("count"),
        "link": Key("link"),
        "multicast": Key("flag", False),
        "multicast_efficiency": Key("part", 1.0),
    },
)
