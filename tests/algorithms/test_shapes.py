"""Who sends what to whom, worked by hand."""

from __future__ import annotations

import pytest

from collsim.algorithms import build, find
from collsim.core.same import difference


def rounds(name: str, algorithm: str, ranks: int, rank: int) -> list[tuple[int, list[int]]]:
    """Return, for each message of a rank, its receiver and what it carries."""
    schedule = build(name, algorithm, ranks)
    mine = [i for i in range(len(schedule)) if schedule.src[i] == rank]
    return [(int(schedule.dst[i]), schedule.carried(i).tolist()) for i in mine]


def test_bruck_all_gather_of_five() -> None:
    """Rank 0 sends 1, 2 and then the one share that is still missing."""
    assert rounds("all_gather", "bruck", 5, 0) == [(4, [0]), (3, [0, 1]), (1, [0])]


def test_pat_all_gather_of_six_sends_least_the_furthest() -> None:
    """Distance 4 with the own share, 2 with the own, 1 with those 0, 2 and 4 behind."""
    assert rounds("all_gather", "pat", 6, 0) == [(4, [0]), (2, [0]), (1, [0, 4, 2])]


def test_recursive_doubling_of_four() -> None:
    """The partner differs in one bit; the second time both shares go."""
    assert rounds("all_gather", "recursive_doubling", 4, 1) == [(0, [1]), (3, [0, 1])]


def test_recursive_halving_of_four() -> None:
    """The half of the partner's side first, then the partner's own."""
    assert rounds("reduce_scatter", "recursive_halving", 4, 1) == [(3, [2, 3]), (0, [0])]


def test_pairwise_of_four() -> None:
    """1 XOR 1, 2, 3; message (1, d) has number 4 + d."""
    assert rounds("all_to_all", "pairwise", 4, 1) == [(0, [4]), (3, [7]), (2, [6])]


def test_direct_is_one_round() -> None:
    """Nobody waits for anybody."""
    for name in ("all_gather", "reduce_scatter", "scatter", "gather", "all_to_all"):
        schedule = build(name, "direct", 6)
        assert schedule.rounds == 1
        assert schedule.dep.size == 0


def test_pairwise_says_why_it_does_not_run_and_what_to_take_instead() -> None:
    """On six ranks; on eight it runs."""
    limits = find("all_to_all", "pairwise").limits
    assert limits(8) is None
    reason = limits(6)
    assert reason is not None
    assert "power of two, not 6" in reason
    assert "ring" in reason


def test_recursive_doubling_of_five_takes_one_in_and_gives_all_back() -> None:
    """Rank 0 hands in to 1; 1, 2, 3, 4 double; rank 0 gets the other four shares."""
    assert rounds("all_gather", "recursive_doubling", 5, 0) == [(1, [0])]
    assert rounds("all_gather", "recursive_doubling", 5, 1) == [
        (2, [0, 1]),
        (3, [0, 1, 2]),
        (0, [1, 2, 3, 4]),
    ]


def test_bruck_all_to_all_of_six_in_base_four() -> None:
    """Distances 1 and 5, then 2, then 3 move at once; what is 4 or 5 away moves on by 4."""
    mine = rounds("all_to_all", "bruck", 6, 0)
    assert [(target, len(carried)) for target, carried in mine] == [
        (1, 2),
        (2, 1),
        (3, 1),
        (4, 2),
    ]
    # Message (s, d) has number 6 s + d: rank 0's to 4, and rank 5's to 4, which is 5 away.
    assert mine[-1] == (4, [4, 34])


def test_swing_of_six_sends_no_part_twice() -> None:
    """Three steps: two parts, two parts and one to be added up; back in the other order."""
    mine = rounds("all_reduce", "swing", 6, 0)
    assert [target for target, _ in mine] == [1, 5, 3, 3, 5, 1]
    assert [len(parts) for _, parts in mine] == [2, 2, 1, 1, 2, 2]
    kept = find("all_reduce", "swing").limits
    assert kept(6) is None
    assert "even number, not 7" in str(kept(7))


@pytest.mark.parametrize(
    ("module", "kind", "name"),
    [
        ("_arrange", "all_to_all", "ring"),
        ("_rings", "all_reduce", "ring"),
        ("all_to_all.direct", "all_to_all", "direct"),
    ],
)
@pytest.mark.parametrize("at_once", [1, 13, 40])
def test_messages_listed_piece_by_piece_are_the_same(
    module: str, kind: str, name: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In blocks of rounds that fit, the last one shorter, or one by one."""
    whole = build(kind, name, 6)
    monkeypatch.setattr(f"collsim.algorithms.{module}._AT_ONCE", at_once)
    assert difference(build(kind, name, 6), whole) is None
