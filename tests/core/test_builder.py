"""The builder turns who-sends-what into arrays, and says what is wrong with its input."""

from __future__ import annotations

import numpy as np
import pytest

from collsim.core._operands import whole
from collsim.core.builder import Builder
from collsim.core.collective import collective
from collsim.core.schedule import COPY, REDUCE
from collsim.errors import InputError, TooLargeError


def builder(name: str = "all_reduce", ranks: int = 4, parts: int = 1) -> Builder:
    """Return a builder to try things on."""
    return Builder(collective(name), ranks, parts=parts)


def test_pieces_are_numbered_block_by_block() -> None:
    """Row i holds the parts of block i."""
    assert builder("all_gather", 3, parts=2).pieces.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_several_messages_at_once_carry_a_row_each() -> None:
    """As many senders, receivers and rows."""
    b = builder("all_gather", 3)
    b.next_round()
    b.copy([0, 1], [1, 2], [[0, 1], [1, 2]])
    schedule = b.finish()
    assert schedule.src.tolist() == [0, 1]
    assert schedule.dst.tolist() == [1, 2]
    assert [schedule.carried(i).tolist() for i in range(2)] == [[0, 1], [1, 2]]
    assert schedule.fraction.tolist() == [2 / 3, 2 / 3]


def test_one_message_carries_all_that_it_is_given() -> None:
    """One alpha, however many pieces."""
    b = builder("all_gather", 3, parts=2)
    b.copy(0, 1, b.pieces.ravel())
    schedule = b.finish()
    assert len(schedule) == 1
    assert schedule.fraction.tolist() == [1.0]


def test_rounds_channels_and_kinds_are_kept() -> None:
    """Two rounds of one message each."""
    b = builder()
    b.next_round()
    b.copy(0, 1, [0], channel=2)
    b.next_round()
    b.reduce(1, 2, [0])
    schedule = b.finish()
    assert schedule.round.tolist() == [0, 1]
    assert schedule.channel.tolist() == [2, 0]
    assert schedule.kind.tolist() == [COPY, REDUCE]
    assert schedule.rounds == 2


def test_what_comes_before_the_first_round_is_in_it() -> None:
    """An author who forgets to begin a round gets one."""
    b = builder()
    b.copy(0, 1, [0])
    assert b.finish().round.tolist() == [0]


def test_scratch_follows_the_pieces() -> None:
    """Further places of every rank, in the order in which they were asked for."""
    b = builder("broadcast", 3, parts=2)
    assert b.scratch(2).tolist() == [2, 3]
    assert b.scratch(1).tolist() == [4]
    b.copy(0, 1, [0], into=[4])
    schedule = b.finish()
    assert (schedule.pieces, schedule.scratch, schedule.places) == (2, 3, 5)
    assert schedule.written(0).tolist() == [4]
    assert schedule.carried(0).tolist() == [0]


def test_places_written_are_those_read_unless_said_otherwise() -> None:
    """Also where another message says so."""
    b = builder("broadcast", 3, parts=2)
    b.copy(0, 1, [0, 1])
    b.copy(0, 2, [0, 1], into=[1, 0])
    schedule = b.finish()
    assert [schedule.written(i).tolist() for i in range(2)] == [[0, 1], [1, 0]]


def test_nothing_listed_is_an_empty_schedule() -> None:
    """One rank has nobody to talk to."""
    schedule = builder(ranks=1).finish()
    assert len(schedule) == 0
    assert schedule.rounds == 0
    assert schedule.dep_ptr.tolist() == [0]


def test_arrays_are_read_only() -> None:
    """A schedule is shared by all who simulate it."""
    b = builder()
    b.copy(0, 1, [0])
    schedule = b.finish()
    for name in ("src", "dst", "kind", "piece", "into", "dep", "dep_ptr", "piece_ptr"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(schedule, name)[...] = 0


def finish_with(b: Builder, *message: object) -> None:
    """List one message and finish."""
    src, dst, pieces, into = message
    b.copy(src, dst, pieces, into=into)  # type: ignore[arg-type]
    b.finish()


@pytest.mark.parametrize(
    ("src", "dst", "pieces", "into", "message"),
    [
        ([0, 1], [1], [[0], [0]], None, "2 senders but 1 receivers"),
        ([0, 1], [1, 2], [0], None, r"pieces has shape \(1,\), expected one row for each of 2"),
        ([0, 1], [1, 2], [[0]], None, r"pieces has shape \(1, 1\)"),
        (0, 1, [0], [[0, 0]], r"into has shape \(1, 2\), expected \(1, 1\)"),
        (0, 4, [0], None, "dst runs from 4 to 4, expected 0 to 3"),
        (-1, 1, [0], None, "src runs from -1 to -1, expected 0 to 3"),
        (0, 1, [1], None, "piece runs from 1 to 1, expected 0 to 0"),
        (0, 1, [0], [7], "into runs from 7 to 7, expected 0 to 0"),
    ],
)
def test_wrong_messages_are_named(
    src: object, dst: object, pieces: object, into: object, message: str
) -> None:
    """With what was got, and what was expected."""
    b = builder()
    with pytest.raises(InputError, match=message):
        finish_with(b, src, dst, pieces, into)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ranks": 0}, "ranks: got 0, expected a whole number from 1 up"),
        ({"ranks": 2.5}, "ranks: got 2.5"),
        ({"ranks": True}, "ranks: got True"),
        ({"ranks": 4, "root": 4}, "root: got 4, expected a rank from 0 to 3"),
        ({"ranks": 4, "root": -1}, "root: got -1"),
        ({"ranks": 4, "chunks": 0}, "chunks: got 0, expected a whole number from 1 up"),
        ({"ranks": 4, "chunks": 1.5}, "chunks: got 1.5, expected a whole number from 1 up"),
        ({"ranks": 4, "parts": -2}, "parts: got -2, expected a whole number from 1 up"),
    ],
)
def test_wrong_counts_are_named(arguments: dict[str, int], message: str) -> None:
    """Ranks, root, chunks, parts."""
    with pytest.raises(InputError, match=message):
        Builder(collective("broadcast"), **arguments)


