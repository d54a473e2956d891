"""Answers as JSON: one object, no NaN or Infinity."""

import json
from collections.abc import Mapping, Sequence

__all__ = ["to_json"]


def to_json(
    words: str, head: Mapping[str, object], rows: Sequence[Mapping[str, object]]
) -> str:
    """Return an answer as the text of one JSON object.

    Parameters
    ----------
    words : str
        The words of the command; joined by hyphens they name the schema.
    head : mapping
        Keys before the rows: ``cluster``, ``collective``, ``ranks`` and others.
    rows : sequence of mapping
        The rows.

    Examples
    --------
    >>> print(to_json("list clusters", {"cluster": None}, [{"name": "dgx-h100"}]), end="")
    {
      "schema": "collsim/list-clusters/1",
      "cluster": null,
      "rows": [
        {
          "name": "dgx-h100"
        }
      ]
    }
    """
    document = {"schema": f"collsim/{'-'.join(words.split())}/1", **head, "rows": list(rows)}
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
