"""Nodes of any shape joined: NICs, leaf switches, and cables further up."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster, Cut, Router
from collsim.core.collective import check_ranks
from collsim.core.in_switch import InSwitch
from collsim.core.link import Bundle, LinkClass, Links
from collsim.topology._compose import Copies, copy_devices, copy_links, merge_links
from collsim.topology._nics import Nics
from collsim.topology._node import plural, route_cost
from collsim.topology._routes import Routes, either, from_columns, whole_groups

__all__ = ["Tier", "connect"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tier:
    """Switches of one level, and the cables from each to the level above.

    Parameters
    ----------
    name : str
        ``"leaf"``, ``"spine"``, ``"core"``: what a switch of the level is called.
    of : int array
        Switch of every NIC of the cluster.
    up : tuple of (LinkClass, int, bool), optional
        What each cable is, how many there are, and whether alpha is paid on them; None
        where nothing above limits or slows a message.
    named_cut : str, optional
        Name of the cut between the groups of ranks below these switches; None where
        ranks of two groups have other ways to each other.
    """

    name: str
    of: IntArray
    up: tuple[LinkClass, int, bool] | None = None
    named_cut: str | None = None

    def cut(self, nic: IntArray, least_alpha: float) -> Cut | None:
        """Return the cut between the ranks below these switches, where there is one.

        Parameters
        ----------
        nic : int array, shape (P,)
            NIC of every rank.
        least_alpha : float
            Of the cable from a NIC to its leaf switch.
        """
        if self.up is None or self.named_cut is None:
            return None
        link, count, pays = self.up
        rate = link.bandwidth * count
        return Cut(self.named_cut, self.of[nic], rate, rate, least_alpha + pays * link.alpha)


@dataclass(frozen=True, eq=False)
class _Joined:
    """Inside a node over its own links; between nodes from NIC to NIC.

    Parameters
    ----------
    gpus : int
        GPUs of a node.
    inside, copies
        Router of one node, and where its links lie among those of all.
    nic : int array, shape (P,)
        NIC of every rank.
    out, into : tuple of (int array, int array)
        Links on the way up and down, one pair of columns per level: what the switch is
        of every rank on that level, and the number of its link. The first pair, whose
        groups all differ, is always taken.
    """

    gpus: int
    inside: Router
    copies: Copies
    out: tuple[tuple[IntArray, IntArray], ...]
    into: tuple[tuple[IntArray, IntArray], ...]

    def __call__(self, src: IntArray, dst: IntArray) -> Routes:
        node = src // self.gpus
        near = node == dst // self.gpus
        ptr, link = self.inside(src[near] % self.gpus, dst[near] % self.gpus)
        link = self.copies(link, np.repeat(node[near], np.diff(ptr)))
        a, b = src[~near], dst[~near]
        climbs = [np.where(group[a] != group[b], way[a], -1) for group, way in self.out]
        falls = [np.where(group[a] != group[b], way[b], -1) for group, way in self.into]
        far = from_columns([*climbs, *reversed(falls)], a.size)
        return either(near, (ptr, link), far)

    def renamed(self, to: IntArray) -> tuple[IntArray, IntArray] | None:
        """Return which link becomes which, if whole nodes change places.

        Inside, the links of a node go with it. Between nodes every rank brings its ways up
        and down, and which of them are taken is told by whether two ranks are in one group;
        so groups have to change places as a whole, on every level.
        """
        ranks = self.out[0][0].size
        if to.size != ranks:
            return None
        node, local = np.divmod(np.arange(ranks), self.gpus)
        there = to[:: self.gpus] // self.gpus
        if (to != there[node] * self.gpus + local).any():
            return None
        if not all(whole_groups(group, to) for group, _ in (*self.out, *self.into)):
            return None
        every = np.arange(self.copies.first.size)[:, None]
        ways = [way for _, way in (*self.out, *self.into)]
        inside = self.copies(every, np.arange(there.size)).ravel()
        return (
            np.concatenate([inside, *ways]),
            np.concatenate([self.copies(every, there).ravel(), *(way[to] for way in ways)]),
        )


def connect(
    node: Cluster, nodes: int, link: LinkClass, nics: Nics, tiers: Sequence[Tier], shape: str
) -> Cluster:
    """Return copies of a node joined by a network.

    Parameters
    ----------
    node : Cluster
        One node; name, gamma, launch and multicast are taken from it.
    nodes : int
        Number of copies.
    link : LinkClass
        From a NIC to its leaf switch; alpha is that of a whole message.
    nics : Nics
        NICs of a node.
    tiers : sequence of Tier
        Levels of switches, the lowest first.
    shape : str
        A phrase that ends ``"2 nodes of 8 GPUs on a switch, one NIC per GPU "``.
    """
    nodes, gpus = check_ranks(nodes), node.ranks
    where = np.arange(nodes * gpus) // gpus
    links, copies = copy_links(node.links, nodes, gpus, len(node.devices))
    nic = where * nics.count + np.tile(nics.of_gpu, nodes)
    wires = _Wires(nodes * gpus, len(links), list(copy_devices(node.devices, nodes)))
    wires.cards(link, nics, nic, tiers[0])
    for tier, above in zip(tiers, [*tiers[1:], None], strict=True):
        wires.switches(tier, above, nic)
    links = merge_links(links, Links.assemble(*wires.bundles))
    router = _Joined(gpus, node.router, copies, tuple(wires.out), tuple(wires.into))
    near, far = gpus > 1, nodes > 1
    costs = [(node.least_alpha, node.least_busy)] * near
    across = 0.0
    if far:
        # No two nodes are nearer than the first two, and their NICs 0.
        costs.append(route_cost(links, router, 0, gpus))
        across = costs[-1][0]
    rate = nics.count * nics.lanes * link.bandwidth
    cuts = [
        *(_widen(cut, nodes, nics, link.bandwidth, across) for cut in node.cuts),
        Cut("node", where.copy(), rate, rate, across),
        *(tier.cut(nic, link.alpha) for tier in tiers),
    ]
    plain = gpus == nics.lanes == 1 and tiers[0].up is None and far and node.local is None
    plain = plain and node.sharing == "fifo"
    return replace(
        node,
        ranks=nodes * gpus,
        links=links,
        router=router,
        least_alpha=min((alpha for alpha, _ in costs), default=0.0),
        least_busy=min((busy for _, busy in costs), default=0.0),
        node=where,
        local=None if node.local is None else copies(np.tile(node.local, nodes), where),
        cuts=tuple(cut for cut in cuts if cut is not None),
        uniform=(link.alpha, link.beta) if plain and link.busy == link.alpha else None,
        in_switch=_in_switches(node.in_switch, copies, where),
        ways=max(node.ways * near + nics.lanes * far, 1),
        devices=tuple(wires.devices),
        shape=f"{plural(nodes, 'node')} of {node.shape.removeprefix('one node, ')}, {shape}",
    )


def _in_switches(one: InSwitch | None, copies: Copies, node: IntArray) -> InSwitch | None:
    """Return the links to the switches of all copies of a node that has one."""
    if one is None:
        return None
    up, down = (np.tile(ends, node.size // ends.size) for ends in (one.up, one.down))
    return InSwitch(copies(up, node), copies(down, node), one.efficiency)


class _Wires:
    """Links of the network as they are laid, level by level.

    Attributes
    ----------
    bundles : list of Bundle
        For :meth:`Links.assemble`.
    out, into : list of (int array, int array)
        For :class:`_Joined`.
    devices : list of str
        NICs and switches after the devices of the nodes.
    """

    def __init__(self, ranks: int, base: int, devices: list[str]) -> None:
        self.ranks = ranks
        self.base = base
        self.devices = devices
        self.bundles: list[Bundle] = []
        self.out: list[tuple[IntArray, IntArray]] = []
        self.into: list[tuple[IntArray, IntArray]] = []

    @property
    def _next(self) -> int:
        """Number of the next vertex."""
        return self.ranks + len(self.devices)

    def _lay(
        self,
        names: Sequence[list[str]],
        cable: tuple[LinkClass, int, bool],
        low: IntArray,
        high: IntArray,
        group: IntArray,
        member: IntArray,
    ) -> None:
        """Lay links up and down; `member` is the one of every rank."""
        link, lanes, pays = cable
        self.bundles.append(Bundle(names[0], link, pays, low, high, lanes))
        self.bundles.append(Bundle(names[1], link, False, high, low, lanes))
        self.out.append((group, self.base + member))
        self.into.append((group, self.base + low.size + member))
        self.base += 2 * low.size

    def cards(self, link: LinkClass, nics: Nics, nic: IntArray, leaves: Tier) -> None:
        """Lay the links of NICs to leaf switches, and of GPUs to the NICs that they share."""
        every, count = np.arange(self.ranks), leaves.of.size
        below = every
        if nics.count < nics.gpus:
            host = replace(
                link, name="host", alpha=0.0, alpha_busy=0.0, kind="assumption",
                source="a GPU to a NIC that it shares: as fast as the NIC, never in the way",
            )  # fmt: skip
            below = self._next + np.arange(count)
            self.devices += [f"nic[{i}]" for i in range(count)]
            up, down = ("gpu[{0}]>nic[{1}]", "nic[{1}]>gpu[{0}]")
            names = [[way.format(r, nic[r]) for r in range(self.ranks)] for way in (up, down)]
            self._lay(names, (host, 0, False), every, below[nic], every, every)
        names = [[f"nic[{i}].{way}" for i in range(count)] for way in ("up", "down")]
        high = self._next + leaves.of
        self._lay(names, (link, nics.lanes, True), below, high, every, nic)

    def switches(self, tier: Tier, above: Tier | None, nic: IntArray) -> None:
        """Lay the cables from the switches of a level to the level above."""
        count = int(tier.of.max()) + 1
        here = self._next + np.arange(count)
        self.devices += [f"{tier.name}[{k}]" for k in range(count)]
        if tier.up is None or above is None:
            return
        high = self._next + above.of[np.unique(tier.of, return_index=True)[1]]
        names = [[f"{tier.name}[{k}].{way}" for k in range(count)] for way in ("up", "down")]
        self._lay(names, tier.up, here, high, tier.of[nic], tier.of[nic])


def _widen(cut: Cut, nodes: int, nics: Nics, bandwidth: float, across: float) -> Cut:
    """Return a cut of a node for all copies of it: its groups have NICs too.

    Two groups are in one node, or in two, `across` seconds of alpha from each other.
    """
    groups = int(cut.group.max()) + 1
    group = (np.arange(nodes)[:, None] * groups + cut.group).ravel()
    widest = max(np.unique(nics.of_gpu[cut.group == g]).size for g in range(groups))
    rate = widest * nics.lanes * bandwidth
    least = cut.least_alpha if nodes == 1 else min(cut.least_alpha, across)
    least = across if groups == 1 else least
    return Cut(cut.name, group, cut.out_rate + rate, cut.in_rate + rate, least)
