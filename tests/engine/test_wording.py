"""How checks name operations, places and ranks."""

from __future__ import annotations

import pytest

from collsim.algorithms import build
from collsim.core.builder import Builder
from collsim.core.collective import collective
from collsim.engine.wording import name_operation, name_place, name_ranks


def test_an_operation_is_named_with_both_its_ranks() -> None:
    """The index alone says nothing to a reader."""
    assert name_operation(build("broadcast", "linear", 3), 1) == "operation 1 (0 → 2)"


@pytest.mark.parametrize(
    ("parts", "place", "name"),
    [(1, 2, "block 2"), (2, 5, "block 2 part 1"), (2, 6, "scratch place 0")],
)
def test_a_place_is_named_by_block_and_part(parts: int, place: int, name: str) -> None:
    """Parts only where blocks are cut; scratch is counted by itself."""
    b = Builder(collective("all_gather"), ranks=3, parts=parts)
    b.scratch(2)
    assert name_place(b.finish(), place) == name


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        ([7], "rank 7"),
        ([0, 2], "ranks 0, 2"),
        (list(range(9)), "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 1 more"),
    ],
)
def test_a_list_of_ranks_stays_short(ranks: list[int], words: str) -> None:
    """Eight are enough to see the pattern."""
    assert name_ranks(ranks) == words
