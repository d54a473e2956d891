"""Types of the public surface: nothing in it is `Any`, and a program of others type-checks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "collsim"

# Generic types, which say nothing without what they are of.
GENERIC = {
    "Callable", "Iterable", "Iterator", "Mapping", "Sequence", "dict", "list", "ndarray", "set",
    "tuple", "type",
}  # fmt: skip

# Where `Any` stays, and why.
EXCEPTIONS = {
    "cli/main.py: Program.main(extra): Any": "click's own signature, which it overrides",
    "cli/main.py: Program.main ->: Any": "the same",
    "engine/jit.py: Function: Any": "what numba compiles takes the types of its calls",
}


def exported(tree: ast.Module) -> set[str]:
    """Return the names in `__all__`, which every module with names of its own has."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if [ast.unparse(target) for target in targets] == ["__all__"]:
            return set(ast.literal_eval(node.value))  # type: ignore[attr-defined]
    return set()


def aliases(tree: ast.Module) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the types of a module that are made of others."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp):
            yield ast.unparse(node.targets[0]), node.value


def words(node: ast.expr | None) -> Iterator[str]:
    """Yield the names in an annotation; generic ones that stand alone as ``bare list``."""
    if node is None:
        return
    inside = {id(n.value) for n in ast.walk(node) if isinstance(n, ast.Subscript)}
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield from _quoted(part.value)
        elif isinstance(part, ast.Name | ast.Attribute):
            name = part.id if isinstance(part, ast.Name) else part.attr
            yield name if name not in GENERIC or id(part) in inside else f"bare {name}"


def _quoted(text: str) -> Iterator[str]:
    try:
        yield from words(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return


def annotations(node: ast.AST, name: str) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the annotations of a public function, class or constant."""
    if isinstance(node, ast.FunctionDef):
        every = node.args
        some = [*every.posonlyargs, *every.args, *every.kwonlyargs, every.vararg, every.kwarg]
        for one in some:
            if one is not None:
                yield f"{name}({one.arg})", one.annotation
        yield f"{name} ->", node.returns
    elif isinstance(node, ast.AnnAssign):
        yield name, node.annotation
    elif isinstance(node, ast.ClassDef):
        for inner in node.body:
            own = getattr(inner, "name", None) or ast.unparse(getattr(inner, "target", inner))
            if not own.startswith("_") or (own.startswith("__") and own.endswith("__")):
                yield from annotations(inner, f"{name}.{own}")


def untyped(trees: dict[str, ast.Module]) -> list[str]:
    """Return the places in public signatures where a type says nothing.

    A type that is made of another, whose name would hide it, is such a place itself.
    """
    found = []
    for module, tree in trees.items():
        public = exported(tree)
        hints = list(aliases(tree))
        for node in tree.body:
            target = getattr(node, "target", None)
            name = getattr(node, "name", None) or getattr(target, "id", "")
            if name in public:
                hints += annotations(node, name)
        for where, hint in hints:
            said = [word for word in words(hint) if word == "Any" or word.startswith("bare ")]
            found += [f"{module}: {where}: {', '.join(said)}"] * bool(said)
    return found


def read(folder: Path) -> dict[str, ast.Module]:
    """Return the modules of a package, parsed."""
    return {
        str(path.relative_to(folder)): ast.parse(path.read_text("utf-8"))
        for path in sorted(folder.rglob("*.py"))
    }


def test_no_public_signature_says_any() -> None:
    """Every parameter, result and attribute has a type that tells something."""
    found = untyped(read(PACKAGE))
    assert [place for place in found if place not in EXCEPTIONS] == []
    assert EXCEPTIONS.keys() <= set(found)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(a: Any) -> None: ...", "f(a): Any"),
        ("def f() -> dict[str, Any]: ...", "f ->: Any"),
        ("Row = dict[str, Any]\ndef f(*a: 'Row') -> None: ...", "Row: Any"),
        ("def f(*a: 'list[Any]') -> None: ...", "f(a): Any"),
        ("class f:\n    a: list\n    _b: Any", "f.a: bare list"),
        ("class f:\n    def g(self, **k: np.ndarray) -> None: ...", "f.g(k): bare ndarray"),
        ("f: Final[dict] = {}", "f: bare dict"),
    ],
)
def test_the_rule_finds_what_says_nothing(code: str, expected: str) -> None:
    """Directly, in a container, by another name, quoted, in a class."""
    tree = ast.parse(f"__all__ = ['f']\n{code}")
    assert untyped({"m": tree}) == [f"m: {expected}"]


if __name__ == "__main__":
    print("\n".join(untyped(read(PACKAGE))))
