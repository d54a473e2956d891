"""Of the cases that `benchmarks/fuzz.py` tries by the hundred thousand, 2,000."""

from __future__ import annotations

import sys
from collections import Counter

import pytest
from robustness import campaign

ROUND = 100
# None of those that the page of the campaign counts.
ROUNDS = range(1_000_000, 1_000_020)


@pytest.fixture(scope="module")
def makers() -> campaign.Makers:
    """Return what makes cases."""
    return campaign.makers()


@pytest.mark.parametrize("number", ROUNDS)
def test_a_hundred_cases(
    makers: campaign.Makers, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer, or an error of one line: no traceback, hang, torn file or false time."""
    # Real ranks take their time, and leave what they measured: here nothing can start them.
    monkeypatch.setitem(sys.modules, "torch", None)
    tally = campaign.Tally()
    campaign.run(campaign.cases_of(makers, number, ROUND), tally)
    assert [(case.words, outcome.why) for case, outcome in tally.failures] == []
    ended = Counter[str]()
    for (_, how), count in tally.ended.items():
        ended[how] += count
    assert ended.total() == ROUND
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
