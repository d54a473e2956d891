"""Run every simulator, each time in a process of its own, and gather what came of it."""

from __future__ import annotations

import json
import math
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from common import ALPHA, BANDWIDTH, NBYTES, makespan

__all__ = ["SCHEMA", "measured"]

Told = dict[str, Any]

SCHEMA: Final = "collsim/performance/1"
HERE: Final = Path(__file__).resolve().parent

# Rank counts of the ring. Beyond, the others take minutes.
_RANKS: Final = (64, 128, 256, 512, 1024)
_FURTHER: Final = (2048, 4096)
# Algorithm, nodes of 8 ranks, and whether every rank is simulated.
_FAR: Final = (
    ("ring", 128, True), ("ring", 128, False), ("ring", 1024, False), ("ring", 8192, False),
    ("recursive_doubling", 16384, False), ("hierarchical", 16384, False),
    ("mst", 16384, False),
)  # fmt: skip
# Of benchmarks/engine_speed.py.
_ENGINE: Final = (
    "fat-tree-all_to_all", "fat-tree-ring-8", "fat-tree-trees", "rails-all_to_all",
    "fair-1250", "fair-2500", "fair-5000", "fair-10000", "limit",
)  # fmt: skip
# As a user types them; the cold ones load no compiled loop.
_COMMANDS: Final = (
    "python -c pass",
    "python -c import_numpy",
    "python -c import_collsim",
    "collsim --help",
    "collsim predict all_reduce -c dgx-h100 -s 64M --algorithm ring",
    "collsim predict all_reduce -c dgx-h100 --nodes 8",
    "collsim predict all_reduce -c dgx-h100 --nodes 8 --algorithm all",
    "collsim choose all_reduce -c dgx-h100 --nodes 8",
)
# How nearly equal simulated times must be: SimGrid promises no more.
_SAME: Final = 1e-6
# Seconds after which runs of one kind are enough.
_ENOUGH: Final = 60
# Seconds after which a run is given up.
_PATIENCE: Final = 600


def measured(repetitions: int, most: int) -> Told:
    """Return what was measured, ready to be written as JSON.

    Parameters
    ----------
    repetitions : int
        Of every run; medians count.
    most : int
        The most ranks of the ring.
    """
    versions: Told = {}
    with tempfile.TemporaryDirectory() as folder:
        ring = [
            row
            for name, command in _simulators(Path(folder)).items()
            for row in _ring(name, command, repetitions, most, versions)
        ]
    far = [_far(*case, repetitions) for case in _FAR]
    for row in far:
        _check_same(row, far)
    return {
        "schema": SCHEMA,
        "machine": _machine(),
        "versions": versions,
        "repetitions": repetitions,
        "ring": ring,
        "far": far,
        "engine": [_engine(case, repetitions) for case in _ENGINE],
        "commands": [_command(words, repetitions) for words in _COMMANDS],
    }


def _simulators(folder: Path) -> dict[str, list[str]]:
    """Return how each simulator that is here is run; rank count to follow."""
    found = {"collsim": [sys.executable, str(HERE / "run_collsim.py"), "--ranks"]}
    if _has_simpy():
        found["SimPy"] = [sys.executable, str(HERE / "run_simpy.py"), "--ranks"]
    else:
        _say("left out SimPy: pip install 'collsim[bench]'")
    compiler = shutil.which("g++")
    program = folder / "ring"
    build = [str(compiler), "-O2", "-o", str(program), str(HERE / "ring.cpp"), "-lsimgrid"]
    if compiler and subprocess.run(build, check=False, capture_output=True).returncode == 0:  # noqa: S603
        found["SimGrid"] = [str(program)]
    else:
        _say("left out SimGrid: apt-get install g++ libsimgrid-dev")
    return found


def _has_simpy() -> bool:
    done = subprocess.run(
        [sys.executable, "-c", "import simpy"], check=False, capture_output=True
    )
    return done.returncode == 0


