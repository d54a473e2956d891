"""Algorithms that are made of others."""

from __future__ import annotations

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.algorithms.compose import (
    Recording,
    in_chunks,
    in_turns,
    inside_across,
    over_channels,
    part,
    pipeline,
    play,
    reverse,
    then,
    together,
)
from collsim.core.builder import Builder
from collsim.core.collective import collective
from collsim.core.schedule import REDUCE
from collsim.engine.verdict import verify_schedule
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


def calls_of(recording: Recording) -> list[list[tuple[list[int], list[int], list[list[int]]]]]:
    """Return senders, receivers and pieces of every call, round by round."""
    return [
        [(call.src.tolist(), call.dst.tolist(), call.pieces.tolist()) for call in calls]
        for calls in recording.rounds
    ]


def test_data_that_move_can_t_be_reversed() -> None:
    """A sum belongs where its parts were."""
    b = Builder(collective("reduce"), 2)

    def moves(b: Builder) -> None:
        b.next_round()
        b.copy(0, 1, b.pieces[0], into=b.scratch(1))

    with pytest.raises(InputError, match="keep their place"):
        reverse(part(b, "broadcast", moves), adds=True)


def test_a_part_runs_on_the_ranks_and_pieces_that_it_is_given() -> None:
    """All_gather of ranks 5 and 2: block 0 is that of rank 5; every block has two pieces."""
    b = Builder(collective("all_gather"), 6)
    found = part(b, "all_gather", "ring", ranks=[5, 2], pieces=[[5, 0], [2, 1]])
    assert calls_of(found) == [[([5, 2], [2, 5], [[5, 0], [2, 1]])]]


def test_groups_run_side_by_side() -> None:
    """One call for both: each with pieces of its own, from the root at place 1."""
    b = Builder(collective("scatter"), 4)
    pieces = [[[0]], [[3]]]
    found = part(b, "broadcast", "mst", ranks=[[0, 1], [2, 3]], pieces=pieces, root=1)
    assert calls_of(found) == [[([1, 3], [0, 2], [[0], [3]])]]


def test_scratch_places_of_parts_are_told_apart() -> None:
    """Two exchanges of whole arrays, one after the other, need two places; groups share one."""
    b = Builder(collective("all_reduce"), 4)
    pair = part(b, "all_reduce", "recursive_doubling", ranks=[[0, 1], [2, 3]])
    assert pair.scratch == 1
    both = then(pair, part(b, "all_reduce", "recursive_doubling", ranks=[[0, 2], [1, 3]]))
    assert both.scratch == 2
    play(b, both)
    schedule = b.finish()
    assert verify_schedule(schedule).ok
    assert schedule.scratch == 2


def test_queues_of_parts_are_told_apart_but_for_those_of_a_pipeline() -> None:
    """Two trees have two queues each."""
    b = Builder(collective("broadcast"), 4, parts=4)
    halves = [
        part(b, "broadcast", "double_binary_tree", pieces=b.pieces[:, at : at + 2])
        for at in (0, 2)
    ]
    assert [then(*halves).queues, together(*halves).queues, pipeline(*halves).queues] == [
        4,
        4,
        2,
    ]
    turns = {
        int(turn) for calls in then(*halves).rounds for call in calls for turn in call.turn
    }
    assert turns == {0, 1, 2, 3}


def test_a_composition_is_a_part_like_any_other() -> None:
    """All_reduce by mst, itself a reduce and a broadcast, on the even ranks of eight."""
    b = Builder(collective("all_reduce"), 8)
    inner = part(b, "all_reduce", "mst", ranks=[0, 2, 4, 6])
    alone = build("all_reduce", "mst", 4)
    listed = [src for calls in calls_of(inner) for senders, _, _ in calls for src in senders]
    assert listed == (2 * alone.src).tolist()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"pieces": [[0, 1, 2]]}, "cuts a block into 2 parts"),
        ({"pieces": [[0], [1]]}, "2 blocks, expected 1"),
        ({"ranks": [1, 2]}, "root, rank 0, is not among"),
    ],
)
def test_what_does_not_fit_is_named(wrong: dict[str, list[list[int]]], message: str) -> None:
    """Pieces that can't be cut, blocks that are too many, a root that is elsewhere."""
    b = Builder(collective("broadcast"), 4, parts=3)
    with pytest.raises(InputError, match=message):
        part(b, "broadcast", "double_binary_tree", **wrong)


