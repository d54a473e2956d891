"""Commands that sentences and tables name are commands, with options that there are."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from collsim.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "README.zh.md", "CONTRIBUTING.md")),
    *sorted(ROOT.glob("docs/*.md")),
    ROOT / "configs" / "README.md",
]
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(collsim [^`]+)`")


def named(page: Path) -> list[list[str]]:
    """Return the words after `collsim` of every command that a page names."""
    found = INLINE.findall(FENCE.sub("", page.read_text("utf-8")))
    return [shlex.split(" ".join(words.split()))[1:] for words in found]


def complaint(words: list[str]) -> str | None:
    """Return what is wrong with a command, of which only its words are looked at."""
    result = CliRunner().invoke(main, [*words, "--help"], prog_name="collsim")
    return None if result.exit_code == 0 else f"{words}: {result.output.splitlines()[-1]}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_are_named_are_there(page: Path) -> None:
    """Their names and options; what they do with them other tests say."""
    wrong = [complaint(words) for words in named(page)]
    assert [text for text in wrong if text is not None] == []


def test_a_wrong_command_is_found() -> None:
    """An option that there is not, and a command."""
    assert complaint(["predict", "all_reduce", "-s", "1K"]) is None
    assert "--sizes" in str(complaint(["predict", "all_reduce", "--sizes", "1K"]))
    assert "foretell" in str(complaint(["foretell"]))
