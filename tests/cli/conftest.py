"""Run the program in this process, in the project's folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from collsim.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
# Made up: ring all_reduce on 8 ranks, alpha 1.5 us, 370.4 GB/s, noise of 1 %.
LOG = "examples/nccl_tests_all_reduce_8gpu.txt"

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs one command line and returns what came of it."""
    monkeypatch.chdir(ROOT)

    def invoke(line: str, *words: str) -> Result:
        result = CliRunner().invoke(main, [*line.split(), *words], prog_name="collsim")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return invoke


@pytest.fixture
def answer(run: Run) -> Callable[..., dict[str, Any]]:
    """Return a function that runs a command with --json and returns its object."""

    def ask(line: str, *words: str, code: int = 0) -> dict[str, Any]:
        result = run(line, *words, "--json")
        assert result.exit_code == code, result.output
        found = json.loads(result.stdout, parse_constant=_no_constant)
        assert isinstance(found, dict)
        return found

    return ask


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


@pytest.fixture
def fails(run: Run) -> Callable[..., str]:
    """Return a function that runs a command that must fail and returns its last line."""

    def fail(line: str, *words: str, code: int) -> str:
        result = run(line, *words)
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        last = result.stderr.splitlines()[-1]
        assert last.startswith("Error: ")
        assert result.stderr.count("Error:") == 1
        return last.removeprefix("Error: ")

    return fail


@pytest.fixture
def log() -> str:
    """Return the path of the repository's own log, from the project's folder."""
    return LOG


_NUMBER, _TEXT, _COUNT, _FLAG = (int, float), str, int, bool
_KINDS: dict[str, Any] = {
    "size": _NUMBER,
    "min_bytes": _COUNT,
    "max_bytes": _COUNT,
    "chunks_from": _COUNT,
    "chunks_to": _COUNT,
    "gain": (float, None),
    "runner_up": (_TEXT, None),
    "confirmed": (_FLAG, None),
    "count": _COUNT,
    "dtype": _TEXT,
    "op": (_TEXT, None),
    "root": (_COUNT, None),
    "algorithm": _TEXT,
    "protocol": (_TEXT, None),
    "check: algorithm": (_TEXT, None),  # of what was measured
    "file": (_TEXT, None),
    "chunks": _COUNT,
    "channels": _COUNT,
    "model": _TEXT,
    "sharing": _TEXT,
    "efficiency": (float, int, None),
    "rounds": _COUNT,
    "operations": _COUNT,
    "critical_path": list,
    "below": _TEXT,
    "above": _TEXT,
    "jump": (dict, None),
    "collective": _TEXT,
    "ranks": _COUNT,
    "nodes": (_COUNT, None),
    "ok": _FLAG,
    "reason": _TEXT,
    "verdict": _TEXT,
    "line": _TEXT,
    "system": _TEXT,
    "role": (_TEXT, None),
    "held_out": _TEXT,
    "collectives": _TEXT,
    "predictor": _TEXT,
    "median": (float, None),
    "p90": (float, None),
    "n": (_COUNT, None),
    "median_without_outliers": (float, None),
    "p90_without_outliers": (float, None),
    "n_without_outliers": (_COUNT, None),
    "asked_median": (float, None),
    "asked_p90": (float, None),
    "met": (_FLAG, None),
    "calibrate-report: reason": (_TEXT, None),
}
_PREDICTED = (
    "size count dtype op root algorithm protocol chunks channels model sharing time_us algbw "
    "busbw alpha_us beta_us gamma_us launch_us waiting_us lower_bound_us efficiency"
)
_ROWS = {
    "predict": _PREDICTED,
    "simulate": f"{_PREDICTED} rounds operations makespan_us critical_path",
    "crossover": "size time_us below above jump",
    "choose": "min_bytes max_bytes algorithm protocol chunks chunks_from chunks_to channels "
    "model size time_us gain runner_up lower_bound_us efficiency confirmed",
    "verify": "collective algorithm ranks root ok reason",
    "check": "collective ranks nodes size measured_us predicted_us ratio verdict "
    "measured_busbw predicted_busbw algorithm protocol chunks model file",
    "calibrate-fit": "collective ranks nodes size measured_us predicted_us ratio",
    "calibrate-report": "line system role held_out collectives predictor median p90 n "
    "median_without_outliers p90_without_outliers n_without_outliers asked_median asked_p90 "
    "met reason",
}


@pytest.fixture
def conforms() -> Callable[[dict[str, Any], str], None]:
    """Return a function that holds an answer to the schema of its command."""

    def check(found: dict[str, Any], words: str) -> None:
        assert found["schema"] == f"collsim/{words}/1"
        assert {"cluster", "collective", "ranks", "rows"} <= found.keys()
        assert isinstance(found["cluster"], str | None)
        assert isinstance(found["collective"], str | None)
        assert isinstance(found["ranks"], int | None)
        for row in found["rows"]:
            assert list(row) == _ROWS[words].split()
            for key, value in row.items():
                kinds = _KINDS.get(f"{words}: {key}", _KINDS.get(key, _NUMBER))
                allowed = kinds if isinstance(kinds, tuple) else (kinds,)
                kind = None if value is None else type(value)
                assert kind in allowed, f"{key}: {value!r}"

    return check


@pytest.fixture
def rehearsed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that lets `calibrate run` find rows instead of measuring them."""
    from collsim.core.measurements_file import RowFile

    monkeypatch.setattr("collsim.measure.launch.check_installed", lambda backend: None)

    def rehearse(beta: float, relative_error: float = 0.001, times: float = 1.0) -> None:
        def instead(job: Any, ranks: int) -> None:
            base = {"collective": "sendrecv", "dtype": "float", "world": ranks,
                    "low": 0.0, "high": 1.0, "repetitions": 9, "library": "Gloo",
                    "clock": "host", "relative_error": relative_error}  # fmt: skip
            with RowFile(job.path, job.resume) as file:
                for pattern, together in (("ping_pong", 1), ("relay", 1), ("exchange", 2)):
                    for size in (64, 4096, 65536):
                        seconds = (1e-5 + size * beta) * (times if together > 1 else 1.0)
                        file.append(base | {
                            "pattern": pattern, "at_once": together, "pairs": [[0, 1]],
                            "ranks": 2, "nodes": 1, "size": size, "count": size // 4,
                            "seconds": seconds,
                        })  # fmt: skip

        monkeypatch.setattr("collsim.measure.launch.own_ranks", instead)

    return rehearse
