"""Times of all contenders against size, the lower bound, and where the fastest changes."""

import math
from html import escape
from typing import TYPE_CHECKING, Any, Final

from collsim.report.page.answer import Answer, Line
from collsim.report.page.chart import INK, drawn, graph, layout, log_sizes, log_times
from collsim.report.page.words import size_words, time_words

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["crossover_chart", "legend"]

# Okabe and Ito's colours, which colour-blind people tell apart; in grey, dashes and marks do.
_COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_DASHES: Final = ("solid", "dash", "dashdot", "dot", "longdash", "longdashdot")
_SVG_DASHES: Final = ("", "7 3", "7 3 2 3", "2 3", "12 4", "12 4 2 4")
_MARKS: Final = ("circle", "square", "triangle-up", "diamond", "x", "star")
_SVG_MARKS: Final = ("●", "■", "▲", "◆", "✕", "★")
_LEFT_FROM: Final = 0.7  # of the width of the figure
_GREY: Final = "#8A9099"


def crossover_chart(found: Answer) -> "Figure":
    """Return the chart; its lines are in the order of :func:`legend`."""
    go = graph()
    data = [_line(go, found, line, i) for i, line in enumerate(_ordered(found))]
    bound = [(n, s) for n, s in found.bound if s > 0]
    data.append(
        go.Scatter(
            x=[n for n, _ in bound],
            y=[s * 1e6 for _, s in bound],
            name="lower bound",
            mode="lines",
            line={"color": INK, "dash": "dot", "width": 1.5},
            text=[f"{size_words(n)}: no algorithm is below {time_words(s)}" for n, s in bound],
            hovertemplate="<b>lower bound</b><br>%{text}<extra></extra>",
        )
    )
    data.append(_crossings(go, found))
    sizes = [n for n, _ in found.bound]
    seconds = [time.seconds for line in found.lines for time in line.times]
    shapes = [
        {"type": "line", "x0": c.size, "x1": c.size, "y0": 0, "y1": 1, "yref": "paper",
         "line": {"color": _GREY, "width": 1, "dash": "dot"}}
        for c in found.crossings
    ]  # fmt: skip
    look = layout(
        xaxis=log_sizes(sizes),
        yaxis=log_times([*seconds, *(s for _, s in found.bound)]),
        shapes=shapes,
        annotations=_labels(found),
        height=460,
        hovermode="closest",
        hoverdistance=30,
    )
    return drawn(data, look)


def _ordered(found: Answer) -> list[Line]:
    """Return the lines: those that are the fastest somewhere first, by size."""
    best = list(dict.fromkeys(row.algorithm for row in found.policy.rows))
    place = {name: i for i, name in enumerate(best)}
    return sorted(found.lines, key=lambda line: place.get(line.algorithm, len(best)))


def _wins(found: Answer, name: str) -> bool:
    return any(row.algorithm == name for row in found.policy.rows)


def _line(go: Any, found: Answer, line: Line, i: int) -> Any:
    wins = _wins(found, line.algorithm)
    pairs = [(n, t) for n, t in zip(line.sizes, line.times, strict=True) if t.seconds > 0]
    fastest = {
        n: min(other.times[k].seconds for other in found.lines)
        for k, n in enumerate(line.sizes)
    }
    text = [
        f"{size_words(n)}: {time_words(t.seconds)}"
        + (f", x{t.seconds / fastest[n]:.4g} of the fastest" if fastest[n] > 0 else "")
        + f"<br>{_how(t.chunks, t.channels)}"
        for n, t in pairs
    ]
    return go.Scatter(
        x=[n for n, _ in pairs],
        y=[t.seconds * 1e6 for _, t in pairs],
        name=line.algorithm,
        mode="lines+markers",
        line={
            "color": _COLOURS[i % len(_COLOURS)] if wins else _GREY,
            "dash": _DASHES[i % len(_DASHES)],
            "width": 2.5 if wins else 1,
        },
        marker={"symbol": _MARKS[(i + i // 6) % len(_MARKS)], "size": 7 if wins else 4,
                "maxdisplayed": 16},
        text=text,
        hovertemplate=f"<b>{escape(line.algorithm)}</b><br>%{{text}}<extra></extra>",
    )  # fmt: skip


def _how(chunks: int, channels: int) -> str:
    return f"{chunks} chunk{'s' * (chunks != 1)}, {channels} channel{'s' * (channels != 1)}"


def _crossings(go: Any, found: Answer) -> Any:
    return go.Scatter(
        x=[c.size for c in found.crossings],
        y=[c.seconds * 1e6 for c in found.crossings],
        name="crossings",
        mode="markers",
        marker={"symbol": "circle-open", "size": 13, "color": INK, "line": {"width": 2}},
        text=[size_words(c.size) for c in found.crossings],
        customdata=[
            f"up to {c.size} bytes {escape(c.below)}, above {escape(c.above)}: "
            f"{time_words(c.seconds)}"
            for c in found.crossings
        ],
        hovertemplate="<b>crossing at %{text}</b><br>%{customdata}<extra></extra>",
    )


def _labels(found: Answer) -> list[dict[str, Any]]:
    """Return the sizes of the crossings, beside their marks, where the edge cuts none."""
    sizes = [n for n, _ in found.bound]
    low, high = math.log10(sizes[0]), math.log10(sizes[-1])
    labels = []
    for c in found.crossings:
        if c.seconds <= 0:
            continue
        left = math.log10(c.size) > low + _LEFT_FROM * (high - low)
        labels.append(
            {
                "x": math.log10(c.size),
                "y": math.log10(c.seconds * 1e6),
                "text": size_words(c.size),
                "showarrow": False,
                "bgcolor": "rgba(255,255,255,0.8)",
                "xanchor": "right" if left else "left",
                "yanchor": "bottom" if left else "top",
                "xshift": -9 if left else 9,
                "yshift": 7 if left else -7,
            }
        )
    return labels


def legend(found: Answer) -> str:
    """Return the legend as a list, each line with a box that hides it and shows it again."""
    items = [
        _item(i, line.algorithm, *_swatch(i, _wins(found, line.algorithm)))
        for i, line in enumerate(_ordered(found))
    ]
    count = len(items)
    items.append(_item(count, "lower bound: no algorithm is faster", INK, "2 3", ""))
    if found.crossings:
        items.append(_item(count + 1, "where the fastest changes", INK, None, "○"))
    return f'<ul class="legend" data-for="crossover">{"".join(items)}</ul>'


def _swatch(i: int, wins: bool) -> tuple[str, str, str]:
    return (
        _COLOURS[i % len(_COLOURS)] if wins else _GREY,
        _SVG_DASHES[i % len(_SVG_DASHES)],
        _SVG_MARKS[(i + i // 6) % len(_SVG_MARKS)],
    )


def _item(i: int, name: str, colour: str, dashes: str | None, mark: str) -> str:
    line = "" if dashes is None else (
        f'<line x1="0" y1="8" x2="38" y2="8" stroke="{colour}" stroke-width="2" '
        f'stroke-dasharray="{dashes}"/>'
    )  # fmt: skip
    text = f'<text x="19" y="12" text-anchor="middle" fill="{colour}">{mark}</text>'
    return (
        f'<li><label><input type="checkbox" checked data-trace="{i}">'
        f'<svg width="38" height="16" aria-hidden="true">{line}{text}</svg>'
        f"{escape(name)}</label></li>"
    )
