"""What all pictures share: style, axes of sizes and times, and writing them whole."""

import io
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypedDict

from collsim.errors import FileError, InputError
from collsim.files import write_whole
from collsim.units import format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

__all__ = [
    "STYLES",
    "check_path",
    "drawn",
    "fill",
    "linear_time_axis",
    "save",
    "shades",
    "size_axis",
    "spaced",
    "styled",
    "time_axis",
    "time_label",
]

_ENDINGS: Final = (".png", ".svg", ".pdf")

# Okabe and Ito's colours, which colour-blind people tell apart; in grey, the dashes and
# the marks do.
STYLES: Final = (
    {"color": "#0072B2", "linestyle": "-", "marker": "o"},
    {"color": "#D55E00", "linestyle": (0, (6, 2)), "marker": "s"},
    {"color": "#009E73", "linestyle": (0, (6, 2, 1.5, 2)), "marker": "^"},
    {"color": "#CC79A7", "linestyle": (0, (3, 1.5)), "marker": "D"},
    {"color": "#E69F00", "linestyle": (0, (10, 2)), "marker": "v"},
    {"color": "#56B4E9", "linestyle": (0, (6, 1.5, 1, 1.5, 1, 1.5)), "marker": "P"},
    {"color": "#000000", "linestyle": (0, (1.5, 1)), "marker": "X"},
    {"color": "#7F7F7F", "linestyle": (0, (12, 2, 3, 2)), "marker": "h"},
)

# Tints for what is filled, under black letters; hatches tell them apart in grey.
_TINTS: Final = (
    "#BFD9EA", "#F5CDAE", "#B5DFCC", "#ECD2E1", "#F6E2A6", "#D8EEFA", "#D4D4D4", "#FFFFFF",
    "#C9C3E6", "#DDE8A0", "#DFC3A6", "#F2B8B5",
)  # fmt: skip
_HATCHES: Final = ("", "////", "....", "\\\\\\\\", "xxx", "---", "||", "++", "oo", "OO", "**")

_RC: Final[dict[str, Any]] = {
    "font.family": "DejaVu Sans",
    "font.size": 10.0,
    "axes.titlesize": 12.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.fontsize": 9.5,
    # Text stays text, so that it can be searched; the salt makes the names in it the
    # same in every run.
    "svg.fonttype": "none",
    "svg.hashsalt": "collsim",
    "pdf.fonttype": 42,
    "hatch.linewidth": 0.5,
}

# Axes of times that span less have too few decades to name these alone.
_FEW: Final = 50.0
_TIMES: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the style of all pictures, whatever a user's matplotlib is set to."""
    import matplotlib as mpl

    # Some versions of matplotlib type the keys, one by one, and others don't.
    ours: Any = _RC
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(ours)
        yield


def check_path(path: str | os.PathLike[str]) -> str:
    """Return the format that a file's ending names.

    Raises
    ------
    InputError
        If it is none of PNG, SVG and PDF.
    FileError
        If there is no such folder, which is said before anything is computed.

    Examples
    --------
    >>> check_path("crossover.SVG")
    'svg'
    """
    name = os.fspath(path)
    ending = os.path.splitext(name)[1].lower()
    if ending not in _ENDINGS:
        raise InputError(
            f"picture {name!r}: expected a name that ends in {', '.join(_ENDINGS)}"
        )
    folder = os.path.dirname(os.path.realpath(name))
    if not os.path.isdir(folder):
        raise FileError(name, f"the folder {folder} does not exist")
    return ending[1:]


class Fill(TypedDict):
    """How the areas of one kind look."""

    facecolor: str
    hatch: str
    edgecolor: str


def fill(number: int) -> Fill:
    """Return colour and hatch of the areas of one kind, told apart in grey too.

    Examples
    --------
    >>> fill(0)["hatch"], fill(1)["hatch"], fill(0)["facecolor"] == fill(1)["facecolor"]
    ('', '////', False)
    """
    return {
        "facecolor": _TINTS[number % len(_TINTS)],
        "hatch": _HATCHES[number % len(_HATCHES)],
        "edgecolor": "#555555",
    }


