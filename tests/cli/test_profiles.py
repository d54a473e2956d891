"""What `--profile` brings to each command, and what it says where it is stretched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from collsim.config.profile import dumps
from collsim.core.profile import Parameter, Profile

ALPHA, BETA = (
    Parameter(1e-6, 9e-7, 1.1e-6, "s"),
    Parameter(1e-11, 9e-12, 1.1e-11, "s/B"),
)
PROFILE = Profile(
    "mine",
    {"link.alpha": ALPHA, "link.beta": BETA},
    ranks=(8,),
    chunks=4,
    min_bytes=1024,
    max_bytes=2**20,
)


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """Return a function that writes a profile and returns its path."""

    def write(profile: Profile = PROFILE, **changes: Any) -> str:
        path = tmp_path / "p.toml"
        path.write_text(dumps(replace(profile, **changes)), "utf-8")
        return str(path)

    return write


def test_sizes_beyond_the_fit_are_noted(run: Any, write: Any) -> None:
    """Not those below, where alpha rules, if it is known."""
    result = run(
        "predict all_reduce -s 8 -s 1M -s 2M -s 1G --algorithm ring", "--profile", write()
    )
    assert result.stderr == (
        "note: 2MiB to 1GiB is extrapolated: profile mine was fitted up to 1MiB\n"
    )


def test_sizes_below_the_fit_are_noted_where_alpha_is_not_known(run: Any, write: Any) -> None:
    """Its interval reaches 0."""
    untold = {"link.alpha": replace(ALPHA, low=0.0), "link.beta": BETA}
    path = write(parameters=untold)
    result = run("predict all_reduce -s 8 -s 1K --algorithm ring --profile", path)
    assert result.stderr == (
        "note: 8B is extrapolated: profile mine was fitted from 1KiB on, and does not tell "
        "alpha\n"
    )


def test_simulate_takes_the_profiles_chunks(answer: Any, write: Any) -> None:
    """Unless the command line says otherwise."""
    line = "simulate broadcast --algorithm ring -s 1M --profile"
    path = write()
    assert answer(line, path)["rows"][0]["chunks"] == 4
    assert answer(line, path, "--chunks", "2")["rows"][0]["chunks"] == 2


@pytest.mark.parametrize("line", ["crossover broadcast mst ring", "explain broadcast -s 1M"])
def test_others_take_the_profiles_chunks(answer: Any, write: Any, line: str) -> None:
    """The answer is that of --chunks 4."""
    path = write()
    found = answer(line, "--profile", path)
    assert found == answer(line, "--profile", path, "--chunks", "4")
    assert found != answer(line, "--profile", path, "--chunks", "8")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('algorithm = "ring"', 'algorithm = "nope"', "unknown algorithm 'nope'"),
        ("chunks = 4", "chunks = 99999999", "chunks: got 99999999, expected 'auto' or a whole"),
        ("value = 1e-06", f"value = {'9' * 400}", "got a huge number, expected a finite"),
    ],
)
@pytest.mark.parametrize("command", ["predict all_reduce -s 1K", "check LOG"])
def test_a_bad_profile_is_one_line(
    fails: Any, write: Any, log: str, command: str, old: str, new: str, message: str
) -> None:
    """Whatever uses it."""
    path = Path(write())
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    line = command.replace("LOG", log)
    assert message in fails(f"{line} --profile", str(path), code=1)
