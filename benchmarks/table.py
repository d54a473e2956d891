"""How fast collsim is beside SimPy and SimGrid, how far it goes, and what commands take.

    pip install 'collsim[bench]'; apt-get install g++ libsimgrid-dev
    python benchmarks/table.py                 # print the tables
    python benchmarks/table.py --write         # and write docs/performance.md
    python benchmarks/table.py --write --from docs/performance.json    # without measuring

What is not installed is left out. Takes about ten minutes, most of them SimPy's.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
sys.path.insert(0, str(HERE / "speed"))


def main() -> None:
    """Measure, or read what was measured; print, or write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--write", action="store_true", help="write docs/performance.*")
    parser.add_argument("--from", dest="file", type=Path, help="what was measured before")
    parser.add_argument("--runs", type=int, default=5, help="of each kind (default 5)")
    parser.add_argument("--most", type=int, default=4096, help="ranks of the ring, at most")
    parser.add_argument("--json", action="store_true", help="print what was measured as JSON")
    given = parser.parse_args()
    from measure import measured
    from page import page, tables

    found: dict[str, Any] = (
        json.loads(given.file.read_text(encoding="utf-8"))
        if given.file
        else measured(given.runs, given.most)
    )
    text = json.dumps(found, indent=1) + "\n"
    print(text if given.json else "\n".join(tables(found)))
    if given.write:
        from picture import picture

        (DOCS / "performance.json").write_text(text, encoding="utf-8")
        (DOCS / "performance.svg").write_bytes(picture(found))
        (DOCS / "performance.md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
