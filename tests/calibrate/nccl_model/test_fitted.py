"""What a fitted system answers: times, choices, and what its rows have shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collsim.calibrate.nccl_model import Fitted, Selector, System
from collsim.calibrate.nccl_model.prior import priors
from collsim.errors import InputError, UnknownNameError

KINDS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")


def believed(system: System) -> Fitted:
    """Return a system of which nothing was measured."""
    prior = priors(system, [8, 16], KINDS, ["tree"])
    values = {key: p.centre for key, p in prior.items()}
    sigma = {key: p.sigma for key, p in prior.items()}
    return Fitted(system, Selector(), values, sigma, prior, 0.0)


ONE = believed(System("hopper", 12, 360.0, nvls=True))
MANY = believed(System("ampere", 12, 240.0, inter_bus=50.0))


def surer(fitted: Fitted, key: str, part: float) -> Fitted:
    """Return a system of which one parameter is surer than believed: so much of its sigma."""
    sigma = fitted.log_sigma | {key: part * fitted.prior[key].sigma}
    return replace(fitted, log_sigma=sigma)


@pytest.mark.parametrize(
    ("fitted", "algorithm", "protocol", "key"),
    [
        (ONE, "ring", "ll", "inside.ll.alpha"),
        (ONE, "ring", "ll128", "inside.ll128.alpha"),
        (ONE, "nvls", "simple", "nvls.simple.alpha"),
        (ONE, "nvls_tree", "simple", "nvls.simple.alpha"),
        (ONE, "p2p", "ll", "p2p.ll.alpha"),
        (ONE, "p2p", "simple", "p2p.simple.alpha"),
        (ONE, "tree", "ll", "tree.alpha_ratio"),
        (MANY, "tree", "ll", "between.ll.alpha"),
        (MANY, "pat", "simple", "between.simple.alpha"),
        (MANY, "ring", "simple", "inside.simple.alpha"),
    ],
)
def test_a_piece_is_shown_by_its_latency(
    fitted: Fitted, algorithm: str, protocol: str, key: str
) -> None:
    """Known but for rounding as surely as before, rows did not show it."""
    assert not fitted.shown(algorithm, protocol)
    assert surer(fitted, key, 0.998).shown(algorithm, protocol)
    assert not surer(fitted, key, 0.9995).shown(algorithm, protocol)
    for other in fitted.log_sigma:
        if other != key:
            assert not surer(fitted, other, 0.1).shown(algorithm, protocol)


def test_rows_tell_what_they_make_surer_by_a_fifth() -> None:
    """0.8 of what was believed is told, a little more is not."""
    assert set(ONE.untold) == set(ONE.values)
    assert "launch" in surer(ONE, "launch", 0.801).untold
    assert "launch" not in surer(ONE, "launch", 0.8).untold


def test_an_exchange_starts_by_its_own_setup() -> None:
    """Others pay the launch; any spelling of the name."""
    fitted = replace(ONE, values=ONE.values | {"launch": 3e-6, "p2p.setup": 7e-6})
    assert (fitted.launch("AllToAll"), fitted.launch("all_gather")) == (7e-6, 3e-6)


def test_which_collectives_have_formulas() -> None:
    """Six of nine, and one rank takes no time whatever it does."""
    names = ["all_reduce", "AllGather", "reduce_scatter", "broadcast", "reduce", "alltoall"]
    assert all(ONE.covers(name) for name in names)
    assert not any(ONE.covers(name) for name in ("gather", "scatter", "sendrecv"))
    assert ONE.seconds("gather", 1, 1, 1e6) == 0.0
    for ask in (ONE.seconds, ONE.choice):
        with pytest.raises(UnknownNameError, match="collective of NCCL's model 'gather'"):
            ask("gather", 8, 1, 1e6)
    with pytest.raises(UnknownNameError, match="collective of NCCL's model 'gather'"):
        ONE.available("gather", 8, 1)


def test_what_nccl_has_there() -> None:
    """An exchange has two protocols, of which the faster runs."""
    assert ONE.available("all_to_all", 8, 1) == (("p2p", "ll"), ("p2p", "simple"))
    pieces = ONE.available("all_reduce", 8, 1)
    assert {name for name, _ in pieces} == {"ring", "tree", "nvls"}
    assert {p for name, p in pieces if name == "ring"} == {"ll", "ll128", "simple"}
    assert {p for name, p in pieces if name == "nvls"} == {"simple"}


def test_the_fastest_protocol_of_an_algorithm() -> None:
    """Unless one is named; what NCCL lacks is an error that says what it has."""
    for n in (1e3, 1e6, 1e9):
        times = {
            p: ONE.named("all_gather", 8, 1, n, "ring", p)[1] for p in ("ll", "ll128", "simple")
        }
        best = min(times, key=lambda p: times[p])
        assert ONE.named("all_gather", 8, 1, n, "ring") == (best, times[best])
        assert ONE.seconds("all_gather", 8, 1, n, "ring") == times[best]
        assert ONE.seconds("all_gather", 8, 1, n, "ring", "ll") == times["ll"]
    with pytest.raises(
        InputError,
        match=r"^all_gather on 8 ranks: NCCL has no tree there, expected one of ring, nvls$",
    ):
        ONE.named("all_gather", 8, 1, 1e6, "tree")
    with pytest.raises(InputError, match="NCCL has no nvls/ll there"):
        ONE.seconds("all_reduce", 8, 1, 1e6, "nvls", "ll")


@pytest.mark.parametrize("nbytes", [1e3, 1e5, 1e6, 1e7, 1e9])
def test_what_runs_is_nccls_choice_or_the_fastest_piece(nbytes: float) -> None:
    """By its own table; where that is not believed, by the fitted times."""
    by_table = ONE.choice("all_reduce", 8, 1, nbytes)
    assert by_table == ONE.system.choice("all_reduce", 8, 1, nbytes)
    assert ONE.seconds("all_reduce", 8, 1, nbytes) == ONE.seconds(
        "all_reduce", 8, 1, nbytes, *by_table
    )
    fastest = replace(ONE, selector=Selector(0.0))
    # A tree in one node is no piece of its own.
    pieces = [one for one in fastest.available("all_reduce", 8, 1) if one[0] != "tree"]
    times = {one: fastest.seconds("all_reduce", 8, 1, nbytes, *one) for one in pieces}
    best = min(pieces, key=lambda one: times[one])
    assert fastest.choice("all_reduce", 8, 1, nbytes) == best
    assert fastest.seconds("all_reduce", 8, 1, nbytes) == times[best]
    exchange = {p: ONE.seconds("all_to_all", 8, 1, nbytes, "p2p", p) for p in ("ll", "simple")}
    assert ONE.choice("all_to_all", 8, 1, nbytes) == ("p2p", min(exchange, key=exchange.get))  # type: ignore[arg-type]
    assert ONE.seconds("all_to_all", 8, 1, nbytes) == min(exchange.values())
