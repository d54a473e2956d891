"""A figure that a notebook shows, without pyplot and its global state."""

import io
from typing import Any

from matplotlib.figure import Figure

from collsim.plot.style import styled

__all__ = ["Picture"]


class Picture(Figure):
    """A matplotlib figure with a portrait of itself for notebooks.

    Parameters
    ----------
    **options
        Those of :class:`matplotlib.figure.Figure`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with styled():
            self.savefig(buffer, format="png", dpi=100, metadata={"Software": "collsim"})
        return buffer.getvalue()
