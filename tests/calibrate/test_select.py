"""Choosing rows by columns and conditions."""

from __future__ import annotations

import pytest

from collsim.calibrate.select import parse_condition, select
from collsim.core.measurements import LeftOut, Measurement, Measurements
from collsim.errors import CollsimError

ROWS = Measurements(
    [
        Measurement("all_reduce", 2, 1024, 1e-5, dtype="half", nodes=1),
        Measurement("all_reduce", 4, 4096, 1e-5, dtype="float", algorithm="ring"),
        Measurement("all_to_all", 8, 65536, 1e-5, dtype="float", protocol="ll", nodes=2),
        Measurement("all_to_all", 8, 65536, 1e-5, in_place=True),
    ]
)


@pytest.mark.parametrize(
    ("where", "ranks"),
    [
        ("ranks == 4", [4]),
        ("ranks!=4", [2, 8]),
        ("ranks<8", [2, 4]),
        ("ranks <= 4", [2, 4]),
        ("size > 4K", [8]),
        ("size >= 4KiB", [4, 8]),
        ("collective == alltoall", [8]),
        ("collective == 'all-reduce'", [2, 4]),
        ("dtype == half", [2]),
        ("algorithm == ring", [4]),
        ("protocol == ll", [8]),
        ("nodes < 2", [2]),
        ("nodes != 2", [2, 4]),
    ],
)
def test_a_condition_keeps_the_rows_that_meet_it(where: str, ranks: list[int]) -> None:
    """Each field, each comparison; what is not known meets only `!=`."""
    assert [row.ranks for row in select(ROWS, where=[where])] == ranks


def test_conditions_add_up() -> None:
    """All of them must hold."""
    assert [r.ranks for r in select(ROWS, where=["ranks >= 4", "size < 64K"])] == [4]


@pytest.mark.parametrize(
    ("columns", "count"), [("out-of-place", 3), ("in-place", 1), ("both", 4)]
)
def test_columns_choose_the_half_of_each_row(columns: str, count: int) -> None:
    """Out-of-place is the default elsewhere."""
    assert len(select(ROWS, columns)) == count


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ranks", "condition 'ranks': expected FIELD OP VALUE such as 'ranks == 8', OP one of"),
        ("ranks = 8", "condition 'ranks = 8': expected FIELD OP VALUE"),
        ("ranks ==", "condition 'ranks ==': expected FIELD OP VALUE"),
        ("rank == 8", "unknown field 'rank'; did you mean 'ranks'? (known: collective, ranks,"),
        ("ranks == eight", "condition 'ranks == eight': expected a whole number of ranks"),
        ("dtype < half", "condition 'dtype < half': dtype is text, expected == or !="),
        ("size == 12XB", "size '12XB': expected a whole number of bytes"),
        ("collective == all_redcue", "unknown collective 'all_redcue'; did you mean"),
    ],
)
def test_a_condition_that_is_none_is_an_error(text: str, message: str) -> None:
    """One line that says what was expected."""
    with pytest.raises(CollsimError) as caught:
        parse_condition(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("columns", "where", "message"),
    [
        ("both", ["ranks == 3"], "no row left by 'ranks == 3': ranks is 2, 4, 8"),
        ("both", ["size < 8"], "no row left by 'size < 8': size is 1KiB, 4KiB, 64KiB"),
        ("in-place", ["nodes == 1"], "no row left by 'nodes == 1': nodes is not known of any"),
        ("inplace", [], "unknown choice of columns 'inplace'; did you mean 'in-place'?"),
    ],
)
def test_nothing_left_says_why(columns: str, where: list[str], message: str) -> None:
    """The condition at fault, and what there was."""
    with pytest.raises(CollsimError) as caught:
        select(ROWS, columns, where)
    assert str(caught.value).startswith(message)


def test_only_the_other_columns_is_an_error() -> None:
    """A log of one half only."""
    rows = Measurements(row for row in ROWS if not row.in_place)
    with pytest.raises(CollsimError, match="no in-place row among 3, all are out-of-place"):
        select(rows, "in-place")


def test_no_rows_at_all_is_an_error() -> None:
    """Nothing to choose from."""
    with pytest.raises(CollsimError, match="no rows, expected at least one measurement"):
        select(Measurements([]))


def test_rows_that_were_left_out_are_the_reason_where_there_is_one() -> None:
    """Not merely that all others are of the other column."""
    rows = [Measurement("all_reduce", 8, 8, 1e-5, in_place=True)]
    left = [LeftOut("a", 19, "out of place: 9 elements are wrong", failed=True)]
    with pytest.raises(CollsimError) as caught:
        select(Measurements(rows, left))
    assert str(caught.value) == (
        "no out-of-place row among 1, all are in-place; 1 left out, first a:19: out of place: "
        "9 elements are wrong"
    )


def test_a_condition_that_the_other_column_meets_says_so() -> None:
    """README's own run measures collectives in place."""
    rows = Measurements(
        Measurement(name, 8, 8, 1e-5, in_place=inside)
        for name, inside in (("broadcast", False), ("all_reduce", True))
    )
    with pytest.raises(CollsimError) as caught:
        select(rows, where=["collective == all_reduce"])
    assert str(caught.value) == (
        "no row left by 'collective == all_reduce': collective is broadcast; --columns "
        "in-place has 1"
    )
