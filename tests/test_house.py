"""The house as a whole: what is shipped, what starts, and the one command."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

HEAVY = {"scipy", "numba", "matplotlib", "plotly"}
ROOT = Path(__file__).resolve().parent.parent
needs_cli = pytest.mark.skipif(
    not (ROOT / "collsim" / "cli" / "main.py").exists(), reason="there is no command line yet"
)


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


@needs_cli
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


@needs_cli
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


def loaded_by(code: list[str], folder: Path) -> set[str]:
    """Return every module that a run of Python imports, by its own account."""
    done = run([sys.executable, "-X", "importtime", *code], folder)
    return set(re.findall(r"^import time:.*\|\s*([\w.]+)$", done.stderr, re.MULTILINE))


def test_import_is_light(tmp_path: Path) -> None:
    """`import collsim` loads nothing that takes a second to load."""
    loaded = loaded_by(["-c", "import collsim"], tmp_path)
    assert "collsim" in loaded
    assert not loaded & HEAVY


@needs_cli
@pytest.mark.parametrize(
    "command",
    [
        "--help",
        "--version",
        "predict --help",
        "predict all_reduce --ranks 8",
        "predict all_reduce --ranks 8 --algorithm all --json",
        "predict broadcast -c dgx-h100 --nodes 2 -s 1MiB --csv",
    ],
)
def test_predict_starts_light(tmp_path: Path, command: str) -> None:
    """A small prediction needs no compiler, no optimiser and no plots."""
    loaded = loaded_by(["-m", "collsim", *command.split()], tmp_path)
    assert "collsim.cli.main" in loaded
    assert not loaded & HEAVY


def packages(loaded: set[str]) -> set[str]:
    """Return the packages of some modules that are neither Python's nor of its start-up."""
    tops = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    # What a virtual environment or an editable install may bring along; `org` is Java's name
    # that the standard library asks for.
    own = {"sitecustomize", "usercustomize", "_distutils_hack", "_virtualenv", "org"}
    return {name for name in tops - own if not name.startswith("__editable__")}


@needs_cli
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("", {"collsim"}),
        ("--help", {"collsim", "click"}),
        ("--version", {"collsim", "click"}),
        ("sweep --help", {"collsim", "click"}),
        ("predict all_reduce --algorithm ring -s 64M", {"collsim", "click", "numpy"}),
        (
            "predict all_reduce -c dgx-h100 --nodes 8 --algorithm ring -s 64M",
            {"collsim", "click", "numpy"},
        ),
    ],
    ids=["import", "help", "version", "help of a command", "predict", "predict on 64"],
)
def test_what_is_loaded(tmp_path: Path, command: str, expected: set[str]) -> None:
    """One size and algorithm start with nothing but these packages: all others are heavy."""
    code = ["-m", "collsim", *command.split()] if command else ["-c", "import collsim"]
    assert packages(loaded_by(code, tmp_path)) == expected


def test_import_loads_one_module_of_the_package(tmp_path: Path) -> None:
    """The names are there, and what is behind them comes when it is used."""
    loaded = loaded_by(["-c", "import collsim; collsim.__all__"], tmp_path)
    assert {name for name in loaded if name.startswith("collsim")} == {"collsim"}


@needs_cli
def test_help_loads_no_room_but_its_own(tmp_path: Path) -> None:
    """Beside the command line's, what checks and spells values."""
    loaded = loaded_by(["-m", "collsim", "--help"], tmp_path)
    rooms = {name.split(".")[1] for name in loaded if name.startswith("collsim.")}
    assert rooms == {"cli", "config", "errors", "files", "registry", "units"}


@needs_cli
def test_help_does_not_even_load_numpy(tmp_path: Path) -> None:
    """Half of the time of an answer to `--help` would be numpy."""
    assert "numpy" not in loaded_by(["-m", "collsim", "--help"], tmp_path)


def test_ci_runs_the_test_command_of_the_readme() -> None:
    """The README, the guide for contributors and `.ci/run` say the same one line."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (command,) = re.findall(r'^test_command="(.*)"$', script, re.MULTILINE)
    assert script.rstrip().endswith('eval "$test_command"')
    for name in ("README.md", "CONTRIBUTING.md"):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if line.endswith("bin/pytest")] == [command], name


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder with `.ci/run` and stand-ins for all programs that it calls."""
    folder = tmp_path / "checkout"
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    (folder / ".ci").mkdir()
    (folder / ".ci" / "run").write_bytes((ROOT / ".ci" / "run").read_bytes())
    python = shlex.quote(sys.executable)
    fake = (
        "#!/bin/sh\n"
        'name=$(basename "$0")\n'
        '[ "$name $1" = "python3 -c" ] && exec ' + python + ' "$@"\n'
        'echo "$name $* | torch=$COLLSIM_REQUIRE_TORCH browser=$COLLSIM_REQUIRE_CHROMIUM'
        ' required=$COLLSIM_REQUIRE_SHARED"\n'
        '[ "$name $1" != "$FAIL" ] || exit 7\n'
    )
    for path in [
        *(programs / n for n in ("pip", "ruff", "mypy", "pytest")),
        *(tmp_path / n for n in ("python3", "chromium", "apt-get")),
    ]:
        path.write_text(fake)
        path.chmod(0o755)
    return folder


