"""Options of an algorithm follow its name: `bruck:radix=8`."""

from __future__ import annotations

import pytest

from collsim.algorithms import build, canonical, find, refusal, variants
from collsim.core.setting import Setting
from collsim.errors import InputError, UnknownNameError


def test_options_are_written_in_one_way() -> None:
    """Those of the default are left out; spaces and leading zeros don't matter."""
    assert canonical("all_to_all", "bruck") == "bruck"
    assert canonical("all_to_all", "bruck:radix=4") == "bruck"
    assert canonical("all_to_all", "bruck: radix = 008 ") == "bruck:radix=8"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("brcuk:radix=8", "unknown algorithm of all_to_all 'brcuk'; did you mean 'bruck'?"),
        ("bruck:radx=8", "unknown option of all_to_all/bruck 'radx'; did you mean 'radix'?"),
        (
            "bruck:radix=1",
            "all_to_all/bruck: radix: got '1', expected a whole number from 2 up",
        ),
        ("bruck:radix=", "radix: got '', expected"),
        ("bruck:radix=8.0", "radix: got '8.0', expected"),
        ("bruck:radix=99999999999999999999", "expected a whole number"),
        ("bruck:", "got '', expected options as KEY=VALUE"),
        ("bruck:8", "got '8', expected options as KEY=VALUE"),
        ("bruck:radix=8,radix=3", "option radix comes twice"),
        ("ring:radix=8", "all_to_all/ring: takes no options, got 'radix=8'"),
        (":radix=8", "unknown algorithm of all_to_all ''"),
    ],
)
def test_what_is_wrong_is_named_in_one_line(spec: str, message: str) -> None:
    """Whoever is asked: to find it, to build it, or whether it runs."""
    for ask in (
        lambda: find("all_to_all", spec),
        lambda: build("all_to_all", spec, 4),
        lambda: refusal("all_to_all", spec, 4),
        lambda: canonical("all_to_all", spec),
    ):
        with pytest.raises((InputError, UnknownNameError)) as caught:
            ask()
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ranks", [2, 3, 7, 16, 33])
def test_to_base_two_it_is_mst_and_to_base_of_the_ranks_direct(ranks: int) -> None:
    """Message by message."""
    for spec, same in (("bruck:radix=2", "mst"), (f"bruck:radix={ranks}", "direct")):
        one, other = build("all_to_all", spec, ranks), build("all_to_all", same, ranks)
        for name in ("src", "dst", "piece_ptr", "piece"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()


def test_variants_are_those_that_may_be_faster() -> None:
    """The default first; of the base that takes two rounds, and none beyond the ranks."""
    assert variants("all_to_all", "bruck", Setting(64)) == (
        "bruck",
        "bruck:radix=3",
        "bruck:radix=8",
    )
    assert variants("all_to_all", "bruck", Setting(100))[-1] == "bruck:radix=10"
    assert variants("all_to_all", "bruck", Setting(3)) == ("bruck",)
    assert variants("all_to_all", "mst", Setting(64)) == ("mst",)
