"""Renamings of ranks and pieces: groups, representatives, and what is refused."""

import numpy as np
import pytest

from collsim.core.builder import Builder
from collsim.core.collective import COLLECTIVES, collective
from collsim.core.folded import Folded, FoldedBuilder
from collsim.core.schedule import COPY
from collsim.core.setting import Setting
from collsim.core.symmetry import Fold, Symmetry, axes_of
from collsim.errors import InputError, TooLargeError

FOLDS = [Fold("shift", 12, 4), Fold("shift", 7, 1), Fold("xor", 16, 2), Fold("xor", 8, 4)]


@pytest.mark.parametrize("fold", FOLDS, ids=str)
def test_renamings_are_a_group(fold: Fold) -> None:
    """Turns add up, undo each other, and take the representatives to all ranks."""
    turns = np.arange(fold.turns)
    ranks = np.arange(fold.step)
    every = fold.moved(ranks[:, None], turns)
    assert sorted(every.ravel().tolist()) == list(range(fold.ranks))
    for one in turns:
        for two in turns:
            both = int(fold.after(np.array(one), np.array(two)))
            once = fold.moved(fold.moved(ranks, int(one)), int(two))
            assert (once == fold.moved(ranks, both)).all()
        back = int(fold.back(np.array(one)))
        assert (fold.moved(fold.moved(ranks, int(one)), back) == ranks).all()


@pytest.mark.parametrize("fold", FOLDS, ids=str)
def test_pieces_go_with_their_ranks(fold: Fold) -> None:
    """A block per rank and message, two parts each; scratch places stay."""
    axes = ((fold.ranks, 1), (fold.ranks, 1), (2, 0))
    a, b, part = np.unravel_index(np.arange(2 * fold.ranks**2), (fold.ranks, fold.ranks, 2))
    for turn in range(fold.turns):
        found = fold.pieces(np.arange(a.size + 3), np.array(turn), axes)
        moved = (fold.moved(a, turn) * fold.ranks + fold.moved(b, turn)) * 2 + part
        assert (found[: a.size] == moved).all()
        assert found[a.size :].tolist() == [a.size, a.size + 1, a.size + 2]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("turn", 4, 2), "expected shift or xor"),
        (("shift", 4, 4), "expected a divisor of 4 below it"),
        (("shift", 4, 3), "expected a divisor of 4 below it"),
        (("xor", 12, 4), "expected powers of two"),
    ],
)
def test_what_is_no_renaming_is_refused(given: tuple[str, int, int], said: str) -> None:
    """By name."""
    with pytest.raises(InputError, match=said):
        Fold(*given)


def test_axes_have_to_fit() -> None:
    """They make all pieces, and go around the ranks in whole steps."""
    fold = Fold("shift", 8, 4)
    assert axes_of(collective("all_to_all"), Symmetry("shift"), Setting(8), 1, 1, 1) == (
        (8, 1), (8, 1), (1, 0),
    )  # fmt: skip
    with pytest.raises(InputError, match="do not make 9 pieces"):
        fold.check(((8, 1),), 9)
    with pytest.raises(InputError, match="does not go around"):
        fold.check(((4, 1),), 4)
    with pytest.raises(InputError, match="does not go around"):
        Fold("shift", 8, 1).check(((4, 2),), 4)


def test_messages_of_others_are_renamed() -> None:
    """What rank 5 of 6 sends on to 0 is what 1 sends on to 2, of a share two places back."""
    fold = Fold("shift", 6, 2)
    b = FoldedBuilder(collective("all_gather"), Setting(6), fold, ((6, 1), (1, 0)))
    b.next_round()
    b.copy([4, 5], [5, 0], b.pieces[[4, 3]])
    folded = b.folded()
    schedule = folded.schedule
    assert (schedule.src.tolist(), schedule.dst.tolist()) == ([0, 1], [1, 0])
    assert (folded.turn.tolist(), folded.receiver.tolist()) == ([0, 1], [1, 2])
    assert schedule.piece.tolist() == [0, 5]
    # At the receiver, one turn on, the same share is called two less.
    assert schedule.into.tolist() == [0, 3]
    assert (len(folded), folded.operations) == (2, 6)


def test_a_block_is_its_rounds_one_by_one() -> None:
    """Listed at once or round by round, in channels, on all ranks and on few."""
    src = np.array([[0, 1, 2, 3], [1, 0, 3, 2]])
    dst = (src + 1) % 4
    pieces = np.stack([src, (src - 1) % 4])

    def listed(b: Builder, at_once: bool) -> Builder:
        if at_once:
            b.block(COPY, src[:, : b.every.size], dst[:, : b.every.size],
                    pieces[:, :, : b.every.size])  # fmt: skip
            return b
        for row in pieces:
            b.next_round()
            for channel in range(2):
                some = slice(b.every.size)
                b.copy(src[channel, some], dst[channel, some], row[channel, some, None],
                       channel=channel)  # fmt: skip
        return b

    kind = collective("all_gather")
    whole = [listed(Builder(kind, 4), at_once).finish() for at_once in (True, False)]
    fold = Fold("shift", 4, 2)
    few = [
        listed(FoldedBuilder(kind, Setting(4), fold, ((4, 1), (1, 0))), at_once)
        for at_once in (True, False)
    ]
    folded = [b.folded() for b in few if isinstance(b, FoldedBuilder)]
    assert [one.turn.tolist() for one in folded] == [[0, 1, 1, 0] * 2] * 2
    for one, two in (whole, [f.schedule for f in folded]):
        for name in (
            "src",
            "dst",
            "kind",
            "channel",
            "round",
            "piece",
            "into",
            "dep_ptr",
            "dep",
        ):
            assert (getattr(one, name) == getattr(two, name)).all()


