"""Algorithms that are others run backwards."""

from __future__ import annotations

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.algorithms._reverse import reverse
from collsim.core.builder import Builder
from collsim.core.collective import collective
from collsim.core.schedule import REDUCE
from collsim.errors import InputError


@pytest.mark.parametrize("ranks", [2, 3, 7, 13])
@pytest.mark.parametrize("name", ["bruck", "pat"])
def test_reduce_scatter_is_all_gather_backwards(name: str, ranks: int) -> None:
    """Round by round, senders and receivers swapped, the same shares added up."""
    down, up = (build(kind, name, ranks) for kind in ("all_gather", "reduce_scatter"))
    assert (up.kind == REDUCE).all()

    def messages(schedule, src, dst):
        return [
            {
                (int(src[i]), int(dst[i]), tuple(schedule.carried(i).tolist()))
                for i in np.flatnonzero(schedule.round == step)
            }
            for step in range(schedule.rounds)
        ]

    assert messages(up, up.src, up.dst) == messages(down, down.dst, down.src)[::-1]


def test_data_that_move_can_t_be_reversed() -> None:
    """A sum belongs where its parts were."""
    b = Builder(collective("reduce"), 2)

    def moves(b: Builder) -> None:
        b.next_round()
        b.copy(0, 1, b.pieces[0], into=b.scratch(1))

    with pytest.raises(InputError, match="keep their place"):
        reverse(b, moves)
