"""Profiles in TOML: round trip and strictness."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collsim.config.profile import dumps, load, loads
from collsim.core.profile import ErrorSummary, Parameter, Profile
from collsim.errors import ConfigError, FileError

GOOD = """\
schema = "collsim/profile/1"
name = "mine"

[parameters."link.alpha"]
value = 1e-6
unit = "s"

[parameters."link.beta"]
value = 1e-11
low = 9e-12
high = 2e-11
unit = "s/B"
"""

numbers = st.just(0.0) | st.floats(min_value=1e-30, max_value=1e3)
# What a terminal would obey is refused.
texts = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=20)


@given(
    value=numbers,
    width=numbers,
    texts_=st.lists(texts, max_size=3),
    ranks=st.lists(st.integers(1, 10**6), max_size=3),
    name=texts,
    library=st.none() | texts,
)
def test_what_is_written_reads_back_the_same(
    value: float,
    width: float,
    texts_: list[str],
    ranks: list[int],
    name: str,
    library: str | None,
) -> None:
    """Every field survives, to the last bit."""
    interval = Parameter(value, max(0.0, value - width), value + width, "s")
    profile = Profile(
        name=name,
        parameters={
            "link.alpha": interval,
            "link.beta": Parameter(value, None, None, "s/B"),
            "launch": Parameter(0.0, None, None, "s", "assumption"),
        },
        ranks=tuple(ranks),
        notes=tuple(texts_),
        sources=tuple(texts_),
        library=library,
        min_bytes=8,
        max_bytes=2**40,
        errors=(ErrorSummary("in_sample", 0.01, 0.02, 4), ErrorSummary("ranks", 0.1, 0.3, 2)),
    )
    assert loads(dumps(profile), "p.toml") == profile


def test_the_smallest_profile_needs_name_and_parameters() -> None:
    """Everything else has a default."""
    profile = loads(GOOD, "p.toml")
    assert profile.uniform == (1e-6, 1e-11, 0.0)
    assert profile.algorithm == "ring"


def test_a_file_is_read(tmp_path: Path) -> None:
    """By its path."""
    path = tmp_path / "p.toml"
    path.write_text(GOOD, encoding="utf-8")
    assert load(str(path)).name == "mine"


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    """One line with the file."""
    with pytest.raises(FileError, match="No such file"):
        load(str(tmp_path / "none.toml"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'name = "mine"',
            'nmae = "mine"',
            "p.toml: nmae: unknown key; did you mean 'name'? (known: schema, name, ",
        ),
        ('name = "mine"', "", "p.toml: name: missing, expected text"),
        ('name = "mine"', "name = 3", "p.toml: name: got 3, expected text"),
        (
            'name = "mine"',
            'name = "\\u001b[31mred"',
            "p.toml: name: got '\\x1b[31mred', expected text of one line, without control",
        ),
        (
            'name = "mine"',
            'name = "mine"\nnotes = ["one", "two\\nlines"]',
            "p.toml: notes: got 'two\\nlines', expected text of one line",
        ),
        (
            'name = "mine"',
            'name = "mine"\nranks = 8',
            "p.toml: ranks: got 8, expected a list of whole numbers",
        ),
        (
            'name = "mine"',
            'name = "mine"\nranks = [100000000]',
            "p.toml: ranks: got 100000000, expected whole numbers from 1 to 1048576",
        ),
        (
            'name = "mine"',
            'name = "mine"\nnodes = [0]',
            "p.toml: nodes: got 0, expected whole numbers from 1 to 1048576",
        ),
        (
            'name = "mine"',
            'name = "mine"\nmin_bytes = 8\nmax_bytes = 1',
            "p.toml: min_bytes: got 8, expected at most max_bytes, 1",
        ),
        (
            'name = "mine"',
            'name = "mine"\nranks = [8, true]',
            "p.toml: ranks: got [8, True], expected a list of whole numbers",
        ),
        (
            'name = "mine"',
            'name = "mine"\nchunks = -1',
            "p.toml: chunks: got -1, expected 'auto' or a whole number from 1 to 65536",
        ),
        (
            'name = "mine"',
            'name = "mine"\nchunks = 99999999',
            "p.toml: chunks: got 99999999, expected 'auto' or a whole number from 1 to 65536",
        ),
        (
            'name = "mine"',
            'name = "mine"\nalgorithm = "rong"',
            "p.toml: unknown algorithm 'rong'; did you mean 'ring'? (known: mst, ring, ",
        ),
        ('name = "mine"', 'name = "mine"\nalgorithm = ""', "p.toml: unknown algorithm ''"),
        (
            'name = "mine"',
            'name = "mine"\nalgorithm = "../x.toml"',
            "p.toml: unknown algorithm '../x.toml'",
        ),
        (
            "value = 1e-6",
            f"value = {'9' * 400}",
            'p.toml: parameters."link.alpha": value: got a huge number, expected a finite',
        ),
        (
            "value = 1e-6",
            f"value = {'9' * 5000}",
            "p.toml: broken TOML: an integer of thousands of digits",
        ),
        (
            "value = 1e-6",
            f"value = [0x{'f' * 5000}]",
            'p.toml: parameters."link.alpha".value: got a list, expected a number',
        ),
        (
            'name = "mine"',
            f'name = "mine"\nmin_bytes = {"9" * 400}',
            "p.toml: min_bytes: got 99999",
        ),
        (
            "value = 1e-6",
            "value = 1e300",
            'p.toml: parameters."link.alpha".value: got 1e+300, expected a time of at most',
        ),
        (
            "value = 1e-11\nlow = 9e-12\nhigh = 2e-11",
            "value = 1e-300",
            'p.toml: parameters."link.beta".value: got 1e-300, expected a time per byte of',
        ),
        (
            'schema = "collsim/profile/1"',
            'schema = "collsim/profile/2"',
            "p.toml: schema: got 'collsim/profile/2', expected 'collsim/profile/1'",
        ),
        (
            'schema = "collsim/profile/1"',
            "",
            "p.toml: schema: missing, expected 'collsim/profile/1'",
        ),
        (
            "low = 9e-12",
            "lwo = 9e-12",
            "p.toml: parameters.\"link.beta\".lwo: unknown key; did you mean 'low'?",
        ),
        (
            "value = 1e-6",
            'value = "1us"',
            "p.toml: parameters.\"link.alpha\".value: got '1us', expected a number",
        ),
        (
            "value = 1e-6",
            "value = nan",
            'p.toml: parameters."link.alpha": value: got nan, expected a finite number',
        ),
        (
            "value = 1e-6",
            "",
            'p.toml: parameters."link.alpha".value: missing, expected a number',
        ),
        (
            'unit = "s/B"',
            'unit = "s"',
            "p.toml: link.beta: got unit 's', expected 's/B'",
        ),
        (
            'name = "mine"',
            'name = "mine"\nerrors = {held_out = {median = 0.1, p90 = 0.2, n = 1}}',
            "p.toml: errors.held_out.kind: missing, expected text",
        ),
        (
            'name = "mine"',
            'name = "mine"\nprovenance = {clok = "host"}',
            "p.toml: provenance.clok: unknown key; did you mean 'clock'? (known: library, ",
        ),
        ('name = "mine"', "name = ", "p.toml: line 2, column 8: broken TOML: Invalid value"),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, message: str) -> None:
    """File, key, what was got, what was expected."""
    assert old in GOOD
    with pytest.raises(ConfigError) as caught:
        loads(GOOD.replace(old, new), "p.toml")
    assert str(caught.value).startswith(message)
