"""What all shapes of a node have in common."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from collsim.core.cluster import Cluster, Cut, Router
from collsim.core.collective import check_ranks
from collsim.core.link import Bundle, LinkClass, Links
from collsim.errors import InputError
from collsim.topology._compose import merge_links
from collsim.topology._paths import shortest

__all__ = ["check_gpus", "mesh", "plural", "route_cost", "widened", "with_local"]


def plural(count: int, noun: str, ending: str = "s") -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> plural(1, "GPU"), plural(8, "GPU"), plural(2, "switch", "es")
    ('1 GPU', '8 GPUs', '2 switches')
    """
    return f"{count} {noun}{ending * (count != 1)}"


def check_gpus(gpus: int, most: int, shape: str) -> int:
    """Return a number of GPUs that a shape can have.

    Raises
    ------
    InputError
        If there are more; tables that grow with their square would fill the memory.
    """
    gpus = check_ranks(gpus)
    if gpus > most:
        raise InputError(f"gpus: got {gpus}, expected at most {most} in a {shape}")
    return gpus


def widened(link: LinkClass, width: int) -> LinkClass:
    """Return the link that so many cables make when one message uses all of them.

    Examples
    --------
    >>> two = widened(LinkClass("wire", alpha=1e-6, bandwidth=1e9), 2)
    >>> two.name, two.bandwidth
    ('wirex2', 2000000000.0)
    """
    if width == 1:
        return link
    return replace(link, name=f"{link.name}x{width}", bandwidth=link.bandwidth * width)


def route_cost(links: Links, router: Router, src: int, dst: int) -> tuple[float, float]:
    """Return the sums of alpha and of alpha_busy over the route of a pair."""
    _, link = router(np.array([src]), np.array([dst]))
    return float(links.alpha[link].sum()), float(links.busy[link].sum())


def mesh(
    name: str,
    gpus: int,
    wires: Sequence[tuple[int, int, LinkClass]],
    router: Router | None,
    shape: str,
    *,
    lanes: int = 1,
    gamma: float = 0.0,
    launch: float = 0.0,
) -> Cluster:
    """Return a node whose GPUs are joined by cables without a switch.

    Parameters
    ----------
    name, shape : str
        Of the cluster; `shape` is a phrase.
    gpus : int
        Number of GPUs.
    wires : sequence of (int, int, LinkClass)
        One direction of a cable each: from, to, what it is.
    router : Router, optional
        Its links are numbered in the order of `wires`; shortest paths by default.
    lanes : int
        Messages that a cable carries at once.
    gamma, launch : float
        As in :class:`collsim.core.cluster.Cluster`.
    """
    bundles = []
    for link, alike in groupby(wires, key=lambda wire: wire[2]):
        mine = [(a, b) for a, b, _ in alike]
        tail, head = np.array(mine).T
        names = [f"gpu[{a}]>gpu[{b}]" for a, b in mine]
        bundles.append(Bundle(names, link, True, tail, head, lanes))
    links = Links.assemble(*bundles)
    rates = np.zeros((2, gpus))
    many = np.zeros((2, gpus), dtype=np.int64)
    if links.tail is not None and links.head is not None:
        for side, end in enumerate((links.tail, links.head)):
            np.add.at(rates[side], end, links.lanes / links.beta)
            np.add.at(many[side], end, links.lanes)
    alone = gpus <= 2 and lanes == 1 and len(links) > 0
    first = links.classes[0] if alone else None
    return Cluster(
        name=name,
        ranks=gpus,
        links=links,
        router=shortest(links, gpus, gpus) if router is None else router,
        least_alpha=float(links.alpha.min()) if len(links) else 0.0,
        least_busy=float(links.busy.min()) if len(links) else 0.0,
        node=np.zeros(gpus, dtype=np.int64),
        # A single GPU sends nothing out, and a cut needs a rate.
        cuts=(Cut("rank", np.arange(gpus), rates[0].max(), rates[1].max()),) * (gpus > 1),
        gamma=gamma,
        launch=launch,
        # Two GPUs with one cable each way are the one-port network of the formulas.
        uniform=(first.alpha, first.beta) if first and first.busy == first.alpha else None,
        shape=f"one node, {shape}",
        ways=max(int(many.max()), 1),
    )


def with_local(cluster: Cluster, link: LinkClass) -> Cluster:
    """Return a cluster in which a rank's message to itself crosses its own memory.

    Examples
    --------
    >>> from collsim.topology.switch import switch
    >>> wire = LinkClass("wire", alpha=1e-6, bandwidth=1e9)
    >>> two = with_local(switch(2, wire, "two"), LinkClass("hbm", alpha=0.0, bandwidth=1e12))
    >>> [two.links.names[i] for i in two.route(1, 1)]
    ['memory[1]']
    """
    every = np.arange(cluster.ranks)
    names = [f"memory[{r}]" for r in range(cluster.ranks)]
    return replace(
        cluster,
        links=merge_links(
            cluster.links, Links.assemble(Bundle(names, link, True, every, every))
        ),
        local=len(cluster.links) + every,
        # The formulas have no term for what a rank copies to itself.
        uniform=None,
    )
