"""What rows leave open is said in words, and nothing where they don't."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collsim.calibrate.nccl_model import Fitted, Selector, System
from collsim.calibrate.nccl_model.ladder import ladder_of
from collsim.calibrate.nccl_model.prior import priors
from collsim.calibrate.nccl_model.words import fit_notes
from collsim.core.measurements import Measurement

ONE = System("ampere", 12, 240.0)
MANY = System("ampere", 12, 240.0, inter_bus=50.0)
KINDS = ("all_gather", "all_reduce", "reduce_scatter")


def told(system: System, selector: Selector | None = None) -> Fitted:
    """Return a system of which all is known for sure."""
    prior = priors(system, [2, 8], KINDS)
    values = {key: p.centre for key, p in prior.items()}
    return Fitted(
        system, selector or Selector(), values, dict.fromkeys(values, 0.0), prior, 0.0
    )


def rows(ranks: tuple[int, ...], kinds: tuple[str, ...] = KINDS, nodes: int | None = None,
         sizes: int = 5) -> list[Measurement]:  # fmt: skip
    """Return rows of some rank counts and collectives."""
    return [
        Measurement(kind, p, 2**k, 1e-5, nodes=nodes)
        for p in ranks for kind in kinds for k in range(10, 10 + sizes)
    ]  # fmt: skip


def test_enough_rows_leave_nothing_open() -> None:
    """Of several rank counts, or of three collectives."""
    assert fit_notes(rows((2, 8)), told(ONE)) == []
    assert fit_notes(rows((8,)), told(ONE)) == []
    assert fit_notes(rows((2, 8), KINDS[:1]), told(ONE)) == []


@pytest.mark.parametrize(
    ("count", "said"),
    [(1, "1 row tells little: what it does"), (4, "4 rows tell little: what they do"), (5, "")],
)
def test_few_rows_tell_little(count: int, said: str) -> None:
    """Fewer than five."""
    notes = fit_notes(rows((2, 8), KINDS[:1])[:count], told(ONE))
    little = [note for note in notes if "little" in note]
    end = " not tell is as NCCL 2.30.7 and datasheets have it"
    assert little == ([said + end] if said else [])


def test_one_rank_count_hardly_tells_the_launch() -> None:
    """Of two collectives or one."""
    (note,) = fit_notes(rows((8,), KINDS[:2]), told(ONE))
    assert note == (
        "rows of all_gather, all_reduce on 8 ranks only: launch is hardly told from the "
        "latency of a step, so other rank counts are less sure"
    )


@pytest.mark.parametrize(
    ("counts", "said"),
    [((2,), "2"), ((None,), "1"), ((1, 2), "1 and 2"), ((2, 4), ""), ((1, 2, 4), "")],
)
def test_node_counts_beside_one_are_less_sure(
    counts: tuple[int | None, ...], said: str
) -> None:
    """Two of several nodes are enough; on a system of one node there is nothing to say."""
    made = [row for count in counts for row in rows((4, 8), nodes=count)]
    note = f"rows of {said} nodes only: other node counts are less sure"
    assert fit_notes(made, told(MANY)) == ([note] if said else [])
    assert fit_notes(made, told(ONE)) == []


def test_how_nccls_table_was_read() -> None:
    """As it stands, by a factor, or not at all."""
    fastest = "NCCL's table does not tell what ran here: the fastest fitted piece is taken"
    scaled = (
        "NCCL's choice is read as if it believed in {} times the bandwidth of its graph, which "
        "predicts left-out rows best"
    )
    for selector, note in (
        (Selector(0.0), fastest),
        (Selector(0.5), scaled.format("0.5")),
        (Selector(2.0), scaled.format("2")),
        (Selector(1.0, 2.0), scaled.format("1")),
    ):
        assert fit_notes(rows((2, 8)), told(ONE, selector)) == [note]
    assert fit_notes(rows((2, 8)), told(ONE, Selector(1.0, 1.0, 2.0))) == []


def test_what_rows_move_and_do_not_tell_is_named() -> None:
    """Six of them, and how many more; what they leave where it was believed is not named."""
    known = told(ONE)
    unsure = replace(known, log_sigma={key: p.sigma for key, p in known.prior.items()})
    assert fit_notes(rows((2, 8)), unsure) == []
    keys = list(known.values)
    for moved, more in ((1, ""), (6, ""), (7, " and 1 more")):
        values = known.values | {key: 2 * known.values[key] for key in keys[:moved]}
        (note,) = fit_notes(rows((2, 8)), replace(unsure, values=values))
        names = ", ".join(keys[: min(moved, 6)]) + more
        assert note == f"the rows don't tell {names}: hardly surer than before measuring"


def test_which_readings_are_tried() -> None:
    """One where switches join all GPUs, factors on a tree, and more over nodes."""
    assert ladder_of(ONE) == (Selector(),)
    tree = ladder_of(System("ampere", 2, 24.0, inside="pci", uniform=False))
    assert tree == tuple(Selector(scale) for scale in (1.0, 2.0, 0.5, 0.25, 0.0))
    nodes = ladder_of(MANY)
    assert (len(nodes), nodes[0], nodes[-1]) == (43, Selector(), Selector(0.0))
    assert len(set(nodes)) == 43
    assert {one.scale for one in nodes} == {1.0, 0.7, 0.5, 0.35, 0.25, 1.4, 2.0, 0.0}
    assert {one.two_nodes for one in nodes} == {1.0, 2.0, 4.0}
    assert {one.tree_two for one in nodes} == {1.0, 2.0}
