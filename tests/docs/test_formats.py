"""docs/formats.md names the keys of every answer, and no others."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from collsim.cli.main import main
from collsim.report import measured_table, point_to_point_text

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "formats.md").read_text("utf-8")
LOG = "examples/nccl_tests_all_reduce_8gpu.txt"
HEAD = {"schema", "cluster", "collective", "ranks", "changes", "folded", "notes", "rows"}

# Cheap, and with every key that the command can print, in one of them.
COMMANDS = {
    "predict": (
        "predict all_reduce --ranks 2 -s 1K",
        "predict all_reduce -c pcie-2 -s 1K --degrade 'gpu[0].up=0.5'",
    ),
    "simulate": ("simulate all_reduce --algorithm mst -s 1K --ranks 2",),
    "choose": ("choose all --algorithm ring,direct --ranks 2 -b 1K -e 2K",),
    "choose --against nccl": ("choose all_reduce -c dgx-a100 --against nccl -b 1K -e 2K",),
    "crossover": ("crossover broadcast mst ring --ranks 4",),
    "explain": ("explain broadcast --ranks 2 --chunks 1 --algorithm mst -s 1K",),
    "verify": ("verify broadcast --algorithm mst --ranks 2",),
    "check": (f"check {LOG} --alpha 1.5us --bandwidth 370GB/s",),
    "calibrate fit": (f"calibrate fit {LOG}",),
    "estimate": ("estimate examples/workloads/by_hand.toml --degrade 'nic[3]=0.25'",),
    "sweep": ("sweep small.toml --workers 1",),
    "list algorithms": ("list algorithms",),
    "list clusters": ("list clusters",),
    "list links": ("list links",),
    "list profiles": ("list profiles",),
    "list collectives": ("list collectives",),
    "show cluster": ("show cluster dgx-h100 --nodes 2 --routes 0 9",),
    "show profile": ("show profile h100-ndr",),
    "import topology": ("import topology examples/nvidia_smi_topo_8_v100.txt",),
}
GRID = """\
schema = "collsim/grid/1"
collectives = "broadcast"
sizes = ["1KiB"]
[[clusters]]
cluster = "textbook-h100"
"""


def section(title: str) -> str:
    """Return the text of one section of the page."""
    found = re.search(
        rf"^##+ {re.escape(title)}\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL
    )
    assert found is not None, title
    return found[1]


def keys(title: str) -> tuple[set[str], set[str]]:
    """Return the keys that a section names: of the head, and of rows."""
    text = section(title)
    head, rows = set(), set()
    for line in re.findall(r"^\| (?:head: )?`.*$", text, re.MULTILINE):
        names = set(re.findall(r"`([^`]+)`", line.split(" | ")[0]))
        (head if line.startswith("| head: ") else rows).update(names)
    if "(#a-prediction)" in text:
        rows |= keys("A prediction")[1]
    return head, rows


def answer(command: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> dict[str, Any]:
    """Run a command beside the examples, and return its JSON."""
    shutil.copytree(ROOT / "examples", folder / "examples", dirs_exist_ok=True)
    (folder / "small.toml").write_text(GRID)
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(main, [*shlex.split(command), "--json"], prog_name="collsim")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.parametrize("title", COMMANDS)
def test_an_answer_has_the_keys_of_the_page(
    title: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Those of the head and those of the rows, no more and no fewer."""
    head: set[str] = set()
    rows: set[str] = set()
    for command in COMMANDS[title]:
        found = answer(command, monkeypatch, tmp_path)
        schema = title.partition(" --")[0].replace(" ", "-")
        assert found["schema"] == f"collsim/{schema}/1"
        head |= set(found)
        rows |= {key for row in found["rows"] for key in row}
    assert (head - HEAD, rows) == keys(f"`{title}`")


def test_measured_rows_have_the_keys_of_the_page() -> None:
    """Of `calibrate measure` and `calibrate run`, whose answers take real ranks."""
    assert keys("`calibrate measure`")[1] == set(measured_table.KEYS)
    assert keys("`calibrate run`")[1] == set(point_to_point_text.KEYS)


def test_every_command_that_prints_json_has_a_section() -> None:
    """No schema of an answer is missing."""
    with_json = {" ".join(words) for words in commands(main, ())}
    titles = re.findall(r"^### `(.+)`$", PAGE, re.MULTILINE)
    first = {re.sub(r"^(list) .*| --.*", r"\1", title) for title in titles}
    assert first == with_json


def commands(group: click.Command, words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the words of all commands that take --json."""
    if not isinstance(group, click.Group):
        options = {name for param in group.params for name in param.opts}
        return [words] if "--json" in options else []
    context = click.Context(group)
    found: list[tuple[str, ...]] = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found += commands(command, (*words, name))
    return found


def named(title: str) -> set[str]:
    """Return the keys in the second column of a table."""
    rows = [line.split(" | ") for line in section(title).splitlines() if line.startswith("| ")]
    return {name for row in rows[1:] for name in re.findall(r"`(\w+)`", row[1])}


def known(command: str, text: str, table: str) -> set[str]:
    """Return the keys that a table of a file may have: an error names them."""
    broken = text.replace(table, f"{table}\nxx = 1", 1) if table else f"xx = 1\n{text}"
    Path("broken.toml").write_text(broken, "utf-8")
    result = CliRunner().invoke(main, [*command.split(), "./broken.toml"], prog_name="collsim")
    found = re.search(r"xx: unknown key \(known: (.*)\)", result.output)
    assert found is not None, result.output
    return set(found[1].split(", "))


def test_profiles_have_the_keys_of_the_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Those that are read, table by table."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "configs" / "profiles" / "h100-nvswitch-8.toml").read_text("utf-8")
    tables = ("", "[nccl]", "[provenance]", "[errors.in_sample]", "[parameters.launch]")
    read = set[str]().union(*(known("show profile", text, table) for table in tables))
    assert named("Profiles") == read - {"provenance", "nccl", "errors", "parameters"}


def test_sweeps_have_the_keys_of_the_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Those that are read, table by table."""
    monkeypatch.chdir(tmp_path)
    text = GRID.replace('sizes = ["1KiB"]\n', "") + "[[changes]]\n[sizes]\n"
    tables = ("", "[sizes]", "[[clusters]]", "[[changes]]")
    read = set[str]().union(*(known("sweep", text, table) for table in tables))
    assert named("Sweeps") == read - {"clusters", "changes"}


def test_workloads_have_the_keys_of_their_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """docs/workloads.md names what is read, table by table."""
    monkeypatch.chdir(tmp_path)
    model, hand = (
        (ROOT / "examples" / "workloads" / f"{name}.toml").read_text("utf-8")
        for name in ("llama_70b_fsdp_tp", "by_hand")
    )
    page = (ROOT / "docs" / "workloads.md").read_text("utf-8")
    row = re.compile(r"^\| (`\[.*?\]`)? ?\| (`.*?`) \|", re.MULTILINE)
    rows = row.findall(page.split("## The file")[1])
    told: dict[str, set[str]] = {}
    table = ""
    for begins, keys_ in rows:
        table = begins.strip("`") or table
        told.setdefault(table, set()).update(re.findall(r"[a-z_]+", keys_))
    read = {
        name: known("estimate", f"{model}{name}\n" if name not in model else model, name)
        for name in told
    }
    read["[compute]"] |= known("estimate", hand, "[compute]")
    assert told == {**read, "": read[""] & {"schema", "name", "source"}}
