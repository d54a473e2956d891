"""The page of robustness: what came of the campaign, and what was attacked by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Final

__all__ = ["merged", "page"]

Told = dict[str, Any]
_ENDS: Final = ("answered", "refused", "wrong usage", "failed")
_HEAD: Final = """\
# Robustness

What was tried to break it, how often, and what came of it. Real files are damaged (lines
lost, moved and doubled, numbers, words, values and whole branches changed, bytes, encodings),
command lines are drawn from the program's own commands and options, with values that make
sense and odd ones, and public functions of Python get odd values of the right type. Each case
runs in a folder of its own, with 10 s of processor time and 500 MB; where it asks for more than
512 ranks, six times as much.

An answer exits with 0, its JSON is JSON without NaN or Infinity, its times are 0 or more and
finite, no row of a log has a time that the log never told, and its files are whole. A failure
exits with 1, or with 2 after the usage, its last line is the one `Error: `, and it leaves no
file. All else counts as failed: another exception, a warning, a hang.

```sh
python benchmarks/fuzz.py --cases 100000 --processes 500 --json campaign.json
python benchmarks/fuzz.py --json campaign.json --write
```

The tests run 2,000 other cases each time.
"""
_FOUND: Final = """
## Found and mended

Rounds in which one of these failed were run again on the mended program, and count as they
ended then.

- `check` with a profile of another machine and a fault searched for a healthy cluster until
  Python's stack ended.
- A crossover on links with `alpha_busy = 0` took 21 s: rounding of 1,024 chunks in turn was
  taken for kinks. It takes 2 s.
- `choose` on two GPUs with fair shares took 16 s, and without start-up cost (`--alpha 0`) 25 s:
  times that are equal, or nearly, had stretches of sizes parted without end. They take 0.5 s
  and 3 s.
- `Cluster.ideal` of 2,147,483,648 ranks filled 17 GB before anything was asked: more than
  1,048,576 are refused.
- Whole numbers that no float can hold (10^400) as sizes, times, starts, tolerances and delays,
  sizes of 1e308 bytes, and parts of a bandwidth of 1e-320 ended in exceptions or warnings of
  Python and numpy.
- A NUL byte in the name of a log; a lone surrogate in the name of a schedule; a negative
  compute capability; pictures of no links, and of no algorithms, whose message was empty;
  thousands of digits of a unit.
"""
_KNOWN: Final = """
## Known, and left

- A sweep of 31 sizes on a million ranks (`predict all_reduce --ranks 1048576`) takes some
  minutes, one size 40 s; 131,072 ranks take 40 s. They are answered, and not announced.
- `predict` of thousands of sizes is one simulation for each: 8,192 of them (`-i 1M`) on 264
  GPUs take minutes, which is announced. All sizes on 136 GPUs that share PCIe fairly take
  about 10 s.
- `plot breakdown reduce` on 36,864 GPUs of which one has a slow NIC takes 159 s, with a note
  before it begins: no few ranks can stand for all then, and a ring in 72 channels is listed
  message by message.
- 4,096 ranks under fair sharing take 12 GB: what a schedule may take is told by the memory of
  the machine (see [Decisions](decisions.md)).
"""
_BY_HAND: Final = Path(__file__).with_name("fuzz_by_hand.md")


def merged(found: Told) -> Told:
    """Return a campaign with its rounds added up."""
    rounds = [found["rounds"][key] for key in sorted(found["rounds"], key=int)]
    return {
        "schema": found["schema"],
        "version": found["version"],
        "python": found["python"],
        "in_process": _added(rounds),
        "as_processes": None if found["processes"] is None else _added([found["processes"]]),
    }


def _added(parts: list[Told]) -> Told:
    ended: dict[str, Counter[str]] = {}
    for part in parts:
        for kind, counts in part["ended"].items():
            ended.setdefault(kind, Counter()).update(counts)
    return {
        "ended": {kind: dict(sorted(ended[kind].items())) for kind in sorted(ended)},
        "distinct": sum(part["distinct"] for part in parts),
        "cpu_s": round(sum(part["cpu_s"] for part in parts)),
        "slowest_s": max(part["slowest_s"] for part in parts),
        "most_memory_mb": max(part["most_memory_mb"] for part in parts),
        "failures": [failure for part in parts for failure in part["failures"]],
    }


def page(found: Told) -> str:
    """Return the page of a campaign that was added up."""
    parts = [_HEAD, _table("In one process", found["in_process"])]
    if found["as_processes"] is not None:
        parts.append(_table("As processes, `python -m collsim`", found["as_processes"]))
    about = f"\ncollsim {found['version']}, Python {found['python']}.\n"
    return "".join([*parts, about, _FOUND, _KNOWN, "\n", _BY_HAND.read_text(encoding="utf-8")])


def _table(title: str, part: Told) -> str:
    total: Counter[str] = Counter()
    for counts in part["ended"].values():
        total.update(counts)
    lines = [
        f"\n## {title}\n",
        (
            f"{total.total():,} cases, {part['distinct']:,} of them distinct, in "
            f"{part['cpu_s']:,} s of processor time; the slowest took "
            f"{part['slowest_s']:g} s.\n"
        ),
        f"| input | cases | {' | '.join(_ENDS)} |",
        f"| --- |{' --- |' * (len(_ENDS) + 1)}",
    ]
    for kind, counts in (*part["ended"].items(), ("all", dict(total))):
        numbers = (f"{counts.get(end, 0):,}" for end in _ENDS)
        lines.append(f"| {kind} | {sum(counts.values()):,} | {' | '.join(numbers)} |")
    if part["failures"]:
        lines.append("\nFailed, when it was tried:\n")
        for words, _how, why in part["failures"]:
            line = " ".join(words).encode("ascii", "backslashreplace").decode()
            lines.append(f"- `{line[:150]}`: {why[:120]}")
    return "\n".join(lines) + "\n"
