"""A cluster: ranks, links, ports, and the route of every pair of ranks."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from collsim.core.arguments import checked
from collsim.core.in_switch import InSwitch
from collsim.core.link import Links
from collsim.core.setting import Setting
from collsim.errors import InputError
from collsim.registry import member

__all__ = ["Cluster", "Cut", "Ports", "Renamable", "Router"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


class Router(Protocol):
    """Gives the route of every ordered pair of different ranks."""

    def __call__(self, src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray]:
        """Return ``(ptr, link)``: pair i crosses ``link[ptr[i]:ptr[i + 1]]``, in order."""
        ...


@runtime_checkable
class Renamable(Protocol):
    """A router that knows under which renamings of ranks its routes stay what they are."""

    def renamed(self, to: IntArray) -> tuple[IntArray, IntArray] | None:
        """Return which link becomes which if rank r becomes ``to[r]``, or None.

        The route from ``to[a]`` to ``to[b]`` is that from a to b with its links so renamed,
        for all a and b; links that are not named are on no route. None means that this is
        not so, or not known.
        """
        ...


@dataclass(frozen=True)
class Ports:
    """What every message of a rank must hold on its way out, or in.

    Parameters
    ----------
    beta : float
        Seconds per byte that a port is held for.
    lanes : int
        Messages that may hold it at once.
    """

    beta: float
    lanes: int = 1


@dataclass(frozen=True, eq=False)
class Cut:
    """A partition of the ranks that the topology names, and what can cross it.

    Parameters
    ----------
    name : str
        ``"rank"``, ``"node"``, ...
    group : int array, shape (P,)
        The group of every rank, numbered from 0.
    out_rate, in_rate : float
        Bytes per second that can leave one group, or enter it, over all its links.
    least_alpha : float
        Sum of alpha over any route from one group to another is at least so much; 0 says
        nothing.
    """

    name: str
    group: IntArray
    out_rate: float
    in_rate: float
    least_alpha: float = 0.0


@checked
@dataclass(frozen=True, eq=False)
class Cluster:
    """GPUs, the links between them, and how messages travel.

    Parameters
    ----------
    name : str
        For titles and for the ``cluster`` key of results.
    ranks : int
        Number of GPUs, P.
    links : Links
        Every directed link.
    router : Router
        Route of every ordered pair.
    least_alpha, least_busy : float
        Smallest sum of alpha, and of alpha_busy, over the routes of the cluster.
    node : int array, shape (P,)
        Node of every rank.
    egress, ingress : Ports, optional
        Ports of every rank; None means no limit.
    cuts : tuple of Cut
        For the lower bound.
    gamma : float
        Seconds per byte reduced at a receiver.
    launch : float
        Seconds that every collective pays once.
    uniform : tuple of float, optional
        ``(alpha, beta)`` if the cluster is an ideal one-port network as far as times
        are concerned, so that the closed formulas are exact on it. It becomes None where
        links are shared fairly, copies cost or ranks enter late.
    multicast : bool
        Whether a switch can deliver one message to many, or reduce on its way.
    shape : str
        A phrase for the reader: ``"8 GPUs on one switch"``.
    sharing : str
        How messages that want the same link share it: ``"fifo"``.
    ways : int
        Messages that a rank can begin to send, or to receive, at the same time, over all
        its links and their lanes; for the lower bound.
    devices : tuple of str
        Names of the vertices beside the GPUs: switches, NICs, bridges. Vertex P + i of
        the graph that the links make is ``devices[i]``.
    local : int array, shape (P,), optional
        The link that a message of a rank to itself crosses (its memory); None means that
        such messages cost nothing.
    delay : float array, shape (P,), optional
        Seconds by which every rank enters late; its messages, out and in, wait for it.
    order : int array, shape (P,), optional
        The GPU on which every rank sits; None means rank r on GPU r.
    in_switch : InSwitch, optional
        Links to the switches that add up and multicast, which then are numbers P + node of
        :meth:`route`; None where some node has none.
    changed : tuple of str
        Keys of its file that were changed when it was loaded.

    Examples
    --------
    >>> Cluster.ideal(8, "10us", "900GB/s").uniform
    (1e-05, 1.1111111111111112e-12)
    """

    name: str
    ranks: int
    links: Links
    router: Router
    least_alpha: float
    least_busy: float
    node: IntArray
    egress: Ports | None = None
    ingress: Ports | None = None
    cuts: tuple[Cut, ...] = ()
    gamma: float = 0.0
    launch: float = 0.0
    uniform: tuple[float, float] | None = None
    multicast: bool = False
    shape: str = ""
    sharing: str = "fifo"
    ways: int = 1
    devices: tuple[str, ...] = ()
    local: IntArray | None = None
    delay: FloatArray | None = None
    order: IntArray | None = None
    in_switch: InSwitch | None = None
    changed: tuple[str, ...] = ()

    @staticmethod
    @checked
    def ideal(
        ranks: int,
        alpha: float | str,
        bandwidth: float | str,
        *,
        gamma: float | str = 0.0,
        launch: float | str = 0.0,
        alpha_busy: float | str | None = None,
        name: str = "ideal",
    ) -> "Cluster":
        """Return an ideal one-port network.

        A private link per ordered pair, one egress and one ingress port per rank.

        Parameters
        ----------
        ranks : int
            Rank count P.
        alpha : float or str
            Seconds per message, or text such as ``"10us"``.
        bandwidth : float or str
            Bytes per second, or text such as ``"900GB/s"``.
        gamma : float or str
            Seconds per byte reduced, or text such as ``"2us"`` per byte.
        launch : float or str
            Seconds per collective.
        alpha_busy : float or str, optional
            Seconds for which a message holds its ports apart from its bytes; alpha by default.
        name : str
            Name of the cluster.

        Returns
        -------
        Cluster
            Of one node.

        Raises
        ------
        InputError
            For a rank count below 1, a bandwidth that is not positive and finite, a
            negative or infinite time, or an alpha_busy above alpha.

        Examples
        --------
        >>> Cluster.ideal(4, alpha=1e-6, bandwidth=1e9).ranks
        4
        """
        make = member("collsim.topology", "ideal", "ideal", "shape")
        cluster = make(ranks, alpha, bandwidth, gamma, launch, alpha_busy, name)  # type: ignore[operator]
        if not isinstance(cluster, Cluster):
            raise TypeError("topology/ideal.py must return a Cluster")
        return cluster

    @staticmethod
    @checked
    def load(
        name_or_path: str | Path,
        *,
        nodes: int | None = None,
        gpus_per_node: int | None = None,
        ranks: int | None = None,
        changes: Mapping[str, object] | None = None,
    ) -> "Cluster":
        """Return a preset by name, or read a cluster file.

        Parameters
        ----------
        name_or_path : str or Path
            A preset's name, or a file: what ends in ``.toml`` or has a slash.
        nodes, gpus_per_node : int, optional
            Override its size.
        ranks : int, optional
            Take so many GPUs of one node.
        changes : dict of str, optional
            What to read in place of the file's values, by dotted key, as in
            ``{"network.bandwidth": "100GB/s", "node.gpus": 4}``.

        Returns
        -------
        Cluster
            With the links, ports and cuts of its shape.

        Raises
        ------
        UnknownNameError
            If there is no preset of that name.
        ConfigError, FileError
            If the file can't be read or understood.
        InputError
            If the cluster has no such size.
        UsageError
            If both `ranks` and `nodes` are given.

        Examples
        --------
        >>> Cluster.load("dgx-h100", nodes=2).ranks
        16
        """
        load = member("collsim.config", "cluster", "load", "reader")
        size = {"nodes": nodes, "gpus_per_node": gpus_per_node, "ranks": ranks}
        cluster = load(name_or_path, **size, changes=changes)  # type: ignore[operator]
        if not isinstance(cluster, Cluster):
            raise TypeError("config/cluster.py must return a Cluster")
        return cluster

    def __repr__(self) -> str:
        return f"<Cluster {self.name}: {self.ranks} ranks, {self.shape}>"

    def __post_init__(self) -> None:
        for name in ("node", "local", "delay", "order"):
            array = getattr(self, name)
            if array is not None and array.shape != (self.ranks,):
                raise InputError(
                    f"cluster: {name} has {array.size} entries, expected {self.ranks}"
                )
            if array is not None:
                array.flags.writeable = False
        if self.in_switch is not None and self.in_switch.up.shape != (self.ranks,):
            raise InputError(
                f"cluster: in_switch has links of {self.in_switch.up.size} ranks, "
                f"expected {self.ranks}"
            )
        late = self.delay is not None and bool(self.delay.any())
        if self.sharing != "fifo" or self.local is not None or late:
            object.__setattr__(self, "uniform", None)

    @checked
    def vertex(self, index: int) -> str:
        """Return the name of a vertex of the graph of links: a GPU, or a device.

        Parameters
        ----------
        index : int
            Its number: ranks come first, then :attr:`devices`.

        Returns
        -------
        str
            Such as ``"gpu[3]"`` or ``"switch[0]"``.

        Examples
        --------
        >>> Cluster.load("dgx-h100").vertex(8)
        'switch[0]'
        """
        if index < self.ranks:
            return f"gpu[{index if self.order is None else self.order[index]}]"
        return self.devices[index - self.ranks]

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(self.node.max()) + 1

    @cached_property
    def setting(self) -> Setting:
        """All that an algorithm may know of the cluster.

        Examples
        --------
        >>> Cluster.load("dgx-h100").setting.multicast
        True
        """
        return Setting(
            self.ranks, self.node, multicast=self.in_switch is not None, rings=self.rings
        )

    @cached_property
    def rings(self) -> IntArray | None:
        """In which orders rings best pass through a node, over cables of their own.

        Returns
        -------
        int array, shape (rings, GPUs of a node), or None
            None where GPUs are not joined directly; see :func:`collsim.core.rings.orders_of`.

        Examples
        --------
        >>> Cluster.load("hgx-a100-4").rings.shape
        (6, 4)
        """
        if self.egress is not None or self.ingress is not None:
            return None
        from collsim.core.rings import orders_of

        return orders_of(self.node, self.links, self.router)

    @checked
    def route(self, src: int, dst: int) -> tuple[int, ...]:
        """Return the links that a message crosses, in order.

        Parameters
        ----------
        src, dst : int
            Ranks; from P on, the switches of nodes, where they add up and multicast.

        Returns
        -------
        tuple of int
            Indices into :attr:`links`. From a rank to itself that is its memory, or nothing.

        Examples
        --------
        >>> cluster = Cluster.load("dgx-h100", nodes=2)
        >>> [cluster.links.names[link] for link in cluster.route(0, 8)]
        ['nic[0].up', 'nic[8].down']
        """
        if max(src, dst) >= self.ranks and self.in_switch is not None:
            up = dst >= self.ranks
            return (int(self.in_switch.up[src] if up else self.in_switch.down[dst]),)
        if src == dst:
            return () if self.local is None else (int(self.local[src]),)
        _, link = self.router(np.array([src]), np.array([dst]))
        return tuple(int(i) for i in link)
