"""Grids that can't be, and files of rows that are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_type_hints

import pytest

import collsim
from collsim.choose.rows import COMPARED, Row
from collsim.config.document import Table
from collsim.errors import ConfigError, FileError, InputError
from collsim.sweeps.point import COLUMNS, Place, Point
from collsim.sweeps.rows_file import RowsFile
from collsim.sweeps.spec import table_grid

SMALL: dict[str, Any] = {
    "collectives": "all_reduce",
    "sizes": ["1KiB"],
    "clusters": [{"cluster": "dgx-h100"}],
}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"clusters": [{"cluster": "pcie-8", "alpha": "1us"}]}, "has a cluster and alpha"),
        ({"changes": [{"name": "a", "delay": {"rank[1]": "soon"}}]}, "soon"),
        ({"sizes": {"from": 0, "to": 10**7, "step": 1}}, "more than 5,000,000 of them"),
        ({"sizes": {"from": 0, "to": 10**6, "step": 1}, "clusters": [{"cluster": "dgx-h100",
          "nodes": [1, 2, 3, 4, 5, 6]}]}, "makes 6,000,006 rows, expected at most"),
    ],
)  # fmt: skip
def test_grids_that_cannot_be(changed: dict[str, Any], message: str) -> None:
    """Before anything is predicted."""
    with pytest.raises(ConfigError, match=message):
        table_grid(Table("my.toml", SMALL | changed))


def test_sizes_of_all_points_are_counted() -> None:
    """So many rows there are, where each size has one."""
    assert table_grid(Table("my.toml", SMALL | {"algorithms": ["ring", "mst"]})).sizes == 2


def test_nothing_can_be_set_of_an_ideal_network() -> None:
    """It has no file."""
    with pytest.raises(InputError, match=r"an ideal network has no node\.gpus"):
        Place(alpha=1e-6, bandwidth=1e9).load({"node.gpus": 4})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", "[1, 2]\n"),
        ("a.jsonl", '{"sweep": "x"}\n'),
        ("a.csv", ",".join(COLUMNS) + "\n\n"),
        ("a.csv", ",".join(COLUMNS) + "\nx,1\n"),
    ],
)
def test_files_of_other_rows_are_not_gone_on_with(name: str, text: str, tmp_path: Path) -> None:
    """They are somebody's, and stay as they are."""
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(FileError, match="is no row of a sweep"):
        RowsFile(str(path), "0123456789ab", resume=True)
    assert path.read_text() == text


def test_a_folder_is_no_file_of_rows(tmp_path: Path) -> None:
    """Nor can one be read."""
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(FileError, match=r"a\.csv"):
        RowsFile(str(tmp_path / "a.csv"), "0123456789ab", resume=True)


def test_columns_are_the_keys_of_a_row() -> None:
    """The type of a row names each, in the order of the file; a prediction's as it has them."""
    from collsim.report.sweep_table import Record

    assert tuple(Record.__annotations__) == COLUMNS
    theirs = {key: kind for key, kind in get_type_hints(Row).items() if key not in COMPARED}
    assert theirs.items() <= get_type_hints(Record).items()
    rows = collsim.sweep(SMALL).rows
    assert all(tuple(row) == COLUMNS for row in rows)
    assert Point.__dataclass_fields__.keys() >= {"sweep", "number"}
