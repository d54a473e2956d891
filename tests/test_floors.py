"""The floors of the house: imports point down, and heavy libraries live in one room."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "collsim"

# From the ground up. The package's own __init__ gathers the public names, so it
# stands above the rooms that it takes them from and below those who start here.
FLOORS = (
    {"errors", "version"},
    {"registry", "units", "files", "xml_file"},
    {"core"},
    {"algorithms", "topology", "engine", "measure", "nccl"},
    {"choose", "calibrate", "config"},
    {"workload"},
    {"plot", "report", "interop"},
    {"sweeps"},
    {"__init__"},
    {"cli"},
    {"__main__"},
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

HOMES = {
    "matplotlib": {"plot"},
    "click": {"cli"},
    "numba": {"engine"},
    "scipy": {"choose", "calibrate"},
    "torch": {"measure"},
    "distributed": {"sweeps"},
    "plotly": {"report"},
}
LONGEST = 400


def name_of(path: Path, package: Path) -> str:
    """Return the dotted name of a module, `collsim.core` for `collsim/core/__init__.py`."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """Return the room of a module; the package itself is its `__init__`."""
    return [*module.split("."), "__init__"][1]


def imports_of(tree: ast.AST, known: set[str]) -> set[str]:
    """Return every module imported anywhere, in functions and for type checkers too."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            assert node.level == 0, "relative import"
            for alias in node.names:
                # `from collsim import units` imports a module, not a name.
                inner = f"{base}.{alias.name}"
                found.add(inner if inner in known else base)
    return found


def read_package(package: Path) -> dict[str, set[str]]:
    """Return what each module of a package imports."""
    paths = {name_of(path, package): path for path in sorted(package.rglob("*.py"))}
    return {
        name: imports_of(ast.parse(path.read_text(encoding="utf-8")), set(paths))
        for name, path in paths.items()
    }


def wrong_floors(graph: dict[str, set[str]]) -> list[str]:
    """Return the imports that point up, or across to another room of the same floor."""
    return [
        f"{module} imports {target}"
        for module, targets in graph.items()
        for target in sorted(targets)
        if target.split(".")[0] == "collsim"
        and room_of(module) != room_of(target)
        and FLOOR_OF[room_of(target)] >= FLOOR_OF[room_of(module)]
    ]


def strays(graph: dict[str, set[str]]) -> list[str]:
    """Return the imports of a heavy library outside its room."""
    return [
        f"{module} imports {target}"
        for module, targets in graph.items()
        for target in sorted(targets)
        if room_of(module) not in HOMES.get(target.split(".")[0], {room_of(module)})
    ]


def find_cycle(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of one import cycle, or none."""
    inner = {module: targets & graph.keys() for module, targets in graph.items()}
    try:
        TopologicalSorter(inner).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    """Return what each module of collsim imports."""
    return read_package(PACKAGE)


def test_every_room_has_a_floor(graph: dict[str, set[str]]) -> None:
    """A new room is a decision about the house, made in the list above."""
    assert {room_of(module) for module in graph} <= FLOOR_OF.keys()


def test_imports_point_down(graph: dict[str, set[str]]) -> None:
    """A room knows the floors below it and itself, and neither neighbours nor above."""
    assert wrong_floors(graph) == []


def test_no_import_cycle(graph: dict[str, set[str]]) -> None:
    """Also within a room, and also with imports inside functions counted."""
    assert find_cycle(graph) == []


def test_heavy_libraries_stay_in_their_room(graph: dict[str, set[str]]) -> None:
    """One room to change when one of them changes."""
    assert strays(graph) == []


@pytest.mark.parametrize("folder", ["collsim", "tests", "benchmarks"])
def test_no_file_is_too_long(folder: str) -> None:
    """Long files are where cycles and ignored lint gather."""
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / folder).rglob("*.py")
    }
    assert {path: n for path, n in lengths.items() if n > LONGEST} == {}


@pytest.fixture
def crooked(tmp_path: Path) -> dict[str, set[str]]:
    """Return the imports of a package that breaks every rule once."""
    package = tmp_path / "collsim"
    files = {
        "__init__.py": "from collsim.choose import best",
        "core/__init__.py": "",
        "core/up.py": "def f():\n    from collsim import engine",
        "core/one.py": "from collsim.core import two",
        "core/two.py": "def f():\n    import collsim.core.one",
        "engine/__init__.py": "import numba.core\nfrom collsim.core import one",
        "engine/across.py": "if TYPE_CHECKING:\n    from collsim.topology.x import Y",
        "topology/x.py": "from scipy.optimize import brentq",
        "choose/best.py": "import scipy\nfrom collsim.topology import x",
    }
    for name, text in files.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return read_package(package)


def test_the_rules_find_a_crooked_house(crooked: dict[str, set[str]]) -> None:
    """Imports up, across, in a circle and from the wrong room are found, and only those."""
    assert wrong_floors(crooked) == [
        "collsim.core.up imports collsim.engine",
        "collsim.engine.across imports collsim.topology.x",
    ]
    assert strays(crooked) == ["collsim.topology.x imports scipy.optimize"]
    assert set(find_cycle(crooked)) == {"collsim.core.one", "collsim.core.two"}
