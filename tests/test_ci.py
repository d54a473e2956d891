"""The one command, `.ci/run`: what it does, in which order, and what may not skip there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


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


def last_line(
    folder: Path, test: str, variable: str, required: bool, *, files: tuple[str, ...] = ()
) -> str:
    """Return how a run of pytest ends on one file of tests, beside our own `conftest.py`."""
    (folder / "tests").mkdir()
    for name in ("conftest.py", *files):
        (folder / "tests" / name).write_bytes((ROOT / "tests" / name).read_bytes())
    (folder / "tests" / "test_x.py").write_text(test)
    variables = {variable: "1" if required else "0"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder / "tests"],
        cwd=folder, env=os.environ | variables, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert done.returncode == (1 if required else 0), done.stdout
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("required", [True, False])
def test_skip_for_want_of_data_fails_where_it_is_not_allowed(
    tmp_path: Path, required: bool
) -> None:
    """Only tests that use the shared data are meant; others may skip."""
    test = (
        "import pytest\n"
        "def test_missing(shared_data): pass\n"
        "def test_other(): pytest.skip('for another reason')\n"
    )
    last = last_line(tmp_path, test, "COLLSIM_REQUIRE_SHARED", required)
    assert last.startswith("1 skipped, 1 error" if required else "2 skipped")


@pytest.mark.parametrize("required", [True, False])
def test_skip_for_want_of_a_browser_fails_where_it_is_not_allowed(
    tmp_path: Path, required: bool
) -> None:
    """As of torch."""
    test = "import shutil\nshutil.which = lambda name: None\ndef test_missing(browser): pass\n"
    variable = "COLLSIM_REQUIRE_CHROMIUM"
    last = last_line(tmp_path, test, variable, required, files=("browser.py",))
    assert last.startswith("1 error" if required else "1 skipped")


@pytest.mark.parametrize("required", [True, False])
def test_skip_for_want_of_torch_fails_where_it_is_not_allowed(
    tmp_path: Path, required: bool
) -> None:
    """Such tests may skip for other reasons, such as a user without the rights."""
    test = (
        "import importlib.util as util\n"
        "import pytest\n"
        "real = util.find_spec\n"
        "util.find_spec = lambda name, *more: None if name == 'torch' else real(name, *more)\n"
        "@pytest.fixture(scope='session')\n"
        "def rights(): pytest.skip('needs root')\n"
        "def test_missing(torch): pass\n"
        "def test_other(rights, torch): pass\n"
    )
    last = last_line(tmp_path, test, "COLLSIM_REQUIRE_TORCH", required)
    assert last.startswith("1 skipped, 1 error" if required else "2 skipped")
