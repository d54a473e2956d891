"""Of the cases that `benchmarks/fuzz.py` tries by the hundred thousand, 2,000."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Sequence

import pytest
from robustness import campaign

ROUND = 100
# None of those that the page of the campaign counts.
ROUNDS = range(1_000_000, 1_000_020)


@pytest.fixture(scope="module")
def makers() -> campaign.Makers:
    """Return what makes cases."""
    return campaign.makers()


def _measures(words: Sequence[str]) -> bool:
    """Return whether a case starts real ranks, which takes what it takes: where torch is."""
    starts = tuple(words[:2]) in {("calibrate", "run"), ("calibrate", "measure")}
    return starts and importlib.util.find_spec("torch") is not None


@pytest.mark.parametrize("number", ROUNDS)
def test_a_hundred_cases(makers: campaign.Makers, number: int) -> None:
    """An answer, or an error of one line: no traceback, hang, torn file or false time."""
    tally = campaign.Tally()
    cases = [c for c in campaign.cases_of(makers, number, ROUND) if not _measures(c.words)]
    campaign.run(cases, tally)
    assert [(case.words, outcome.why) for case, outcome in tally.failures] == []
    ended = Counter[str]()
    for (_, how), count in tally.ended.items():
        ended[how] += count
    assert ended.total() == len(cases) > ROUND * 0.8
    # Of both enough that it means something.
    assert ended["answered"] > 10
    assert ended["refused"] > 20


def test_the_same_number_makes_the_same_cases(makers: campaign.Makers) -> None:
    """So that a failure can be seen again."""
    one, other = (
        [campaign.digest(case) for case in campaign.cases_of(makers, 7, 80)] for _ in range(2)
    )
    assert one == other
    assert len(set(one)) > 70
