"""The program as a whole: help, version, exit codes, start-up and pipes."""

from __future__ import annotations

import importlib.metadata as packages
import os
import platform
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

import collsim
from collsim.cli.main import main
from collsim.cli.program import command as lazy
from collsim.errors import InputError

ROOT = Path(__file__).resolve().parents[2]


def commands(group: click.Group, words: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the words of every command and group, the program itself first."""
    found = [words]
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = isinstance(command, click.Group)
        found += commands(command, (*words, name)) if inner else [(*words, name)]
    return found


COMMANDS = commands(main)
# Those whose examples start processes of their own, with torch.
REAL_RANKS = {("calibrate", "measure"), ("calibrate", "run")}


def examples(words: tuple[str, ...]) -> list[str]:
    """Return the command lines that a help shows as examples."""
    text = CliRunner().invoke(main, [*words, "--help"], prog_name="collsim").stdout
    _, _, after = text.partition("Example")
    return lazy.examples(after.partition("Options:")[0])


@pytest.mark.parametrize("words", COMMANDS, ids="-".join)
def test_every_example_runs(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """Each help has at least one, and it exits with 0.

    Where real ranks are timed beside other tests, noise may leave nothing to fit: twice more.
    """
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    shown = examples(words)
    assert shown
    if words in REAL_RANKS:
        request.getfixturevalue("torch")
    for line in shown:
        for _ in range(3 if words in REAL_RANKS else 1):
            result = CliRunner().invoke(main, shlex.split(line)[1:], prog_name="collsim")
            assert isinstance(result.exception, SystemExit | None), line
            if result.exit_code == 0:
                break
            for left in (*tmp_path.glob("*.jsonl"), *tmp_path.glob("*.toml")):
                left.unlink()
        assert result.exit_code == 0, line


@pytest.mark.parametrize("words", COMMANDS, ids="-".join)
def test_help_fits_a_terminal(words: tuple[str, ...]) -> None:
    """Both spellings, at most 100 columns wide."""
    for option in ("--help", "-h"):
        result = CliRunner().invoke(main, [*words, option], prog_name="collsim")
        assert result.exit_code == 0
        assert result.stdout.startswith(f"Usage: {' '.join(['collsim', *words])} ")
        assert max(map(len, result.stdout.splitlines())) <= 100


@pytest.mark.parametrize(
    "words", [(), ("calibrate",), ("plot",), ("show",)], ids=lambda w: "-".join(w) or "collsim"
)
def test_summaries_of_commands_are_whole(run: Any, words: tuple[str, ...]) -> None:
    """In a terminal of 80 columns; none ends in dots."""
    _, _, listed = run(" ".join([*words, "--help"])).stdout.partition("Commands:\n")
    lines = listed.splitlines()
    assert lines
    assert all(line.rstrip().endswith(".") for line in lines[-1:])
    assert "..." not in listed


GROUPS = sorted({words[:-1] for words in COMMANDS if words})


@pytest.mark.parametrize("words", GROUPS, ids="-".join)
def test_bare_group_prints_its_help(run: Any, words: tuple[str, ...]) -> None:
    """And exits with 0."""
    bare = run(" ".join(words))
    assert bare.exit_code == 0
    assert bare.stdout == run(" ".join([*words, "--help"])).stdout


# What each answers without being told anything is a good answer.
NEED_NOTHING = {("verify",), ("calibrate", "measure"), ("calibrate", "run"),
                ("calibrate", "report")}  # fmt: skip


@pytest.mark.parametrize(
    "words", [w for w in COMMANDS if w not in GROUPS and w not in NEED_NOTHING], ids="-".join
)
def test_bare_command_says_what_to_do_next(
    run: Any, fails: Any, words: tuple[str, ...]
) -> None:
    """What is missing, where the help is, and an example that has it: the help's first."""
    line = " ".join(words)
    assert f"Try 'collsim {line} --help' for help." in run(line).stderr
    missing, _, example = fails(line, code=2).partition("; for example: ")
    assert re.match(r"Missing (argument|option) '", missing)
    assert example == examples(words)[0]
    assert example.startswith(f"collsim {line} ")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("version", "unknown command 'version'; did you mean '--version'? "),
        ("help", "unknown command 'help'; did you mean '--help'? "),
        ("show clusters", "unknown command 'clusters'; did you mean 'cluster'? "),
    ],
)
def test_a_slip_of_the_pen_is_understood(fails: Any, line: str, said: str) -> None:
    """The nearest name is in the message."""
    assert fails(line, code=2).startswith(said)


