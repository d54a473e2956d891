"""Change the core in hundreds of small ways and see whether its tests notice.

    pip install 'collsim[dev,mutation]'
    python benchmarks/mutants.py --reach reach.json --record     # once: which test runs what
    python benchmarks/mutants.py --reach reach.json --seed 1     # draw, try, print
    python benchmarks/mutants.py --write result.json             # write docs/mutation.md of it

Why a mutant survived is written by hand, into docs/mutation.json; `--write` alone then writes
the page.

cosmic-ray makes the mutants; they are tried in copies of the tree, never in the checkout.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "mutation"))


def write(files: list[Path], name: str) -> None:
    """Take results into docs/mutation.json, in the place of a sample of that name."""
    from page import SCHEMA, page, summary, unexplained
    from rooms import LONGEST, PATIENCE

    data = ROOT / "docs" / "mutation.json"
    found = json.loads(data.read_text(encoding="utf-8")) if data.exists() else {"samples": []}
    if files:
        known = [row for one in found["samples"] for row in one["survivors"]]
        results = [json.loads(path.read_text(encoding="utf-8")) for path in files]
        made = summary(name, results, known)
        found["samples"] = [one for one in found["samples"] if one["name"] != name] + [made]
    found = {"schema": SCHEMA, "longest": LONGEST, "patience": PATIENCE} | found
    data.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (ROOT / "docs" / "mutation.md").write_text(page(found), encoding="utf-8")
    for row in unexplained(found):
        print(f"no reason: {row['file']}:{row['line']}: {row['before']} -> {row['after']}")


def main() -> None:
    """Record, try or write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--reach", type=Path, help="which test runs which lines: a JSON file")
    parser.add_argument("--record", action="store_true", help="write the file of --reach anew")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=400, help="of mutants (default 400)")
    parser.add_argument("--by-place", action="store_true", help="one mutant a place, not all")
    parser.add_argument("--minutes", type=float, default=60, help="stop then (default 60)")
    parser.add_argument("--workers", type=int, default=1, help="mutants tried at once")
    parser.add_argument("--room", action="append", help="repeatable; by default all five")
    parser.add_argument("-o", "--output", type=Path, help="JSON file, written as it goes")
    parser.add_argument("--name", default="held out", help="of the sample that is written")
    parser.add_argument(
        "--write", type=Path, nargs="*", metavar="RESULT",
        help="take results of one sample into docs/mutation.json, and write docs/mutation.md",
    )  # fmt: skip
    given = parser.parse_args()
    if given.write is not None:
        write(given.write, given.name)
        return
    if given.reach is None:
        parser.error("--reach FILE is needed")
    if given.record:
        from campaign import control
        from reach import record_all

        recorded = record_all(ROOT)
        for name in control(ROOT, recorded):
            recorded["left_out"].append(name)
            del recorded["tests"][name]
        given.reach.write_text(json.dumps(recorded), encoding="utf-8")
        return
    from campaign import campaign
    from rooms import ROOMS

    reach = json.loads(given.reach.read_text(encoding="utf-8"))
    campaign(
        ROOT, reach, given.seed, given.count, given.minutes, given.workers, given.output,
        given.room or tuple(ROOMS), given.by_place,
    )  # fmt: skip


if __name__ == "__main__":
    main()
