"""Profiles: what they accept, what they answer."""

from __future__ import annotations

import math
from typing import Any

import pytest

from collsim.core.profile import ErrorSummary, Parameter, Profile, parameter_unit
from collsim.errors import InputError, UnknownNameError

ALPHA = Parameter(1e-6, 9e-7, 1.1e-6, "s")
BETA = Parameter(1e-11, None, None, "s/B")


def test_one_class_is_uniform() -> None:
    """Alpha, beta and launch of the only class."""
    profile = Profile("p", {"nvlink4.alpha": ALPHA, "nvlink4.beta": BETA})
    assert profile.classes == ("nvlink4",)
    assert profile.uniform == (1e-6, 1e-11, 0.0)


def test_launch_is_part_of_uniform() -> None:
    """A fitted launch is the third."""
    launch = Parameter(5e-6, None, None, "s")
    profile = Profile("p", {"link.alpha": ALPHA, "link.beta": BETA, "launch": launch})
    assert profile.uniform == (1e-6, 1e-11, 5e-6)


def test_two_classes_are_not_uniform() -> None:
    """A formula for one class does not hold then."""
    both = {f"{c}.{p}": v for c in "ab" for p, v in (("alpha", ALPHA), ("beta", BETA))}
    assert Profile("p", both).uniform is None


def test_a_class_without_beta_is_not_uniform() -> None:
    """Half a class predicts nothing."""
    assert Profile("p", {"link.alpha": ALPHA}).uniform is None


def test_an_unknown_parameter_names_the_nearest() -> None:
    """A slip of the pen is answered."""
    profile = Profile("p", {"link.alpha": ALPHA, "link.beta": BETA})
    with pytest.raises(UnknownNameError, match=r"did you mean 'link\.alpha'"):
        profile.value("link.alhpa")


def test_lists_become_tuples() -> None:
    """What TOML gives as a list is frozen."""
    profile = Profile("p", {"link.alpha": ALPHA}, ranks=[8], notes=["n"])  # type: ignore[arg-type]
    assert (profile.ranks, profile.notes) == ((8,), ("n",))


def test_errors_are_found_by_kind() -> None:
    """The held-out error has the kind that was held out."""
    summary = ErrorSummary("ranks", 0.1, 0.2, 3)
    profile = Profile("p", {"link.alpha": ALPHA}, errors=(summary,))
    assert profile.error(["sizes", "ranks"]) is summary
    assert profile.error(["in_sample"]) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1.0, None, None, "s"), "value: got -1.0, expected a finite number from 0 up"),
        ((math.nan, None, None, "s"), "value: got nan, expected a finite number from 0 up"),
        ((1.0, 2.0, 3.0, "s"), "value: got 1.0, expected it between low 2.0 and high 3.0"),
        ((1.0, 1.0, None, "s"), "low, high: expected both or neither"),
        ((1.0, None, None, "us"), "unit: got 'us', expected one of s, s/B, B, 1"),
        ((1.0, None, None, "s", "guess"), "kind: got 'guess', expected one of fit, "),
    ],
)
def test_a_parameter_that_cannot_be_is_refused(arguments: Any, message: str) -> None:
    """The error names the field and the value."""
    with pytest.raises(InputError) as caught:
        Parameter(*arguments)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("key", "parameter", "message"),
    [
        ("link.beta", ALPHA, "link.beta: got unit 's', expected 's/B'"),
        ("alpha", ALPHA, "parameter 'alpha': expected launch, or CLASS[.PROTOCOL] followed by"),
        ("a.b.c.alpha", ALPHA, "parameter 'a.b.c.alpha': expected launch, or"),
        ("link.launch", ALPHA, "parameter 'link.launch': expected launch, or"),
        (".alpha", ALPHA, "parameter '.alpha': expected launch, or"),
    ],
)
def test_a_key_says_what_its_number_is(key: str, parameter: Parameter, message: str) -> None:
    """A key that is none, or whose unit differs, is refused."""
    with pytest.raises(InputError) as caught:
        Profile("p", {key: parameter})
    assert str(caught.value).startswith(message)


def test_a_profile_without_parameters_is_refused() -> None:
    """It would predict nothing."""
    with pytest.raises(InputError, match=r"expected link\.alpha and link\.beta"):
        Profile("p", {})


def test_a_protocol_may_stand_in_the_key() -> None:
    """Class, protocol, quantity."""
    assert parameter_unit("nvlink4.ll128.alpha_busy") == "s"


def test_errors_are_of_one_row_at_least() -> None:
    """There is no median of none."""
    with pytest.raises(InputError, match="n: got 0, expected a whole number from 1 up"):
        ErrorSummary("in_sample", 0.0, 0.0, 0)


@pytest.mark.parametrize("chunks", [0, 65537, True, 1.0])
def test_chunks_are_counted(chunks: Any) -> None:
    """Or they are those that are the fastest."""
    with pytest.raises(InputError, match=f"chunks: got {chunks}, expected auto or a whole"):
        Profile("p", {"a.alpha": ALPHA, "a.beta": BETA}, chunks=chunks)
