"""A file that a command reads is none that it writes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from collsim.cli.main import main
from collsim.cli.program.command import Commands
from collsim.cli.program.overwriting import WRITES

READS = {"--cluster", "--profile", "--measured", "--schedule", "--workload"}


@pytest.fixture
def own(log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the log, under several names, in an empty folder."""
    path = tmp_path / "l.txt"
    shutil.copy(Path(__file__).parents[2] / log, path)
    (tmp_path / "link.txt").symlink_to(path)
    (tmp_path / "l.svg").symlink_to(path)
    shutil.copy(Path(__file__).parents[2] / "examples/gloo_4_ranks.jsonl", tmp_path / "d.png")
    shutil.copy(Path(__file__).parents[2] / "examples/sweep.toml", tmp_path / "s.csv")
    monkeypatch.chdir(tmp_path)
    return path


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("calibrate fit l.txt -o l.txt", "--output: l.txt is read as LOG"),
        ("calibrate fit l.txt -o ./link.txt", "--output: ./link.txt is read as LOG"),
        ("check link.txt -o l.txt", "--output: l.txt is read as LOG"),
        ("calibrate fit l.svg --plot l.svg -o z.toml", "--plot: l.svg is read as LOG"),
        ("calibrate fit l.txt -o z.svg --plot z.svg", "--plot and --output: both are "),
        ("calibrate fit l.txt -o z.svg --plot ./z.svg", "--plot and --output: both are "),
        ("plot crossover all_reduce mst ring --measured d.png -o d.png",
         "--output: d.png is read as --measured"),
        ("sweep s.csv -o s.csv", "--output: s.csv is read as FILE"),
        ("predict all_reduce -c ./l.txt -o l.txt", "--output: l.txt is read as --cluster"),
    ],
)  # fmt: skip
def test_the_input_is_not_written_over(
    own: Path, fails: Any, line: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whatever name it is called; nothing is touched."""
    before = {path.name: path.read_bytes() for path in own.parent.iterdir()}
    # The fixture goes to the project's folder.
    monkeypatch.chdir(own.parent)
    assert fails(line, code=2).startswith(message)
    assert {path.name: path.read_bytes() for path in own.parent.iterdir()} == before


def test_other_files_are_written(own: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is there, and what is no regular file; a preset is no file of its name."""
    monkeypatch.chdir(own.parent)
    Path("old.toml").write_text("old", "utf-8")
    Path("dgx-h100").write_text("old", "utf-8")
    assert run("calibrate fit l.txt -o old.toml").exit_code == 0
    assert run("check l.txt -o /dev/null --profile old.toml").exit_code == 0
    assert run("predict all_reduce -c dgx-h100 -s 1K -o dgx-h100").exit_code == 0
    assert Path("dgx-h100").read_text("utf-8") != "old"


def _options(command: click.Command, context: click.Context) -> Iterator[click.Option]:
    if isinstance(command, Commands):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from _options(found, context)
        return
    for parameter in command.params:
        if isinstance(parameter, click.Option) and "FILE" in (parameter.metavar or ""):
            yield parameter


def test_every_option_of_a_file_is_known_to_read_or_to_write() -> None:
    """So that a new one is not forgotten."""
    found = list(_options(main, click.Context(main)))
    assert len(found) > 10
    for option in found:
        assert (WRITES | READS).intersection(option.opts), option.opts
