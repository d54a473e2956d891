"""Explain a collective: who sends what to whom, what that costs, and where it turns."""

from collections.abc import Sequence
from itertools import combinations
from typing import Final

from collsim.algorithms import algorithm_names
from collsim.choose.crossover import Swap, crossover
from collsim.choose.curve import TIE, Counts, Curve
from collsim.choose.example import example
from collsim.choose.explanation import (
    AlgorithmStory,
    Claim,
    Cost,
    Explanation,
    Message,
    Rule,
)
from collsim.choose.rounds import rounds_of
from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.collective import Collective, collective
from collsim.engine.simulate import check_nbytes
from collsim.errors import InputError

__all__ = ["explain"]

_SIZES: Final = (1024.0, 1e9)
_ENDS: Final = ("mst", "ring")
# The search for swaps simulates some hundred sizes; beyond so many messages it is left
# out. Where the best chunk count is searched too, messages count this much more.
_SEARCH_UP_TO: Final = 40_000
_CHUNKED: Final = 256


@checked
def explain(
    collective_name: str,
    cluster: Cluster,
    sizes: Sequence[float | str] = _SIZES,
    algorithms: Sequence[str] | None = None,
    *,
    root: int = 0,
    chunks: Counts = "auto",
) -> Explanation:
    """Explain what algorithms of a collective do, and why which one is faster where.

    Parameters
    ----------
    collective_name : str
        Any spelling.
    cluster : Cluster
        Where they run.
    sizes : sequence of float or str
        Bytes, or text such as ``"64MiB"``; one small and one large by default.
    algorithms : sequence of str, optional
        By default the two ends, ``mst`` and ``ring``.
    root : int
        Root of a rooted collective.
    chunks : int, "auto" or sequence of int
        Chunks of pipelined algorithms. With auto, or of several, costs are those of the best
        count at each size, and the rounds are drawn for one chunk.

    Returns
    -------
    Explanation
        Rounds, costs, and where the fastest changes.

    Raises
    ------
    UnknownNameError
        For a collective or algorithm that there is not.
    InputError
        For a size, root or chunk count that can't be, or if no algorithm applies.

    Examples
    --------
    >>> cluster = Cluster.ideal(6, alpha="10us", bandwidth="900GB/s")
    >>> answer = explain("broadcast", cluster, chunks=1)
    >>> [(story.name, story.rounds) for story in answer.algorithms]
    [('mst', 3), ('ring', 5)]
    >>> [(send.src, send.dst) for send in answer.algorithms[0].shown[1].sends]
    [(0, 2), (3, 5)]
    """
    kind = collective(collective_name)
    wanted = tuple(check_nbytes(size) for size in sizes)
    curves, left_out = _curves(kind, cluster, algorithms, root, chunks)
    stories = tuple(_story(curve, wanted) for curve in curves)
    turns, best = _turns(kind, cluster, curves, stories, chunks)
    return Explanation(
        cluster=cluster.name,
        shape=cluster.shape,
        sharing=cluster.sharing,
        collective=kind.name,
        ranks=cluster.ranks,
        root=root if kind.rooted else None,
        ideal=cluster.uniform is not None,
        messages=_messages(cluster, wanted),
        sizes=wanted,
        algorithms=stories,
        left_out=left_out,
        fastest=tuple(_fastest(stories, i) for i in range(len(wanted))),
        turns=turns,
        best=best,
        example=example(kind, root),
    )


def _curves(
    kind: Collective,
    cluster: Cluster,
    algorithms: Sequence[str] | None,
    root: int,
    chunks: Counts,
) -> tuple[list[Curve], dict[str, str]]:
    known = algorithm_names(kind.name)
    names = algorithms or [name for name in _ENDS if name in known] or known
    curves: list[Curve] = []
    left_out: dict[str, str] = {}
    for name in dict.fromkeys(names):
        try:
            curve = Curve(kind.name, name, cluster, root=root)
            if chunks != "auto" and curve.algorithm.chunked:
                curve = Curve(kind.name, name, cluster, root=root, chunks=chunks)
        except InputError as error:
            left_out[name] = str(error)
        else:
            curves.append(curve)
    if not curves:
        raise InputError("; ".join(left_out.values()))
    return curves, left_out