def test_blocks_that_do_not_fit_are_refused() -> None:
    """In axes, channels, and number."""
    b = Builder(collective("all_gather"), 4)
    with pytest.raises(InputError, match="expected three axes"):
        b.block(COPY, [[0]], [[1]], [[0]])
    with pytest.raises(InputError, match="channels, expected at most"):
        b.block(COPY, 0, 1, np.zeros((1, 2**15 + 1, 1), dtype=int))
    with pytest.raises(TooLargeError, match="sends more than"):
        b.expect(2**40)


def test_a_folded_schedule_has_representatives_alone() -> None:
    """Others are refused, as are turns that are missing."""
    b = Builder(collective("all_gather"), 4)
    b.copy(0, 3, b.pieces[0])
    fold, axes, calls = Fold("shift", 4, 2), ((4, 1), (1, 0)), np.array([0, 1])
    with pytest.raises(InputError, match="rank 3 is none of the 2 representatives"):
        Folded(b.finish(), fold, axes, np.zeros(1, dtype=np.int32), calls)
    with pytest.raises(InputError, match="one turn, and one call"):
        Folded(b.finish(), fold, axes, np.zeros(2, dtype=np.int32), calls)
    with pytest.raises(InputError, match="expected 8 ranks and none"):
        Folded(b.finish(), Fold("shift", 8, 4), axes, np.zeros(1, dtype=np.int32), calls)


def test_a_folded_schedule_is_read_only_and_says_what_it_is() -> None:
    """Turns and calls are shared by all who simulate it."""
    for kind, said in (("shift", "a shift of 2"), ("xor", "XOR with multiples of 2")):
        b = FoldedBuilder(collective("all_gather"), Setting(4), Fold(kind, 4, 2), ((4, 1),))
        b.copy([0, 1], [2, 3], [[0], [1]])
        b.copy(0, 1, [2])
        folded = b.folded()
        assert folded.call_ptr.tolist() == [0, 2, 3]
        assert folded.said == f"2 of 4 ranks simulated; the others are the same by {said}"
        assert repr(folded) == f"<Folded: {folded.said}>"
        for array in (folded.turn, folded.call_ptr):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1


def test_pieces_with_nothing_to_rename_stay() -> None:
    """Axes that no rank moves along leave every number alone, scratch too."""
    piece = np.array([0, 3, 9])
    assert Fold("shift", 4, 2).pieces(piece, np.array(1), ((4, 0),)) is piece
    moved = Fold("shift", 4, 2).pieces(piece, np.array([1, 1, 1]), ((4, 1), (2, 0)))
    assert moved.tolist() == [4, 7, 9]


@pytest.mark.parametrize("kind", ["shift", "xor"])
def test_renamings_of_axes_of_several_ranks_a_step(kind: str) -> None:
    """Of 8 ranks an axis of 4 goes by pairs: 2 ranks on is one place on, round and round."""
    fold = Fold(kind, 8, 2)
    turns = np.arange(-3, 4) if kind == "shift" else np.arange(4)
    for place in range(4):
        found = fold.pieces(np.full(turns.size, place), turns, ((4, 2),)).tolist()
        on = [(place + t) % 4 if kind == "shift" else place ^ t for t in turns.tolist()]
        assert found == on


def test_axes_of_every_collective_begin_with_its_blocks() -> None:
    """An axis of ranks for those that are cut by rank, two for an exchange, none for others."""
    setting = Setting(6)
    lead = {
        kind: len(axes_of(collective(kind), Symmetry("shift"), setting, 1, 1, 3)) - 1
        for kind in COLLECTIVES
    }
    assert lead == {
        "broadcast": 0, "reduce": 0, "all_reduce": 0, "scatter": 1, "gather": 1,
        "all_gather": 1, "reduce_scatter": 1, "all_to_all": 2, "sendrecv": 1,
    }  # fmt: skip
    for kind in COLLECTIVES:
        axes = axes_of(collective(kind), Symmetry("shift"), setting, 1, 1, 3)
        assert axes == ((6, 1),) * lead[kind] + ((3, 0),)


def test_calls_end_with_the_last_operation() -> None:
    """Of one operation they can't end with the second."""
    b = Builder(collective("all_gather"), 4)
    b.copy(0, 1, b.pieces[0])
    fold, axes, turn = Fold("shift", 4, 2), ((4, 1), (1, 0)), np.zeros(1, dtype=np.int32)
    assert len(Folded(b.finish(), fold, axes, turn, np.array([0, 1]))) == 1
    for calls in ([0, 2], [0]):
        with pytest.raises(InputError, match="one turn, and one call"):
            Folded(b.finish(), fold, axes, turn, np.array(calls))
