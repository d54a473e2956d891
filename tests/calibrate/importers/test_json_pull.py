"""JSON read value by value."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collsim.calibrate.importers._json_pull import JsonError, Pull

LEAVES = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)
VALUES = st.recursive(LEAVES, lambda v: st.lists(v) | st.dictionaries(st.text(), v))


def walk(pull: Pull) -> None:
    """Take an object to its end."""
    for _ in pull.members():
        pull.skip()


@given(VALUES, st.integers(1, 9))
def test_any_value_in_any_pieces(value: object, size: int) -> None:
    """What comes out is what went in, wherever the pieces end."""
    text = json.dumps({"a": value, "b": [value]}, indent=1)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    pull = Pull(pieces)
    found = {key: json.loads(pull.value() or "") for key in pull.members()}
    assert found == {"a": value, "b": [value]}
    assert pull.peek() == ""
    assert pull.line == text.count("\n") + 1


def test_what_is_skipped_is_not_kept() -> None:
    """Brackets and quotes in it make no difference."""
    pull = Pull(['{"env": ["A=\\"}]{", "B=\\\\"], "n": 7}'])
    keys = pull.members()
    assert next(keys) == "env"
    pull.skip()
    assert next(keys) == "n"
    assert pull.value() == "7"


def test_a_value_that_is_too_long_is_passed_over() -> None:
    """And what follows is found."""
    pull = Pull(['["' + "x" * 100 + '", 1]'])
    assert [pull.value(50) for _ in pull.items()] == [None, "1"]


@pytest.mark.parametrize("text", ["", "[", '{"a', '{"a"', '{"a":', '{"a": 1', '{"a": [1,', "]"])
def test_a_cut_is_an_error(text: str) -> None:
    """Wherever it is."""
    with pytest.raises(JsonError):
        walk(Pull([text]))
