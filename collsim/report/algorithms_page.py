"""The page of all algorithms: what each does and costs, and where it is the fastest.

``docs/algorithms.md`` is what :func:`algorithms_page` returns; a test compares the two.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from collsim.algorithms import algorithm_names, build, find, refusal
from collsim.choose.policy import choose
from collsim.choose.ranges import Range
from collsim.core.algorithm import Algorithm
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES, collective
from collsim.core.schedule import Schedule
from collsim.engine.bound import bound
from collsim.nccl.families import NCCL_HAS
from collsim.units import format_bandwidth, format_size, format_time

__all__ = ["algorithms_page", "collective_section", "winners_table"]

# What the tables of winners are made for: name of the preset, nodes.
_CLUSTERS: Final[tuple[tuple[str, int | None], ...]] = (
    ("textbook-h100", None),
    ("dgx-h100", None),
    ("dgx-h100", 4),
)
RANKS: Final = 8

_LEAST, _MOST = 8, 8 * 2**30

_HEAD = """# Algorithms

Generated: `python tests/report/test_algorithms_page.py` writes it anew from the algorithms
themselves.

P ranks, a buffer of n bytes as nccl-tests counts it, c chunks; a message of m bytes takes
α + mβ, adding m bytes up takes mγ. ⌈log P⌉ is to base 2. Formulas hold on the ideal one-port
network, where the event simulation equals them to 1e-9; after a ≤ is what the time is at most.
So it is for γ > 0 where a formula ends in a *: there part of the adding up goes on while
messages are under way.
Those of `nvls` and `multicast` hold on one switch that adds up and multicasts: there α is that
of a way up to the switch and down again, and 1/β what the switch reaches of the link's rate.
Rounds, messages and bytes are counted in the schedule for {ranks} ranks and one chunk, four on
each of two nodes where it needs nodes. Bytes are what the busiest GPU sends, and what the
busiest one receives. What wins is what `collsim choose` finds; the gain over the next best and
the efficiency (lower bound / time) are those in the geometric middle of each range.
"""


def algorithms_page(collectives: Iterable[str] = COLLECTIVES) -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    collectives : iterable of str
        Which, in this order.

    Examples
    --------
    >>> page = algorithms_page(["sendrecv"])
    >>> [line for line in page.splitlines() if line.startswith("#")]
    ['# Algorithms', '## sendrecv', '### Where from', '### Where it wins']
    """
    clusters = {}
    for name, nodes in _CLUSTERS:
        cluster = Cluster.load(name, nodes=nodes)
        clusters[f"{name}, {cluster.ranks} GPUs"] = cluster
    parts = [_HEAD.format(ranks=RANKS), _clusters(clusters)]
    for kind in collectives:
        parts += [collective_section(kind), winners_table(kind, clusters)]
    return "\n".join(parts)


def _clusters(clusters: Mapping[str, Cluster]) -> str:
    """Say where the tables of winners hold."""
    lines = ["The clusters of \u201cwhere it wins\u201d:", ""]
    for title, cluster in clusters.items():
        slowest = min(cut.out_rate for cut in cluster.cuts)
        lines.append(
            f"- {title}: {cluster.shape}; sharing {cluster.sharing}, least α "
            f"{format_time(cluster.least_alpha)}, {format_bandwidth(slowest)} out of its "
            "narrowest group of GPUs."
        )
    return "\n".join(lines) + "\n"


def collective_section(kind: str) -> str:
    """Return the heading, the table and the sources of one collective.

    Examples
    --------
    >>> print(collective_section("sendrecv").splitlines()[-1])
    - `direct`: one message; Hockney 1994
    """
    names = algorithm_names(kind)
    lines = [
        f"## {kind}",
        "",
        _least(kind),
        "",
        "| algorithm | in NCCL | rounds | messages | sends | receives | time | what it does |",
        "|---|---|---:|---:|---:|---:|---|---|",
    ]
    sources = []
    for name in names:
        algorithm = find(kind, name)
        counts = _counts(kind, name)
        formula, summary = (text.replace("|", "\\|") for text in _texts(kind, name))
        theirs = _in_nccl(kind, name)
        lines.append(f"| `{name}` | {theirs} | {' | '.join(counts)} | {formula} | {summary} |")
        sources.append(f"- `{name}`: {algorithm.paper}{_limits(kind, name)}")
    return "\n".join([*lines, "", "### Where from", "", *sources]) + "\n"


def _in_nccl(kind: str, name: str) -> str:
    """Return NCCL's name of an algorithm, or a dash."""
    theirs = NCCL_HAS[kind].get(name)
    return "-" if theirs is None else f"`{theirs}`"


def _texts(kind: str, name: str) -> tuple[str, str]:
    algorithm = find(kind, name)
    options = "; ".join(
        f"`{key}`, {option.default} by default: {option.meaning}"
        for key, option in algorithm.options.items()
    )
    formula = algorithm.formula + ("*" if _overlaps(algorithm) else "")
    return formula, algorithm.summary + (f" ({options})" if options else "")


