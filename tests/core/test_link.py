"""Links: what is legal, and how bundles of them are put together."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from collsim.core.link import LinkClass, Links
from collsim.errors import InputError

WIRE = LinkClass("wire", alpha=2.0, bandwidth=4.0, alpha_busy=0.5)


def test_busy_is_alpha_unless_said_otherwise() -> None:
    """The textbook's one-port model."""
    assert LinkClass("wire", 2.0, 4.0).busy == 2.0
    assert WIRE.busy == 0.5
    assert WIRE.beta == 0.25


def test_alpha_zero_is_legal() -> None:
    """And so is alpha_busy 0."""
    assert LinkClass("wire", 0.0, 1.0).busy == 0.0
    assert LinkClass("wire", 1.0, 1.0, alpha_busy=0.0).busy == 0.0


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, inf, nan, 1e-320])
def test_bandwidth_is_positive_and_finite(bandwidth: float) -> None:
    """And so is its inverse."""
    with pytest.raises(InputError, match="link wire: bandwidth is"):
        LinkClass("wire", 1.0, bandwidth)


@pytest.mark.parametrize("alpha", [-1e-9, inf, nan])
def test_alpha_is_finite_and_not_negative(alpha: float) -> None:
    """One line with name and value."""
    with pytest.raises(InputError, match="link wire: alpha is"):
        LinkClass("wire", alpha, 1.0)


@pytest.mark.parametrize("busy", [-0.1, 1.1, nan])
def test_alpha_busy_is_within_alpha(busy: float) -> None:
    """0 <= alpha_busy <= alpha."""
    with pytest.raises(InputError, match=r"alpha_busy is .*, expected seconds from 0 to alpha"):
        LinkClass("wire", 1.0, 1.0, alpha_busy=busy)


def test_bundles_follow_each_other_and_only_some_charge_alpha() -> None:
    """Up and down of a switch: the way up carries the alpha of both."""
    other = LinkClass("other", 1.0, 1.0)
    links = Links.assemble(
        (["up"], WIRE, True), (["down"], WIRE, False), (["x", "y"], other, True)
    )
    assert links.names == ("up", "down", "x", "y")
    assert links.classes == (WIRE, other)
    assert links.kind.tolist() == [0, 0, 1, 1]
    assert links.alpha.tolist() == [2.0, 0.0, 1.0, 1.0]
    assert links.busy.tolist() == [0.5, 0.0, 1.0, 1.0]
    assert links.beta.tolist() == [0.25, 0.25, 1.0, 1.0]
    assert links.lanes.tolist() == [1, 1, 1, 1]
    assert len(links) == 4


def test_arrays_are_read_only_and_of_one_length() -> None:
    """Validated once, at construction."""
    links = Links.assemble((["up"], WIRE, True))
    with pytest.raises(ValueError, match="read-only"):
        links.alpha[0] = 0.0
    with pytest.raises(InputError, match="links: beta has 2 entries, expected 1"):
        Links(
            names=links.names,
            classes=links.classes,
            kind=links.kind,
            alpha=links.alpha,
            beta=np.array([1.0, 2.0]),
            busy=links.busy,
            lanes=links.lanes,
        )
