"""Answers as CSV: the keys of the rows, then the rows."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["to_csv"]


def to_csv(keys: Sequence[str], rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as CSV with one line of keys.

    What is missing is an empty cell, a truth value ``true`` or ``false``, and what has
    parts of its own is JSON.

    Parameters
    ----------
    keys : sequence of str
        The columns.
    rows : sequence of mapping
        The rows.

    Examples
    --------
    >>> print(to_csv(["size", "root", "ok"], [{"size": 8, "root": None, "ok": True}]), end="")
    size,root,ok
    8,,true
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(keys)
    writer.writerows([_cell(row[key]) for key in keys] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool | list | dict):
        return json.dumps(value, allow_nan=False, ensure_ascii=False)
    return value
