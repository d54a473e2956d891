"""Draw mutants: cosmic-ray lists them, a seed draws places, and one mutant of each place."""

from __future__ import annotations

import ast
import random
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names
from mutant import Mutant
from rooms import ROOMS

__all__ = ["draw"]

# Decorators that do nothing when the program runs, compilation off.
_IDLE_DECORATORS: Final = {"jit", "overload", "override", "final", "runtime_checkable"}


def draw(
    root: Path, seed: int, count: int, rooms: Sequence[str], by_place: bool
) -> tuple[list[Mutant], dict[str, Counter[str]]]:
    """Draw mutants, equally many of each room.

    A place is one operator, number, condition, loop or decorator of the source. Where places
    are drawn, and one mutant of each, a ``+`` counts once; among all mutants it counts eleven
    times, as cosmic-ray makes every other operator of it, and most of these any test sees.

    Returns
    -------
    mutants : list of Mutant
        In the order drawn, room by room in turn.
    counts : dict
        For each room how many places and mutants there are, and how many of those drawn were
        left out, by the reason.
    """
    by_room, counts = [], {}
    for index, room in enumerate(rooms):
        wanted = count // len(rooms) + (index < count % len(rooms))
        drawn, counted = _of_room(root, room, seed, wanted, by_place)
        by_room.append(drawn)
        counts[room] = counted
    most = max(map(len, by_room), default=0)
    turns = [mutants[i] for i in range(most) for mutants in by_room if i < len(mutants)]
    return turns, counts


def _of_room(
    root: Path, room: str, seed: int, wanted: int, by_place: bool
) -> tuple[list[Mutant], Counter[str]]:
    places: dict[tuple[str, int, int, str], list[_Found]] = defaultdict(list)
    for found in _listed([root / file for file in ROOMS[room].files(root)]):
        file = found.file.relative_to(root).as_posix()
        places[file, found.line, found.column, _family(found.operator)].append(found)
    counted = Counter(places=len(places), mutants=sum(map(len, places.values())))
    rng = random.Random(f"{seed} {room}")  # noqa: S311 - a sample, no secret
    drawn: list[Mutant] = []
    sources: dict[str, str] = {}
    for found, of in _shuffled(places, rng, by_place):
        if len(drawn) == wanted:
            break
        file = found.file.relative_to(root).as_posix()
        source = sources.setdefault(file, found.file.read_text(encoding="utf-8"))
        made = _made(room, file, source, found, of)
        if isinstance(made, str):
            counted[made] += 1
        else:
            drawn.append(made)
    return drawn, counted


def _shuffled(
    places: dict[tuple[str, int, int, str], list[_Found]], rng: random.Random, by_place: bool
) -> Iterator[tuple[_Found, int]]:
    """Yield one mutant of each place, and of how many; or all mutants, each for itself."""
    order = sorted(places)
    listed = {
        place: sorted(found, key=lambda one: (one.operator, one.occurrence))
        for place, found in places.items()
    }
    if by_place:
        rng.shuffle(order)
        for place in order:
            yield rng.choice(listed[place]), len(listed[place])
    else:
        every = [one for place in order for one in listed[place]]
        rng.shuffle(every)
        yield from ((one, 1) for one in every)


class _Found(NamedTuple):
    """A mutant that cosmic-ray can make: the `occurrence`-th of an operator in a file."""

    file: Path
    operator: str
    occurrence: int
    line: int
    column: int


def _listed(files: list[Path]) -> Iterator[_Found]:
    """List all mutants, as `cosmic-ray init` does, with one walk through every file."""
    of_node: dict[str, dict[str, Operator]] = {"operator": {}, "comparison": {}, "": {}}
    for name in operator_names():
        if not get_operator(name).arguments():
            kind = "operator" if "ReplaceBinary" in name else ""
            kind = "comparison" if "ReplaceComparison" in name else kind
            of_node[kind][name] = get_operator(name)()
    for file in files:
        counts: Counter[str] = Counter()
        for node in ast_nodes(get_ast_from_path(file)):
            few = of_node.get(node.type, {}) if node.type else {}
            for name, operator in (*few.items(), *of_node[""].items()):
                for start, _ in operator.mutation_positions(node):
                    yield _Found(file, name, counts[name], *start)
                    counts[name] += 1


