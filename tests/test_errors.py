"""Errors: one line each, builtins too, and they name the nearest."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collsim import errors
from collsim.errors import (
    CollsimError,
    ConfigError,
    FileError,
    InputError,
    UnknownNameError,
    UsageError,
    nearest,
)

EXAMPLES = [
    CollsimError("plain"),
    InputError("size '-1': expected a number of bytes"),
    UsageError("--nodes and --ranks exclude each other"),
    UnknownNameError("algorithm", "rng", ["mst", "ring"]),
    ConfigError("a.toml", "node.gpus", -1, "a whole number from 1 up"),
    ConfigError.unknown_key("a.toml", "node.gpu", ["gpus"]),
    ConfigError.missing_key("a.toml", "node.gpus", "a whole number"),
    ConfigError.broken("a.toml", "line 3: no value"),
    FileError("out.json", "is a directory"),
]


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (InputError, ValueError),
        (UsageError, ValueError),
        (UnknownNameError, LookupError),
        (ConfigError, ValueError),
        (FileError, OSError),
    ],
)
def test_every_error_is_ours_and_the_builtin_it_specialises(
    kind: type[Exception], builtin: type[Exception]
) -> None:
    """`except ValueError` and `except CollsimError` both catch it."""
    assert issubclass(kind, builtin)
    assert issubclass(kind, CollsimError)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda e: type(e).__name__)
def test_errors_survive_pickle_and_copy(error: CollsimError) -> None:
    """A worker process can hand an error to its parent with all that it carries."""
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)


@given(text=st.text())
def test_message_is_one_printable_line(text: str) -> None:
    """Whatever a name or file holds, the message is one line that can be printed."""
    for error in (
        CollsimError(text),
        UnknownNameError("cluster", text, ["dgx-h100"]),
        ConfigError(text, "key", text, "a number"),
        FileError(text, "is a directory"),
    ):
        assert str(error).isprintable()
        str(error).encode()


def test_file_error_takes_the_reason_of_the_system_without_its_number() -> None:
    """`[Errno 2]` helps nobody, and the path is not said twice."""
    error = FileError("a.toml", FileNotFoundError(2, "No such file or directory", "a.toml"))
    assert str(error) == "a.toml: No such file or directory"
    assert error.path == "a.toml"
    assert error.reason == "No such file or directory"


def test_unknown_name_carries_its_parts() -> None:
    """A caller can make its own sentence of what was asked and what exists."""
    error = UnknownNameError("algorithm", "rng", ["mst", "ring"])
    assert (error.what, error.name, error.choices) == ("algorithm", "rng", ("mst", "ring"))


def test_unknown_name_without_a_near_one_only_lists() -> None:
    """A wild guess is worse than none."""
    assert str(UnknownNameError("link", "zzz", ["ndr400"])) == (
        "unknown link 'zzz' (known: ndr400)"
    )


def test_unknown_name_among_none() -> None:
    """An empty list is said in words."""
    assert str(UnknownNameError("profile", "x", [])) == "unknown profile 'x' (known: none)"


def test_config_error_shortens_what_it_got() -> None:
    """A value of a thousand characters does not drown the message."""
    error = ConfigError("a.toml", "name", "x" * 1000, "a name")
    assert len(str(error)) < 120
    assert str(error).endswith("..., expected a name")


def test_config_error_of_a_whole_file_has_no_key() -> None:
    """Broken TOML has a file and a reason, and no key."""
    error = ConfigError.broken("a.toml", "line 3: no value")
    assert str(error) == "a.toml: line 3: no value"
    assert (error.file, error.key) == ("a.toml", None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rign", "ring"),
        ("RING", "ring"),
        ("all-reduce", "all_reduce"),
        ("allreduce", "all_reduce"),
        ("", None),
        ("quux", None),
    ],
)
def test_nearest(name: str, expected: str | None) -> None:
    """Slips of the finger, of case and of dashes are understood; noise is not."""
    assert nearest(name, ["ring", "all_reduce", "reduce", "mst"]) == expected


def test_nearest_does_not_depend_on_the_order_of_the_choices() -> None:
    """A set as choices gives the same answer in every run."""
    assert nearest("a", ["A", "a"]) == nearest("a", ["a", "A"])


def test_public_names_are_what_the_module_says() -> None:
    """`__all__` lists every error class."""
    kinds = {n for n, v in vars(errors).items() if isinstance(v, type) and n.endswith("Error")}
    assert kinds <= set(errors.__all__)
