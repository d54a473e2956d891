"""Algorithms are found by the path of their file, and built with checked arguments."""

from __future__ import annotations

import numpy as np
import pytest

from collsim.algorithms import algorithm_names, build, find
from collsim.core.collective import COLLECTIVES
from collsim.errors import AlgorithmError, InputError, UnknownNameError


def test_algorithms_of_every_collective() -> None:
    """What a user can name today."""
    simple = ("linear", "mst", "ring")
    assert {name: set(simple) - set(algorithm_names(name)) for name in COLLECTIVES[:-1]} == {
        name: set() for name in COLLECTIVES[:-1]
    }
    assert "gather_broadcast" in algorithm_names("all_gather")
    assert {"reduce_broadcast", "reduce_scatter_all_gather"} <= set(
        algorithm_names("allreduce")
    )
    assert algorithm_names("sendrecv") == ("direct",)


def test_unknown_algorithm_is_answered_with_the_nearest() -> None:
    """Of the same collective."""
    with pytest.raises(UnknownNameError, match="ring"):
        find("all_reduce", "rnig")
    with pytest.raises(UnknownNameError, match="all_reduce"):
        find("all_reduec", "ring")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("broadcast", "mst", 0), "ranks: got 0"),
        (("broadcast", "mst", 2.0), "ranks: got 2.0"),
        (("broadcast", "mst", 4, 4), "root: got 4"),
        (
            ("broadcast", "mst", 4, 0, 2),
            "chunks: broadcast/mst sends each message whole, got 2",
        ),
        (("broadcast", "ring", 4, 0, 0), "chunks: got 0"),
        (("broadcast", "ring", 4, 0, 2.5), "chunks: got 2.5"),
    ],
)
def test_wrong_arguments_are_named(arguments: tuple[str, str, int], message: str) -> None:
    """One line each."""
    with pytest.raises(InputError, match=message):
        build(*arguments)


def test_mst_broadcast_to_six_takes_three_rounds() -> None:
    """Nobody sends twice in a round; the root is rank 4, so 5 and 0 follow."""
    schedule = build("broadcast", "mst", 6, root=4)
    pairs = list(zip(schedule.src.tolist(), schedule.dst.tolist(), strict=True))
    assert schedule.round.tolist() == [0, 1, 1, 2, 2]
    assert pairs == [(4, 1), (4, 0), (1, 3), (4, 5), (1, 2)]


def test_mst_scatter_keeps_the_larger_half() -> None:
    """Five shares: two leave, then one from each, then the last."""
    schedule = build("scatter", "mst", 5)
    assert np.diff(schedule.piece_ptr).tolist() == [2, 1, 1, 1]
    assert schedule.dst.tolist() == [3, 2, 4, 1]


def test_ring_broadcast_in_two_chunks() -> None:
    """Round by round: 0 -> 1, then both hops at once, then the last chunk's last hop."""
    schedule = build("broadcast", "ring", 3, chunks=2)
    assert schedule.round.tolist() == [0, 1, 1, 2]
    assert schedule.src.tolist() == [0, 0, 1, 1]
    assert [schedule.carried(i).tolist() for i in range(4)] == [[0], [1], [0], [1]]


def test_bruck_all_to_all_of_three() -> None:
    """Round 0 carries distance 1 from its sender, round 1 distance 2: no share twice."""
    schedule = build("all_to_all", "mst", 3)
    assert schedule.round.tolist() == [0, 0, 0, 1, 1, 1]
    assert schedule.piece.tolist() == [1, 5, 6, 2, 3, 7]
    assert schedule.dst.tolist() == [1, 2, 0, 2, 0, 1]


def test_composition_of_parts() -> None:
    """The ring all_reduce is a ring reduce_scatter and a ring all_gather."""
    whole = build("all_reduce", "ring", 5)
    first, second = build("reduce_scatter", "ring", 5), build("all_gather", "ring", 5)
    for name in ("src", "dst", "kind", "piece"):
        joined = np.concatenate([getattr(first, name), getattr(second, name)])
        assert getattr(whole, name).tolist() == joined.tolist()


def test_what_runs_in_one_channel_takes_no_more() -> None:
    """The same of chunks."""
    with pytest.raises(InputError, match="channels: broadcast/mst runs in one, got 2"):
        build("broadcast", "mst", 4, channels=2)
    with pytest.raises(InputError, match="chunks: broadcast/mst sends each message whole"):
        build("broadcast", "mst", 4, chunks=2)


def test_an_algorithm_s_file_must_hold_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked up by name, so no type checker sees it."""
    find("broadcast", "mst")
    monkeypatch.setattr("collsim.algorithms.broadcast.mst.ALGORITHM", None)
    with pytest.raises(AlgorithmError, match=r"^broadcast/mst: got a NoneType, expected ALG"):
        find("broadcast", "mst")
