"""The tree as a newcomer reads it: short files, and nothing in it that nobody uses."""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "collsim"
MEDIAN, SHORT, AGAIN = 120, 200, 250
TEXTS = {".md", ".ipynb", ".toml", ".py"}

# Files past 250 lines were looked at again; here is why each is one file.
LONG = {
    "algorithms/_catalogue.py": "find, build and refuse are one question; half is docs",
    "algorithms/compose.py": "every way to make an algorithm of others; half is documentation",
    "calibrate/check/run.py": "one function and its two results, which JSON is made of",
    "calibrate/importers/__init__.py": "the doors to all formats share how one is recognised",
    "calibrate/importers/_nccl_rows.py": "one line of a table, in every layout since 2.0",
    "calibrate/importers/nccl_tests.py": "one pass over a log: heads, tables, lines cut in two",
    "choose/contest.py": "one contest: bounds, stretches and who is left read each other",
    "choose/curve.py": "one class: a time as a function of size, with what it keeps",
    "choose/explain.py": "one function and the sentences that it puts together",
    "choose/verify.py": "one public function and its two results, which JSON is made of",
    "config/profile.py": "what is read and what is written must match key by key",
    "config/values.py": "a table of kinds, and the reader of each",
    "core/builder.py": "one public class; two thirds of it are documentation",
    "core/cluster.py": "one public class; two thirds of it say what its numbers mean",
    "core/collective.py": "a definition per collective, which one reads beside the others",
    "core/dependencies_kernel.py": "one loop: a call in it costs the plain version its speed",
    "core/measurements_file.py": "one class: open, lock, append and close are one file's life",
    "core/profile.py": "one public class and what makes it true",
    "core/schedule.py": "one public class; half of it is documentation",
    "engine/bound.py": "one formula, term by term; more than half says where it is from",
    "engine/lower.py": "one function, step by step, on arrays that the next step needs",
    "errors.py": "every error of collsim, so that none is made twice",
    "interop/msccl/blocks.py": "thread blocks are filled by rules that ask each other",
    "interop/msccl/flow.py": "one class: a run and what it says when it is stuck",
    "interop/msccl/steps.py": "one pass that cuts messages into steps",
    "interop/nccl_tuner/fitted.py": "one comparison: pieces, borders and losses ask each other",
    "interop/schedule_file.py": "the doors to both formats: read, write, and say what was lost",
    "measure/steps.py": "what a rank sends, receives and adds up is one order",
    "nccl/derive.py": "what NCCL's search would find, one rule of its after the other",
    "nccl/tuning.py": "one public class; a third of it is documentation",
    "nccl/versions.py": "releases as data, each with its source",
    "plot/breakdown.py": "one picture: what it shows, and how that is drawn",
    "plot/fit.py": "one picture: what it shows, and how that is drawn",
    "report/algorithms_page.py": "one page, in the order of its sections",
    "report/inventory.py": "one table per kind of thing that there is",
    "report/page/assumed.py": "one section of the page: every number with its source",
    "report/page/body.py": "one page, in the order of its sections",
    "report/page/timeline_chart.py": "one picture of the page",
    "report/validation_page.py": "one page, in the order of its sections",
    "topology/_faults.py": "slower, broken, late: three ways to be hurt, and their cuts",
    "topology/_network.py": "one class that numbers vertices and links as they are added",
    "units.py": "every text with a unit is read and written here",
}  # fmt: skip

# Folders whose files are found by their name; the catalogue of each loads them.
FOUND = ("algorithms/*/*", "calibrate/importers/*", "cli/commands/**/*", "interop/topology/*",
    "measure/backends/*", "topology/*")  # fmt: skip
# Started by Python itself, and what only makes a page of the documentation.
STARTED = {"__main__", "measure.__main__", "report.algorithms_page"}

# Names that a catalogue asks for, and rooms whose names are for users, module by module.
ASKED = {"ALGORITHM", "IMPORTER", "SHAPE", "command", "connect", "connect_all"}
FOR_USERS = (
    "collsim",
    "collsim.__main__",
    "collsim.choose",
    "collsim.nccl",
    "collsim.nccl.log",
    "collsim.plot",
)