def test_numpy_counts_are_counts() -> None:
    """Whoever counts with numpy need not convert."""
    assert Builder(collective("broadcast"), np.int64(3), np.int32(2)).root == 2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("src", "pieces", "channel", "expected"),
    [
        (0.7, [0], 0, "src is 0.7, expected whole numbers"),
        (0, [0.5], 0, r"pieces is \[0.5\], expected whole numbers"),
        (2**32, [0], 0, "src is 4294967296, expected numbers below 2\\^31"),
        (0, [2**32], 0, r"pieces is \[4294967296\], expected numbers below 2\^31"),
        (0, [0], 70000, "channel is 70000, expected 0 to 32767"),
        (0, [0], -1, "channel is -1, expected 0 to 32767"),
    ],
)
def test_numbers_are_refused_not_cut_off(
    src: float, pieces: list[float], channel: int, expected: str
) -> None:
    """What is no rank, piece or channel stays none."""
    b = Builder(collective("broadcast"), 2)
    with pytest.raises(InputError, match=f"^builder: {expected}$"):
        b.copy(src, 1, pieces, channel=channel)


def test_too_large_a_schedule_is_refused_while_it_is_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the pieces that its messages carry, and by those there are at all."""
    monkeypatch.setattr("collsim.core.builder.MAX_CARRIED", 40_000_000)
    every = np.arange(4096)
    b = Builder(collective("all_to_all"), 4096)
    rows = b.pieces.reshape(4096, 4096)
    b.copy(every, (every + 1) % 4096, rows)
    b.copy(every, (every + 2) % 4096, rows)
    with pytest.raises(TooLargeError, match="all_to_all on 4096 ranks sends more than 40,000,"):
        b.copy(every, (every + 3) % 4096, rows)
    with pytest.raises(TooLargeError, match="has 64,000,000 pieces, more than the 40,000,000"):
        Builder(collective("all_to_all"), 8000)


@pytest.mark.parametrize("number", [2**31 - 1, -(2**31)])
def test_numbers_of_32_bits_are_taken_and_others_refused(number: int) -> None:
    """The largest and the least; one further is too far. Where ranks end is told later."""
    assert whole("src", number).tolist() == number
    further = number + (1 if number > 0 else -1)
    for given in (further, [0, further], np.array([further, 5])):
        with pytest.raises(
            InputError, match=r"^builder: src is .*, expected numbers below 2\^31$"
        ):
            whole("src", given)
    assert whole("src", np.array([], dtype=float)).tolist() == []
    assert whole("src", np.array([3], dtype=np.uint8)).dtype == np.int32


def test_messages_before_the_first_round_are_a_round() -> None:
    """The first call of `next_round` begins another one then, and none if nothing is listed."""
    both = Builder("broadcast", ranks=3)
    both.copy(0, 1, [0])
    both.next_round()
    both.copy(0, 2, [0])
    assert both.finish().rounds == 2
    block = Builder("broadcast", ranks=3)
    block.copy(0, 1, [0])
    block.block(COPY, [[[0]]], [[[2]]], [[[0]]])
    assert block.finish().rounds == 2
    led = Builder("broadcast", ranks=3)
    led.next_round()
    led.copy([0, 1], [1, 2], [[0], [0]])
    assert led.finish().rounds == 1


def test_a_block_is_of_one_of_two_kinds() -> None:
    """Another number would be copied or added by chance."""
    b = Builder(collective("broadcast"), 3)
    with pytest.raises(InputError, match="kind: got 7, expected 0 or 1"):
        b.block(7, [[[0]]], [[[1]]], [[[0]]])
