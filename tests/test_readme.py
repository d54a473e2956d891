"""The README and the docs are executed: every command they show prints what they show.

Run as a script, this file writes the real outputs into them: ``python tests/test_readme.py``.
"""

import doctest
import importlib
import os
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import collsim
from collsim import registry
from collsim.algorithms import find

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted(ROOT.glob("README.*.md")), *sorted(ROOT.glob("docs/*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str, page: Path = README) -> list[str]:
    """Return a page's code blocks of one language."""
    found = BLOCK.findall(page.read_text("utf-8"))
    return [body for kind, body in found if kind == language]


def shown(language: str) -> list[Any]:
    """Return the blocks of all pages, with names for the report."""
    return [
        pytest.param(body, id=f"{page.name}-{number}")
        for page in PAGES
        for number, body in enumerate(blocks(language, page))
    ]


def run(command: str) -> str:
    """Run one `collsim ...` command; return what it prints."""
    from collsim.cli.main import main

    words = shlex.split(command)
    if words[0] != "collsim":
        raise ValueError(f"README shows {words[0]!r}, expected a collsim command")
    result = CliRunner().invoke(main, words[1:], prog_name="collsim")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def transcript(body: str) -> str:
    """Return a console block with the real output after each of its commands.

    They run in a folder that holds the project's examples and is gone afterwards.
    """
    commands = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(README.parent / "examples", Path(folder, "examples"))
        os.chdir(folder)
        try:
            return "".join(f"$ {command}\n{run(command).rstrip()}\n" for command in commands)
        finally:
            os.chdir(before)


@pytest.mark.parametrize("body", shown("console"))
def test_a_command_prints_what_the_page_shows(body: str) -> None:
    """Each console block equals what its commands print now."""
    assert transcript(body) == body


@pytest.mark.parametrize("body", [b for b in shown("python") if ">>>" in b.values[0]])
def test_a_python_block_does_what_the_page_shows(
    body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each interactive Python block passes as a doctest, beside the project's examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest(body, {}, "README", None, 0)
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_the_readmes_new_algorithm_is_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Saved under its name it is found, verified, and within its claim."""
    (body,) = [body for body in blocks("python") if "ALGORITHM" in body]
    (tmp_path / "binary.py").write_text(body, "utf-8")
    home = importlib.import_module("collsim.algorithms.broadcast")
    monkeypatch.setattr(home, "__path__", [*home.__path__, str(tmp_path)])
    registry.names.cache_clear()
    try:
        assert collsim.verify("broadcast", "binary", ranks=range(1, 14)).ok
        for ranks in range(1, 18):
            cluster = collsim.Cluster.ideal(ranks, alpha=1.0, bandwidth=1.0)
            schedule = collsim.build("broadcast", "binary", ranks)
            claim = find("broadcast", "binary").terms(ranks, 1).seconds(3.0, 1.0, 1.0)
            assert collsim.simulate(schedule, cluster, 3.0).makespan <= claim
    finally:
        registry.names.cache_clear()
        sys.modules.pop("collsim.algorithms.broadcast.binary", None)


def test_the_readme_shows_five_worked_examples() -> None:
    """At least five console blocks, one of which reads a log of the repository's own."""
    shown = blocks("console")
    assert len(shown) >= 5
    assert any("examples/" in body for body in shown)


def test_the_chinese_readme_says_the_same() -> None:
    """Each links the other; installing and the formulas of the model are the same."""
    english, chinese = (ROOT / name for name in ("README.md", "README.zh.md"))
    assert "(README.zh.md)" in english.read_text("utf-8")
    assert "(README.md)" in chinese.read_text("utf-8")
    installs = blocks("sh", chinese)
    assert len(installs) == 2
    assert set(installs) <= set(blocks("sh"))
    assert formulas(chinese) == formulas(english)
    assert len(formulas(english)) == 5


def formulas(page: Path) -> list[str]:
    """Return the rows of the table of formulas: symbols alone, without words."""
    lines = page.read_text("utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if re.match(r"\| .*`mst`.*`ring`", line))
    rows = [line.split("|", 2)[2] for line in lines[start + 2 : start + 7]]
    return [re.sub(r"[^⌈⌉()αβP·/−+\d½|]", "", row) for row in rows]


if __name__ == "__main__":
    for page in PAGES:
        text = page.read_text("utf-8")
        found = BLOCK.sub(
            lambda m: f"```console\n{transcript(m[2])}```" if m[1] == "console" else m[0], text
        )
        if found != text:
            sys.stdout.write(f"rewriting {page.relative_to(ROOT)}\n")
            page.write_text(found, "utf-8")