def test_a_slip_of_the_pen_in_an_option_is_understood(fails: Any) -> None:
    """In the words of click, which depend on its version."""
    said = fails("predict all_reduce --algoritm ring", code=2)
    assert re.search(r"--algoritm\b.*Did you mean .*--algorithm", said)


def test_a_collective_is_no_command(fails: Any) -> None:
    """The message shows what was meant; of another group it would make no sense."""
    assert fails("allreduce", code=2).endswith("; for example: collsim predict all_reduce")
    assert "example" not in fails("show all_reduce", code=2)


def test_a_help_says_where_its_files_are(run: Any) -> None:
    """A wheel has none of them."""
    said = "The folder examples/ is in collsim's repository."
    assert run("check --help").stdout.splitlines()[-1].strip() == said
    assert said not in run("choose --help").stdout


def test_an_option_without_its_value_shows_the_usage(run: Any) -> None:
    """Where click tells the message alone."""
    said = run("predict all_reduce -s").stderr
    assert said.startswith("Usage: collsim predict ")
    assert said.endswith("\nError: Option '-s' requires an argument.\n")


def test_what_a_help_shows_in_small_letters_is_typed_like_that(run: Any) -> None:
    """Capitals stand for values."""
    shown = run("predict --help").stdout
    assert "--chunks N|auto|LIST " in shown
    assert "--order LIST|inside|across " in shown
    assert run("predict all_reduce -s 8 --chunks auto --order inside").exit_code == 0


def test_version(run: Any) -> None:
    """Name and version, and what a report of a problem needs."""
    first, *more = run("--version").stdout.splitlines()
    assert first == f"collsim {collsim.__version__}"
    python, numpy = platform.python_version(), np.__version__
    assert more[0] == f"Python {python}, numpy {numpy}"
    assert more[1].startswith("compilation of large simulations: ")
    assert len(more) == 2


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (("0.68.1", ""), "numba 0.68.1"),
        ((None, "numba is not installed"), "not available, numba is not installed"),
    ],
    ids=["there", "missing"],
)
def test_version_says_whether_is_compiled(
    run: Any, monkeypatch: pytest.MonkeyPatch, found: Any, said: str
) -> None:
    """By what, or why not."""
    monkeypatch.setattr("collsim.engine.compilation.compilation", lambda: found)
    assert run("--version").stdout.endswith(f"compilation of large simulations: {said}\n")


