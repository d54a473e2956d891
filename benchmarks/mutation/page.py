"""The page of mutation, made of the results of samples and of nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

__all__ = ["page", "reasons_missing"]

Told = dict[str, Any]

KINDS: Final = {
    "same": "no test can tell: the mutant does the same",
    "speed": "it does the same, sooner or later",
    "missed": "a test could tell, and none does",
}
_HEAD: Final = """\
# Mutation

Do the tests notice when the core is wrong? [cosmic-ray](https://cosmic-ray.readthedocs.io)
changes one operator, number, condition, loop or decorator at a time, and the tests of that room
have to fail. `benchmarks/mutants.py` draws a sample by a seed, tries it, and writes this page;
the numbers are in [mutation.json](mutation.json). Compilation is off, so that the kernels of
the engine are mutated as all else is.

```
pip install -e '.[dev,mutation]'
python benchmarks/mutants.py --reach reach.json --record
python benchmarks/mutants.py --reach reach.json --seed {seed} --count {asked} -o held_out.json
```

A sample takes as many mutants of each room. Places are drawn, and of each place one of
the mutants that cosmic-ray makes of it: it turns a `+` into eleven other operators, and most of
these any test sees. The last column weighs every mutant by how many its place has, which
estimates the part killed of all mutants. A mutant is tried by those tests of its room that run
its statement, the quickest first, and by none that takes longer than {longest:g} s of processor
time. It is killed where a test fails, or runs more than ten times as long as it should.
"""
_LEFT_OUT: Final = """\
Left out by rule, and counted: what is no valid program or warns when it is compiled; places in
annotations and type aliases, which the interpreter does not run; decorators that do nothing
with compilation off (`@jit`). Docstrings, texts and `__all__` are not mutated by cosmic-ray.
"""


def page(found: Told) -> str:
    """Return the page as Markdown."""
    last = found["samples"][-1]
    lines = [_HEAD.format(**last, longest=found["longest"]), "## Samples", ""]
    lines += _table(
        ("sample", "seed", "mutants", "killed", "of them hung", "survived", "rate",
         "without those that do the same", "of all mutants, about", "minutes", "CPU minutes"),
        (_sample(one) for one in found["samples"]),
    )  # fmt: skip
    for one in found["samples"]:
        lines += ["", f"### By room: {one['name']}", ""]
        lines += _table(
            ("room", "places", "mutants", "left out", "tried", "killed", "survived", "rate"),
            (_room(one, room) for room in one["counts"]),
        )
    lines += ["", _LEFT_OUT, f"## Survivors of {last['name']}, each with the reason", ""]
    alive = [row for row in last["rows"] if row["outcome"] == "survived"]
    kinds = Counter(row["kind"] for row in alive)
    lines += [f"- {text}: {kinds[kind]}" for kind, text in KINDS.items()]
    lines.append("")
    lines += _table(("where", "mutant", "why it survives"), map(_survivor, alive))
    return "\n".join(lines) + "\n"


def reasons_missing(rows: Iterable[Told]) -> list[Told]:
    """Return the survivors of which nobody has said why."""
    return [
        row
        for row in rows
        if row["outcome"] == "survived" and not (row.get("reason") and row.get("kind") in KINDS)
    ]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    every = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(row) + " |" for row in every]


def _rate(rows: Sequence[Told], weight: bool = False) -> str:
    """Return which part is killed, in percent."""
    weights = [row["of"] if weight else 1 for row in rows]
    killed = sum(
        w for w, row in zip(weights, rows, strict=True) if row["outcome"] != "survived"
    )
    return f"{100 * killed / sum(weights):.1f} %" if rows else "-"


def _sample(one: Told) -> list[str]:
    rows = one["rows"]
    outcomes = Counter(row["outcome"] for row in rows)
    told_apart = [
        row for row in rows if row["outcome"] != "survived" or row.get("kind") == "missed"
    ]
    judged = any("kind" in row for row in rows)
    return [
        one["name"], str(one["seed"]), str(len(rows)),
        str(len(rows) - outcomes["survived"]), str(outcomes["hung"]), str(outcomes["survived"]),
        _rate(rows), _rate(told_apart) if judged else "-", _rate(rows, weight=True),
        f"{one['minutes']:.0f}", f"{one['cpu_minutes']:.0f}",
    ]  # fmt: skip


def _room(one: Told, room: str) -> list[str]:
    counts = one["counts"][room]
    rows = [row for row in one["rows"] if row["room"] == room]
    alive = sum(row["outcome"] == "survived" for row in rows)
    left_out = sum(n for what, n in counts.items() if what not in {"places", "mutants"})
    numbers = (counts["places"], counts["mutants"], left_out, len(rows), len(rows) - alive)
    return [room, *(f"{n:,}" for n in numbers), str(alive), _rate(rows)]


def _survivor(row: Told) -> list[str]:
    before, after = _changed(row["before"], row["after"])
    where = f"{row['file'].removeprefix('collsim/')}:{row['line']}"
    return [where, f"`` {before} `` → `` {after} ``", f"{row['kind']}: {row['reason']}"]


def _changed(before: str, after: str) -> tuple[str, str]:
    return tuple(  # type: ignore[return-value]
        " ".join(text.split()).replace("|", "\\|") for text in (before, after)
    )
