"""Rows of a ring all_reduce, by its formula."""

from __future__ import annotations

from collections.abc import Iterable

from collsim.core.measurements import Measurement, Measurements

__all__ = ["SIZES", "ring", "rows"]

SIZES = tuple(8 * 4**k for k in range(12))


def rows(
    times: Iterable[tuple[int, float]] = (), ranks: int = 8, **fields: object
) -> Measurements:
    """Return all_reduce rows of (size, seconds)."""
    return Measurements(
        Measurement(
            str(fields.get("collective", "all_reduce")),
            ranks,
            size,
            seconds,
            **{k: v for k, v in fields.items() if k != "collective"},  # type: ignore[arg-type]
        )
        for size, seconds in times
    )


def ring(
    ranks: int = 8, alpha: float = 2e-6, beta: float = 1e-11, launch: float = 0.0
) -> list[tuple[int, float]]:
    """Return (size, seconds) of a ring all_reduce."""
    steps = 2 * (ranks - 1)
    return [(n, launch + steps * alpha + steps / ranks * n * beta) for n in SIZES]