def run_ci(checkout: Path, fail: str = "", path: str = "") -> tuple[int, list[str]]:
    """Run the copied `.ci/run` with the stand-ins; `fail` names the one that fails."""
    path = path or f"{checkout.parent}:{os.environ['PATH']}"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("COLLSIM_REQUIRE")}
    done = subprocess.run(
        ["bash", checkout / ".ci" / "run"], env=environment | {"PATH": path, "FAIL": fail},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    return done.returncode, done.stdout.splitlines()


def test_ci_ends_with_the_tests(checkout: Path) -> None:
    """Format, lint and types come first, and the last line is pytest's."""
    code, lines = run_ci(checkout)
    assert code == 0
    steps = [line.split(" | ")[0] for line in lines if " required=" in line]
    setup = [
        "python3 -m venv .venv",
        "pip install -q -e .[dev]",
        "pip install -q torch==2.13.0",
        "pip install -q -e .[dask,bench]",
    ]
    checks = ["ruff format --check .", "ruff check .", "mypy "]
    assert [s for s in steps if s not in setup] == [*checks, "pytest "]
    assert lines[-1].startswith("pytest ")


@pytest.mark.parametrize(
    "step", ["python3 -m", "pip install", "ruff format", "ruff check", "mypy ", "pytest "]
)
def test_ci_fails_with_any_step(checkout: Path, step: str) -> None:
    """The exit status of what failed comes through, and nothing runs after it."""
    code, lines = run_ci(checkout, fail=step)
    assert code == 7
    assert lines[-1].startswith(step)


def test_ci_requires_torch(checkout: Path) -> None:
    """It installs what runs real ranks, and then no test may skip for want of it."""
    _, lines = run_ci(checkout)
    assert any(line.startswith("pip install -q torch==") for line in lines)
    assert " torch=1 " in lines[-1]


@pytest.mark.parametrize("there", [True, False])
def test_ci_requires_a_browser(checkout: Path, there: bool, tmp_path: Path) -> None:
    """It installs one where there is none, and then no test may skip for want of it."""
    needed = tmp_path / "needed"
    needed.mkdir()
    for name in ("bash", "basename", "dirname"):
        (needed / name).symlink_to(str(shutil.which(name)))
    if not there:
        (tmp_path / "chromium").unlink()
    (tmp_path / "apt-get").rename(needed / "apt-get")
    log = tmp_path / "log"
    (needed / "apt-get").write_text(f'#!/bin/sh\necho "$*" >> {shlex.quote(str(log))}\n')
    _, lines = run_ci(checkout, path=f"{tmp_path}:{needed}")
    asked = log.read_text().splitlines() if log.exists() else []
    assert asked == ([] if there else ["update -q", "install -y -q chromium"])
    assert " browser=1 " in lines[-1]


@pytest.mark.parametrize("there", [True, False])
def test_ci_requires_the_shared_data_where_they_are(checkout: Path, there: bool) -> None:
    """Beside them, a test that skips for want of them is a failure."""
    if there:
        (checkout.parent / "shared" / "data").mkdir(parents=True)
    _, lines = run_ci(checkout)
    assert lines[-1].endswith(" required=1" if there else " required=")


@pytest.mark.parametrize("required", [True, False])
def test_skip_for_want_of_data_fails_where_it_is_not_allowed(
    tmp_path: Path, required: bool
) -> None:
    """Only tests that use the shared data are meant; others may skip."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").write_bytes((ROOT / "tests/conftest.py").read_bytes())
    (tmp_path / "tests" / "test_x.py").write_text(
        "import pytest\n"
        "def test_missing(shared_data): pass\n"
        "def test_other(): pytest.skip('for another reason')\n"
    )
    variables = {"COLLSIM_REQUIRE_SHARED": "1" if required else "0"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path / "tests"],
        cwd=tmp_path, env=os.environ | variables, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert done.returncode == (1 if required else 0), done.stdout
    last = done.stdout.splitlines()[-1]
    assert last.startswith("1 skipped, 1 error" if required else "2 skipped")


@pytest.mark.parametrize("required", [True, False])
def test_skip_for_want_of_a_browser_fails_where_it_is_not_allowed(
    tmp_path: Path, required: bool
) -> None:
    """As of torch."""
    (tmp_path / "tests").mkdir()
    for name in ("conftest.py", "browser.py"):
        (tmp_path / "tests" / name).write_bytes((ROOT / "tests" / name).read_bytes())
    (tmp_path / "tests" / "test_x.py").write_text(
        "import shutil\nshutil.which = lambda name: None\ndef test_missing(browser): pass\n"
    )
    variables = {"COLLSIM_REQUIRE_CHROMIUM": "1" if required else "0"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path / "tests"],
        cwd=tmp_path, env=os.environ | variables, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    last = done.stdout.splitlines()[-1]
    assert last.startswith("1 error" if required else "1 skipped"), done.stdout


@pytest.mark.parametrize("required", [True, False])
def test_skip_for_want_of_torch_fails_where_it_is_not_allowed(
    tmp_path: Path, required: bool
) -> None:
    """Such tests may skip for other reasons, such as a user without the rights."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").write_bytes((ROOT / "tests/conftest.py").read_bytes())
    (tmp_path / "tests" / "test_x.py").write_text(
        "import importlib.util as util\n"
        "import pytest\n"
        "real = util.find_spec\n"
        "util.find_spec = lambda name, *more: None if name == 'torch' else real(name, *more)\n"
        "@pytest.fixture(scope='session')\n"
        "def rights(): pytest.skip('needs root')\n"
        "def test_missing(torch): pass\n"
        "def test_other(rights, torch): pass\n"
    )
    variables = {"COLLSIM_REQUIRE_TORCH": "1" if required else "0"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path / "tests"],
        cwd=tmp_path, env=os.environ | variables, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    last = done.stdout.splitlines()[-1]
    assert last.startswith("1 skipped, 1 error" if required else "2 skipped"), done.stdout
