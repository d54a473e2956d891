"""The same input gives the same bytes: in another process, folder, zone, locale and order."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# Every form in which something is printed or written, each once.
COMMANDS = """
list algorithms broadcast --json
show cluster dgx-h100 --nodes 2 --routes 0 9 --plot cluster.svg
show profile h100-nvswitch-8
predict all_reduce -c dgx-h100 --nodes 2 -s 1M --algorithm ring,mst --degrade nic[3]=0.5
predict all_gather -c dgx-h100 --profile h100-nvswitch-8 --csv -s 1M
choose all_reduce -c dgx-h100 -b 1M -e 4M --json
choose broadcast -c dgx-a100 --nodes 2 -b 1M -e 4M --nccl-tuner tuner.csv
crossover all_reduce mst ring --ranks 8 --plot crossover.pdf
simulate all_reduce --algorithm ring -s 1M --ranks 4 --trace run.json.gz --plot run.png
explain broadcast --ranks 5
verify all_to_all --ranks 1-3
calibrate fit examples/nccl_tests_all_reduce_8gpu.txt -o my.toml --plot fit.png
check examples/nccl_tests_all_reduce_8gpu.txt --profile ./my.toml --json
report reduce --ranks 4 -b 1K -e 4K -o report.html
import topology examples/nvidia_smi_topo_8_v100.txt -o mine.toml
export all_gather --algorithm pat --ranks 8 --format msccl -o pat.xml
export all_reduce --algorithm ring --ranks 4 --format text
estimate examples/workloads/by_hand.toml --trace step.json.gz
sweep grid.toml --workers 1 -o rows.csv
sweep grid.toml --workers 1 -o rows.jsonl
""".strip().splitlines()

GRID = """schema = "collsim/grid/1"
collectives = ["all_reduce", "broadcast"]
sizes = ["1KiB", "1MiB"]
clusters = [{cluster = "dgx-h100", nodes = [1, 2]}]
"""

# One process for all of them: starting is what takes the time.
PROGRAM = """
import shlex, sys
from click.testing import CliRunner
from collsim.cli.main import main
for number, line in enumerate(sys.stdin.read().splitlines()):
    sys.argv = ["collsim", *shlex.split(line)]
    done = CliRunner().invoke(main, sys.argv[1:], prog_name="collsim")
    with open(f"answer-{number}", "w", encoding="utf-8") as file:
        file.write(f"{line}\\n{done.exit_code}\\n{done.stdout}\\n{done.stderr}")
"""

PLACES = {
    "one": {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C", "COLUMNS": "60"},
    "an other": {"PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8",
                 "COLUMNS": "200"},
}  # fmt: skip


@pytest.fixture(scope="module")
def made(root: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, bytes]]:
    """Run all commands twice, and return what is in both folders then."""
    top = tmp_path_factory.mktemp("places")
    found = []
    for name, variables in PLACES.items():
        folder = top / name
        shutil.copytree(root / "examples", folder / "examples")
        (folder / "grid.toml").write_text(GRID)
        given = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG"))}
        subprocess.run(
            [sys.executable, "-c", PROGRAM], input="\n".join(COMMANDS), cwd=folder, text=True,
            env=given | variables | {"PYTHONPATH": str(root)}, check=True, timeout=600,
        )  # fmt: skip
        found.append(
            {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        )
    return found


@pytest.mark.parametrize("number", range(len(COMMANDS)), ids=COMMANDS)
def test_answers_are_the_same(made: list[dict[str, bytes]], number: int) -> None:
    """To the byte, notes too."""
    one, other = (files[f"answer-{number}"] for files in made)
    assert one == other
    assert one.decode().splitlines()[:2] == [COMMANDS[number], "0"]


def test_files_are_the_same(made: list[dict[str, bytes]]) -> None:
    """Pictures, traces, reports and tables hold no date, no place and nothing by chance."""
    one, other = made
    written = {name for name in one if not name.startswith("answer-")}
    assert written >= {
        "cluster.svg", "crossover.pdf", "fit.png", "mine.toml", "my.toml", "pat.xml",
        "report.html", "rows.csv", "rows.jsonl", "run.json.gz", "run.png", "step.json.gz",
        "tuner.csv",
    }  # fmt: skip
    assert {name for name in written if one[name] != other.get(name)} == set()
    assert one.keys() == other.keys()
