"""Open pictures with programs that are not ours, and look for labels on one another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text


@pytest.fixture
def texts() -> Callable[[Path], list[str]]:
    """Return a function that returns all text of an SVG file."""

    def read(path: Path) -> list[str]:
        nodes = ET.parse(path).iter("{http://www.w3.org/2000/svg}text")
        return ["".join(node.itertext()).strip() for node in nodes]

    return read


@pytest.fixture
def apart() -> Callable[[Any], int]:
    """Return a function that asserts that no text lies on another or beyond the picture.

    It returns how many there are.
    """

    def check(figure: Any) -> int:
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        renderer = canvas.get_renderer()
        found = []
        for axes in figure.axes:
            # Names of ticks beyond the limits are not drawn, but have a place.
            for axis in (axes.xaxis, axes.yaxis):
                found += [
                    tick.label1
                    for tick in axis.get_major_ticks()
                    if axis.get_view_interval().min() <= tick.get_loc()
                    and tick.get_loc() <= axis.get_view_interval().max()
                ] + [axis.label]
            found += [*axes.texts, axes.title, axes._left_title]
            for above in axes.child_axes:
                found += [*(tick.label2 for tick in above.xaxis.get_major_ticks())]
                found += [above.xaxis.label]
        for legend in figure.legends:
            found += legend.get_texts()
        shown = [text for text in found if text.get_visible() and text.get_text()]
        boxes = [(Text.get_window_extent(text, renderer), text.get_text()) for text in shown]
        for i, (box, text) in enumerate(boxes):
            assert box.x0 >= -1, text
            assert box.x1 <= figure.bbox.x1 + 1, text
            assert box.y0 >= -1, text
            assert box.y1 <= figure.bbox.y1 + 1, text
            for other, word in boxes[:i]:
                assert not box.padded(-1).overlaps(other.padded(-1)), (text, word)
        return len(boxes)

    return check
