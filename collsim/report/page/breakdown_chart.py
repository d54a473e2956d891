"""Where the time of each contender goes at one size."""

from html import escape
from typing import TYPE_CHECKING, Final

from collsim.report.page.answer import Run
from collsim.report.page.chart import INK, KEY, drawn, graph, layout, times
from collsim.report.page.words import time_words, unit_of

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["breakdown_chart"]

_MOST: Final = 8
_LIGHT: Final = "#F0F0F0"
# In grey, stripes tell them apart.
_PARTS: Final = (
    ("launch", "launch", "#999999", "x"),
    ("alpha", "α: start-ups", "#56B4E9", ""),
    ("beta", "β: bytes sent", "#0072B2", "/"),
    ("gamma", "γ: bytes reduced", "#E69F00", "."),
    ("waiting", "waiting for others", _LIGHT, "\\"),
)


def breakdown_chart(run: Run) -> "Figure":
    """Return the chart of the fastest few; the parts of a bar sum to its time."""
    go = graph()
    names = list(run.others)[:_MOST]
    longest = max(run.others[name].seconds for name in names)
    unit, _ = unit_of(longest)
    data = []
    for part, title, colour, pattern in _PARTS:
        seconds = [getattr(run.others[name].breakdown, part) for name in names]
        if not any(seconds):
            continue
        data.append(
            go.Bar(
                name=title,
                orientation="h",
                x=[float(f"{s / unit:.9g}") for s in seconds],
                y=list(range(len(names))),
                width=0.42,
                marker={
                    "color": colour,
                    "line": {"color": INK, "width": 0.8},
                    "pattern": {
                        "shape": pattern,
                        "fillmode": "overlay",
                        "size": 6,
                        "solidity": 0.25,
                        "fgcolor": INK if colour == _LIGHT else "white",
                    },
                },
                hovertext=[
                    f"<b>{escape(name)}</b><br>{title}: {time_words(s)} of "
                    f"{time_words(run.others[name].seconds)}"
                    for name, s in zip(names, seconds, strict=True)
                ],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        )  # fmt: skip
    # The time first: where the window is narrow, the end of a long name is cut off.
    notes = [
        {"x": 0, "xref": "paper", "xanchor": "left", "y": i, "yanchor": "bottom", "yshift": 11,
         "text": f"{time_words(run.others[name].seconds)}: {escape(name)}", "showarrow": False}
        for i, name in enumerate(names)
    ]  # fmt: skip
    look = layout(
        xaxis=times(longest),
        yaxis={"range": [len(names) - 0.5, -0.8], "visible": False},
        barmode="stack",
        annotations=notes,
        height=110 + 52 * len(names),
        showlegend=True,
        legend=KEY | {"traceorder": "normal"},
        margin={"l": 16, "r": 16, "t": 56, "b": 48},
    )  # fmt: skip
    return drawn(data, look)
