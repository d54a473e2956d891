"""That more ranks of a node reach far less, where rows show it."""

from __future__ import annotations

import pytest

from collsim.calibrate.fit.slower import SLOWER, slower_notes
from collsim.core.measurements import Measurement


def rows(rates: dict[int, float], size: int = 2**26) -> list[Measurement]:
    """Return rows of bus bandwidths, in GB/s, by ranks."""
    return [
        Measurement("all_gather", ranks, size, size * (ranks - 1) / ranks / rate / 1e9, nodes=1)
        for ranks, rate in rates.items()
    ]


def test_it_tells_every_count() -> None:
    """Bus bandwidth at the largest size that all have."""
    some = rows({2: 20, 4: 5.16, 8: 1.45}) + rows({2: 20}, size=2**27)
    (note,) = slower_notes(some)
    assert note == (
        f"{SLOWER}all_gather of 64MiB was measured at 20GB/s of bus bandwidth on 2 ranks, "
        "5.16GB/s on 4, 1.45GB/s on 8"
    )


@pytest.mark.parametrize(
    "some",
    [
        [],
        rows({8: 1.0}),
        rows({2: 20, 8: 11}),
        rows({2: 20, 8: 1}, size=2**20),
        [Measurement("all_gather", p, 2**26, p * 1e-3, nodes=p // 4) for p in (8, 32)],
    ],
    ids=["none", "one count", "alike", "small", "over nodes"],
)
def test_it_is_silent_where_rows_do_not_show_it(some: list[Measurement]) -> None:
    """One count, much the same, small sizes, nodes."""
    assert slower_notes(some) == []