def _family(operator: str) -> str:
    return re.split(r"(?<=Operator)_", operator.removeprefix("core/"), maxsplit=1)[0]


def _made(room: str, file: str, source: str, found: _Found, of: int) -> Mutant | str:
    """Return the mutant, or why it is left out."""
    tree = ast.parse(source)
    line = found.line
    if _is_type(tree, line, found.column):
        return "types"
    if found.operator.endswith("RemoveDecorator") and _decorator(source, line) in (
        _IDLE_DECORATORS
    ):
        return "idle decorators"
    code = mutate_code(source, get_operator(found.operator)(), found.occurrence)
    if code is None:
        raise RuntimeError(f"cosmic-ray does not make its own mutant {found}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            changed = ast.parse(code)
            compile(code, file, "exec", dont_inherit=True)
    except (SyntaxError, SyntaxWarning):
        return "no valid program"
    if ast.dump(changed) == ast.dump(tree):
        return "no change"
    before, after = _difference(source, code)
    operator = found.operator.removeprefix("core/")
    return Mutant(room, file, operator, line, _statement(tree, line), before, after, code, of)


def _is_type(tree: ast.Module, line: int, column: int) -> bool:
    """Return whether a place is in an annotation, a type alias or `if TYPE_CHECKING`."""
    # Columns of ast count bytes, those of parso characters: sources with α differ by line
    # only where it stands before the place, and there no annotation has stood so far.
    for node in ast.walk(tree):
        parts: list[ast.expr | ast.stmt | None] = []
        if isinstance(node, ast.arg):
            parts = [node.annotation]
        elif isinstance(node, ast.FunctionDef):
            parts = [node.returns]
        elif isinstance(node, ast.AnnAssign):
            alias = isinstance(node.annotation, ast.Name) and node.annotation.id == "TypeAlias"
            parts = [node.annotation, node.value if alias else None]
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            parts = list(node.body)
        elif isinstance(node, ast.Assign) and _is_alias(node.value):
            parts = [node.value]
        for part in parts:
            if part is not None and (
                (part.lineno, part.col_offset)
                <= (line, column)
                < (part.end_lineno or 0, part.end_col_offset or 0)
            ):
                return True
    return False


def _is_alias(value: ast.expr) -> bool:
    """Return whether a value is a union of types: ``int | None``, ``A | tuple[B, ...]``."""
    return (
        isinstance(value, ast.BinOp)
        and isinstance(value.op, ast.BitOr)
        and all(
            isinstance(side, ast.Name | ast.Subscript | ast.Constant) or _is_alias(side)
            for side in (value.left, value.right)
        )
        and any(
            isinstance(side, ast.Subscript | ast.Constant)
            or (isinstance(side, ast.Name) and side.id in {"int", "float", "str", "bool"})
            for side in (value.left, value.right)
        )
    )


def _decorator(source: str, line: int) -> str:
    text = source.splitlines()[line - 1].strip().removeprefix("@")
    return text.split("(")[0].split(".")[-1]


def _statement(tree: ast.Module, line: int) -> tuple[int, int]:
    """Return the lines of the innermost statement, up to the first statement inside."""
    span = (line, line)
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            continue
        body = getattr(node, "body", None)
        first = node.pattern.lineno if isinstance(node, ast.match_case) else node.lineno
        for decorator in getattr(node, "decorator_list", []):
            first = min(first, decorator.lineno)
        last = (body[0].lineno - 1) if body else (getattr(node, "end_lineno", None) or first)
        if first <= line <= max(last, first):
            # Walking goes from outer to inner.
            span = (first, max(last, first))
    return span


def _difference(source: str, code: str) -> tuple[str, str]:
    old, new = source.splitlines(), code.splitlines()
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return tuple("\n".join(lines).strip() for lines in (old, new))  # type: ignore[return-value]