def test_inside_and_across_is_an_all_reduce_whatever_the_parts_are() -> None:
    """Three nodes of two, their ranks dealt out in turns."""
    for scatter, gather in (("ring", "ring"), ("mst", "bruck"), ("direct", "linear")):
        for across in ("mst", "ring", "one_shot", "recursive_doubling"):
            b = Builder(collective("all_reduce"), 6, parts=6, node=[0, 1, 2, 0, 1, 2])
            steps = ("reduce_scatter", scatter), ("all_reduce", across), ("all_gather", gather)
            play(b, inside_across(b, *steps))
            assert verify_schedule(b.finish()).ok


BAD_PARTS = [
    ({"pieces": [99]}, "pieces: got 99, expected pieces from 0 to 3"),
    ({"pieces": [[-1]]}, "pieces: got -1, expected pieces from 0 to 3"),
    ({"pieces": [[0.5]]}, "expected whole numbers"),
    ({"pieces": "abc"}, "got 'abc', expected whole numbers"),
    ({"pieces": [0]}, r"pieces has shape \(1,\), expected \(blocks, x\)"),
    ({"pieces": []}, "pieces: got none"),
    ({"pieces": [[0, 1], [2]]}, "unequal length"),
    ({"pieces": [[1, 1]]}, "piece 1 is there twice"),
    ({"pieces": [[[0]], [[1]]]}, "pieces of 2 groups, but ranks of 1"),
    ({"ranks": [0, 0]}, "rank 0 is there twice"),
    ({"ranks": [[0, 1], [1, 2]]}, "rank 1 is there twice"),
    ({"ranks": [0, 4]}, "ranks: got 4, expected ranks from 0 to 3"),
    ({"ranks": [[0, 1], [2]]}, "unequal length"),
    ({"channels": 0}, "channels: got 0"),
    ({"algorithm": None}, "algorithm is None, expected a name or a function"),
]


@pytest.mark.parametrize(("wrong", "message"), BAD_PARTS)
def test_a_part_of_what_is_not_there_is_refused(wrong: dict[str, object], message: str) -> None:
    """One line for each."""
    b = Builder(collective("broadcast"), 4, parts=4)
    given = {"algorithm": "mst"} | wrong
    with pytest.raises(InputError, match=message) as caught:
        part(b, "broadcast", **given)
    assert "\n" not in str(caught.value)


def test_rails_need_nodes_of_one_size_and_a_share_each() -> None:
    """Nodes of two and three ranks; three pieces on nodes of two."""
    steps = ("reduce_scatter", "ring"), ("all_reduce", "mst"), ("all_gather", "ring")
    b = Builder(collective("all_reduce"), 5, parts=6, node=[0, 0, 1, 1, 1])
    with pytest.raises(InputError, match="nodes of 2 to 3 ranks, expected equally many"):
        inside_across(b, *steps)
    b = Builder(collective("all_reduce"), 4, parts=3, node=[0, 0, 1, 1])
    with pytest.raises(InputError, match="3 pieces can't be cut into a share for each of 2"):
        inside_across(b, *steps)


def test_chunks_need_pieces_and_their_own_builder() -> None:
    """No pieces; as many as are no whole blocks; a recording of the whole."""
    b = Builder(collective("all_gather"), 2, parts=2)
    for pieces, message in (
        ([], "got none"),
        ([0, 1], "has shape"),
        ([[0, 1, 2]], "has shape"),
    ):
        with pytest.raises(InputError, match=message):
            in_chunks(b, pieces, lambda one: part(one, "all_gather", "ring"))
    with pytest.raises(InputError, match="recording of 4 pieces, expected the 2"):
        in_chunks(b, [[0, 2], [1, 3]], lambda one: part(b, "all_gather", "ring"))


