"""Try every input of the program with damaged files, odd command lines and odd values.

    python benchmarks/fuzz.py                          # 1,000 cases, what came of them
    python benchmarks/fuzz.py --cases 100000 --processes 500 --json campaign.json
    python benchmarks/fuzz.py --json campaign.json --write    # docs/robustness.*
    python benchmarks/fuzz.py --from 20000 --cases 5000 --more ~/logs

Cases come in rounds of 500 with a number each, so that `--from` goes on anywhere; with `--json`
each round is in the file when it is done, and rounds that are there are not run again. A case
that fails is printed with its command line or call, and `--keep DIR` keeps its files.
`--processes` runs so many command lines of the same rounds as `python -m collsim`, too.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "benchmarks")]

import fuzz_page  # noqa: E402
from robustness import campaign, processes  # noqa: E402
from robustness.verdict import Case, Outcome  # noqa: E402

from collsim import __version__  # noqa: E402

SCHEMA = "collsim/robustness/1"


def main() -> int:
    """Run as many cases as asked for and say what came of them; 1 if any failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--cases", type=int, default=1000, help="how many (default 1000)")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first of them")
    parser.add_argument("--processes", type=int, default=0, help="so many as processes")
    parser.add_argument("--json", type=Path, help="where counts are written, and taken up")
    parser.add_argument("--more", type=Path, nargs="*", default=[], help="more files to damage")
    parser.add_argument("--keep", type=Path, help="a folder for the files of what fails")
    parser.add_argument("--write", action="store_true", help="write docs/robustness.*")
    given = parser.parse_args()
    if given.write:
        return _write(_taken_up(given.json))
    more = [p for folder in given.more for p in sorted(folder.rglob("*")) if p.is_file()]
    found = _taken_up(given.json)
    makers = campaign.makers(more)
    size = campaign.ROUND
    for number in range(given.first // size, -(-(given.first + given.cases) // size)):
        if str(number) in found["rounds"]:
            continue
        tally = campaign.Tally()
        campaign.run(campaign.cases_of(makers, number, size), tally)
        found["rounds"][str(number)] = summary(tally)
        _tell(tally, given.keep)
        _save(given.json, found)
    if given.processes and found["processes"] is None:
        tally = campaign.Tally()
        lines = _lines(makers, given.processes)
        campaign.run(lines, tally, processes.judged)
        found["processes"] = summary(tally)
        _tell(tally, given.keep)
        _save(given.json, found)
    return _print(found)


def _taken_up(path: Path | None) -> dict[str, Any]:
    if path is not None and path.exists():
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found
    return {
        "schema": SCHEMA,
        "version": __version__,
        "python": platform.python_version(),
        "rounds": {},
        "processes": None,
    }


def _save(path: Path | None, found: dict[str, Any]) -> None:
    if path is not None:
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def summary(tally: campaign.Tally) -> dict[str, Any]:
    """Return what came of some cases as plain data."""
    ended: dict[str, dict[str, int]] = {}
    for (kind, how), count in sorted(tally.ended.items()):
        ended.setdefault(kind, {})[how] = count
    return {
        "ended": ended,
        "distinct": len(tally.distinct),
        "slowest_s": round(tally.slowest, 2),
        "slowest": tally.slowest_words,
        "cpu_s": round(tally.seconds, 1),
        "most_memory_mb": tally.most_memory >> 20,
        "failures": [
            [list(case.words), case.how, outcome.why] for case, outcome in tally.failures
        ],
    }


def _lines(makers: campaign.Makers, count: int) -> Iterator[Case]:
    """Yield the first command lines of every round that processes can be given."""
    number = 0
    while True:
        for case in campaign.cases_of(makers, number, campaign.ROUND):
            if case.call is None and processes.possible(case):
                yield case
                count -= 1
                if not count:
                    return
        number += 1


def _tell(tally: campaign.Tally, keep: Path | None) -> None:
    for case, outcome in tally.failures:
        print(f"{case.kind}, {case.how}: {outcome.why}\n  {list(case.words)}", flush=True)
        if keep is not None:
            _keep(case, outcome, keep / campaign.digest(case).hex())


def _keep(case: Case, outcome: Outcome, folder: Path) -> None:
    for name, data in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    folder.mkdir(parents=True, exist_ok=True)
    about = f"{list(case.words)!r}\n{dict(case.environment)!r}\n{case.how}\n{outcome.why}\n"
    (folder / "about.txt").write_text(about, encoding="utf-8", errors="backslashreplace")


def _write(found: dict[str, Any]) -> int:
    told = fuzz_page.merged(found)
    docs = ROOT / "docs"
    text = json.dumps(told, indent=1, ensure_ascii=True) + "\n"
    (docs / "robustness.json").write_text(text, encoding="utf-8")
    (docs / "robustness.md").write_text(fuzz_page.page(told), encoding="utf-8")
    return 0


def _print(found: dict[str, Any]) -> int:
    parts = [*found["rounds"].values(), *([found["processes"]] if found["processes"] else [])]
    total: Counter[str] = Counter()
    for part in parts:
        for ended in part["ended"].values():
            total.update(ended)
    print(
        f"{total.total()} cases: {', '.join(f'{n} {how}' for how, n in sorted(total.items()))}"
    )
    print(f"{sum(part['cpu_s'] for part in parts):.0f} s of CPU")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
