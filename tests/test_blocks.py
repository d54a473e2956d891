"""Every block of every page is run, read, or named here with its reason.

`tests/test_readme.py` runs `console` and `python` blocks. This file sees to it that no other
block is left: shell lines, the scripts of `examples/`, files that a page shows. A block without
a language, or of one that nobody holds, fails.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from collsim.cli.main import main
from collsim.cli.program.command import examples
from collsim.errors import CollsimError

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "configs/**/*.md", "examples/**/*.md")
    for path in ROOT.glob(pattern)
)
SCRIPTS = [*ROOT.glob("examples/*.sh"), *ROOT.glob("examples/*.sbatch")]
BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)

# How many blocks of a page and language another test runs or reads, and which one does.
HELD: dict[tuple[str, str], tuple[int, str]] = {
    ("configs/README.md", "toml"): (4, "tests/config/test_format_page.py"),
    ("docs/measurements.md", "json"): (1, "tests/core/test_measurements_format.py"),
    ("docs/reports.md", "sql"): (1, "tests/report/page/test_docs_page.py"),
    ("docs/workloads.md", "toml"): (1, "tests/config/test_workload.py"),
    ("docs/schedules.md", "text"): (1, "tests/interop/schedule_text/test_page.py"),
}
# Languages that nobody can run, and why.
NOT_HELD = {"math": "formulas, for a reader; those of the algorithms are held by the law tests"}
# Programs that shell lines start and that are not started here, and why not.
NOT_RUN = {
    "pip": "needs an index of packages",
    "python": "takes an hour: a sample of it is in tests/robustness",
    "coverage": "runs pytest, which runs this",
    "pytest": "is what runs this",
    "python3": "makes an environment: .ci/run runs the README's line as it is printed",
    "run": ".ci/run, which runs this",
    "srun": "needs Slurm",
    "torchrun": "needs torch, and the reader's GPUs",
}


def load(path: Path) -> Any:
    """Return another file of tests as a module."""
    spec = importlib.util.spec_from_file_location(f"beside_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


README = load(ROOT / "tests" / "test_readme.py")


def name(page: Path) -> str:
    """Return the path of a page as the tables above have it."""
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """Return language, body and what follows of each block of a page."""
    text = page.read_text("utf-8")
    return [(m[1], m[2], text[m.end() : m.end() + 200]) for m in BLOCK.finditer(text)]


def parse(words: list[str]) -> tuple[object, ...]:
    """Parse what follows `collsim` as the command would, and return its words and options."""
    command: click.Command | None = main
    path = []
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        path.append(words[0])
        command = command.get_command(click.Context(command), words[0])
        assert command is not None, f"there is no command {' '.join(path)!r}"
        words = words[1:]
    assert command is not None
    context = command.make_context(" ".join(["collsim", *path]), list(words))
    given = click.core.ParameterSource.COMMANDLINE
    options = {key for key in context.params if context.get_parameter_source(key) is given}
    return (*path, frozenset(options))


def commands() -> list[click.Command]:
    """Return the program, its groups and their commands."""
    found: list[click.Command] = [main]
    for command in found:
        if isinstance(command, click.Group):
            context = click.Context(command)
            inner = (
                command.get_command(context, word) for word in command.list_commands(context)
            )
            found += filter(None, inner)
    return found


@functools.cache
def tried() -> set[tuple[object, ...]]:
    """Return words and options of the commands that other tests run: of helps and pages."""
    lines = [line for command in commands() for line in examples(command.help)]
    found = {parse(shlex.split(line)[1:]) for line in lines}
    for page in README.PAGES:
        lines = "".join(README.blocks("console", page)).splitlines()
        with README.there(page):
            for line in [line for line in lines if line.startswith("$ collsim ")]:
                # Some pages show what is refused.
                with contextlib.suppress(CollsimError, click.UsageError, click.exceptions.Exit):
                    found.add(parse(shlex.split(line)[2:]))
    return found


def test_there_is_something_to_hold() -> None:
    """The patterns find the pages and the scripts."""
    pages = set(map(name, PAGES))
    assert {"README.md", "CONTRIBUTING.md", "configs/README.md", "docs/plots.md"} <= pages
    assert {page for page, _ in HELD} <= pages
    assert len(SCRIPTS) >= 3


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_is_of_a_kind_that_is_run_or_read(page: Path) -> None:
    """Those that this file and `test_readme` run, files that a page shows, and the table's."""
    text, found = page.read_text("utf-8"), blocks(page)
    fences = re.findall(r"^\s*(?:```|~~~).*$", text, re.MULTILINE)
    assert len(fences) == 2 * len(found), "a fence is indented, is of ~~~, or is not closed"
    files = set(README.files(page).values()) if page in README.PAGES else set()
    left: Counter[str] = Counter()
    for language, body, _ in found:
        run = language in {"console", "python"} and page in README.PAGES
        if run and (language == "console" or ">>>" in body):
            continue
        if language != "sh" and language not in NOT_HELD and body not in files:
            left[language] += 1
    assert left == {kind: n for (where, kind), (n, _) in HELD.items() if where == name(page)}


