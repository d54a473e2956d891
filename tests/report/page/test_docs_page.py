"""The page about traces and reports is executed: its commands print what it shows."""

from __future__ import annotations

import doctest
import gzip
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from collsim.cli.main import main

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reports.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    """Return the page's blocks of one language."""
    found = BLOCK.findall(PAGE.read_text("utf-8"))
    return [body for kind, body in found if kind == language]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder to run in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("body", blocks("console"))
def test_a_command_prints_what_the_page_shows(body: str, here: Path) -> None:
    """To the letter, and it writes the file that it names."""
    command, _, shown = body.partition("\n")
    words = shlex.split(command.removeprefix("$ collsim "))
    done = CliRunner().invoke(main, words, prog_name="collsim")
    assert done.exit_code == 0, done.output
    assert done.output == shown
    assert [path.name for path in here.iterdir()] == [words[-1]]


def test_python_does_what_the_page_shows(here: Path) -> None:
    """It writes a trace and counts its arrows."""
    (body,) = blocks("python")
    examples = doctest.DocTestParser().get_doctest(body, {}, PAGE.name, None, 0)
    assert examples.examples
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_the_question_in_sql_has_an_answer(here: Path, perfetto: Callable[[Path], Any]) -> None:
    """Perfetto runs it on the trace of the page, and finds the critical path."""
    command = blocks("console")[0].split("\n")[0].removeprefix("$ collsim ")
    assert CliRunner().invoke(main, shlex.split(command)).exit_code == 0
    events = json.loads(gzip.decompress((here / "run.json.gz").read_bytes()))["traceEvents"]
    expected = sum(event.get("cat", "").endswith("critical") for event in events)
    (query,) = blocks("sql")
    with perfetto(here / "run.json.gz") as ask:
        rows = ask(query)
    assert len(rows) == expected > 0
    assert {len(row) for row in rows} == {3}
