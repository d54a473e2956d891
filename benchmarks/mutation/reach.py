"""Which tests try a mutant: those of its room that run its line, the quickest first."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mutant import Mutant
from rooms import OF_ALL, PATIENCE, RECORDED, ROOMS

__all__ = ["record_all", "size_of", "tests_of"]

Reach = dict[str, Any]


def record_all(root: Path) -> Reach:
    """Run all tests of the rooms once; see `record.py` for what is returned."""
    whole: Reach = {"tests": {}, "left_out": [], "lines": {}}
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root)}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "part.json"
        for tests in RECORDED:
            program = str(root / "benchmarks" / "mutation" / "record.py")
            command = [sys.executable, program, str(out), "collsim", "--", *tests]
            subprocess.run(command, cwd=root, env=environment, check=True)  # noqa: S603
            merge(whole, json.loads(out.read_text(encoding="utf-8")))
    return whole


def merge(whole: Reach, part: Reach) -> None:
    """Add what one run recorded."""
    whole["tests"] |= part["tests"]
    whole["left_out"] += part["left_out"]
    for file, lines in part["lines"].items():
        kept = whole["lines"].setdefault(file, {})
        for line, names in lines.items():
            kept[line] = sorted({*kept.get(line, ()), *names})


def tests_of(mutant: Mutant, reach: Reach) -> dict[str, float]:
    """Return the tests to run, in order, with the CPU seconds that each took.

    Those that run the statement come first. A statement that runs when its file is imported
    concerns whoever runs anything of the file. Within a factor of two in time, tests of one
    file stay together, because they share what they set up.
    """
    room, lines = ROOMS[mutant.room], reach["lines"].get(mutant.file, {})
    first, last = mutant.span
    on_it = {name for at in range(first, last + 1) for name in lines.get(str(at), ())}
    seconds, chosen, total = reach["tests"], {}, 0.0
    groups = [{name for name in on_it if room.holds(name)}]
    if "" in on_it:
        others = {name for names in lines.values() for name in names if room.holds(name)}
        of_all = {name for name in seconds if name.startswith(OF_ALL)}
        groups += [of_all, others - on_it]
    for held in groups:
        for name in sorted(held, key=lambda one: (size_of(seconds[one]), one)):
            total += seconds[name]
            if total > PATIENCE and chosen:
                break
            chosen[name] = seconds[name]
    return chosen


def size_of(seconds: float) -> int:
    """Return the order of a time, in powers of two; what takes no time is one order."""
    return max(-5, math.floor(math.log2(max(seconds, 1e-9))))