def shades() -> "Colormap":
    """Return shades from almost white to blue, in grey too; black lines show on all."""
    from matplotlib.colors import LinearSegmentedColormap

    steps = ["#F7FBFF", "#C6DCEE", "#7FB2D9", "#3F8FCB", "#1F6CA8"]
    return LinearSegmentedColormap.from_list("collsim", steps)


def drawn(draw: "Callable[[], Figure]", path: str | os.PathLike[str] | None) -> "Figure":
    """Return what a function draws on our paper, saved if there is a path."""
    with styled():
        figure = draw()
    if path is not None:
        save(figure, path)
    return figure


def save(figure: "Figure", path: str | os.PathLike[str]) -> None:
    """Write a picture, whole or not at all; the same picture gives the same bytes.

    Raises
    ------
    InputError
        For an ending that is none of PNG, SVG and PDF.
    FileError
        If the file can't be written.
    """
    kind = check_path(path)
    # No dates and versions: who compares two files wants to see what changed in them.
    metadata = {
        "png": {"Software": "collsim"},
        "svg": {"Date": None, "Creator": "collsim"},
        "pdf": {"CreationDate": None, "Creator": "collsim", "Producer": "collsim"},
    }[kind]
    buffer = io.BytesIO()
    with styled():
        figure.savefig(buffer, format=kind, dpi=160, metadata=metadata)
    write_whole(path, buffer.getvalue())


def size_axis(axes: "Axes", low: float, high: float) -> None:
    """Make x an axis of sizes in binary steps, each fifth doubling with its name."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
    step = 5 if last - first > 12 else 2 if last - first > 5 else 1
    axes.set_xscale("log", base=2)
    axes.set_xlim(low, high)
    axes.xaxis.set_major_locator(
        FixedLocator([2.0**k for k in range(first, last + 1) if k % step == 0])
    )
    axes.xaxis.set_minor_locator(FixedLocator([2.0**k for k in range(first, last + 1)]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: spaced(format_size(x))))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("size n (bytes, binary steps)")


def time_axis(axes: "Axes") -> None:
    """Make y a logarithmic axis of times in s, ms, µs or ns."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    class Steps(LogLocator):
        """Decades, and 2 and 5 of each where there are hardly two of them."""

        def tick_values(self, vmin: float, vmax: float) -> Any:
            self.set_params(subs=(1.0, 2.0, 5.0) if vmax < _FEW * vmin else (1.0,))
            return super().tick_values(vmin, vmax)

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(Steps(10.0, numticks=20))
    axes.yaxis.set_minor_locator(LogLocator(10.0, subs=tuple(range(2, 10)), numticks=200))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: time_label(y)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel("time")


def linear_time_axis(axes: "Axes", longest: float) -> None:
    """Make x an axis of times from 0 to the longest, in one unit."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    step, unit = next((pair for pair in _TIMES if longest >= pair[0]), _TIMES[-1])
    axes.set_xlim(0.0, longest)
    axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x / step:.6g}"))
    axes.set_xlabel(f"time ({unit})")


def time_label(seconds: float) -> str:
    """Spell a time for a picture.

    Examples
    --------
    >>> time_label(1e-5), time_label(0.0012345), time_label(20)
    ('10 µs', '1.234 ms', '20 s')
    """
    step, unit = next((pair for pair in _TIMES if seconds >= pair[0] * 0.9999), _TIMES[-1])
    return f"{seconds / step:.4g} {unit}"


def spaced(text: str) -> str:
    """Put a blank between number and unit.

    Examples
    --------
    >>> spaced("16.16MiB"), spaced("900GB/s")
    ('16.16 MiB', '900 GB/s')
    """
    number = text.rstrip("BKMGTik/s")
    return f"{number} {text[len(number) :]}"
