"""Sizes one by one, and nccl-tests' sweep."""

from __future__ import annotations

from typing import Any

import pytest

from collsim.cli.options.sizes import sweep


@pytest.mark.parametrize(
    ("words", "sizes"),
    [
        ("-s 1K -s 1kB -s 0", [1024, 1000, 0]),
        ("--size 1.5KiB", [1536]),
        ("-b 8 -e 64", [8, 16, 32, 64]),
        ("-b 8 -e 100 -f 3", [8, 24, 72]),
        ("-b 8 -e 32 -i 8", [8, 16, 24, 32]),
        ("-b 10 -e 35 -i 10", [10, 20, 30]),
        ("-e 16", [8, 16]),
        ("-b 4G", [2**32, 2**33]),
        ("-b 7 -e 7", [7]),
        ("-b 0 -e 4", [0, 1, 2, 4]),
        ("-b 0 -e 0", [0]),
        ("-b 0 -e 8 -i 4", [0, 4, 8]),
    ],
)
def test_sizes(answer: Any, words: str, sizes: list[int]) -> None:
    """In the order that they are given; a sweep from 0 goes on with 1."""
    found = answer(f"predict all_reduce {words}")
    assert [row["size"] for row in found["rows"]] == sizes


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("-s 1K -b 8", "-s names sizes one by one, so it can't be combined with -b -e -f -i"),
        ("-s 1K -i 8", "-s names sizes one by one, so it can't be combined with -b -e -f -i"),
        ("-f 2 -i 8", "-f multiplies and -i adds, expected one of them"),
        ("-b 9 -e 8", "-b 9 is above -e 8, expected it below or equal"),
        ("-b 16G", "-b 17179869184 is above -e 8589934592, expected it below or equal"),
        (
            "-i 1",
            "-i 1 from 8 to 8589934592 makes 8589934585 sizes, expected at most 100000",
        ),
    ],
)
def test_contradictions_are_wrong_usage(fails: Any, words: str, message: str) -> None:
    """Exit 2 and a reason."""
    assert fails(f"predict all_reduce {words}", code=2) == message


def test_longest_sweep() -> None:
    """100,000 sizes are fine."""
    assert len(sweep(1, 100_000, step=1)) == 100_000
