"""NICs of a node, and how many cables a switch has further up."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.errors import InputError
from collsim.topology._node import plural

__all__ = ["Nics", "nics_of", "trunk"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Nics:
    """NICs of a node.

    Parameters
    ----------
    count : int
        NICs that are told apart: as many as GPUs, or fewer, which GPUs then share.
    lanes : int
        NICs of one GPU where there are more; a message takes one of them.
    gpus : int
        GPUs of the node.
    """

    count: int
    lanes: int
    gpus: int

    @property
    def of_gpu(self) -> IntArray:
        """NIC of every GPU: ``i * nics // gpus``."""
        return np.arange(self.gpus) * self.count // self.gpus

    @property
    def phrase(self) -> str:
        """How to say it."""
        if self.lanes > 1:
            return f"{self.lanes} NICs per GPU"
        if self.count == self.gpus:
            return "one NIC per GPU"
        return f"{plural(self.count, 'NIC')} for {self.gpus} GPUs"


def nics_of(node: Cluster, nics: int | None) -> Nics:
    """Return the NICs of a node.

    Raises
    ------
    InputError
        If there are more NICs than GPUs, and not as many for every GPU.
    """
    gpus = node.ranks
    count = gpus if nics is None else nics
    if count > gpus and count % gpus:
        raise InputError(f"nics: got {count}, expected a multiple of the {gpus} GPUs, or fewer")
    return Nics(min(count, gpus), max(count // gpus, 1), gpus)


def trunk(
    name: str, link: LinkClass, below: int, oversubscription: float, cable: LinkClass | None
) -> tuple[LinkClass, int, bool]:
    """Return the cables from a switch up: their capacity is that of its NICs, or a part.

    Parameters
    ----------
    name : str
        What to call them.
    link : LinkClass
        From a NIC to its leaf switch.
    below : int
        NICs below the switch, when it is full.
    oversubscription : float
        Capacity of these NICs, divided by that of the cables.
    cable : LinkClass, optional
        One cable, with an alpha of its own; by default one like those of the NICs, whose
        alpha is paid already.

    Returns
    -------
    link : LinkClass
        A cable. So many that they are not slower than asked for, each a little faster
        where their capacity is not a whole number of cables.
    lanes : int
        How many there are.
    pays : bool
        Whether alpha is paid on them.

    Raises
    ------
    InputError
        If the oversubscription is 0.

    Examples
    --------
    >>> wire = LinkClass("wire", alpha=1e-6, bandwidth=1e9)
    >>> cable, lanes, _ = trunk("uplink", wire, 8, 2.0, None)
    >>> cable.bandwidth, lanes
    (1000000000.0, 4)
    >>> cable, lanes, _ = trunk("uplink", wire, 8, 3.0, None)
    >>> cable.bandwidth * lanes
    2666666666.6666665
    """
    if oversubscription <= 0:
        raise InputError(f"oversubscription: got {oversubscription!r}, expected more than 0")
    each = link if cable is None else cable
    capacity = below * link.bandwidth / oversubscription
    lanes = max(math.floor(capacity / each.bandwidth * (1 + 1e-12)), 1)
    said = f"{below} NICs of {link.name} below, oversubscribed {oversubscription:g}:1"
    made = LinkClass(
        name=name if cable is None else f"{cable.name} {name}",
        alpha=0.0 if cable is None else cable.alpha,
        bandwidth=capacity / lanes,
        alpha_busy=0.0 if cable is None else cable.busy,
        source=f"{said}; {each.source}" if each.source else said,
        kind=each.kind,
    )
    return made, lanes, cable is not None
