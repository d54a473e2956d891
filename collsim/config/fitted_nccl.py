"""Put the numbers of a profile of NCCL into a cluster of several kinds of links.

For algorithms that NCCL lacks: their messages are taken to start as early, and to move as fast,
as with the best of its protocols. NCCL's own algorithms have fitted times.
"""

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster, Cut
from collsim.core.profile import Profile
from collsim.errors import InputError

__all__ = ["spread"]

_CARD = "nic["
_TRUNKS = ("leaf[", "spine[", "core[")
_OWN = re.compile(r"gpu\[0\](?:>.*|\.up)")


def spread(cluster: Cluster, profile: Profile) -> Cluster:
    """Return a cluster whose links inside nodes, and between them, have fitted numbers.

    A route's alpha is the fitted one, and so is what all links out of a GPU, or all cards of a
    node, move together; links keep their share in it.

    Raises
    ------
    InputError
        If the profile is of one node, and the cluster has several.

    Examples
    --------
    >>> from collsim.calibrate.nccl_model import example_profile
    >>> cluster = Cluster.load("gh200-slingshot", nodes=2)
    >>> fitted = spread(cluster, example_profile(cluster))
    >>> float(fitted.links.alpha[fitted.route(0, 1)[0]])
    6e-07
    """
    if cluster.nodes > 1 and not profile.nccl["inter_bus"]:
        raise InputError(
            f"profile {profile.name}: was fitted to one node, but cluster {cluster.name} has "
            f"{cluster.nodes}; expected a profile of several nodes"
        )
    links = cluster.links
    alpha, beta, launch = profile.inside
    cards = np.array([name.startswith(_CARD) for name in links.names])
    trunks = np.array([name.startswith(_TRUNKS) for name in links.names])
    inside = ~(cards | trunks)
    out = max(1, sum(_OWN.fullmatch(name) is not None for name in links.names))
    alphas, betas = links.alpha.copy(), links.beta.copy()
    alphas[inside] *= _ratio(alpha, cluster, 1, links.alpha)
    betas[inside] = beta * out
    if cluster.nodes > 1:
        far_alpha, far_beta = (
            min(p.value for key, p in profile.parameters.items() if re.fullmatch(name, key))
            for name in (r"between\.ll\w*\.alpha", r"between\.simple\.beta")
        )
        first = int(np.flatnonzero(cluster.node != cluster.node[0])[0])
        alphas[cards] *= _ratio(far_alpha, cluster, first, links.alpha)
        ups = sum(name.startswith(_CARD) and name.endswith(".up") for name in links.names)
        betas[cards] = far_beta * max(1, ups // cluster.nodes)
        # Cables between switches keep their part in what the cards below them move.
        betas[trunks] *= float((betas[cards] / links.beta[cards]).max())
    fitted = replace(links, alpha=alphas, beta=betas, busy=np.minimum(links.busy, alphas))
    pays = [
        float(fitted.alpha[list(cluster.route(0, p))].sum()) for p in range(1, cluster.ranks)
    ]
    least = min(pays, default=0.0)
    ports = {
        name: replace(port, beta=beta * port.lanes)
        for name in ("egress", "ingress")
        if (port := getattr(cluster, name)) is not None
    }
    found = replace(
        cluster,
        **ports,
        links=fitted,
        least_alpha=least,
        least_busy=min(cluster.least_busy, least),
        launch=launch,
        uniform=None,
    )
    return replace(found, cuts=_cuts(cluster, found))


def _cuts(cluster: Cluster, fitted: Cluster) -> tuple[Cut, ...]:
    """Return the cuts with fitted numbers, of which lower bounds are made.

    Rates grow as the link does that grows the most, of those that may cross: bounds hold.
    """
    before, after = cluster.links, fitted.links
    faster = before.beta / after.beta
    between = np.array([not name.startswith("gpu[") for name in before.names])
    found = []
    for cut in cluster.cuts:
        parts_nodes = all(
            np.unique(cut.group[cluster.node == node]).size == 1
            for node in range(cluster.nodes)
        )
        rate = float(faster[between if parts_nodes and between.any() else slice(None)].max())
        slower = 1.0
        if cut.least_alpha > 0:
            group = np.flatnonzero(cut.group != cut.group[0])
            route = list(cluster.route(0, int(group[0]))) if group.size else []
            was = float(before.alpha[route].sum())
            slower = float(after.alpha[route].sum()) / was if was > 0 else 1.0
        found.append(
            replace(
                cut,
                out_rate=cut.out_rate * rate,
                in_rate=cut.in_rate * rate,
                least_alpha=cut.least_alpha * slower,
            )
        )
    return tuple(found)


def _ratio(wanted: float, cluster: Cluster, peer: int, alphas: NDArray[np.float64]) -> float:
    now = float(alphas[list(cluster.route(0, peer))].sum()) if cluster.ranks > 1 else 0.0
    return wanted / now if now > 0 else 1.0
