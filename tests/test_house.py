"""The house as a whole: what is shipped, and that it runs from any folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run(
    command: list[str | Path], folder: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a program that has to succeed, away from the checkout."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | variables
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def build(kind: str, source: Path, folder: Path) -> Path:
    """Build a `wheel` or an `sdist` of the project at `source` and return its path."""
    run([sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", folder], source)
    (path,) = folder.iterdir()
    return path


def names_in(wheel: Path) -> set[str]:
    """Return the files of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {n for n in archive.namelist() if not n.endswith("/")}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel once."""
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an environment of its own and return that one's programs.

    The dependencies are those of the running environment, by a path that comes
    after the new one's own: nothing is fetched, and collsim comes from the wheel.
    """
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False)
    programs = home / "bin"
    python = programs / "python"
    install: list[str | Path] = ["install", "--quiet", "--no-deps", "--no-index", wheel]
    run([sys.executable, "-m", "pip", "--python", python, *install], home)
    site = run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], home)
    lines = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    (Path(site.stdout.strip()) / "dependencies.pth").write_text("\n".join(lines))
    return programs


def test_wheel_ships_package_and_presets(wheel: Path) -> None:
    """Every module, every preset, the licence and the marker of types; and no tests."""
    names = names_in(wheel)
    modules = {str(p.relative_to(ROOT)) for p in (ROOT / "collsim").rglob("*.py")}
    presets = {f"collsim/{p.relative_to(ROOT)}" for p in (ROOT / "configs").rglob("*.toml")}
    assert modules | presets | {"collsim/py.typed"} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.split("/")[0] for name in names} == {"collsim", "collsim-0.1.0.dist-info"}


def test_source_archive_holds_what_builds_and_tests_it(wheel: Path, tmp_path: Path) -> None:
    """It carries tests and presets, and the wheel built from it is the same."""
    archive = build("sdist", ROOT, tmp_path / "sdist")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    for name in ("tests/conftest.py", "tests/test_house.py", ".ci/run", "LICENSE"):
        assert (source / name).is_file()
    presets = {p.relative_to(ROOT / "configs") for p in (ROOT / "configs").rglob("*.toml")}
    assert {
        p.relative_to(source / "configs") for p in source.glob("configs/**/*.toml")
    } == presets
    again = build("wheel", source, tmp_path / "wheel")
    assert names_in(again) == names_in(wheel)


def test_installed_package_comes_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """The tests below would prove nothing if the checkout were found instead."""
    done = run(
        [installed / "python", "-c", "import collsim; print(collsim.__file__)"], tmp_path
    )
    assert Path(done.stdout.strip()).is_relative_to(installed.parent)


@pytest.mark.parametrize("start", [("python", "-m", "collsim"), ("collsim",)], ids="-".join)
def test_wheel_lists_its_presets_from_any_folder(
    installed: Path, tmp_path: Path, start: tuple[str, ...]
) -> None:
    """Every cluster of the repository is there, by module and by console script."""
    program, *arguments = start
    done = run([installed / program, *arguments, "list", "clusters"], tmp_path)
    shipped = {path.stem for path in (ROOT / "configs" / "clusters").glob("*.toml")}
    assert shipped
    assert shipped <= set(re.findall(r"[\w.-]+", done.stdout))


@pytest.mark.parametrize(
    "name", sorted(p.stem for p in (ROOT / "configs" / "clusters").glob("*.toml"))
)
def test_wheel_uses_its_presets_from_any_folder(
    installed: Path, tmp_path: Path, name: str
) -> None:
    """A prediction on the preset comes out, and names it."""
    command = f"predict all_reduce -c {name} -s 1MiB --json"
    done = run([installed / "collsim", *command.split()], tmp_path)
    answer = json.loads(done.stdout)
    assert answer["cluster"] == name
    assert answer["rows"][0]["time_us"] > 0


PROGRAM = """
import collsim
from collsim import Cluster

cluster: Cluster = collsim.Cluster.load("dgx-h100", nodes=2)
slow = collsim.degrade(cluster, "nic[3]", 0.25)
row = collsim.predict("all_reduce", slow, "64MiB", healthy=cluster).rows[0]
microseconds: float = row.time_us
sizes: list[tuple[int, str]] = [
    (part.min_bytes, part.algorithm) for part in collsim.choose("all_reduce", cluster).rows
]
profile = collsim.load_profile("h100-nvswitch-8")
fitted: Cluster = collsim.with_profile(Cluster.load("dgx-h100"), profile)
seconds: float = collsim.sweep("grid.toml").rows[0]["time_us"] * 1e-6


def turns(found: collsim.Crossover) -> list[float]:
    return [swap.size for swap in found.rows]


def fastest(found: collsim.Prediction) -> collsim.Row:
    return min(found.rows, key=lambda row: row.time_us)


policy: collsim.Policy = collsim.choose("all_reduce", cluster)
best = fastest(collsim.predict("all_reduce", cluster, "1M", ["ring", "nvls_tree"]))
"""


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("", []),
        ("name: int = row.algorithm", ["assignment"]),
        ("row.tiem_us", ["attr-defined"]),
    ],
    ids=["right", "another type", "no such attribute"],
)
def test_programs_of_others_are_checked(
    installed: Path, tmp_path: Path, line: str, wrong: list[str]
) -> None:
    """The wheel says that it has types, and a strict type checker reads them."""
    (tmp_path / "program.py").write_text(f"{PROGRAM}{line}\n")
    python = ["--python-executable", str(installed / "python")]
    cache = installed.parent / "types"  # of the wheel, so read once for all three
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *python, "--cache-dir", cache, "program.py"],
        cwd=tmp_path, env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert re.findall(r"error:.*\[([\w-]+)\]$", done.stdout, re.MULTILINE) == wrong, done.stdout
    assert done.returncode == bool(wrong), done.stdout + done.stderr
