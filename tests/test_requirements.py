"""What an install brings is what the package imports, and what the README says of it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
# Packages whose modules have another name.
MODULES = {"tomli-w": "tomli_w", "nccl4py": "nccl"}
# Extras of which the package imports nothing: for tests and benchmarks.
OUTSIDE = {"dev", "bench", "mutation"}


def names(requirements: list[str]) -> set[str]:
    """Return the packages of some requirements."""
    return {re.split(r"[<>=\[]", one)[0] for one in requirements}


def needed() -> set[str]:
    """Return what every install brings."""
    return names(PROJECT["dependencies"])


def optional() -> dict[str, set[str]]:
    """Return what each extra brings."""
    return {key: names(found) for key, found in PROJECT["optional-dependencies"].items()}


def imported() -> set[str]:
    """Return the packages that some line of the package imports, anywhere."""
    found = set()
    for path in (ROOT / "collsim").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(str(node.module).partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"collsim", "_typeshed"}


def test_nothing_comes_that_is_not_imported() -> None:
    """And nothing is imported that does not come."""
    extras = set().union(*(found for key, found in optional().items() if key not in OUTSIDE))
    assert {MODULES.get(name, name) for name in needed() | extras} == imported()


def test_no_extra_brings_what_comes_anyway() -> None:
    """It would say another version of it."""
    assert all(not found & needed() for found in optional().values())


def test_the_readme_has_a_row_of_each() -> None:
    """With its extra, and how much it weighs where all installs bring it."""
    text = (ROOT / "README.md").read_text("utf-8")
    rows = re.findall(
        r"^\| ([\w-]+)(?: \(`\[(\w+)\]`\))? \| (\d*) \| .+ \|$", text, re.MULTILINE
    )
    assert {name for name, extra, _ in rows if not extra} == needed()
    assert {(name, extra) for name, extra, _ in rows if extra} == {
        (name, key)
        for key, found in optional().items()
        for name in found
        if key != "dev" and (name, key) != ("torch", "nccl4py")
    }
    assert all(weight for _, extra, weight in rows if not extra)


def test_the_sum_of_the_readme_is_that_of_its_rows() -> None:
    """Of all that comes, and the package itself."""
    text = (ROOT / "README.md").read_text("utf-8")
    weights = re.findall(r"^\| [\w-]+ \| (\d+) \|", text, re.MULTILINE)
    found = re.search(
        r"`pip install \.` takes (\d+) MB.*?collsim itself is (\d+)", text, re.DOTALL
    )
    assert found is not None
    assert abs(sum(map(int, weights)) + int(found[2]) - int(found[1])) <= len(weights)
