"""The README and the docs are executed: every command they show prints what they show.

Run as a script, this file writes the real outputs into them, or into those that it is given:
``python tests/test_readme.py docs/model.md``.
"""

import doctest
import importlib
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import collsim
from collsim import registry
from collsim.algorithms import find

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
EXTENDING = ROOT / "docs" / "extending.md"
MODEL = ROOT / "docs" / "model.md"
PAGES = [README, *sorted(ROOT.glob("README.*.md")), *sorted(ROOT.glob("docs/*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A block below the name of a file, and a colon, is that file.
FILE = re.compile(
    r"`((?:collsim|examples)/[\w/.]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


def blocks(language: str, page: Path = README) -> list[str]:
    """Return a page's code blocks of one language."""
    found = BLOCK.findall(page.read_text("utf-8"))
    return [body for kind, body in found if kind == language]


def shown(language: str) -> list[Any]:
    """Return the blocks of all pages with their page, and names for the report."""
    return [
        pytest.param(body, page, id=f"{page.name}-{number}")
        for page in PAGES
        for number, body in enumerate(blocks(language, page))
    ]


def files(page: Path) -> dict[str, str]:
    """Return the files that a page shows whole, by their path."""
    return dict(FILE.findall(page.read_text("utf-8")))


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


@contextmanager
def added(path: Path, folder: Path) -> Iterator[None]:
    """Have one more file in a package; `folder` is where it is."""
    package = ".".join(path.parent.parts)
    home = importlib.import_module(package)
    before = list(home.__path__)
    home.__path__ = [*before, str(folder / path.parent)]
    registry.names.cache_clear()
    try:
        yield
    finally:
        home.__path__ = before
        sys.modules.pop(f"{package}.{path.stem}", None)
        vars(home).pop(path.stem, None)
        registry.names.cache_clear()


@contextmanager
def there(page: Path) -> Iterator[None]:
    """Be in a folder with the project's examples and the files that a page shows.

    Its modules are members of their packages, and everything is gone afterwards.
    """
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        shutil.copytree(ROOT / "examples", folder / "examples")
        for path, body in files(page).items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(body, "utf-8")
            if path.endswith(".py"):
                stack.enter_context(added(Path(path), folder))
        os.chdir(folder)
        stack.callback(os.chdir, before)
        yield


def transcript(body: str, page: Path) -> str:
    """Return a console block with the real output after each of its commands."""
    commands = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
    with there(page):
        shown = [f"$ {command}\n{run(command)}".rstrip() for command in commands]
    return "".join(f"{text}\n" for text in shown)


@pytest.mark.parametrize(("body", "page"), shown("console"))
def test_a_command_prints_what_the_page_shows(body: str, page: Path) -> None:
    """Each console block equals what its commands print now."""
    assert transcript(body, page) == body


@pytest.mark.parametrize(("body", "page"), [b for b in shown("python") if ">>>" in b.values[0]])
def test_a_python_block_does_what_the_page_shows(body: str, page: Path) -> None:
    """Each interactive Python block passes as a doctest, beside the project's examples."""
    with there(page):
        examples = doctest.DocTestParser().get_doctest(body, {}, "README", None, 0)
        assert doctest.DocTestRunner().run(examples).failed == 0


@pytest.mark.parametrize(("name", "counts"), [("binary", (1,)), ("binary_chunks", (1, 2, 5))])
def test_a_new_algorithm_is_within_its_claim(name: str, counts: tuple[int, ...]) -> None:
    """docs/extending.md's: saved under its name it is found, verified, and no slower."""
    with there(EXTENDING):
        assert collsim.verify("broadcast", name, ranks=range(1, 14)).ok
        for ranks, chunks in product(range(1, 18), counts):
            cluster = collsim.Cluster.ideal(ranks, alpha=1.0, bandwidth=1.0)
            schedule = collsim.build("broadcast", name, ranks, chunks=chunks)
            claim = find("broadcast", name).terms(ranks, chunks)
            assert claim is not None
            nbytes = 3.0 * chunks  # whole bytes in each, so that no time is rounded
            time = collsim.simulate(schedule, cluster, nbytes).makespan
            assert time <= claim.seconds(nbytes, 1.0, 1.0)


def test_a_page_leaves_no_file_of_its_own_behind() -> None:
    """Members that a page adds are gone when its commands have run."""
    names = registry.names("collsim.algorithms.broadcast")
    with there(EXTENDING):
        assert "binary" in registry.names("collsim.algorithms.broadcast")
        find("broadcast", "binary")
    assert registry.names("collsim.algorithms.broadcast") == names
    assert "collsim.algorithms.broadcast.binary" not in sys.modules


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_file_that_a_page_shows_is_that_file(page: Path) -> None:
    """Where the project has one of that name."""
    for path, body in files(page).items():
        if (ROOT / path).exists():
            assert (ROOT / path).read_text("utf-8") == body


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
    assert formulas(chinese) == formulas(MODEL)


def test_the_formulas_of_the_model_are_those_of_the_algorithms() -> None:
    """Each row of the page's table, for its first collective, without what reductions add."""
    words = ["broadcast", "scatter", "all_gather", "all_reduce", "all_to_all"]
    claims = [
        [re.sub(r" \+ [^+]*γ$", "", find(name, kind).formula) for kind in ("mst", "ring")]
        for name in words
    ]
    claims[-1][0] = re.sub(r"#\{.*\}", "Nₖ", claims[-1][0])
    assert [[plain(cell) for cell in row] for row in formulas(MODEL)] == claims


def formulas(page: Path) -> list[list[str]]:
    """Return the cells of the table of formulas."""
    lines = page.read_text("utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if re.match(r"\| .*`mst`.*`ring`", line))
    rows = lines[start + 2 : start + 7]
    return [[cell.strip() for cell in row.split("|")[2:4]] for row in rows]


def plain(formula: str) -> str:
    """Return a formula of LaTeX as an algorithm spells it."""
    spelled = {
        r"\lceil\log P\rceil": "⌈log P⌉", r"\alpha": "α", r"\beta": "β", r" \cdot ": "·",
        r"\sum_k N_k": "Σₖ Nₖ", "$": "",
    }  # fmt: skip
    for sign, text in spelled.items():
        formula = formula.replace(sign, text)
    return formula.replace("⌉ n", "⌉n")


def written_anew(page: Path) -> str:
    """Return a page with the real outputs in it."""

    def block(found: re.Match[str]) -> str:
        console = found[1] == "console"
        return f"```console\n{transcript(found[2], page)}```" if console else found[0]

    return BLOCK.sub(block, page.read_text("utf-8"))


if __name__ == "__main__":
    for page in [Path(name).resolve() for name in sys.argv[1:]] or PAGES:
        text = page.read_text("utf-8")
        found = written_anew(page)
        if found != text:
            sys.stdout.write(f"rewriting {page.relative_to(ROOT)}\n")
            page.write_text(found, "utf-8")
