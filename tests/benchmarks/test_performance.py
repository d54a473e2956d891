"""The page of performance is what the benchmark writes of what it has measured."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEED = ROOT / "benchmarks" / "speed"
DOCS = ROOT / "docs"

MEASURED: dict[str, Any] = {
    "schema": "collsim/performance/1",
    "machine": {"cpu": "Z80", "cores": 2, "memory_gib": 16, "system": "Linux x86_64"},
    "versions": {"collsim": "1.2", "python": "3.11.7", "SimPy": "4.1.2"},
    "repetitions": 3,
    "ring": [
        {
            "simulator": name, "ranks": ranks, "messages": 2 * ranks * (ranks - 1),
            "seconds": seconds, "peak_mib": peak, "loaded_mib": 100.0,
        }
        for name, ranks, seconds, peak in (
            ("collsim", 64, 0.0012, 150.0), ("collsim", 1024, 0.2, 300.0),
            ("SimPy", 64, 0.12, 17.0),
        )
    ],
    "far": [
        {
            "cluster": "dgx-h100", "nodes": 128, "ranks": 1024, "algorithm": "ring",
            "chunks": 1, "time_us": 12345.5, "seconds": 1.5, "peak_mib": 200.0, "how": how,
        }
        for how in ("all ranks simulated", "16 of 1,024 ranks simulated")
    ],
    "engine": [
        {
            "case": "rails", "messages": 2_000_000, "build_s": 0.25, "simulate_s": 0.5,
            "simulated_per_s": 4e6, "peak_mb": 222.4,
        },
        {"case": "limit", "messages": 4, "bytes": 28, "first_ns": 20.06, "again_ns": 3.0},
    ],
    "commands": [{"command": "collsim --help", "seconds": 0.0871}],
}  # fmt: skip


@pytest.fixture(scope="module")
def speed(bare_modules: Callable[..., Any]) -> Iterator[dict[str, ModuleType]]:
    """Return the modules of the benchmark, which import each other by their bare names."""
    with bare_modules(SPEED, ("common", "measure", "page", "picture")) as modules:
        yield modules


def test_the_page_is_made_of_what_was_measured(speed: dict[str, ModuleType]) -> None:
    """The one in docs is the command's output for the numbers beside it, to the letter."""
    measured = json.loads((DOCS / "performance.json").read_text(encoding="utf-8"))
    assert measured["schema"] == speed["measure"].SCHEMA
    text = (DOCS / "performance.md").read_text(encoding="utf-8")
    assert text == speed["page"].page(measured)
    assert (DOCS / "performance.svg").read_bytes().lstrip().startswith(b"<?xml")
    # No folder of the machine is named.
    assert not re.search(r"(?<![\w.])/(home|tmp|root|work|usr)", text + json.dumps(measured))


def test_every_number_is_in_the_page(speed: dict[str, ModuleType]) -> None:
    """Seconds, rates, memory and ratios, worked by hand."""
    text = speed["page"].page(MEASURED)
    for line in (
        "Machine: Z80, 2 cores, 16 GiB,",
        "Linux x86_64. Versions: collsim 1.2, Python 3.11.7, SimPy 4.1.2.",
        "| 64 | 8,064 | collsim | 0.0012 | 6.7 | 150 | 1 |",
        "| 64 | 8,064 | SimPy | 0.120 | 0.067 | 17 | 100 |",
        "| 1,024 | 2,095,104 | collsim | 0.200 | 10.5 | 300 | 1 |",
        "| 1,024 | ring | 1 | 1.50 | 200 | 12.345500 | 16 of 1,024 ranks simulated |",
        "| rails | 2,000,000 | 0.250 | 0.500 | 4.0 | 222 |",
        "| `collsim --help` | 0.0871 |",
        "Folded and not, the times of ring on 1,024 ranks are the same to the last bit.",
    ):
        assert line in text.splitlines(), line
    assert "grows with its messages: 100 bytes for each, beside 100 MiB" in text.replace(
        "\n", " "
    )
    # 200 MiB over 2,095,104 messages; (6 GiB / 100 bytes / 2) ** 0.5, in steps of 64.
    assert "so 5,632 of them would fit in 6 GiB" in text.replace("\n", " ")
    # 0.2 s over 2,095,104 messages, and 0.0012 s over 8,064.
    assert "in 95 ns at best, on 1,024 ranks, and in 95 ns on 1,024." in text.replace("\n", " ")
    assert "28 bytes: 3.0 ns here, and 20.1 ns in memory" in text.replace("\n", " ")
    assert "102,400 bytes a rank at 1,024 ranks" in text.replace("\n", " ")


def test_times_that_differ_are_no_agreement(speed: dict[str, ModuleType]) -> None:
    """The measurement ends with an error, and no page claims that they agree."""
    one, other = (dict(row) for row in MEASURED["far"])
    speed["measure"]._check_same(one, [one, other])
    other["time_us"] += 1e-9
    with pytest.raises(SystemExit, match="ring on 1024 ranks takes"):
        speed["measure"]._check_same(one, [one, other])
    text = speed["page"].page(MEASURED | {"far": [one, other]})
    assert "to the last bit" not in text


def test_the_picture_is_the_same_each_time(speed: dict[str, ModuleType]) -> None:
    """To the byte, with the same matplotlib; every simulator and the folded ring is in it."""
    picture = speed["picture"]
    assert picture.picture(MEASURED) == picture.picture(MEASURED)
    assert list(picture.lines(MEASURED)) == ["collsim", "SimPy", picture.FOLDED]


@pytest.mark.parametrize("name", ["run_collsim.py", "run_simpy.py"])
def test_models_take_what_the_formula_says(speed: dict[str, ModuleType], name: str) -> None:
    """All simulate the same: 2 (P - 1) (alpha + n / P beta)."""
    if name == "run_simpy.py" and importlib.util.find_spec("simpy") is None:
        pytest.skip("needs simpy: pip install 'collsim[bench]'")
    done = subprocess.run(
        [sys.executable, SPEED / name, "--ranks", "6"],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["makespan"] == pytest.approx(speed["common"].makespan(6), rel=1e-12)
    assert told["seconds"] > 0
    assert told["peak_kib"] > 1000
