"""Collectives are their conditions: who holds what before, who must hold what after."""

from __future__ import annotations

import pytest

from collsim.core.collective import COLLECTIVES, check_ranks, check_root, collective
from collsim.errors import InputError, UnknownNameError

ONE = {(1, 0)}
ALL = {(0, 0), (1, 0), (2, 0)}
OWN = {(0, 0), (1, 1), (2, 2)}
ROOT = {(1, 0), (1, 1), (1, 2)}
EVERYTHING = {(rank, block) for rank in range(3) for block in range(3)}


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("broadcast", ONE, ALL),
        ("reduce", ALL, ONE),
        ("scatter", ROOT, OWN),
        ("gather", OWN, ROOT),
        ("all_gather", OWN, EVERYTHING),
        ("reduce_scatter", EVERYTHING, OWN),
        ("all_reduce", ALL, ALL),
        (
            "all_to_all",
            {(0, 0), (0, 1), (0, 2), (1, 3), (1, 4), (1, 5), (2, 6), (2, 7), (2, 8)},
            {(0, 0), (1, 1), (2, 2), (0, 3), (1, 4), (2, 5), (0, 6), (1, 7), (2, 8)},
        ),
        ("sendrecv", OWN, {(1, 0), (2, 1), (0, 2)}),
    ],
)
def test_conditions_of_three_ranks_with_root_one(
    name: str, before: set[tuple[int, int]], after: set[tuple[int, int]]
) -> None:
    """As (rank, block); block s * 3 + d of an all_to_all goes from s to d."""
    kind = collective(name)
    found = [
        set(zip(*(column.tolist() for column in condition(3, 1)), strict=True))
        for condition in (kind.before, kind.after)
    ]
    assert found == [before, after]


@pytest.mark.parametrize(
    ("name", "blocks", "share", "bus"),
    [
        ("broadcast", 1, 1.0, 1.0),
        ("reduce", 1, 1.0, 1.0),
        ("scatter", 8, 0.125, 0.875),
        ("gather", 8, 0.125, 0.875),
        ("all_gather", 8, 0.125, 0.875),
        ("reduce_scatter", 8, 0.125, 0.875),
        ("all_reduce", 1, 1.0, 1.75),
        ("all_to_all", 64, 0.125, 0.875),
        ("sendrecv", 8, 1.0, 1.0),
    ],
)
def test_blocks_shares_and_bus_factors_of_eight_ranks(
    name: str, blocks: int, share: float, bus: float
) -> None:
    """The buffer is nccl-tests' size, and the factor is nccl-tests' too."""
    kind = collective(name)
    assert (kind.blocks(8), kind.share(8), kind.bus_factor(8)) == (blocks, share, bus)


def test_the_table_above_names_all() -> None:
    """Nine, sendrecv last."""
    assert COLLECTIVES == (
        "broadcast",
        "reduce",
        "scatter",
        "gather",
        "all_gather",
        "reduce_scatter",
        "all_reduce",
        "all_to_all",
        "sendrecv",
    )


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("alltoall", "all_to_all"),
        ("allreduce", "all_reduce"),
        ("all-reduce", "all_reduce"),
        ("AllReduce", "all_reduce"),
        ("ReduceScatter", "reduce_scatter"),
        ("reduce scatter", "reduce_scatter"),
        ("ALLGATHER", "all_gather"),
        ("send_recv", "sendrecv"),
    ],
)
def test_usual_spellings_are_taken(spelling: str, name: str) -> None:
    """nccl-tests', MPI's, torch's."""
    assert collective(spelling).name == name


@pytest.mark.parametrize(
    ("typo", "nearest"), [("allredcue", "all_reduce"), ("gater", "gather")]
)
def test_unknown_name_is_answered_with_the_nearest(typo: str, nearest: str) -> None:
    """One line."""
    with pytest.raises(UnknownNameError, match=nearest) as raised:
        collective(typo)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", COLLECTIVES)
@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_every_block_has_an_origin_and_a_reader(name: str, ranks: int) -> None:
    """Nothing is asked for that nobody holds; one origin unless it reduces."""
    kind = collective(name)
    before, after = kind.before(ranks, ranks - 1), kind.after(ranks, ranks - 1)
    assert set(before[1].tolist()) == set(after[1].tolist()) == set(range(kind.blocks(ranks)))
    if kind.reduces:
        assert kind.origin(ranks).tolist() == [-1] * kind.blocks(ranks)
    else:
        assert len(set(before[1].tolist())) == len(before[1])
        assert kind.origin(ranks, ranks - 1)[before[1]].tolist() == before[0].tolist()


@pytest.mark.parametrize("ranks", [0, -1, 1.0, "4", True, None])
def test_rank_count_is_a_whole_number_from_one(ranks: object) -> None:
    """Also no bool, which Python counts among the integers."""
    with pytest.raises(InputError, match="ranks: got"):
        check_ranks(ranks)  # type: ignore[arg-type]


@pytest.mark.parametrize("root", [4, -1, 0.0, False])
def test_root_is_a_rank(root: object) -> None:
    """From 0 to P - 1."""
    with pytest.raises(InputError, match="expected a rank from 0 to 3"):
        check_root(root, 4)  # type: ignore[arg-type]