def parsed(folder: Path) -> dict[str, ast.Module]:
    """Return the modules below a folder, by dotted name."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def taken(tree: ast.Module, modules: dict[str, ast.Module]) -> Iterator[tuple[str, str]]:
    """Yield what a module takes of others, as (module, name); name is "" for all of it."""
    alias = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for one in node.names:
                module = f"{node.module}.{one.name}"
                if module in modules:
                    alias[one.asname or one.name] = module
                    yield module, ""
                # A package may hold a function that is named as its file is.
                yield str(node.module), one.name
        elif isinstance(node, ast.Import):
            yield from ((one.name, "") for one in node.names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield alias.get(node.value.id, ""), node.attr


def listed(tree: ast.Module) -> list[str]:
    """Return the names in `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            found: list[str] = ast.literal_eval(node.value)
            return found
    return []


def defined(tree: ast.Module) -> set[str]:
    """Return functions and constants that a module defines; types are used without a name."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and target.id.isupper():
                found.add(target.id)
    return found


@pytest.fixture(scope="module")
def package() -> dict[str, ast.Module]:
    """Return all modules of collsim."""
    return parsed(PACKAGE)


@pytest.fixture(scope="module")
def uses(package: dict[str, ast.Module]) -> dict[str, set[tuple[str, str]]]:
    """Return what every module of collsim takes of others."""
    return {name: set(taken(tree, package)) for name, tree in package.items()}


@pytest.mark.parametrize("folder", ["collsim", "tests"])
def test_half_of_the_files_are_short(folder: str) -> None:
    """A file of a hundred lines is read at once."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.py")]
    assert statistics.median(len(text.splitlines()) for text in texts) <= MEDIAN


def test_long_files_have_a_reason() -> None:
    """Past 250 lines a file was looked at again; none of those is short by now."""
    lines = {
        str(path.relative_to(PACKAGE)): len(path.read_text(encoding="utf-8").splitlines())
        for path in PACKAGE.rglob("*.py")
    }
    long = {name: n for name, n in lines.items() if n > AGAIN and name not in LONG}
    assert long == {}, "split it, or say above why it is one file"
    assert [name for name in LONG if lines.get(name, 0) < SHORT] == []


def test_every_module_is_used(uses: dict[str, set[tuple[str, str]]]) -> None:
    """By another one, by a catalogue that finds it by its name, or by Python at the start."""
    used = {module for name, found in uses.items() for module, _ in found if module != name}
    by_name = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for pattern in FOUND
        for path in PACKAGE.glob(f"{pattern}.py")
    }
    folders = {name for name in uses if (ROOT / name.replace(".", "/")).is_dir()}
    started = {f"collsim.{name}" for name in STARTED}
    assert uses.keys() - used - by_name - folders - started == set()


def test_private_modules_stay_in_their_room(uses: dict[str, set[tuple[str, str]]]) -> None:
    """What begins with ``_`` may be changed by whoever has read its room."""
    wrong = {
        f"{name} imports {module}"
        for name, found in uses.items()
        for module, _ in found
        if module in uses and module.rpartition(".")[2].startswith("_")
        if name.split(".")[1:2] != module.split(".")[1:2]
    }
    assert {one for one in wrong if not one.endswith("__main__")} == set()


def test_what_is_taken_is_listed(
    package: dict[str, ast.Module], uses: dict[str, set[tuple[str, str]]]
) -> None:
    """Of another module come names of its `__all__`, and no others."""
    wrong = {
        f"{name} takes {word} of {module}"
        for name, found in uses.items()
        for module, word in found
        if word and module in package and f"{module}.{word}" not in package
        if listed(package[module]) and word not in listed(package[module])
        if not word.startswith("__")
    }
    assert wrong == set()


def test_every_listed_name_is_used(
    package: dict[str, ast.Module], uses: dict[str, set[tuple[str, str]]]
) -> None:
    """Functions and constants: elsewhere in collsim, in a test, a benchmark or the docs."""
    used = set().union(*uses.values())
    for folder in ("tests", "benchmarks"):
        used |= {one for tree in parsed(ROOT / folder).values() for one in taken(tree, package)}
    docs = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
    # What a table of the registry, or the compiler, asks for by a text.
    texts = {
        node.value
        for tree in package.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for node in node.args
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    alone = {
        f"{module}.{name}"
        for module, tree in package.items()
        if module not in FOR_USERS
        for name in defined(tree) & set(listed(tree))
        if (module, name) not in used
        and name not in ASKED | texts
        and not re.search(rf"\b{name}\b", docs)
    }
    claims = re.compile(
        r"collsim\.(algorithms\.\w+\.\w+\.(steps|terms)|.*importers\.\w+\.marks)"
    )
    assert {name for name in alone if not claims.fullmatch(name)} == set()


def test_what_is_unused_is_found(package: dict[str, ast.Module]) -> None:
    """The rules above see imports, attributes and lists; a name in a text is no use."""
    tree = ast.parse(
        "from collsim.engine import lanes\nfrom collsim.units import parse_size\n"
        "lanes.lanes\n'format_size'\n__all__ = ['f']\ndef f(): ...\nMOST = 1\n"
    )
    assert set(taken(tree, package)) >= {
        ("collsim.engine.lanes", "lanes"), ("collsim.units", "parse_size")
    }  # fmt: skip
    assert ("collsim.units", "format_size") not in set(taken(tree, package))
    assert listed(tree) == ["f"]
    assert defined(tree) == {"f", "MOST"}


@pytest.mark.parametrize("folder", ["examples", "configs", "benchmarks"])
def test_whatever_lies_there_is_told_of(folder: str) -> None:
    """Every example, preset and benchmark is named on a page, or used by what is."""
    texts = {
        path: path.read_text(encoding="utf-8")
        for place in (".", "docs", "notebooks", "examples", "configs", "benchmarks")
        for path in (ROOT.glob("*") if place == "." else (ROOT / place).rglob("*"))
        if path.suffix in TEXTS and "__pycache__" not in path.parts
    }
    untold = []
    for path in (ROOT / folder).rglob("*.*"):
        inside = path.parent.name if path.parent != ROOT / folder else path.stem
        named = re.compile(rf"\b({re.escape(path.stem)}|{re.escape(inside)}/)(?!\w)")
        if path.name == "README.md" or "__pycache__" in path.parts:
            continue
        if not any(named.search(text) for other, text in texts.items() if other != path):
            untold.append(str(path.relative_to(ROOT)))
    assert untold == []
