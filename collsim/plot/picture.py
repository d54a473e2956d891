"""A figure that a notebook shows, without pyplot and its global state."""

import io

from matplotlib.figure import Figure

from collsim.plot.style import styled

__all__ = ["Picture"]


class Picture(Figure):
    """A matplotlib figure with a portrait of itself for notebooks."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with styled():
            self.savefig(buffer, format="png", dpi=100, metadata={"Software": "collsim"})
        return buffer.getvalue()
