"""Schedules as text: what can be written, and what is wrong with a line."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from collsim.algorithms import build
from collsim.core.schedule import Schedule
from collsim.engine.verdict import verify_schedule
from collsim.errors import FileError
from collsim.interop.schedule_text.reader import read_text_schedule
from collsim.interop.schedule_text.writer import to_text

HEAD = "collective: all_reduce\nranks: 4\nparts: 4\nscratch: 8\n\n"


def read(text: str) -> Schedule:
    """Return the schedule of a text."""
    return read_text_schedule("mine.txt", text)[1]


def one(message: str) -> tuple[int, int, int, list[int], list[int], int]:
    """Return the one message of a text: ends, kind, chunks, into, channel."""
    s = read(HEAD + message)
    assert len(s) == 1
    return (
        int(s.src[0]), int(s.dst[0]), int(s.kind[0]), s.carried(0).tolist(),
        s.written(0).tolist(), int(s.channel[0]),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("0 -> 1: chunk 2", (0, 1, 0, [2], [2], 0)),
        ("0->1:chunk 2", (0, 1, 0, [2], [2], 0)),
        ("0 → 1: chunks 0-2,3", (0, 1, 0, [0, 1, 2, 3], [0, 1, 2, 3], 0)),
        ("3 -> 0: reduce chunks 1, 3", (3, 0, 1, [1, 3], [1, 3], 0)),
        ("3 -> 0: + chunk 1", (3, 0, 1, [1], [1], 0)),
        ("3 -> 0: +1", (3, 0, 1, [1], [1], 0)),
        ("3 -> 0: reduce 1 - 2", (3, 0, 1, [1, 2], [1, 2], 0)),
        ("0 -> 1: chunk 2 into 3", (0, 1, 0, [2], [3], 0)),
        ("0 -> 1: chunks 2,0 into chunks s1,s7", (0, 1, 0, [2, 0], [5, 11], 0)),
        ("0 -> 1: chunks s0-2 into s3-s5  # back", (0, 1, 0, [4, 5, 6], [7, 8, 9], 0)),
        ("1 -> 1: chunk 0 into s0 channel 3", (1, 1, 0, [0], [4], 3)),
    ],
)
def test_a_message(message: str, found: tuple[object, ...]) -> None:
    """Ends, chunks, where to, and whether they are added."""
    assert one(message) == found


def test_rounds() -> None:
    """A blank line or the word begins the next; a number names it; comments do not count."""
    text = HEAD + (
        "# before\n0 -> 1: chunk 0\n# between\n1 -> 0: chunk 1\n\n\n2 -> 3: chunk 0\n"
        "round\n3 -> 2: chunk 1\n\nround\n0 -> 2: chunk 0\nround 9:\n0 -> 3: chunk 0\n"
    )
    assert read(text).round.tolist() == [0, 0, 1, 2, 3, 9]


def test_the_head_says_what_it_is() -> None:
    """In any order, names as one likes, and only what differs from the default."""
    name, schedule, lines = read_text_schedule(
        "a", "name: by hand\nranks: 3\nroot: 2\ncollective: Broad-Cast\n2 -> 0: chunk 0\n"
    )
    assert (name, schedule.collective.name, lines) == ("by hand", "broadcast", (5,))
    assert (schedule.ranks, schedule.root, schedule.parts, schedule.scratch) == (3, 2, 1, 0)


def test_no_message_is_a_schedule_too() -> None:
    """One rank has nothing to do."""
    assert len(read("collective: all_gather\nranks: 1\n")) == 0


def test_waiting_by_name() -> None:
    """A message may wait for others than those of its data; what is implied is left out."""
    text = HEAD + (
        "0 -> 1: chunk 0 named first\n0 -> 1: chunk 1 named second after first\n"
        "0 -> 2: chunk 2 after first,second\n"
    )
    schedule = read(text)
    assert [schedule.waits_for(o).tolist() for o in range(3)] == [[], [0], [1]]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "line 1: no 'collective:' before this, expected one of broadcast, reduce"),
        ("collective: gossip\nranks: 2\n0 -> 1: chunk 0", "line 1: unknown collective 'gossip"),
        ("colective: reduce", "line 1: unknown key 'colective'; did you mean 'collective'?"),
        ("ranks: 2\nranks: 3", "line 2: got 'ranks: 3', expected one ranks, and line 1 has on"),
        ("ranks:", "line 1: got 'ranks:', expected a value after 'ranks:'"),
        ("collective: reduce\n0 -> 1: chunk 0", "line 2: no 'ranks:' before this, expected on"),
        ("collective: reduce\nranks: two\n0 -> 1: chunk 0", "line 2: got 'two', expected rank"),
        ("collective: reduce\nranks: 0\n", "line 2: got '0', expected ranks from 1 to 2048"),
        ("collective: reduce\nranks: 2\nroot: 2\n", "line 3: got '2', expected root from 0 to"),
        ("hello", "line 1: got 'hello', expected a message such as '0 -> 1: chunk 0', or"),
        (HEAD + "0 -> 4: chunk 0", "line 6: got '4', expected a rank from 0 to 3"),
        (HEAD + "0 -> -1: chunk 0", "line 6: got '-1', expected a rank from 0 to 3"),
        (HEAD + "0 -> ٣: chunk 0", "line 6: got '٣', expected a rank from 0 to 3"),
        (HEAD + "0 -> 1 -> 2: chunk 0", "line 6: got '0 -> 1 -> 2: chunk 0', expected a messa"),
        (HEAD + "0 -> 1 chunk 0", "line 6: got '0 -> 1 chunk 0', expected a message such as"),
        (HEAD + "0 -> 1: 0", "line 6: got '0', expected 'chunk 0', 'chunks 0-3,5', or"),
        (HEAD + "0 -> 1: chunk", "line 6: got 'chunk', expected the number of a chunk"),
        (HEAD + "0 -> 1: reduce", "line 6: got 'reduce', expected 'chunk 0', 'chunks 0-3,5'"),
        (HEAD + "0 -> 1: chunk 4", "line 6: got '4', expected a chunk from 0 to 3"),
        (HEAD + "0 -> 1: chunk s8", "line 6: got '8', expected a scratch chunk from 0 to 7"),
        (HEAD + "0 -> 1: chunk 1,", "line 6: got '', expected a chunk from 0 to 3"),
        (HEAD + "0 -> 1: chunks 3-1", "line 6: got '3-1', expected a range that rises"),
        (HEAD + "0 -> 1: chunk 1 2", "line 6: got '2', expected the end of the line, or into"),
        (HEAD + "0 -> 1: chunk 1 into 1-2", "line 6: got 'chunk 1 into 1-2', expected as many"),
        (HEAD + "0 -> 1: chunk 1 into", "line 6: got 'into', expected a value after 'into'"),
        (HEAD + "0 -> 1: chunk 1 channel x", "line 6: got 'x', expected a channel from 0 to"),
        (HEAD + "0 -> 1: chunk 1 after a", "line 6: got 'a', expected the name of a message"),
        (HEAD + "0 -> 1: chunk 1 into 1 into 2", "line 6: got 'into', expected the end of"),
        (HEAD + "round x", "line 6: got 'x', expected a round from 0 up"),
        (HEAD + "0 -> 1: chunk 1\nroot: 1", "line 7: got 'root: 1', expected a message such a"),
        (
            "collective: reduce\nranks: 2\n0 -> 1: chunk s0",
            "line 3: got 's0', expected a 'scratch:' in the head",
        ),
        (
            HEAD + "0 -> 1: chunk 1 named a\n0 -> 1: chunk 1 named a",
            "line 7: got 'a', expected a name that no message above has",
        ),
        (
            "collective: all_to_all\nranks: 60000\n0 -> 1: chunk 0",
            "line 2: got '60000', expected ranks from 1 to 2048",
        ),
        (
            "collective: all_gather\nranks: 2000\n0 -> 1: chunk 0",
            "line 2: 2000 ranks of 2000 chunks, expected at most 1,048,576 chunks in all",
        ),
        (
            "collective: reduce\nparts: 9000000\nranks: 2\n0 -> 1: chunk 0",
            "line 2: 2 ranks of 9000000 chunks, expected at most 1,048,576 chunks in all",
        ),
        (
            "collective: reduce\nranks: 2\nparts: 500000\n0 -> 1: chunks "
            + ",".join(["0-499999"] * 9),
            "line 4: got '0-499999', expected at most 4,000,000 chunks in all messages",
        ),
    ],
)  # fmt: skip
def test_a_wrong_line(text: str, reason: str) -> None:
    """Its number, what was got and what was expected."""
    with pytest.raises(FileError) as caught:
        read(text)
    message = str(caught.value)
    assert message.startswith("mine.txt: " + reason)
    assert "\n" not in message


def test_what_is_expected_of_the_file() -> None:
    """A collective or a root that the reader asks for."""
    text = "ranks: 3\n2 -> 0: chunk 0\n2 -> 1: chunk 0\n"
    _, schedule, _ = read_text_schedule("a", text, "broadcast", 2)
    assert verify_schedule(schedule).ok
    with pytest.raises(FileError, match="a: is a schedule of reduce, expected one of scatter"):
        read_text_schedule("a", "collective: reduce\nranks: 2\n", "scatter")
    with pytest.raises(FileError, match="a: has root 0, expected 1"):
        read_text_schedule("a", "collective: reduce\nranks: 2\nroot: 0\n", None, 1)


def test_the_example_is_right(root: Path) -> None:
    """The one that the documents use."""
    text = (root / "examples" / "schedule_all_reduce_4.txt").read_text("utf-8")
    assert verify_schedule(read(text)).ok


def test_damaged_text_is_read_or_refused() -> None:
    """Letters, words and lines changed, lost or doubled: no traceback, one line."""
    draw = random.Random(5)
    texts = [
        to_text(build("reduce_scatter", "bruck", 5), "bruck"),
        to_text(build("all_reduce", "halving_doubling", 3), "halving"),
        HEAD + "0 -> 1: +0-3 into s1-4",
    ]
    refused = 0
    for _ in range(800):
        text = draw.choice(texts)
        i, j = sorted(draw.randrange(len(text)) for _ in range(2))
        damaged = draw.choice(
            (
                text[:i] + text[j:],
                text[:j] + text[i:],
                text[:i] + draw.choice("0123456789,-+:>#s \n\té∞") + text[i + 1 :],
            )
        )
        try:
            read(damaged)
        except FileError as error:
            message = str(error)
            assert "\n" not in message
            refused += 1
    assert 200 < refused < 800