def _ring(
    name: str, command: list[str], repetitions: int, most: int, versions: Told
) -> list[Told]:
    rows = []
    for ranks in (*_RANKS, *(_FURTHER if name == "collsim" else ())):
        if ranks > most:
            continue
        more = [str(NBYTES), str(ALPHA), str(BANDWIDTH)] if name == "SimGrid" else []
        runs: list[Told] = []
        while len(runs) < repetitions and sum(run["seconds"] for run in runs) < _ENOUGH:
            runs.append(_told([*command, str(ranks), *more]))
        for run in runs:
            if not math.isclose(run["makespan"], makespan(ranks), rel_tol=_SAME):
                raise SystemExit(
                    f"Error: {name} says {run['makespan']} s on {ranks} ranks, expected "
                    f"{makespan(ranks)} s"
                )
        seconds = [run["seconds"] for run in runs]
        rows.append(
            {
                "simulator": name,
                "ranks": ranks,
                "messages": 2 * (ranks - 1) * ranks,
                "seconds": _digits(statistics.median(seconds)),
                "least_seconds": _digits(min(seconds)),
                "runs": len(runs),
                "peak_mib": round(statistics.median(run["peak_kib"] for run in runs) / 1024, 1),
                "loaded_mib": round(runs[0].get("loaded_kib", 0) / 1024, 1),
            }
        )
        _say(f"{name} {ranks} ranks: {rows[-1]['seconds']} s, {rows[-1]['peak_mib']} MiB")
        versions[name] = runs[0]["version"]
        versions |= {
            key: runs[0][key] for key in ("python", "numpy", "numba") if key in runs[0]
        }
    return rows


def _told(command: list[str]) -> Told:
    """Run a program and return the JSON that it prints."""
    done = subprocess.run(  # noqa: S603 - one of the programs beside this file
        command, capture_output=True, text=True, check=False, timeout=_PATIENCE
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise SystemExit(f"Error: {Path(command[-2]).name}: {lines[-1]}")
    told: Told = json.loads(done.stdout.strip().splitlines()[-1])
    return told


def _far(algorithm: str, nodes: int, unfolded: bool, repetitions: int) -> Told:
    command = [sys.executable, str(HERE / "run_far.py"), "--algorithm", algorithm]
    command += ["--nodes", str(nodes), *["--unfolded"] * unfolded]
    runs = [_told(command) for _ in range(repetitions)]
    row = dict(runs[0])
    row["seconds"] = _digits(statistics.median(run["seconds"] for run in runs))
    row["peak_mib"] = round(statistics.median(run["peak_kib"] for run in runs) / 1024, 1)
    del row["peak_kib"]
    _say(f"{algorithm} {row['ranks']} ranks: {row['seconds']} s, {row['peak_mib']} MiB")
    return row


def _engine(case: str, repetitions: int) -> Told:
    """Return the medians of one case of the other benchmark, which runs it in its own."""
    program = str(HERE.parent / "engine_speed.py")
    row = _told([sys.executable, program, "--runs", str(repetitions), "--json", case])
    keys = (
        "case", "messages", "build_s", "simulate_s", "simulated_per_s", "peak_mb",
        "bytes", "first_ns", "again_ns",
    )  # fmt: skip
    _say(f"{case}: {row.get('simulate_s', row.get('again_ns')):.3g}")
    return {
        key: _digits(row[key]) if isinstance(row[key], float) else row[key]
        for key in keys
        if key in row
    }


def _check_same(row: Told, far: list[Told]) -> None:
    """Hold every row against others of the same, however they were simulated."""
    for other in far:
        alike = all(other[key] == row[key] for key in ("ranks", "algorithm", "chunks"))
        if alike and other["time_us"] != row["time_us"]:
            raise SystemExit(
                f"Error: {row['algorithm']} on {row['ranks']} ranks takes {row['time_us']} us "
                f"({row['how']}) and {other['time_us']} us ({other['how']})"
            )


def _command(text: str, repetitions: int) -> Told:
    """Return the user and system seconds of a whole program, once its files are cached."""
    program, *words = text.split()
    command = [sys.executable, *(["-m", "collsim"] if program == "collsim" else []), *words]
    command = [word.replace("import_", "import ") for word in command]
    taken = []
    for _ in range(1 + repetitions):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, timeout=_PATIENCE)  # noqa: S603
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    seconds = _digits(statistics.median(taken[1:]))
    _say(f"{text}: {seconds} s")
    shown = text.replace("import_", "import ")
    if program == "python":
        shown = f'python -c "{shown.removeprefix("python -c ")}"'
    return {"command": shown, "seconds": seconds}


def _digits(seconds: float) -> float:
    """Return three digits: more are noise."""
    return float(f"{seconds:.3g}")


def _machine() -> Told:
    """Return what kind of machine this is, and not which one."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        found = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.MULTILINE)
        cpu = found[1].strip() if found else cpu
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "memory_gib": round(pages * size / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
