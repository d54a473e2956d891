"""Files of ours say which version of their format they are, and another one is refused."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import collsim
from collsim.calibrate.importers import read_log
from collsim.config import links, profile, spec, workload
from collsim.config.document import read_table
from collsim.core.measurements import Source
from collsim.core.measurements_file import RowFile, read_rows
from collsim.core.measurements_format import row_of
from collsim.errors import CollsimError
from collsim.interop.chrome_trace.write import write_trace
from collsim.interop.step_trace import write_step_trace
from collsim.sweeps.spec import read_grid

SHOWN = "/2', expected '{}/1', the version that this collsim 0.1.0 reads"


def link(path: str) -> None:
    """Read a file of a link as presets are, which lie among those of the package."""
    read_table(path, links.SCHEMA)


def grown(path: str) -> None:
    """Go on with a file of rows."""
    with RowFile(path, resume=True):
        pass


# Format -> what reads it, and a file of it as far as its schema, with the version left out.
READERS: dict[str, list[tuple[Callable[[str], object], str]]] = {
    "collsim/cluster": [(spec.read_spec, 'schema = "{}"\nname = "x"\n')],
    "collsim/link": [(link, 'schema = "{}"\n')],
    "collsim/profile": [(profile.load, 'schema = "{}"\nname = "x"\n')],
    "collsim/workload": [(workload.load, 'schema = "{}"\n')],
    "collsim/grid": [(read_grid, 'schema = "{}"\n')],
    "collsim/schedule": [(collsim.load_schedule, "schema: {}\ncollective: reduce\nranks: 1\n")],
    "collsim/measurements": [
        (read_log, '{{"schema": "{}"}}\n'),
        (read_rows, '{{"schema": "{}"}}\n'),
        (grown, '{{"schema": "{}"}}\n'),
    ],
    "collsim/calibrate-measure": [(read_log, '{{\n  "schema": "{}",\n  "rows": []\n}}\n')],
}
CASES = [(family, *how) for family, hows in READERS.items() for how in hows]


@pytest.mark.parametrize(("family", "read", "text"), CASES)
def test_another_version_is_refused_by_name(
    family: str, read: Callable[[str], object], text: str, tmp_path: Path
) -> None:
    """The error names the file, its version, the one that is read, and the release."""
    path = tmp_path / "other"
    path.write_text(text.format(f"{family}/2"))
    with pytest.raises(CollsimError) as caught:
        read(str(path))
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert f"{family}{SHOWN.format(family)}" in message
    assert path.read_text() == text.format(f"{family}/2")


@pytest.mark.parametrize(
    ("family", "read", "text"), [case for case in CASES if case[1] is not read_log]
)
def test_another_format_is_no_other_version(
    family: str, read: Callable[[str], object], text: str, tmp_path: Path
) -> None:
    """A file of something else has no release of collsim to wait for."""
    path = tmp_path / "other"
    path.write_text(text.format("collsim/other/1"))
    with pytest.raises(CollsimError) as caught:
        read(str(path))
    assert "that this collsim" not in str(caught.value)
    assert f"{family}/1" in str(caught.value)


def test_rows_of_another_version_after_others_are_refused(tmp_path: Path) -> None:
    """A later release may have gone on with the file."""
    path = tmp_path / "rows.jsonl"
    with RowFile(path) as file:
        file.append({"collective": "reduce", "ranks": 2, "size": 8, "seconds": 1e-6})
    path.write_text(path.read_text() + '{"schema": "collsim/measurements/2"}\n')
    with pytest.raises(CollsimError, match="line 3: schema: got 'collsim/measurements/2'"):
        read_rows(path)


def test_text_of_a_schedule_needs_no_version(tmp_path: Path) -> None:
    """Of what a person writes by hand the first version is meant."""
    path = tmp_path / "mine.txt"
    collsim.save_schedule(collsim.build("reduce", "mst", 3), path)
    first, rest = path.read_text().split("\n", 1)
    assert first == "schema: collsim/schedule/1"
    path.write_text(rest)
    assert len(collsim.load_schedule(path)) == 2


def test_what_is_written_says_its_version(root: Path, tmp_path: Path) -> None:
    """Traces of a call and of a step, rows and profiles; others have tests of their own."""
    cluster = collsim.Cluster.ideal(2, alpha="1us", bandwidth="1GB/s")
    timeline = collsim.simulate(collsim.build("reduce", "mst", 2), cluster, 8)
    write_trace(timeline, cluster, tmp_path / "call.json")
    example = root / "examples" / "workloads" / "by_hand.toml"
    write_step_trace(collsim.estimate(example), tmp_path / "step.json")
    for name in ("call.json", "step.json"):
        about = json.loads((tmp_path / name).read_text())["otherData"]
        assert about["schema"] == "collsim/trace/1"
    row = row_of({"collective": "reduce", "ranks": 2, "size": 8, "seconds": 1e-6}, Source())
    with RowFile(tmp_path / "rows.jsonl") as file:
        file.append({"collective": row.collective, "ranks": 2, "size": 8, "seconds": 1e-6})
    first = (tmp_path / "rows.jsonl").read_text().splitlines()[0]
    assert json.loads(first)["schema"] == "collsim/measurements/1"
    shipped = profile.load(str(root / "configs" / "profiles" / "h100-nvswitch-8.toml"))
    assert tomllib.loads(profile.dumps(shipped))["schema"] == "collsim/profile/1"


def test_package_and_project_name_one_version(root: Path) -> None:
    """What is installed says what it is."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert collsim.__version__ == project["version"]
