"""What the fitted model is held against."""

from __future__ import annotations

import json
import os
import stat
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from collsim.calibrate.validate.bench import TorchSettings
from collsim.calibrate.validate.nccl_model import nccl_model
from collsim.calibrate.validate.systems import BENCHES
from collsim.calibrate.validate.three_lines import three_lines
from collsim.calibrate.validate.torch_estimator import NOT_INSTALLED, torch_times
from collsim.core.measurements import Measurement

SETTINGS = TorchSettings("HOPPER", 370.0)


def ring(collective: str, ranks: int, size: int) -> Measurement:
    """Return the row of a ring with a launch of 5 us, 1 us a step and 200 GB/s."""
    steps = (2 if collective == "all_reduce" else 1) * (ranks - 1)
    seconds = 5e-6 + steps * (1e-6 + size / ranks / 200e9)
    return Measurement(collective, ranks, size, seconds, nodes=1)


def off(found: np.ndarray, rows: list[Measurement]) -> float:
    """Return the largest relative error."""
    return float(np.max(np.abs(found / [row.seconds for row in rows] - 1)))


def test_lines_of_a_series_predict_between_its_sizes() -> None:
    """One line is among what the least of three can be."""
    rows = [ring("all_gather", 8, 2**k) for k in range(10, 30)]
    assert off(three_lines(rows[::2], rows[1::2]), rows[1::2]) < 0.02


def test_tied_lines_predict_another_rank_count() -> None:
    """Steps and bytes of a ring carry them over."""
    sizes = [2**k for k in range(10, 30)]
    fit = [ring(c, p, n) for c in ("all_reduce", "all_gather") for p in (2, 4) for n in sizes]
    hold = [ring("all_reduce", 8, n) for n in sizes]
    assert off(three_lines(fit, hold), hold) < 0.1


def test_lines_are_the_same_each_time() -> None:
    """To the bit."""
    rows = [ring("all_gather", 8, 2**k) for k in range(10, 30)]
    assert (three_lines(rows, rows) == three_lines(rows, rows)).all()


@pytest.mark.parametrize("fitted", [(4,), (2, 4)])
def test_lines_do_not_hang_on_the_last_digits(fitted: tuple[int, ...]) -> None:
    """Times that differ by 1e-12 give the same lines, also where ranks leave steps unknown."""
    random = np.random.default_rng(7)
    sizes = [2**k for k in range(10, 30)]
    rows = [ring(c, p, n) for c in ("all_reduce", "all_gather") for p in fitted for n in sizes]
    rows = [replace(row, seconds=row.seconds * random.uniform(0.8, 1.25)) for row in rows]
    near = [replace(r, seconds=r.seconds * (1 + 1e-12 * random.normal())) for r in rows]
    hold = [ring("all_reduce", 8, n) for n in sizes]
    assert three_lines(near, hold) == pytest.approx(three_lines(rows, hold), rel=1e-6)


def test_nccl_tells_the_time_of_what_was_forced() -> None:
    """By its own table of that machine: all_gather LL on 2 ranks is 7.6 us and 282 GB/s."""
    bench = next(bench for bench in BENCHES if bench.name == "h200-one-gpu")
    forced = Measurement(
        "all_gather", 2, 282_000, 1e-5, nodes=1, algorithm="ring", protocol="ll"
    )
    assert nccl_model(bench, [forced])[0] == pytest.approx((7.6 + 1.0) * 1e-6, rel=0.01)


def test_nccl_has_no_model_of_all_to_all() -> None:
    """NaN, and the others beside it are told."""
    rows = [ring("all_to_all", 8, 2**20), ring("all_reduce", 8, 2**20)]
    assert np.isnan(nccl_model(BENCHES[0], rows)).tolist() == [True, False]


def program(folder: Path, text: str) -> str:
    """Return a program that stands for a Python with torch."""
    path = folder / "python"
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return os.fspath(path)


def test_torch_is_asked_in_another_process(tmp_path: Path) -> None:
    """It gets the settings and bytes, and answers in ms; it has no broadcast."""
    answer = (
        "import json, sys\n"
        "cases = json.load(sys.stdin)\n"
        "json.dump(cases, open(sys.argv[0] + '.asked', 'w'))\n"
        "print(json.dumps({'version': '9.9', 'milliseconds': [[0.5] for _ in cases]}))\n"
    )
    python = program(tmp_path, answer)
    rows = [ring("all_reduce", 8, 1024), Measurement("broadcast", 8, 1024, 1e-5)]
    found = torch_times(python, [(SETTINGS, rows)])
    assert (found.version, found.reason) == ("9.9", None)
    assert found.seconds[0][0] == 0.5e-3
    assert np.isnan(found.seconds[0][1])
    (case,) = json.loads(Path(f"{python}.asked").read_text())
    assert case["rows"] == [["ALL_REDUCE", 8, 1024]]
    assert case["settings"]["gpu"] == "HOPPER"


def test_without_torch_the_words_say_so(tmp_path: Path) -> None:
    """A Python that lacks it, and none at all."""
    lacking = program(tmp_path, "import json; print(json.dumps({'missing': True}))\n")
    assert torch_times(lacking, []).reason == NOT_INSTALLED == "torch not installed"
    none = str(tmp_path / "none")
    assert torch_times(none, []).reason == f"{none} can't be run: No such file or directory"


def test_a_torch_that_fails_is_no_reason_to_stop(tmp_path: Path) -> None:
    """Its last line is told."""
    broken = program(tmp_path, "raise AttributeError('no such estimator')\n")
    assert torch_times(broken, []).reason == (
        "torch's estimator failed: AttributeError: no such estimator"
    )