def _messages(cluster: Cluster, sizes: Sequence[float]) -> tuple[Message, ...]:
    far = [rank for rank in range(cluster.ranks) if cluster.node[rank] != cluster.node[0]]
    near = [rank for rank in range(1, cluster.ranks) if cluster.node[rank] == cluster.node[0]]
    found = []
    for dst in (*near[:1], *far[:1]):
        route = list(cluster.route(0, dst))
        links = cluster.links
        alpha = float(links.alpha[route].sum())
        ports = [port.beta for port in (cluster.egress, cluster.ingress) if port is not None]
        beta = max([float(links.beta[route].max()), *ports])
        kinds = dict.fromkeys(links.classes[int(i)].name for i in links.kind[route])
        found.append(
            Message(
                src=0,
                dst=dst,
                link=" and ".join(kinds),
                alpha_us=alpha * 1e6,
                bandwidth=float(f"{1e-9 / beta:.12g}"),
                equal_bytes=alpha / beta,
                beta_us=tuple(size * beta * 1e6 for size in sizes),
            )
        )
    return tuple(found)


def _story(curve: Curve, sizes: Sequence[float]) -> AlgorithmStory:
    chunks = 1 if curve.chunks is None else curve.chunks
    schedule = curve.schedule(chunks)
    costs = tuple(_cost(curve, size) for size in sizes)
    inside = curve.cluster.in_switch
    return AlgorithmStory(
        name=curve.name,
        summary=curve.algorithm.summary,
        formula=curve.algorithm.formula,
        paper=curve.algorithm.paper,
        claim=_claim(curve, costs),
        chunks=chunks,
        rounds=schedule.rounds,
        messages=len(schedule),
        shown=rounds_of(schedule),
        costs=costs,
        switches=schedule.agents,
        efficiency=inside.efficiency if schedule.agents and inside is not None else None,
    )


def _claim(curve: Curve, costs: Sequence[Cost]) -> Claim:
    """Return whether the formula gives all of these times, and if not, why."""
    simulated = [cost.chunks for cost in costs if cost.model != "formula"]
    if not simulated:
        return "exact"
    if curve.cluster.uniform is None:
        return "none"
    terms = [curve.terms(chunks) for chunks in simulated]
    if None in terms:
        return "none"
    return "overlap" if all(one is not None and one.exact for one in terms) else "bound"


def _cost(curve: Curve, size: float) -> Cost:
    time = curve.at(size)
    parts = time.breakdown
    alphas = betas = equal = None
    uniform = curve.algorithm.costs(curve.cluster)
    terms = curve.terms(time.chunks)
    if time.model == "formula" and uniform is not None and terms is not None:
        alphas, betas = float(terms.alphas), float(terms.betas)
        if betas:
            equal = alphas * uniform[0] / (betas * uniform[1])
    rules: Rule = "neither"
    if abs(parts.alpha - parts.beta) > TIE * (parts.alpha + parts.beta):
        rules = "alpha" if parts.alpha > parts.beta else "beta"
    return Cost(
        size=size,
        chunks=time.chunks,
        channels=time.channels,
        model=time.model,
        time_us=time.seconds * 1e6,
        alpha_us=parts.alpha * 1e6,
        beta_us=parts.beta * 1e6,
        gamma_us=parts.gamma * 1e6,
        launch_us=parts.launch * 1e6,
        waiting_us=parts.waiting * 1e6,
        alphas=alphas,
        betas=betas,
        equal_bytes=equal,
        rules=rules,
    )


def _fastest(stories: Sequence[AlgorithmStory], i: int) -> str:
    least = min(story.costs[i].time_us for story in stories)
    return next(s.name for s in stories if s.costs[i].time_us <= least * (1 + TIE))


def _turns(
    kind: Collective,
    cluster: Cluster,
    curves: Sequence[Curve],
    stories: Sequence[AlgorithmStory],
    chunks: Counts,
) -> tuple[tuple[Swap, ...] | None, str | None]:
    """Return the swaps of two algorithms at which neither is slower than any other.

    If there are none, also the one that is the fastest throughout.
    """
    if any(
        story.messages * (_CHUNKED if curve.chunks is None else 1) > _SEARCH_UP_TO
        and not curve.by_formula(story.chunks)
        for curve, story in zip(curves, stories, strict=True)
    ):
        return None, None
    turns: list[Swap] = []
    slower: set[str] = set()
    for a, b in combinations(curves, 2):
        found = crossover(kind.name, a.name, b.name, cluster, root=a.root, chunks=chunks)
        turns += [
            swap
            for swap in found.rows
            if all(c.seconds(swap.size) * 1e6 >= swap.time_us * (1 - 1e-9) for c in curves)
        ]
        if not found.identical:
            slower |= {a.name, b.name} - {found.faster}
    best = next((curve.name for curve in curves if curve.name not in slower), None)
    return tuple(sorted(turns, key=lambda swap: swap.size)), None if turns else best
