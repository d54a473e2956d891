"""Kill a random rank at a random moment, twenty times, and see what is left.

    python benchmarks/killed_ranks.py [TIMES]

Each time the run must end with an error that names the rank, keep every finished row, and
leave no process behind. Needs torch.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from types import ModuleType


def helper() -> ModuleType:
    """Return the tests' module that starts, kills and looks."""
    path = Path(__file__).resolve().parent.parent / "tests" / "measure" / "killing.py"
    spec = importlib.util.spec_from_file_location("killing", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["killing"] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Run and print; exit 1 if any of it fails."""
    killing = helper()
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    bad = 0
    for seed in range(100, 100 + times):
        with tempfile.TemporaryDirectory() as folder:
            found = killing.kill_one(Path(folder), seed)
        good = (
            found.code == 1
            and "was ended by SIGKILL" in found.last
            and found.rows_after >= found.rows_before
            and not found.left
            and found.seconds < killing.TIMEOUT
        )
        bad += not good
        print(
            f"{'ok ' if good else 'BAD'} {found.seconds:5.2f} s, rows {found.rows_before} then "
            f"{found.rows_after}, left {found.left}: {found.last}"
        )
    print(f"{times - bad} of {times}")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