def test_what_is_no_recording_is_refused() -> None:
    """None, as of a function without return."""
    b = Builder(collective("broadcast"), 2)
    doing = [
        lambda: then(None),
        lambda: together(None),
        lambda: reverse(None, adds=True),
        lambda: in_turns(None),
        lambda: play(b, None),
        lambda: over_channels(1, lambda channel: None),
    ]
    for do in doing:
        with pytest.raises(InputError, match="got NoneType, expected a Recording"):
            do()


def test_more_channels_than_a_builder_has_are_refused() -> None:
    """Where its pieces are asked for, and where it is played."""
    b = Builder(collective("broadcast"), 2, channels=2)
    with pytest.raises(InputError, match="channel is 2, expected 0 to 1"):
        over_channels(5, lambda c: part(b, "broadcast", "mst", pieces=b.share(c)))
    five = over_channels(5, lambda _: part(b, "broadcast", "mst"))
    with pytest.raises(InputError, match="a channel 2, the builder has 2"):
        play(b, five)


def test_what_reaches_a_rank_twice_can_t_be_reversed() -> None:
    """Backwards, a broadcast that copies, and one that a rank gets twice and adds up."""
    b = Builder(collective("broadcast"), 3)
    down = part(b, "broadcast", "mst")
    with pytest.raises(InputError, match="piece 0 of rank 0 would be overwritten twice"):
        reverse(down, adds=False)
    with pytest.raises(InputError, match="would be added up twice"):
        reverse(then(down, down), adds=True)


def test_nothing_to_compose_and_parts_of_two_builders() -> None:
    """At least one recording, and all of one builder."""
    with pytest.raises(InputError, match="compose: got no recording, expected at least one"):
        together()
    two = [
        part(Builder(collective("broadcast"), 2, parts=parts), "broadcast", "mst")
        for parts in (1, 2)
    ]
    with pytest.raises(InputError, match="recordings are of 1 and 2 pieces, expected those of"):
        together(*two)


def test_a_function_may_list_without_a_round() -> None:
    """What it lists first is the first round."""
    b = Builder(collective("broadcast"), 2)
    once = part(b, "broadcast", lambda inner: inner.copy(0, 1, inner.pieces[0]))
    assert [len(calls) for calls in once.rounds] == [1]


def test_scratch_places_follow_those_that_a_builder_has() -> None:
    """Data of all others, to be added up there, behind two places that are the caller's."""
    recording = part(Builder(collective("all_reduce"), 3), "all_reduce", "one_shot")
    assert recording.scratch == 2
    b = Builder(collective("all_reduce"), 3)
    own = b.scratch(2)
    play(b, recording)
    schedule = b.finish()
    assert schedule.scratch == 4
    used = {*schedule.piece.tolist(), *schedule.into.tolist()}
    assert used & set(own.tolist()) == set()
    assert verify_schedule(schedule).ok


def test_one_rank_has_nothing_to_do() -> None:
    """Of a part as of a whole."""
    b = Builder(collective("broadcast"), 2)
    assert part(b, "broadcast", "mst", ranks=[0]).rounds == ()


@pytest.mark.parametrize(
    ("kind", "algorithm", "given", "message"),
    [
        ("broadcast", "mst", {"ranks": [[[0, 1]]]}, "ranks has 3 dimensions, expected"),
        ("all_to_all", "mst", {}, "4 pieces in 4 blocks can't be 16 blocks"),
        (
            "all_to_all",
            "pairwise",
            {"ranks": [0, 1, 2], "pieces": np.arange(9).reshape(9, 1)},
            "all_to_all/pairwise: partners are rank XOR k, so it takes a power of two",
        ),
    ],
)
def test_parts_that_can_not_be_cut_or_run(
    kind: str, algorithm: str, given: dict[str, object], message: str
) -> None:
    """What was given, and what was expected."""
    b = Builder(collective("all_gather"), 4, parts=3 if "pieces" in given else 1)
    with pytest.raises(InputError, match=message):
        part(b, kind, algorithm, **given)  # type: ignore[arg-type]
