"""Completion times of the same flows on SimGrid and under collsim's fair sharing.

    apt-get install python3-simgrid
    python benchmarks/simgrid/compare.py [--record]

`--record` writes SimGrid's answers to tests/engine/data/simgrid.json, which the tests hold
collsim against where there is no SimGrid.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from cases import cases, finish, told

HERE = Path(__file__).resolve().parent
RECORD = HERE.parent.parent / "tests" / "engine" / "data" / "simgrid.json"
SIDE = "simgrid_side.py"


def ask(python: str) -> dict[str, Any]:
    """Return SimGrid's answers to all cases."""
    given = json.dumps([told(case) for case in cases()])
    done = subprocess.run(  # noqa: S603 - the user says which Python has SimGrid
        [python, HERE / SIDE], input=given, stdout=subprocess.PIPE, text=True, check=True
    )
    # SimGrid may say something of its own first.
    answer: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
    return answer


def record(answer: dict[str, Any]) -> None:
    """Write SimGrid's answers, a case a line; 11 digits are more than SimGrid claims."""
    head = {"made_by": f"benchmarks/simgrid/compare.py with {SIDE}, seconds"}
    head |= {key: answer[key] for key in ("simgrid", "settings")}
    lines = [
        f"{json.dumps(case.name)}: [{', '.join(f'{time:.11g}' for time in times)}]"
        for case, times in zip(cases(), answer["times"], strict=True)
    ]
    text = json.dumps(head)[:-1] + ', "finish": {\n' + ",\n".join(lines) + "\n}}\n"
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(text, encoding="utf-8")


def main() -> None:
    """Print the largest relative difference of every case."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--python", default="/usr/bin/python3", help="one that has SimGrid")
    parser.add_argument("--record", action="store_true", help="write the tests' data")
    arguments = parser.parse_args()
    answer = ask(arguments.python)
    print(f"SimGrid {answer['simgrid']}: {', '.join(answer['settings'])}")
    print("largest relative difference of a completion time:")
    random = []
    for case, times in zip(cases(), answer["times"], strict=True):
        difference = float(np.abs(finish(case) / np.array(times) - 1).max())
        if case.name.startswith("random"):
            random.append((difference, len(times)))
        else:
            print(f"{difference:.1e}  {case.name}, {len(times)} messages")
    flows = sum(count for _, count in random)
    print(f"{max(random)[0]:.1e}  {len(random)} random flow sets, {flows} flows in all")
    if arguments.record:
        record(answer)


if __name__ == "__main__":
    main()
