"""The public surface: names, signatures, and docstrings that say all that a caller needs.

Run as a script, this file writes the page of it: ``python tests/test_public.py``.
"""

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

PAGE = Path(__file__).parent.parent / "docs" / "api.md"
MODULES = (collsim, collsim.plot, collsim.nccl)
PUBLIC = [module.__name__ for module in MODULES]
# Entries of NCCL's table, which the methods of a `Tuning` read.
HIDDEN = ["Cell", "Threads"]
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: :.*)?$", re.MULTILINE)


def members(*modules: ModuleType) -> Iterator[tuple[str, object]]:
    """Yield every public name: of the package, its rooms, and the methods of its classes."""
    for module in modules or MODULES:
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
    error = isinstance(value, type) and issubclass(value, Exception)
    if error or not callable(value):
        return name
    found = inspect.signature(value)
    empty = inspect.Parameter.empty
    bare = [
        one.replace(annotation=empty)
        for one in found.parameters.values()
        if one.name not in ("self", "cls")
    ]
    # What a field is made by has no spelling.
    return f"{name}{inspect.Signature(bare)}".replace("=<factory>", "={}")


def ours(hint: object) -> Iterator[type]:
    """Yield the classes of data of the package in an annotation."""
    if is_dataclass(hint) and isinstance(hint, type):
        yield hint
    for inner in typing.get_args(hint):
        yield from ours(inner)


def results(deep: int = 9) -> list[type]:
    """Return the classes of what public functions return, and of what is in it, so deep."""
    hints = [
        typing.get_type_hints(value)["return"]
        for _, value in members()
        if inspect.isfunction(value) and value.__annotations__.get("return") != "Figure"
    ]
    found: list[type] = []
    for _ in range(deep):
        new = [kind for hint in hints for kind in ours(hint) if kind not in found]
        found += dict.fromkeys(new)
        hints = [hint for kind in new for hint in typing.get_type_hints(kind).values()]
    return found


# What users make themselves, though functions return it, too.
MADE = ("Cluster", "Job", "Profile", "Schedule")


def comes_back(value: object) -> bool:
    """Return whether it is a class of what functions return, and nobody makes it.

    NCCL's nouns are made by who knows the machine.
    """
    if not isinstance(value, type) or value.__name__ in MADE:
        return False
    return value in results() and not value.__module__.startswith("collsim.nccl")


def called(module: ModuleType) -> Iterator[tuple[str, object]]:
    """Yield the public names of a module but for what comes back."""
    hidden = tuple(f"{name}." for name, value in members(module) if comes_back(value))
    for name, value in members(module):
        if not f"{name}.".startswith(hidden):
            yield name, value


def place(kind: type) -> str:
    """Return the module from which a class is imported."""
    for module in MODULES:
        if kind.__name__ in module.__all__ and getattr(module, kind.__name__) is kind:
            return module.__name__
    return kind.__module__


def attributes(kind: type) -> list[str]:
    """Return the public fields and properties of a class, and its methods."""
    own = [field.name for field in fields(kind) if not field.name.startswith("_")]
    return own + [name.rpartition(".")[2] for name, _ in methods("", kind)]


def first_line(value: object) -> str:
    """Return what a docstring begins with; of a constant what it is."""
    if isinstance(value, str | tuple):
        return f"`{value}`" if isinstance(value, str) else " ".join(f"`{v}`" for v in value)
    return (inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " ")


HEAD = """# Names for Python

All that may be imported: what is not on this page may change without notice. `help(collsim.predict)`
shows parameters, units, errors and an example. All raise `CollsimError` for what a caller can mend.
`tests/test_public.py` makes this page and compares it.

| on the command line | in Python |
|---|---|
| `predict`, `crossover`, `simulate`, `verify`, `explain`, `estimate`, `sweep` | the function of that name |
| `choose` | `choose`; `--against nccl` and the tuner's file are on the command line only |
| `calibrate fit`, `check` | `fit`, `check`; both take files, or the `Measurements` of `read_logs` |
| `calibrate measure`, `calibrate run` | on the command line only: they start processes, or are started by `srun` and `torchrun`; `fit` reads the rows |
| `calibrate report` | on the command line only: it makes docs/validation.md |
| `plot …` | `collsim.plot` |
| `report` | `write_report` |
| `export`, `--schedule` | `save_schedule`, `load_schedule` |
| a schedule or an algorithm of one's own | `Builder`; [notebook 04](../notebooks/04_write_your_own_algorithm.ipynb) goes through it |
| `import topology` | `import_topology` |
| `list`, `show` | `algorithm_names`, `COLLECTIVES`, `preset_names`; a `Cluster` and a `Profile` say what they are |
| `-c`, `--nodes`, `--set`; `--alpha --bandwidth` | `Cluster.load`; `Cluster.ideal` |
| `--profile` | `with_profile`, or `own_cluster` without `-c`; `fitted_times` for `predict(fitted=)` |
| `--degrade`, `--fail`, `--delay`, `--order` | `degrade`, `fail`, `delay`, `reorder` |
| `--trace` | `write_trace`, `write_step_trace` |
"""  # noqa: E501 - rows of a table


WHERE = """For annotations, as in `def slow(row: collsim.Row) -> bool`: each is imported from the module in
the second column."""  # noqa: E501 - a line of a page


def page() -> str:
    """Return the page: names with what they are, then what results have."""
    lines = [HEAD]
    for module in MODULES:
        lines += [f"## {module.__name__}", "", "| name | what it is |", "|---|---|"]
        for name, value in called(module):
            own = name.removeprefix(f"{module.__name__}.")
            what = first_line(value).replace("|", "\\|")
            lines.append(f"| `{spelled(own, value)}` | {what} |")
        lines.append("")
    lines += [
        "## What comes back",
        "",
        WHERE,
        "",
        "| class | of | attributes |",
        "|---|---|---|",
    ]
    for kind in results(2):
        told = " ".join(f"`{name}`" for name in attributes(kind))
        lines.append(f"| `{kind.__name__}` | `{place(kind)}` | {told} |")
    return "\n".join([*lines, ""])


def test_names_and_signatures() -> None:
    """A change of either is a decision: the page says it."""
    assert PAGE.read_text("utf-8") == page()


def test_every_name_is_there() -> None:
    """Each is loaded when it is asked for, and `dir` shows it."""
    for module in MODULES:
        assert len(set(module.__all__)) == len(module.__all__)
        assert set(module.__all__) <= set(dir(module))
        with pytest.raises(AttributeError, match="no_such_name"):
            module.no_such_name  # noqa: B018 - asking is the point


def test_what_a_public_function_returns_can_be_named() -> None:
    """A typed program imports it from where the function is."""
    missing = [kind.__name__ for kind in results(1) if place(kind) not in PUBLIC]
    assert missing == HIDDEN


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
    own = [(n, value) for n, value in called(module) if not isinstance(value, str | tuple)]
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
    PAGE.write_text(page(), "utf-8")
