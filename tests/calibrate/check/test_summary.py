"""Sentences about what falls short hold for every row."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collsim.calibrate.check.summary import shortfall

NAMES = {"o": "ok", "l": "latency", "b": "bandwidth", "2": "both", "f": "faster"}


@dataclass(frozen=True)
class Row:
    """A judged row."""

    size: int
    ratio: float
    verdict: str


def rows(letters: str) -> list[Row]:
    """Return a row for each letter, of 1 KiB and its doubles; the slow ones take 3 times."""
    return [
        Row(1024 << i, 3.0 if letter in "lb2" else 1.0, NAMES[letter])
        for i, letter in enumerate(letters)
    ]


def say(letters: str) -> str:
    """Return the words without the factor."""
    return shortfall(rows(letters), 0.2).replace(", 3 times the predicted time", "")


@pytest.mark.parametrize(
    ("letters", "words"),
    [
        ("oooo", "all 4 rows within 20% of the prediction"),
        ("oobb", "bandwidth falls short from 4KiB on (2 of 4 rows)"),
        ("lloo", "latency is too long up to 2KiB (2 of 4 rows)"),
        ("obbo", "bandwidth falls short between 2KiB and 4KiB (2 of 4 rows)"),
        ("bbbb", "bandwidth falls short at all sizes (4 of 4 rows)"),
        ("b", "bandwidth falls short at 1KiB (1 of 1 rows)"),
        (
            "ll22bb",
            (
                "latency is too long up to 2KiB (2 of 6 rows); "
                "latency is too long and bandwidth falls short between 4KiB and 8KiB "
                "(2 of 6 rows); "
                "bandwidth falls short from 16KiB on (2 of 6 rows)"
            ),
        ),
        (
            "ollbbo",
            (
                "latency is too long between 2KiB and 4KiB (2 of 6 rows); "
                "bandwidth falls short between 8KiB and 16KiB (2 of 6 rows)"
            ),
        ),
        (
            "olbo",
            (
                "latency is too long at 2KiB (1 of 4 rows); "
                "bandwidth falls short at 4KiB (1 of 4 rows)"
            ),
        ),
    ],
)
def test_spans_are_as_long_as_their_rows(letters: str, words: str) -> None:
    """From on, up to, between, at: each true of every row in it."""
    assert say(letters) == words


def test_a_good_row_within_a_span_is_named() -> None:
    """It parts the span only if there is little on both sides of it."""
    assert say("oobbob") == "bandwidth falls short from 4KiB on, but for 16KiB (3 of 6 rows)"
    assert say("obobo").startswith("2 single rows, 2KiB, 8KiB, take up to 3 times")
    assert say("bboobb").count("bandwidth falls short") == 2


@pytest.mark.parametrize("letters", ["oobo", "booo", "ooob", "fffbff"])
def test_a_row_that_stands_alone_is_named(letters: str) -> None:
    """Neither a latency nor a bandwidth is to blame."""
    size = {0: "1KiB", 2: "4KiB", 3: "8KiB"}[letters.index("b")]
    words = shortfall(rows(letters), 0.2).partition("; faster")[0]
    assert words == f"one row, {size}, takes 3 times the predicted time, those beside it do not"


def test_many_that_stand_alone_are_counted() -> None:
    """From the first to the last."""
    assert say("obooboobooboo") == (
        "4 single rows, from 2KiB to 1MiB, take up to 3 times the predicted time, "
        "those beside them do not"
    )


def test_one_of_two_rows_of_a_size_is_a_row_apart() -> None:
    """In place it is fine, so the size is."""
    twins = [row for row in rows("ooo") for _ in range(2)]
    twins[2] = Row(2048, 2.74, "latency")
    assert shortfall(twins, 0.2) == (
        "one row, 2KiB, takes 2.74 times the predicted time, those beside it do not"
    )


@given(st.text("oflb2", min_size=1, max_size=30))
def test_every_slow_row_is_counted_once(letters: str) -> None:
    """In a span, or as a row apart."""
    words = shortfall(rows(letters), 0.2)
    counts = re.findall(r"\((\d+) of \d+ rows\)|(\d+) single rows|(one) row,", words)
    total = sum(1 if one else int(span or several) for span, several, one in counts)
    assert total == sum(letter in "lb2" for letter in letters)


def test_of_many_ranges_the_latest_three_are_told() -> None:
    """By what their rows are late together; the others are counted."""
    words = say("bbooobbbbooobbooobbbooobb")
    assert words == (
        "bandwidth falls short between 32KiB and 256KiB (4 of 25 rows); "
        "bandwidth falls short between 128MiB and 512MiB (3 of 25 rows); "
        "bandwidth falls short up to 2KiB (2 of 25 rows); and 2 more ranges (4 of 25 rows)"
    )


def test_a_range_that_is_later_comes_first() -> None:
    """Two rows at 9 times are later than two at 3 times."""
    some = rows("lloobb")
    late = [*some[:4], *(Row(row.size, 9.0, row.verdict) for row in some[4:])]
    first, second = shortfall(late, 0.2).split("; ")
    assert first.startswith("bandwidth falls short from 16KiB on, 9 times")
    assert second.startswith("latency is too long up to 2KiB, 3 times")


def test_faster_rows_are_counted() -> None:
    """Beside what falls short."""
    assert say("ffbb") == (
        "bandwidth falls short from 4KiB on (2 of 4 rows); "
        "faster than predicted by more than 20% in 2 of 4 rows"
    )
