"""Try a sample of mutants, each in a copy of the tree, and gather what came of it."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from drawn import draw
from mutant import Mutant
from reach import Reach, size_of, tests_of
from rooms import ROOMS

__all__ = ["campaign", "control"]

# Of wall-clock seconds, against tests that wait without end; those that count have their own
# limit, of CPU seconds.
_WALL, _TIMES = 240.0, 40.0


class Worker:
    """A copy of the tree, and the process that tries mutants in it."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.tree = folder / "tree"
        out = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache")
        shutil.copytree(root, self.tree, ignore=out)
        beside = root.parent / "shared"
        if beside.is_dir():
            (folder / "shared").symlink_to(beside)
        # Compiled once, so that only the mutated file is compiled again.
        command = [sys.executable, "-m", "compileall", "-q", "collsim"]
        subprocess.run(  # noqa: S603
            [*command, "--invalidation-mode", "unchecked-hash"], cwd=self.tree, check=True
        )
        environment = os.environ | {
            "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(self.tree), "OPENBLAS_NUM_THREADS": "1",
        }  # fmt: skip
        program = [sys.executable, str(Path(__file__).with_name("trial.py"))]
        self._process = subprocess.Popen(  # noqa: S603
            [*program, str(self.tree), str(folder / "scratch")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
            cwd=self.tree,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()

    def run(self, tests: dict[str, float], stop: bool = True) -> dict[str, Any]:
        """Run tests on the tree as it is; see `trial.attempt`."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("no pipes to the process that tries mutants")
        wall = _WALL + _TIMES * sum(tests.values())
        asked = {"seconds": tests, "wall": wall, "stop": stop}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def attempt(self, mutant: Mutant, tests: dict[str, float]) -> dict[str, Any]:
        """Put the mutant in place, run the tests, and put the original back."""
        path = self.tree / mutant.file
        original, compiled = path.read_text(encoding="utf-8"), _compiled(path)
        kept = compiled.read_bytes()
        path.write_text(mutant.code, encoding="utf-8")
        compiled.unlink()
        try:
            return self.run(tests)
        finally:
            path.write_text(original, encoding="utf-8")
            compiled.write_bytes(kept)


def _compiled(path: Path) -> Path:
    import importlib.util

    return Path(importlib.util.cache_from_source(str(path)))


def campaign(
    root: Path,
    reach: Reach,
    seed: int,
    count: int,
    minutes: float,
    workers: int,
    output: Path | None,
    rooms: Sequence[str] = tuple(ROOMS),
    by_place: bool = False,
) -> dict[str, Any]:
    """Try mutants until all are tried or time is up; a mutant begun is finished.

    Returns
    -------
    dict
        What `page.page` makes a page of; also written to `output` after every mutant. What
        that file holds already of the same sample is not tried again.
    """
    started = time.monotonic()
    mutants, counts = draw(root, seed, count, rooms, by_place)
    found: dict[str, Any] = {
        "by": "place" if by_place else "mutant", "seed": seed, "asked": count,
        "commit": _commit(root),
        "counts": counts, "rows": [], "minutes": 0.0, "cpu_minutes": 0.0, "workers": workers,
    }  # fmt: skip
    if output is not None and output.exists():
        before = json.loads(output.read_text(encoding="utf-8"))
        found["rows"], earlier = before["rows"], before["minutes"]
        started -= 60 * earlier
        done = {_key(row) for row in found["rows"]}
        mutants = [mutant for mutant in mutants if _key(vars(mutant)) not in done]
    waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    for mutant in mutants:
        waiting.put(mutant)
    lock = threading.Lock()

    def work(folder: Path) -> None:
        with Worker(root, folder) as worker:
            while time.monotonic() - started < 60 * minutes:
                try:
                    mutant = waiting.get_nowait()
                except queue.Empty:
                    return
                tests = tests_of(mutant, reach)
                none = {"outcome": "survived", "ran": 0, "cpu": 0.0, "why": "no test runs it"}
                told = worker.attempt(mutant, tests) if tests else none
                with lock:
                    _note(found, mutant, tests, told, started, output)

    with tempfile.TemporaryDirectory() as folder:
        threads = [
            threading.Thread(target=work, args=(Path(folder) / str(number),))
            for number in range(workers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return found


def _note(
    found: dict[str, Any],
    mutant: Mutant,
    tests: dict[str, float],
    told: dict[str, Any],
    started: float,
    output: Path | None,
) -> None:
    told.pop("failed", None)
    row = {
        "room": mutant.room, "file": mutant.file, "line": mutant.line,
        "operator": mutant.operator, "before": mutant.before, "after": mutant.after,
        "of": mutant.of, "tests": len(tests), **told,
    }  # fmt: skip
    found["rows"].append(row)
    found["minutes"] = round((time.monotonic() - started) / 60, 2)
    found["cpu_minutes"] = round(sum(one["cpu"] for one in found["rows"]) / 60, 2)
    number, alive = (
        len(found["rows"]),
        sum(one["outcome"] == "survived" for one in found["rows"]),
    )
    print(
        f"{number}/{found['asked']} {found['minutes']:.1f} min, {alive} alive: "
        f"{row['outcome']} {row['cpu']:.1f}s {mutant.room} {mutant.file}:{mutant.line} "
        f"{mutant.operator} | {mutant.before!r} -> {mutant.after!r} | {row.get('by', '')}",
        flush=True,
    )
    if output is not None:
        output.write_text(json.dumps(found, indent=1), encoding="utf-8")


def control(root: Path, reach: Reach) -> list[str]:
    """Return the tests that fail without any mutant, in the order in which mutants run them."""
    failed = []
    with tempfile.TemporaryDirectory() as folder, Worker(root, Path(folder) / "0") as worker:
        for room in ROOMS.values():
            held = {name: took for name, took in reach["tests"].items() if room.holds(name)}
            ordered = dict(sorted(held.items(), key=lambda one: (size_of(one[1]), one[0])))
            told = worker.run(ordered, stop=False)
            if told["ran"] < len(ordered) or told["outcome"] == "hung":
                raise RuntimeError(f"the tests do not run to their end: {told}")
            failed += told["failed"]
    return sorted(set(failed))


def _key(row: Mapping[str, Any]) -> tuple[object, ...]:
    return tuple(row[name] for name in ("room", "file", "line", "operator", "before", "after"))


def _commit(root: Path) -> str:
    command = ["git", "-C", str(root), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip()
