"""`collsim import topology`: a cluster file on stdout or in a file, notes on stderr."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

DATA = "tests/interop/data"


def test_the_file_is_on_stdout_and_the_notes_on_stderr(run: Any) -> None:
    """So that a redirection holds a cluster file and nothing else."""
    result = run(f"import topology {DATA}/ampere_mesh.xml")
    assert result.exit_code == 0
    assert result.stdout.startswith('schema = "collsim/cluster/1"\nname = "ampere_mesh"\n')
    lines = result.stderr.splitlines()
    assert lines[0] == (
        "note: read: 4 GPUs (A100 SXM4 40GB) of sm 80, 0 PCIe switches, 4 CPUs, 0 network cards"
    )
    assert "note: left out: PCIe, which no message between GPUs crosses" in lines


@pytest.mark.parametrize(
    "name", ["hopper_nvswitch.xml", "cloud_pci_only.xml", "uneven_tree.xml", "smi_glued.txt"]
)
def test_what_was_written_is_a_cluster(run: Any, tmp_path: Path, name: str) -> None:
    """-o FILE, then -c FILE."""
    path = tmp_path / "mine.toml"
    result = run(f"import topology {DATA}/{name} -o", str(path))
    assert (result.exit_code, result.stdout) == (0, "")
    assert run("predict all_reduce -s 64M -c", str(path)).exit_code == 0
    shown = run("show cluster --routes 0 1", str(path))
    assert shown.exit_code == 0
    assert "0 to 1: alpha" in shown.stdout


def test_json_has_all_of_it(answer: Any) -> None:
    """A row per class of links, the notes as lists, and the file as text."""
    found = answer(f"import topology {DATA}/hopper_nvswitch.xml")
    assert found["schema"] == "collsim/import-topology/1"
    assert (found["cluster"], found["ranks"], found["collective"]) == (
        "hopper_nvswitch",
        4,
        None,
    )
    assert (found["format"], found["shape"]) == ("NCCL topology XML", "switch")
    assert [(row["link"], row["bandwidth"], row["links"]) for row in found["rows"]] == [
        ("nvlink4", 450.0, 8),
        ("net400", 50.0, 8),
    ]
    assert found["toml"].startswith("schema = ")
    assert set(found) >= {"read", "assumed", "left_out"}


def test_csv_has_the_classes_of_links(run: Any) -> None:
    """A header and a row each."""
    lines = run(f"import topology {DATA}/smi_new_raw.txt --csv").stdout.splitlines()
    assert lines[0].startswith("link,alpha_us,bandwidth")
    assert lines[1].startswith("nvlinkx18,3.4,450")


def test_files_that_are_none(fails: Any, tmp_path: Path) -> None:
    """One line that names the file; nothing is written."""
    target = tmp_path / "mine.toml"
    message = fails("import topology README.md -o", str(target), code=1)
    assert message.startswith("README.md: of no format that collsim imports")
    assert not target.exists()
    assert fails("import topology gone.xml", code=1) == "gone.xml: No such file or directory"
    assert fails("import topology tests", code=1) == "tests: Is a directory"
    assert fails("import topology", code=2).startswith("Missing argument 'FILE';")
