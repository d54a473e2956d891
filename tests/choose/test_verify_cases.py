"""Which cases of an algorithm are verified: arrangements, channels and chunks, each once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import collsim.choose.verify as module
from collsim.choose.verify import RANKS, Verification, verify
from collsim.core.schedule import Schedule
from collsim.engine.verdict import Verdict

Cases = list[tuple[int, int, int, int]]


@pytest.fixture
def cases(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Cases]:
    """Return what tells nodes, channels, pieces and root of every schedule that is verified."""
    seen: Cases = []

    def build(
        kind: str, name: str, ranks: int, root: int, chunks: int, **given: object
    ) -> object:
        node = given["node"]
        nodes = 1 if node is None else len(set(node))  # type: ignore[arg-type]
        seen.append((nodes, given["channels"], chunks, root))  # type: ignore[arg-type]
        return None

    monkeypatch.setattr(module, "build", build)
    monkeypatch.setattr(module, "verify_schedule", lambda schedule: Verdict(True))

    def of(*given: object, **named: object) -> Cases:
        seen.clear()
        assert verify(*given, **named).ok  # type: ignore[arg-type]
        return list(seen)

    return of


def test_nodes_are_tried_where_they_make_a_difference(cases: Callable[..., Cases]) -> None:
    """A ring of one channel is the same on all; two levels are tried on all their nodes."""
    assert cases("all_reduce", "recursive_doubling", ranks=[4]) == [(1, 1, 1, 0)]
    by_node = cases("all_reduce", "hierarchical", ranks=[4])
    # Two nodes, and ranks dealt out in turn; each in one chunk and in three.
    assert by_node == [(2, 1, 1, 0), (2, 1, 3, 0)] * 2


def test_chunks_and_channels_are_tried(cases: Callable[..., Cases]) -> None:
    """One chunk and three where it has chunks; one channel and more where it has channels."""
    found = cases("broadcast", "ring", ranks=[4], roots=[2])
    assert {chunks for _, _, chunks, _ in found} == {1, 3}
    assert {channels for _, channels, _, _ in found} > {1}
    assert {root for *_, root in found} == {2}
    assert {chunks for _, _, chunks, _ in cases("all_reduce", "ring", ranks=[4])} == {1}


@pytest.mark.parametrize(("ranks", "most"), [(3, 1), (4, 2), (16, 8), (17, 3), (20, 3)])
def test_many_channels_are_tried_on_few_ranks_alone(
    ranks: int, most: int, cases: Callable[..., Cases]
) -> None:
    """All that are in use up to 16 ranks, three beyond; never more than there are ranks."""
    found = [channels for _, channels, _, _ in cases("all_reduce", "ring", ranks=[ranks])]
    assert max(found) == most
    assert min(found) == 1


@pytest.mark.parametrize(
    ("ranks", "roots"),
    [(2, [0, 1]), (9, [*range(9)]), (10, [0, 5, 9]), (17, [0, 8, 16])],
)
def test_roots_by_default(ranks: int, roots: list[int], cases: Callable[..., Cases]) -> None:
    """Every one of up to nine, then three."""
    found = cases("broadcast", "mst", ranks=[ranks])
    assert [root for *_, root in found] == roots
    assert cases("all_gather", "mst", ranks=[ranks]) == [(1, 1, 1, 0)]


def test_what_the_command_line_checks_by_default() -> None:
    """Small counts one by one, and around powers of two."""
    assert RANKS == (1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 33)
    assert Verification((), ()).ok


def test_what_is_wrong_is_named_with_its_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes, channels and chunks, those of them that are several; the first ends it."""

    def verdict(schedule: Schedule) -> Verdict:
        return Verdict(int(schedule.channel.max(initial=0)) == 0, "wrong")

    monkeypatch.setattr(module, "verify_schedule", verdict)
    (row,) = verify("all_reduce", "ring", ranks=[4]).rows
    assert (row.ok, row.reason) == (False, "2 nodes, 2 channels: wrong")
    monkeypatch.setattr(module, "verify_schedule", lambda schedule: Verdict(False, "wrong"))
    (row,) = verify("all_reduce", "hierarchical", ranks=[4]).rows
    assert (row.ok, row.reason) == (False, "2 nodes: wrong")
    (row,) = verify("all_reduce", "ring", ranks=[4]).rows
    assert row.reason == "wrong"


def test_an_option_is_of_those_that_have_it() -> None:
    """`bruck` is of several collectives, and has a radix in one; others are left out."""
    found = verify(None, "bruck:radix=3", ranks=[4])
    assert [(row.collective, row.algorithm, row.ok) for row in found.rows] == [
        ("all_to_all", "bruck:radix=3", True)
    ]
    assert {row.collective for row in verify(None, "bruck", ranks=[4]).rows} >= {
        "all_gather", "reduce_scatter", "all_to_all",
    }  # fmt: skip
    both = verify("all_gather", ["ring", "mst"], ranks=[2]).rows
    assert [row.algorithm for row in both] == ["ring", "mst"]


def test_arrangements_are_told_of_what_needs_them() -> None:
    """By collective and name, each once; of others nothing is said."""
    found = verify("all_reduce", ["hierarchical", "ring"], ranks=[4, 6])
    assert set(found.nodes) == {("all_reduce", "hierarchical")}
    (said,) = found.nodes.values()
    assert len(said) == len(set(said)) > 1


def test_what_does_not_apply_is_left_out_and_the_rest_goes_on() -> None:
    """With the reason of the even arrangement, where all arrangements are refused."""
    found = verify("all_reduce", "swing", ranks=[3, 4])
    assert [row.ranks for row in found.rows] == [4]
    assert [out.ranks for out in found.left_out] == [3]
    (out,) = verify("all_reduce", "hierarchical", ranks=[5]).left_out
    assert out.reason.startswith("nodes have different numbers of ranks")
    mixed = verify("broadcast", "mst", ranks=[2, 4], roots=[3, 0])
    assert [(row.ranks, row.root) for row in mixed.rows] == [(2, 0), (4, 3), (4, 0)]
