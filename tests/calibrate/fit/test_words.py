"""What a fit cannot tell is said in words, at and beside the edge where it begins."""

from __future__ import annotations

import pytest

from collsim.calibrate.fit.words import bound_notes, chunk_notes, launch_notes, untold
from collsim.calibrate.solve import Solution
from collsim.core.measurements import Measurement

ALPHA = (
    "the interval of alpha reaches 0: the rows do not tell how long a message takes to start"
)
BETA = (
    "the interval of beta reaches 0: the rows do not tell by how much times rise with the size"
)
NO_ALPHA = "alpha came out as 0: the times are proportional to the size, or rise faster"
NO_BETA = "beta came out as 0: the times do not rise with the size"
BY_LAUNCH = "alpha came out as 0: launch alone explains the small sizes"
NO_WIDTHS = "no intervals: as many parameters as rows"


@pytest.mark.parametrize(
    ("values", "widths", "notes"),
    [
        ((2.0, 3.0), (1.9, 2.9), []),
        ((2.0, 3.0), (2.0, 2.9), [ALPHA]),
        ((2.0, 3.0), (1.9, 3.0), [BETA]),
        ((2.0, 3.0), (5.0, 5.0), [ALPHA, BETA]),
        ((0.0, 3.0), (1.0, 1.0), [NO_ALPHA]),
        ((2.0, 0.0), (1.0, 1.0), [NO_BETA]),
        ((0.0, 0.0), (1.0, 1.0), [NO_ALPHA, NO_BETA]),
        # With a launch, which comes first and has a width of its own.
        ((4.0, 2.0, 3.0), (9.0, 1.0, 1.0), []),
        ((4.0, 2.0, 3.0), (0.1, 2.0, 1.0), [ALPHA]),
        ((4.0, 0.0, 3.0), (1.0, 1.0, 1.0), [BY_LAUNCH]),
        ((0.0, 0.0, 3.0), (1.0, 1.0, 1.0), [NO_ALPHA]),
        ((2.0, 3.0), None, [NO_WIDTHS]),
        ((0.0, 3.0), None, [NO_ALPHA, NO_WIDTHS]),
    ],
)
def test_parameters_that_are_or_may_be_0(
    values: tuple[float, ...], widths: tuple[float, ...] | None, notes: list[str]
) -> None:
    """An interval that just reaches 0 counts; that of a 0 says nothing more."""
    assert bound_notes(Solution(values, widths)) == notes


def row(collective: str = "all_reduce", ranks: int = 8, nbytes: int = 1024) -> Measurement:
    """Return a measured row."""
    return Measurement(collective, ranks, nbytes, 1e-5)


def test_why_launch_is_0() -> None:
    """It came out so, or could not be told from alpha."""
    known = Solution((1.0, 1.0, 1.0), None)
    assert launch_notes([row()], True, known) == []
    assert launch_notes([row()], True, Solution((0.0, 0.0, 1.0), None)) == []
    assert launch_notes([row()], True, Solution((0.0, 1.0, 1.0), None)) == [
        "launch came out as 0: alpha alone explains the small sizes"
    ]
    begins = "launch is 0: the rows are of "
    ends = ", so it cannot be told from alpha, which contains it"
    two = Solution((1.0, 1.0), None)
    assert launch_notes([row(), row()], False, two) == [
        f"{begins}all_reduce on 8 ranks only{ends}"
    ]
    for others, held in (
        ([row(ranks=2)], "all_reduce on 2, 8 ranks"),
        ([row("all_gather")], "all_gather, all_reduce on 8 ranks"),
    ):
        assert launch_notes([row(), *others], False, two) == [
            f"{begins}{held} and too few or too alike{ends}"
        ]


def test_why_alpha_and_beta_are_not_told() -> None:
    """One size, or sizes too near each other."""
    assert untold([row(), row()]) == (
        "2 rows of 1KiB cannot tell alpha from beta, expected rows of at least two sizes"
    )
    assert untold([row(nbytes=2048), row(), row(nbytes=1025)]) == (
        "3 rows from 1KiB to 2KiB cannot tell alpha from beta, expected sizes further apart"
    )


def test_chunks_that_lead_in_a_circle() -> None:
    """Settled is nothing to speak of."""
    assert chunk_notes(True) == []
    (note,) = chunk_notes(False)
    assert note == (
        "alpha and beta did not settle with the chunk counts that are best for them: of those "
        "found in turn the best are taken; --chunks N fixes the count"
    )
