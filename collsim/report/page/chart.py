"""What all charts share: colours, axes, and figures as JSON."""

from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Final

from collsim.errors import MissingExtraError
from collsim.report.page.words import size_words, time_words, unit_of

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = [
    "INK",
    "KEY",
    "axis",
    "drawn",
    "graph",
    "layout",
    "library",
    "log_sizes",
    "log_times",
    "times",
]

INK: Final = "#222222"
_PALE: Final = "#DADDE1"
# A legend above the figure. Clicks on it would hide parts of a whole.
KEY: Final[dict[str, object]] = {
    "orientation": "h",
    "x": 0,
    "y": 1.0,
    "yanchor": "bottom",
    "itemclick": False,
    "itemdoubleclick": False,
}
_FONT: Final = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"


def graph() -> ModuleType:
    """Return plotly's module of figures.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    try:
        import plotly.graph_objects
    except ImportError:
        raise MissingExtraError("plotly", "report") from None
    found: ModuleType = plotly.graph_objects
    return found


def library() -> str:
    """Return the whole of plotly.js, which draws the figures."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise MissingExtraError("plotly", "report") from None
    return str(get_plotlyjs())


def layout(**more: object) -> dict[str, object]:
    """Return what all figures look like."""
    return {
        # Without, each figure would bring a theme of 7 kB.
        "template": graph().layout.Template(),
        "font": {"family": _FONT, "size": 13, "color": INK},
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "margin": {"l": 64, "r": 16, "t": 28, "b": 48},
        "hoverlabel": {"align": "left", "bgcolor": "white", "font": {"color": INK}},
        "showlegend": False,
        **more,
    }


def log_sizes(sizes: Iterable[float], **more: object) -> dict[str, object]:
    """Return an axis of sizes in binary steps."""
    low, high = min(sizes), max(sizes)
    first, last = int(low).bit_length() - 1, int(high).bit_length()
    step = 5 if last - first > 12 else 2 if last - first > 5 else 1
    ticks = [2**k for k in range(first, last + 1) if k % step == 0]
    return axis("size n (binary steps)") | {
        "type": "log",
        "tickvals": ticks,
        "ticktext": [size_words(n) for n in ticks],
        **more,
    }


def log_times(seconds: Iterable[float]) -> dict[str, object]:
    """Return an axis of times, in microseconds, with each power of ten by its name."""
    some = [s for s in seconds if s > 0]
    low, high = (min(some), max(some)) if some else (1e-6, 1e-6)
    ticks = [10.0**k for k in range(-9, 6) if low / 10 <= 10.0**k <= high * 10]
    return axis("time") | {
        "type": "log",
        "tickvals": [t * 1e6 for t in ticks],
        "ticktext": [time_words(t) for t in ticks],
    }


def times(longest: float) -> dict[str, object]:
    """Return an axis of times from 0, in the unit that the longest one reaches."""
    _, unit = unit_of(longest)
    return axis(f"time ({unit})") | {"rangemode": "tozero", "ticksuffix": f" {unit}"}


def axis(title: str) -> dict[str, object]:
    """Return what all axes look like."""
    return {
        "title": {"text": title, "standoff": 10},
        "gridcolor": _PALE,
        "linecolor": INK,
        "showline": True,
        "zeroline": False,
        "ticks": "outside",
        "automargin": True,
    }


def drawn(data: list[object], look: dict[str, object]) -> "Figure":
    """Return a figure, checked by plotly."""
    return graph().Figure(data=data, layout=look)
