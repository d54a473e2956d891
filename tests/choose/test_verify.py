"""Whole rank sets: what is verified, what is left out, and that everything passes."""

from __future__ import annotations

import pytest

import collsim.choose.verify as module
from collsim.algorithms import algorithm_names
from collsim.choose.verify import RANKS, Row, Verification, verify
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder
from collsim.core.collective import COLLECTIVES
from collsim.errors import InputError, UnknownNameError

MEMBERS = {(kind, name) for kind in COLLECTIVES for name in algorithm_names(kind)}


def failures(verification: Verification) -> list[Row]:
    """Return the rows that are not right."""
    return [row for row in verification.rows if not row.ok]


def test_the_default_covers_every_algorithm() -> None:
    """All collectives and algorithms at every rank count of the default, and all right."""
    verification = verify()
    assert failures(verification) == []
    assert verification.ok
    assert {(row.collective, row.algorithm) for row in verification.rows} == MEMBERS
    assert {row.ranks for row in verification.rows} == set(RANKS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", COLLECTIVES)
def test_everything_holds_up_to_33_ranks_and_for_64(kind: str) -> None:
    """Every root up to nine ranks, three beyond; chunked algorithms with 1 and 3 chunks."""
    assert failures(verify(kind, ranks=[*range(1, 34), 64])) == []


@pytest.mark.parametrize(
    ("ranks", "roots"),
    [(1, [0]), (3, [0, 1, 2]), (9, [*range(9)]), (10, [0, 5, 9]), (33, [0, 16, 32])],
)
def test_which_roots(ranks: int, roots: list[int]) -> None:
    """All of a few, the ends and the middle of many."""
    rows = verify("reduce", "mst", ranks=[ranks]).rows
    assert [row.root for row in rows] == roots


def test_a_collective_without_a_root_has_none() -> None:
    """One row per rank count, whatever roots are asked for."""
    rows = verify("all_reduce", "ring", ranks=[2, 3], roots=[1]).rows
    assert rows == (
        Row("all_reduce", "ring", 2, None, True),
        Row("all_reduce", "ring", 3, None, True),
    )


def test_given_roots() -> None:
    """Rank counts that have no such rank are left out, with the reason."""
    verification = verify("broadcast", "ring", ranks=[1, 4], roots=[0, 3])
    assert [(row.ranks, row.root) for row in verification.rows] == [(1, 0), (4, 0), (4, 3)]
    (out,) = verification.left_out
    assert (out.collective, out.algorithm, out.ranks) == ("broadcast", "ring", 1)
    assert out.reason == "root 3 needs at least 4 ranks"


def test_an_algorithm_of_several_collectives() -> None:
    """`ring` of all collectives that have one, `pairwise` of the one that has it."""
    assert len({row.collective for row in verify(None, "ring", ranks=[2]).rows}) == 8
    (row,) = verify(None, "pairwise", ranks=[2]).rows
    assert row.collective == "all_to_all"


def test_all_is_every_algorithm() -> None:
    """As on the command line; any spelling of the collective."""
    rows = verify("AllReduce", "all", ranks=[2]).rows
    two_levels = ("hierarchical", "nvls_tree")
    applied = [n for n in algorithm_names("all_reduce") if n not in two_levels]
    assert [row.algorithm for row in rows] == applied


def test_rows_are_told_one_by_one() -> None:
    """So that a user sees that something goes on."""
    told: list[Row] = []
    verification = verify("gather", ranks=[2], progress=told.append)
    assert tuple(told) == verification.rows


def test_unknown_names() -> None:
    """The nearest is named."""
    with pytest.raises(UnknownNameError, match="did you mean 'gather'"):
        verify("gathre")
    with pytest.raises(
        UnknownNameError, match="algorithm of gather 'rng'; did you mean 'ring'"
    ):
        verify("gather", "rng")
    with pytest.raises(UnknownNameError, match="unknown algorithm 'rng'"):
        verify(None, "rng")


def test_bad_numbers() -> None:
    """Rank counts from 1 up, and a root that is a rank somewhere."""
    with pytest.raises(InputError, match="ranks: got 0"):
        verify("gather", ranks=[2, 0])
    with pytest.raises(InputError, match="root: got 4, expected a rank from 0 to 3"):
        verify("gather", ranks=[2, 4], roots=[4])
    with pytest.raises(InputError, match="root: got -1"):
        verify("gather", ranks=[2, 4], roots=[-1])


def wrong_with_chunks(b: Builder) -> None:
    """Forget the last chunk, if there are several."""
    for chunk in range(max(1, b.chunks - 1)):
        b.copy(0, 1, b.pieces[0, chunk : chunk + 1])


def test_wrong_unfit_and_broken_algorithms(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong one fails with its chunk count, an unfit one is left out; the run goes on."""
    algorithm = Algorithm(
        build=wrong_with_chunks,
        terms=lambda ranks, chunks: Terms(1, 1),
        formula="",
        summary="",
        paper="",
        chunked=True,
        parts=lambda ranks, chunks: chunks,
        limits=lambda ranks: None if ranks < 4 else "needs fewer than 4 ranks",
    )

    def build(kind: str, name: str, ranks: int, root: int, chunks: int, **_: object) -> object:
        b = Builder(
            module.collective(kind), ranks, root, chunks, algorithm.parts(ranks, chunks)
        )
        if ranks == 3:
            raise InputError("builder: out of ideas")
        algorithm.build(b)
        return b.finish()

    monkeypatch.setattr(module, "algorithm_names", lambda kind: ("odd",))
    monkeypatch.setattr(module, "find", lambda *_: algorithm)
    monkeypatch.setattr(module, "build", build)
    verification = verify("broadcast", ranks=[2, 3, 4], roots=[0])
    assert not verification.ok
    assert [row.reason for row in verification.rows] == [
        "3 chunks: at the end rank 1 holds nothing in block 0 part 2",
        "can't be built: builder: out of ideas",
    ]
    assert [(out.ranks, out.reason) for out in verification.left_out] == [
        (4, "needs fewer than 4 ranks")
    ]
