"""The public surface: names, signatures, and docstrings that say all that a caller needs."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import typing
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType

import pytest

import collsim
import collsim.nccl
import collsim.plot

SIGNATURES = Path(__file__).parent / "public.txt"
MODULES = (collsim, collsim.plot, collsim.nccl)
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: :.*)?$", re.MULTILINE)


def members() -> Iterator[tuple[str, object]]:
    """Yield every public name: of the package, its rooms, and the methods of its classes."""
    for module in MODULES:
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, ModuleType) and not callable(value):
                continue
            yield f"{module.__name__}.{name}", value
            if inspect.isclass(value):
                yield from methods(f"{module.__name__}.{name}", value)


def methods(name: str, kind: type) -> Iterator[tuple[str, object]]:
    """Yield the public methods and properties of a class."""
    for own, value in vars(kind).items():
        bare = value.__func__ if isinstance(value, staticmethod | classmethod) else value
        told = inspect.isfunction(bare) or isinstance(bare, property) or hasattr(bare, "func")
        if not own.startswith("_") and told:
            yield f"{name}.{own}", bare


def spelled(name: str, value: object) -> str:
    """Return a name with its parameters and their defaults."""
    if isinstance(value, type) and issubclass(value, Exception):
        return name
    if not callable(value):
        return name
    found = inspect.signature(value)
    empty = inspect.Parameter.empty
    bare = [one.replace(annotation=empty) for one in found.parameters.values()]
    return f"{name}{inspect.Signature(bare)}"


def ours(hint: object) -> Iterator[type]:
    """Yield the classes of data of the package in an annotation."""
    if is_dataclass(hint) and isinstance(hint, type):
        yield hint
    for inner in typing.get_args(hint):
        yield from ours(inner)


def results() -> list[type]:
    """Return the classes of what public functions return, and of what is in it."""
    found: list[type] = []

    def visit(hint: object) -> None:
        for kind in ours(hint):
            if kind not in found:
                found.append(kind)
                hints = typing.get_type_hints(kind)
                for field in fields(kind):
                    visit(hints[field.name])

    for _, value in members():
        if inspect.isfunction(value) and value.__annotations__.get("return") != "Figure":
            visit(typing.get_type_hints(value)["return"])
    return found


def attributes(kind: type) -> list[str]:
    """Return the public fields and properties of a class, and its methods."""
    own = [field.name for field in fields(kind) if not field.name.startswith("_")]
    return own + [name.rpartition(".")[2] for name, _ in methods("", kind)]


def surface() -> str:
    """Return the whole surface, a line each: names, then what results have."""
    names = [spelled(name, value) for name, value in members()]
    held = [f"{kind.__name__}: {', '.join(attributes(kind))}" for kind in results()]
    return "\n".join([*names, "", *held, ""])


def test_names_and_signatures() -> None:
    """A change of either is a decision, made in `tests/public.txt` as well."""
    assert surface() == SIGNATURES.read_text("utf-8")


def test_every_name_is_there() -> None:
    """Each is loaded when it is asked for, and `dir` shows it."""
    for module in MODULES:
        assert len(set(module.__all__)) == len(module.__all__)
        assert set(module.__all__) <= set(dir(module))
        with pytest.raises(AttributeError, match="no_such_name"):
            module.no_such_name  # noqa: B018 - asking is the point


def used(root: Path) -> Iterator[tuple[str, str]]:
    """Yield what README, docs and notebooks take from the package, and where."""
    pages = [*root.glob("README*.md"), *root.glob("docs/*.md"), *root.glob("notebooks/*.ipynb")]
    for page in pages:
        text = page.read_text("utf-8")
        for name in re.findall(r"\bcollsim\.((?:plot\.|nccl\.)?[A-Za-z_]\w*)\(", text):
            yield page.name, name


def test_pages_use_only_public_names(root: Path) -> None:
    """What a reader copies from a page stays."""
    public = {name.removeprefix("collsim.") for name, _ in members()}
    found = list(used(root))
    assert len(found) > 20
    assert [(page, name) for page, name in found if name not in public] == []


def parts(value: object) -> dict[str, str]:
    """Return the sections of a docstring by their titles; the first is ""."""
    text = inspect.getdoc(value) or ""
    found = SECTION.split(text)
    return {"": found[0]} | dict(zip(found[1::2], found[2::2], strict=True))


def named(section: str) -> list[str]:
    """Return the entries of a section."""
    return [
        one.strip().lstrip("*") for entry in ENTRY.findall(section) for one in entry.split(",")
    ]


def raised(function: Callable[..., object]) -> set[str]:
    """Return the errors that stand in the body of a function."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    found = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    calls = [one.func if isinstance(one, ast.Call) else one for one in found]
    # What cannot happen to a caller is no part of what is promised.
    return {ast.unparse(one).split(".")[0] for one in calls} - {"TypeError"}


def missing(name: str, value: object) -> Iterator[str]:
    """Yield what a docstring lacks."""
    told = parts(value)
    if not told[""].strip():
        yield f"{name}: says nothing"
    if not callable(value):
        return
    every = inspect.signature(value).parameters
    parameters = [one for one in every if one not in ("self", "cls")]
    listed = named(told.get("Parameters", ""))
    method = name.count(".") > (2 if name.split(".")[1] in ("plot", "nccl") else 1)
    # A method of few words may name its parameters in them.
    if sorted(listed) != sorted(parameters) and (listed or not method):
        yield f"{name}: Parameters are {listed}, expected {parameters}"
    if not method and "Examples" not in told:
        yield f"{name}: has no example"
    if "Examples" in told and ">>> " not in told["Examples"]:
        yield f"{name}: its example does not run"
    if inspect.isfunction(value):
        if raised(value) - set(re.findall(r"\w+Error", told.get("Raises", ""))):
            yield f"{name}: Raises lacks one of {sorted(raised(value))}"
        gives = inspect.signature(value).return_annotation not in (None, "None")
        if gives and not method and "Returns" not in told:
            yield f"{name}: does not tell what it returns"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_docstrings_are_complete(module: ModuleType) -> None:
    """All parameters and no others, what comes back, errors, and an example that runs."""
    own = [
        (name, value)
        for name, value in members()
        if name.startswith(f"{module.__name__}.") and not isinstance(value, str | tuple)
    ]
    assert len(own) > 10
    assert [text for name, value in own for text in missing(name, value)] == []


@pytest.mark.parametrize("kind", results(), ids=lambda kind: kind.__name__)
def test_results_are_documented(kind: type) -> None:
    """Every attribute of what comes back stands in the docstring of its class."""
    told = parts(kind)
    listed = named(told.get("Parameters", "")) + named(told.get("Attributes", ""))
    own = [field.name for field in fields(kind) if not field.name.startswith("_")]
    assert [name for name in own if name not in listed] == []
    assert [name for name, value in methods("", kind) if not inspect.getdoc(value)] == []


def test_the_rule_finds_what_is_missing() -> None:
    """A docstring that lacks everything lacks all of it."""

    def bare(size: int) -> int:
        if size < 0:
            raise ValueError
        return size

    bare.__doc__ = "Return it.\n\nParameters\n----------\nsiez : int\n    Bytes.\n"
    assert list(missing("collsim.bare", bare)) == [
        "collsim.bare: Parameters are ['siez'], expected ['size']",
        "collsim.bare: has no example",
        "collsim.bare: Raises lacks one of ['ValueError']",
        "collsim.bare: does not tell what it returns",
    ]


if __name__ == "__main__":
    SIGNATURES.write_text(surface(), "utf-8")