def _overlaps(algorithm: Algorithm) -> bool:
    """Return whether the formula is exact for gamma = 0 alone, on some ranks and chunks."""
    claims = (algorithm.terms(ranks, chunks) for ranks in range(2, 18) for chunks in (1, 2))
    return any(claim and claim.holds(0.0) and not claim.holds(1.0) for claim in claims)


def _least(kind: str) -> str:
    """Spell the lower bound on the ideal network of so many ranks."""
    one = collective(kind)
    ideal = bound(one, Cluster.ideal(RANKS, alpha=1.0, bandwidth=1.0))
    return (
        f"No algorithm is faster than max({_times(ideal.latency, 'α')}, "
        f"{_times(ideal.per_byte, 'nβ')}) on an ideal one-port network of {RANKS} ranks."
    )


def _times(value: float, what: str) -> str:
    """Spell a multiple, as a fraction of the rank count where it is one.

    Examples
    --------
    >>> _times(1.0, "α"), _times(3.0, "α"), _times(1.75, "nβ"), _times(0.3, "n")
    ('α', '3α', '14/8 nβ', '0.3 n')
    """
    shares = value * RANKS
    if abs(value - round(value)) < 1e-9:
        return f"{round(value)}{what}" if round(value) != 1 else what
    if abs(shares - round(shares)) < 1e-9:
        return f"{round(shares)}/{RANKS} {what}"
    return f"{value:.4g} {what}"


def _schedule(kind: str, name: str) -> Schedule | None:
    """Return it on the first arrangement of the ranks that suits it."""
    two_nodes = np.repeat(np.arange(2), RANKS // 2)
    for node in (None, two_nodes):
        for multicast in (False, True):
            if refusal(kind, name, RANKS, node, multicast=multicast) is None:
                return build(kind, name, RANKS, node=node, multicast=multicast)
    return None


def _counts(kind: str, name: str) -> tuple[str, ...]:
    schedule = _schedule(kind, name)
    if schedule is None:
        return ("-",) * 4
    away = schedule.src != schedule.dst
    sent, received = (
        np.bincount(end[away], weights=schedule.fraction[away], minlength=RANKS)[:RANKS].max()
        for end in (schedule.src, schedule.dst)
    )
    counts = f"{schedule.rounds}", f"{len(schedule)}"
    return (*counts, *(_times(float(n), "n") for n in (sent, received)))


def _limits(kind: str, name: str) -> str:
    """Say on which rank counts up to 16 it can't run, and what it asks of the nodes."""
    said = []
    algorithm = find(kind, name)
    reasons = {p: algorithm.limits(p) for p in range(1, 17)}
    refused = [p for p, reason in reasons.items() if reason is not None]
    if refused:
        example = reasons[refused[0]]
        said.append(f"not on every rank count: {example}")
    reason = refusal(kind, name, RANKS) if not refused else None
    if reason is not None:
        said.append(f"on one plain node of {RANKS}: {reason.split(': ', 1)[1]}")
    return f". Limits: {'; '.join(said)}" if said else ""


def winners_table(kind: str, clusters: Mapping[str, Cluster]) -> str:
    """Return the table of the fastest algorithm at every size, a row per range.

    Parameters
    ----------
    kind : str
        Name of the collective.
    clusters : mapping of str to Cluster
        Titles, and where it runs.

    Examples
    --------
    >>> one = {"ideal": Cluster.ideal(4, "1us", "1GB/s")}
    >>> print(winners_table("sendrecv", one).splitlines()[4])
    | ideal | 8B to 8GiB | `direct` | 1 | 1 | - | 100 % |
    """
    lines = [
        "### Where it wins",
        "",
        "| cluster | sizes | fastest | chunks | channels | over | efficiency |",
        "|---|---|---|---:|---:|---|---:|",
    ]
    for title, cluster in clusters.items():
        found = choose(kind, cluster, min_bytes=_LEAST, max_bytes=_MOST)
        lines += [f"| {title} | {' | '.join(_winner(row))} |" for row in found.rows]
    return "\n".join(lines) + "\n"


def _winner(row: Range) -> tuple[str, ...]:
    chunks = sorted({row.chunks_from, row.chunks_to})
    return (
        f"{format_size(row.min_bytes, 4)} to {format_size(row.max_bytes, 4)}",
        f"`{row.algorithm}`",
        "-".join(str(count) for count in chunks),
        str(row.channels),
        _over(row),
        "-" if row.efficiency is None else f"{row.efficiency:.0%}".replace("%", " %"),
    )


def _over(row: Range) -> str:
    if row.gain is None:
        return "-"
    gain = f"{row.gain:.3g}"
    return f"{'equal to' if gain == '1' else 'x' + gain} `{row.runner_up}`"