def test_version_without_numpy(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken installation can still say what it is."""

    def unknown(name: str) -> str:
        raise packages.PackageNotFoundError(name)

    monkeypatch.setattr(packages, "version", unknown)
    assert ", numpy not installed\n" in run("--version").stdout


def test_commands_are_files() -> None:
    """The path is the name."""
    folder = ROOT / "collsim" / "cli" / "commands"
    files = {p.relative_to(folder).with_suffix("").parts for p in folder.rglob("*.py")}
    expected = {words for words in files if words[-1] != "__init__"}
    groups = {()} | {words[:-1] for words in files if words[-1] == "__init__"}
    assert set(COMMANDS) == expected | groups


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 1, "out of memory; expected fewer ranks, chunks or sizes"),
        (InputError("a value\nis wrong"), 1, "a value is wrong"),
        (OSError(28, "No space left on device"), 1, "standard output: No space left on device"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_boundary_of_errors(
    fails: Any, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, message: str
) -> None:
    """One line each, and no traceback."""

    def raise_it(*args: object, **options: object) -> None:
        raise error

    monkeypatch.setattr("collsim.choose.predict.predict", raise_it)
    assert fails("predict all_reduce", code=code) == message


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever finds one needs the traceback."""

    def raise_it(*args: object, **options: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("collsim.choose.predict.predict", raise_it)
    result = CliRunner().invoke(main, ["predict", "all_reduce"])
    assert isinstance(result.exception, ZeroDivisionError)


def test_broken_pipe_is_no_error(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing on stderr, exit 0."""

    def leave(*args: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("collsim.cli.program.output.write_whole", leave)
    result = run("predict all_reduce")
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_pipe_that_closes_does_not_hide_a_failure(
    run: Any, monkeypatch: Any, log: str
) -> None:
    """`check | head` still exits with 1."""

    def leave(*args: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("collsim.cli.program.output.write_whole", leave)
    assert run(f"check {log} --alpha 1ns --bandwidth 9000GB/s").exit_code == 1


def program(line: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the program in a process of its own."""
    command = f"{sys.executable} -m collsim {line}"
    return subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60,
        cwd=ROOT, **options,
    )  # fmt: skip


def test_head_ends_it_quietly() -> None:
    """A reader that leaves early is no error."""
    line = "predict all_reduce -b 1 -e 4K -i 1 | head -1; exit ${PIPESTATUS[0]}"
    done = program(line)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("# collsim")


@pytest.mark.parametrize("line", ["predict all_reduce", "--help", "list links --json"])
def test_full_disk_is_one_line(line: str) -> None:
    """Behind a redirection too, where Python would complain at its own exit."""
    done = program(f"{line} > /dev/full")
    assert done.returncode == 1
    assert re.fullmatch(r"Error: .*: No space left on device\n", done.stderr)


@pytest.mark.parametrize(
    "line", ["predict all_reduce -s 8", "calibrate fit examples/nccl_tests_all_reduce_8gpu.txt"]
)
def test_closed_stdout_is_one_line(line: str) -> None:
    """There is nowhere to print to."""
    done = program(f"{line} >&-")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "Error: -: there is no standard output"
    assert "Traceback" not in done.stderr


def test_a_missing_home_is_no_news(tmp_path: Path) -> None:
    """Stderr has our own lines only."""
    nowhere = "/proc/nowhere"
    environment = os.environ | {"HOME": nowhere, "XDG_CACHE_HOME": nowhere}
    environment |= {"XDG_CONFIG_HOME": nowhere, "TMPDIR": str(tmp_path)}
    environment.pop("MPLCONFIGDIR", None)
    path = tmp_path / "x.svg"
    done = program(f"crossover all_reduce mst ring --plot {path}", env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert path.stat().st_size > 0


def test_plain_locale_does_not_matter() -> None:
    """Greek letters come out where the locale is C."""
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = program("list algorithms", env=environment)
    assert done.returncode == 0
    assert "α" in done.stdout


def test_interrupt_is_one_line_and_130() -> None:
    """Ctrl-C in the middle of a job."""
    code = (
        "import signal, collsim.choose.verify as engine\n"
        "engine.verify = lambda *a, **k: signal.raise_signal(signal.SIGINT)\n"
        "from collsim.cli.main import main\n"
        "main(['verify'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (130, "Error: interrupted\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete(shell: str) -> None:
    """By the scripts that docs/README.md names; one of them asks for `pred` what it means."""
    variables = {"_COLLSIM_COMPLETE": f"{shell}_source"}
    script = CliRunner().invoke(main, [], prog_name="collsim", env=variables)
    assert f"_COLLSIM_COMPLETE={shell}_complete" in script.output
    words = {"COMP_WORDS": "collsim pred", "COMP_CWORD": "1"}
    asked = {"_COLLSIM_COMPLETE": "bash_complete"} | words
    assert CliRunner().invoke(main, [], prog_name="collsim", env=asked).output == (
        "plain,predict\n"
    )
