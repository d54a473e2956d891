"""The background of a picture: where start-ups rule, and where bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from collsim.choose.curve import Curve
from collsim.choose.fitted import FittedCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

__all__ = ["shade"]

_ALPHA, _BETA = "#D9E5F1", "#FDF6E3"
# Of the axis, what a letter of a label takes.
_LETTER: Final = 0.0095


@dataclass(frozen=True)
class _Band:
    low: float
    high: float
    name: str
    alpha: bool


def shade(
    axes: "Axes",
    pair: Sequence[Curve | FittedCurve],
    sizes: NDArray[np.float64],
    names: Mapping[str, str],
) -> "list[Patch]":
    """Shade the background by what most of the faster algorithm's time goes into.

    Parameters
    ----------
    axes : Axes
        Of sizes and times, both logarithmic.
    pair : sequence of Curve
        The algorithms.
    sizes : float array
        From the lowest to the highest.
    names : mapping of str to str
        What to call the algorithms.

    Returns
    -------
    list of Patch
        What a legend needs to explain the colours that are there.
    """
    from matplotlib.patches import Patch

    whole = np.log(sizes[-1] / sizes[0])
    bands = _bands(pair, sizes)
    for band in bands:
        axes.axvspan(band.low, band.high, color=_ALPHA if band.alpha else _BETA, zorder=0, lw=0)
        share = np.log(band.high / band.low) / whole
        text = _label(band, names[band.name], share)
        axes.text(
            float(np.sqrt(band.low * band.high)), 0.985, text, ha="center", va="top",
            transform=axes.get_xaxis_transform(), fontsize=9, color="#333333",
        )  # fmt: skip
    keys = {
        True: Patch(color=_ALPHA, label="the faster one spends most on α (start-ups)"),
        False: Patch(color=_BETA, label="the faster one spends most on β (bytes)"),
    }
    return [key for alpha, key in keys.items() if any(b.alpha == alpha for b in bands)]


def _label(band: _Band, name: str, share: float) -> str:
    """Return as many words as there is room for."""
    letter, what = ("α", "start-ups") if band.alpha else ("β", "bytes")
    texts = (
        f"{name}: {letter} rules ({what})",
        f"{name}: {letter} rules",
        f"{name}: {letter}",
        letter,
    )
    return next((text for text in texts if _LETTER * (len(text) + 1) < share), "")


def _bands(pair: Sequence[Curve | FittedCurve], sizes: NDArray[np.float64]) -> list[_Band]:
    """Return which algorithm is the faster one, and whether its start-ups take longer."""

    def rule(n: float) -> tuple[str, bool]:
        name, time = min(
            ((curve.name, curve.at(n)) for curve in pair), key=lambda one: one[1].seconds
        )
        return name, time.breakdown.alpha > time.breakdown.beta

    def border(low: float, high: float, before: tuple[str, bool]) -> float:
        for _ in range(40):
            middle = float(np.sqrt(low * high))
            low, high = (middle, high) if rule(middle) == before else (low, middle)
        return high

    rules = [rule(float(n)) for n in sizes]
    edges, found = [float(sizes[0])], [rules[0]]
    for (m, was), (n, now) in pairwise(zip(sizes, rules, strict=True)):
        if was != now:
            edges.append(border(float(m), float(n), was))
            found.append(now)
    edges.append(float(sizes[-1]))
    return [
        _Band(low, high, *which)
        for (low, high), which in zip(pairwise(edges), found, strict=True)
    ]