@pytest.fixture
def started(tmp_path: Path) -> Callable[[str], list[list[str]]]:
    """Return a function that runs a script with stand-ins; it returns what it would start."""
    programs, log = tmp_path / "programs", tmp_path / "log"
    programs.mkdir()
    stand_in = '#!/bin/sh\nprintf "%s\\037" "${0##*/}" "$@" >> "$LOG"\necho >> "$LOG"\n'
    for name in ("collsim", *NOT_RUN):
        (programs / name).write_text(stand_in)
        (programs / name).chmod(0o755)
    home = tmp_path / "checkout"
    for folder in (home / ".venv", home / ".ci", tmp_path / "environment"):
        folder.mkdir(parents=True)
    (home / ".venv" / "bin").symlink_to(programs)
    (home / ".ci" / "run").symlink_to(programs / "run")
    (tmp_path / "environment" / "bin").mkdir()
    (tmp_path / "environment" / "bin" / "activate").touch()

    def run(script: str) -> list[list[str]]:
        done = subprocess.run(
            [str(shutil.which("bash")), "-euo", "pipefail", "-c", script, "script"], cwd=home,
            env={"PATH": str(programs), "LOG": str(log), "HOME": str(home),
                 "COLLSIM_ENV": str(tmp_path / "environment")},
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, f"{script}\n{done.stderr}"
        return [line.split("\037")[:-1] for line in log.read_text().splitlines()]

    return run


def held(commands: list[list[str]]) -> None:
    """Parse each collsim command of what a script starts, and look at what pip installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for program, *words in commands:
        if program == "collsim":
            parse(words)
        elif program in {"srun", "torchrun"}:
            # torchrun is told a module, srun a program.
            before, _, after = " ".join(words).partition("collsim ")
            assert after, f"{program} starts no collsim"
            assert before.endswith("-m ") == (program == "torchrun")
            parse(words[words.index("collsim") + 1 :])
        elif program == "pip":
            asked = re.findall(r"\[([\w,]+)\]", " ".join(words))
            named = {extra for one in asked for extra in one.split(",")}
            assert named <= project["optional-dependencies"].keys()


SHELL = [
    pytest.param(page, body, after, id=f"{name(page)}-{number}")
    for page in PAGES
    for number, (language, body, after) in enumerate(blocks(page))
    if language == "sh"
]


@pytest.mark.parametrize(("page", "body", "after"), SHELL)
def test_shell_lines_are_run_or_parsed(
    page: Path, body: str, after: str, started: Callable[[str], list[list[str]]]
) -> None:
    """Those of collsim are run here, unless they need other programs or are run elsewhere.

    Elsewhere are commands above a picture, by the test of these, and the same words and options
    in a help or a console block.
    """
    commands = started(body)
    assert commands
    held(commands)
    others = any(program != "collsim" for program, *_ in commands)
    if others or after.startswith("\n\n!["):
        return
    known = tried()
    with README.there(page):
        for _, *words in commands:
            if parse(words) not in known:
                result = CliRunner().invoke(main, words, prog_name="collsim")
                assert result.exit_code == 0, f"{shlex.join(words)}\n{result.output}"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_call_what_there_is(
    path: Path, started: Callable[[str], list[list[str]]]
) -> None:
    """Each collsim command that they would run parses, with loops and options expanded."""
    commands = started(path.read_text("utf-8"))
    held(commands)
    assert any("collsim" in words for words in commands)
    assert os.access(path, os.X_OK)


def test_examples_of_helps_under_a_launcher_call_what_there_is(
    started: Callable[[str], list[list[str]]],
) -> None:
    """The others are run by the tests of the command line."""
    helps = "\n".join(command.help or "" for command in commands())
    lines = re.findall(r"^ *((?:srun|torchrun) .*)$", helps, re.MULTILINE)
    assert len(lines) >= 3
    held(started("\n".join(lines)))


@pytest.mark.parametrize("line", ["predict all_reduce --sizes 8", "predict all_reduce -s 8Q",
                                  "calibrate mesure", "simulate all_reduce"])  # fmt: skip
def test_a_wrong_command_is_found(line: str) -> None:
    """An option, a value or a command that there is not, or one that is missing."""
    with pytest.raises((click.UsageError, AssertionError)):
        parse(line.split())
