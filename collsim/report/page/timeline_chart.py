"""A run message by message: a lane per sender, or per node where ranks are too many."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster
from collsim.core.schedule import REDUCE, Schedule
from collsim.core.timeline import Timeline
from collsim.engine.lanes import lanes
from collsim.report.page.chart import INK, KEY, axis, drawn, graph, layout, times
from collsim.report.page.words import time_words, unit_of

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["drawn_as", "timeline_chart"]

_MOST_LANES: Final = 64
_MOST_BARS: Final = 3000
_MOST_NAMES: Final = 8
# Light and dark tell the critical path in grey, too, and stripes what is reduced.
_LOOKS: Final = (
    ("copy", False, "#9CCBE8", ""),
    ("reduce", False, "#F3D19A", "/"),
    ("copy, on the critical path", True, "#00507D", ""),
    ("reduce, on the critical path", True, "#8A3B00", "/"),
)


@dataclass(frozen=True)
class _Bar:
    """What is drawn as one bar: a message, or those of one lane and round together."""

    lane: int
    begin: float
    end: float
    reduces: bool
    critical: bool
    text: str


@dataclass(frozen=True, eq=False)
class _Lanes:
    """Who has which lane: ranks, or nodes, or neighbours together where they are too many.

    Parameters
    ----------
    of : int array, shape (P + agents,)
        Lane of every party.
    names : tuple of str
        Of the lanes.
    sender : str
        Who sends what is in a lane, in words.
    rounds : int
        Rounds that one bar stands for; 0 if each is a message.
    """

    of: NDArray[np.int64]
    names: tuple[str, ...]
    sender: str
    rounds: int


def _lanes(timeline: Timeline, cluster: Cluster) -> _Lanes:
    schedule = timeline.schedule
    by_node = schedule.ranks > _MOST_LANES and cluster.nodes > 1
    unit, count = ("node", cluster.nodes) if by_node else ("rank", schedule.ranks)
    block = -(-count // _MOST_LANES)
    whose = cluster.node if by_node else np.arange(schedule.ranks)
    first = -(-count // block)
    switches = first + np.arange(schedule.agents) // block
    names = [
        f"{unit} {k}"
        if block == 1
        else f"{unit}s {k * block}-{min(count, (k + 1) * block) - 1}"
        for k in range(first)
    ]
    names += [f"switch {k * block}" for k in range(-(-schedule.agents // block))]
    rounds = 0
    if count < schedule.ranks or block > 1 or timeline.operations > _MOST_BARS:
        rounds = max(1, -(-2 * len(names) * schedule.rounds // _MOST_BARS))
    sender = f"a {unit} sends" if block == 1 else f"{block} {unit}s send"
    of = np.concatenate([whose // block, switches]).astype(np.int64)
    return _Lanes(of, tuple(names), sender, rounds)


def drawn_as(timeline: Timeline, cluster: Cluster) -> str:
    """Say what a bar is: it depends on how many messages there are.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> from collsim.engine.simulate import simulate
    >>> four = Cluster.ideal(4, 1.0, 1.0)
    >>> drawn_as(simulate(build("gather", "mst", 4), four, 8), four)
    'Each bar is a message, in the lane of its sender.'
    """
    lanes_ = _lanes(timeline, cluster)
    if not lanes_.rounds:
        return "Each bar is a message, in the lane of its sender."
    rounds = "one round" if lanes_.rounds == 1 else f"{lanes_.rounds} rounds"
    return f"Each bar is all that {lanes_.sender} in {rounds}."


def timeline_chart(timeline: Timeline, cluster: Cluster) -> "Figure":
    """Return the chart of a timeline; hovering over a bar tells all about it."""
    whose = _lanes(timeline, cluster)
    bars = _rounds(timeline, whose) if whose.rounds else _messages(timeline, whose.of)
    placed = _placed(bars)
    go = graph()
    unit, _ = unit_of(timeline.makespan)
    data = [
        _trace(go, look, unit, [one for one in placed if _is(one[0], *look[:2])])
        for look in _LOOKS
    ]
    names = whose.names
    step = max(1, -(-len(names) // 32))
    look = layout(
        xaxis=times(timeline.makespan),
        yaxis=axis("")
        | {
            "range": [len(names) - 0.4, -0.6],
            "tickvals": list(range(0, len(names), step)),
            "ticktext": list(names[::step]),
            "showgrid": False,
        },
        barmode="overlay",
        height=int(min(1100, 130 + 22 * len(names))),
        showlegend=True,
        legend=KEY,
        margin={"l": 70, "r": 16, "t": 56, "b": 48},
        hovermode="closest",
    )
    return drawn([trace for trace in data if len(trace.x)], look)


def _is(bar: _Bar, kind: str, critical: bool) -> bool:
    return bar.critical == critical and bar.reduces == kind.startswith("reduce")


def _messages(timeline: Timeline, of: NDArray[np.int64]) -> list[_Bar]:
    schedule = timeline.schedule
    critical = {step.operation for step in timeline.critical_path}
    size = schedule.fraction * timeline.nbytes
    bars = []
    for o in range(len(schedule)):
        src, dst = int(schedule.src[o]), int(schedule.dst[o])
        begin, end = float(timeline.start[o]), float(timeline.finish[o])
        reduces = bool(schedule.kind[o] == REDUCE)
        bars.append(
            _Bar(
                int(of[src]),
                begin,
                end,
                reduces,
                o in critical,
                f"<b>{_party(schedule, src)} to {_party(schedule, dst)}</b>, "
                f"{'reduce' if reduces else 'copy'}, round {schedule.round[o] + 1}"
                f"<br>{size[o]:.12g} bytes, {_chunks(schedule.carried(o).tolist())}"
                f"<br>from {time_words(begin)} to {time_words(end)}"
                + ("<br>on the critical path" if o in critical else ""),
            )
        )
    return bars


def _party(schedule: Schedule, index: int) -> str:
    return f"rank {index}" if index < schedule.ranks else schedule.party(index)


def _chunks(places: Sequence[int]) -> str:
    shown = f"chunk{'s' * (len(places) != 1)} " + ", ".join(map(str, places[:_MOST_NAMES]))
    more = len(places) - _MOST_NAMES
    return shown + f" and {more} more" * (more > 0)


def _rounds(timeline: Timeline, whose: _Lanes) -> list[_Bar]:
    """Return what each lane sends in some rounds, from the first start to the last finish."""
    schedule = timeline.schedule
    lane, some = whose.of[schedule.src], schedule.round.astype(np.int64) // whose.rounds
    count_of = int(some.max(initial=0)) + 1
    key = (lane * count_of + some) * 2 + (schedule.kind == REDUCE)
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    begin = np.minimum.reduceat(timeline.start[order], first)
    end = np.maximum.reduceat(timeline.finish[order], first)
    count = np.diff(np.append(first, order.size))
    nbytes = np.add.reduceat((schedule.fraction * timeline.nbytes)[order], first)
    critical = np.zeros(key.size, dtype=np.bool_)
    critical[[step.operation for step in timeline.critical_path]] = True
    marked = np.logical_or.reduceat(critical[order], first)
    bars = []
    for i, k in enumerate(key[order][first].tolist()):
        which, reduces = divmod(k, 2)
        at, number = divmod(which, count_of)
        low, high = number * whose.rounds + 1, (number + 1) * whose.rounds
        rounds = f"round {low}" if low == high else f"rounds {low}-{high}"
        bars.append(
            _Bar(
                at,
                float(begin[i]),
                float(end[i]),
                bool(reduces),
                bool(marked[i]),
                f"<b>{whose.names[at]}</b>, {'reduce' if reduces else 'copy'}, {rounds}"
                f"<br>{count[i]} messages, {nbytes[i]:.12g} bytes"
                f"<br>from {time_words(float(begin[i]))} to {time_words(float(end[i]))}"
                + ("<br>some are on the critical path" if marked[i] else ""),
            )
        )
    return bars


def _placed(bars: list[_Bar]) -> list[tuple[_Bar, float, float]]:
    """Return bars with their middle and height: those of a lane that overlap share it."""
    found = []
    by_lane: dict[int, list[_Bar]] = {}
    for bar in sorted(bars, key=lambda b: (b.lane, b.begin, b.end)):
        by_lane.setdefault(bar.lane, []).append(bar)
    for lane, ours in by_lane.items():
        rows = lanes(np.array([b.begin for b in ours]), np.array([b.end for b in ours]))
        height = 0.84 / (max(rows) + 1)
        found += [
            (bar, lane - 0.42 + (row + 0.5) * height, height)
            for bar, row in zip(ours, rows, strict=True)
        ]
    return found


def _trace(
    go: Any,
    look: tuple[str, bool, str, str],
    unit: float,
    bars: list[tuple[_Bar, float, float]],
) -> Any:
    name, critical, colour, pattern = look
    return go.Bar(
        name=name,
        orientation="h",
        base=[_in(bar.begin, unit) for bar, _, _ in bars],
        x=[_in(bar.end - bar.begin, unit) for bar, _, _ in bars],
        y=[round(y, 4) for _, y, _ in bars],
        width=[round(height, 4) for _, _, height in bars],
        marker={
            "color": colour,
            "line": {"color": INK if critical else "#5B6770", "width": 1 if critical else 0.5},
            "pattern": {
                "shape": pattern,
                "fillmode": "overlay",
                "size": 6,
                "solidity": 0.25,
                "fgcolor": "white",
            }
            if critical
            else {
                "shape": pattern,
                "fillmode": "overlay",
                "size": 6,
                "solidity": 0.2,
                "fgcolor": "#5B6770",
            },
        },
        hovertext=[bar.text for bar, _, _ in bars],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _in(seconds: float, unit: float) -> float:
    return float(f"{seconds / unit:.9g}")
