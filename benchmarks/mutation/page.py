"""The page of mutation, made of the results of samples and of nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

__all__ = ["KINDS", "SCHEMA", "page", "summary", "unexplained"]

Told = dict[str, Any]

SCHEMA: Final = "collsim/mutation/1"
KINDS: Final = {
    "same": "no test can tell: the mutant does the same",
    "speed": "it does the same, with more or less time or memory",
    "missed": "a test could tell, and none does",
}
_HEAD: Final = """\
# Mutation

Do the tests notice when the core is wrong? [cosmic-ray](https://cosmic-ray.readthedocs.io)
changes one operator, number, condition, loop or decorator at a time, and a test of that room
has to fail. `benchmarks/mutants.py` draws a sample by a seed and tries it; what came of it is
in [mutation.json](mutation.json), of which this page is made. Compilation is off, so that the
kernels of the engine are mutated as all else is. (mutmut leaves out decorated functions and
what is outside of functions: here kernels, formulas and tables.)

- `pip install -e '.[dev,mutation]'`
- `python benchmarks/mutants.py --reach reach.json --record`, once: which test runs which lines
- `python benchmarks/mutants.py --reach reach.json --seed {seed} --count {asked} -o result.json`
- `python benchmarks/mutants.py --write result.json`

A sample takes as many mutants of each room: any of all that cosmic-ray makes, or, with
`--by-place`, one of each place that is drawn. The latter is the harder test: cosmic-ray turns
a `+` into eleven other operators, most of which any test sees, and a place counts once for all
of them. The column "of all mutants" weighs what is drawn by place by how many mutants a place
has, so that both kinds of sample compare. A mutant is tried by those tests of its room that
run its statement, the quickest first, up to {patience:g} s of processor time and none that
takes longer than {longest:g} s; what a slower test would find counts as survived. It is killed
where a test fails, or where one hangs: runs ten times as long as it should. Tests were written
for survivors of the first samples; the last one was drawn from another seed afterwards.

"""
_LEFT_OUT: Final = """
Left out by rule, and counted: what is no valid program, or warns when it is compiled; places in
annotations and type aliases, which the interpreter does not run; decorators that do nothing
with compilation off (`@jit`). Docstrings, texts and `__all__` are not mutated by cosmic-ray.
"""


def summary(name: str, results: Sequence[Told], known: Iterable[Told] = ()) -> Told:
    """Return what the page needs of a sample, which may have been tried in several runs.

    Parameters
    ----------
    name : str
        What to call it.
    results : sequence of dict
        Of `campaign.campaign`.
    known : iterable of dict
        Survivors whose `kind` and `reason` are taken over.
    """
    reasons = {_key(row): row for row in known}
    rooms: Told = {}
    survivors = []
    for result in results:
        for room, counts in result["counts"].items():
            rows = [row for row in result["rows"] if row["room"] == room]
            outcomes = Counter(row["outcome"] for row in rows)
            alive = [row for row in rows if row["outcome"] == "survived"]
            rooms[room] = {
                "places": counts["places"],
                "mutants": counts["mutants"],
                "left_out": {
                    why: n for why, n in counts.items() if why not in {"places", "mutants"}
                },
                "tried": len(rows),
                "hung": outcomes["hung"],
                "survived": len(alive),
                "weight": sum(row["of"] for row in rows),
                "weight_survived": sum(row["of"] for row in alive),
            }
            for row in alive:
                kept = reasons.get(_key(row), {})
                survivors.append(
                    {key: row[key] for key in ("room", "file", "line", "before", "after")}
                    | {key: kept.get(key, "") for key in ("kind", "reason")}
                )
    first = results[0]
    return {
        "name": name, "by": first.get("by", "place"), "seed": first["seed"],
        "commit": first["commit"],
        "asked": sum(result["asked"] for result in results),
        "minutes": round(sum(result["minutes"] for result in results), 1),
        "cpu_minutes": round(sum(result["cpu_minutes"] for result in results), 1),
        "rooms": rooms, "survivors": survivors,
    }  # fmt: skip


def unexplained(found: Told) -> list[Told]:
    """Return the survivors of the last sample of which nobody has said why."""
    return [
        row
        for row in found["samples"][-1]["survivors"]
        if row["kind"] not in KINDS or not row["reason"]
    ]


def page(found: Told) -> str:
    """Return the page as Markdown."""
    last = found["samples"][-1]
    facts = {key: found[key] for key in ("longest", "patience")}
    lines = [_HEAD.format(seed=last["seed"], asked=last["asked"], **facts) + "## Samples", ""]
    lines += _table(
        ("sample", "drawn by", "seed", "mutants", "killed", "of them hung", "survived", "rate",
         "but for those that do the same", "of all mutants", "minutes", "CPU minutes"),
        map(_sample, found["samples"]),
    )  # fmt: skip
    for one in found["samples"]:
        lines += ["", f"### By room: {one['name']}", ""]
        lines += _table(
            ("room", "places", "mutants", "left out", "tried", "killed", "survived", "rate"),
            (_room(room, counts) for room, counts in one["rooms"].items()),
        )
    lines += [_LEFT_OUT, f"## Survivors of the sample {last['name']}, each with the reason", ""]
    kinds = Counter(row["kind"] for row in last["survivors"])
    lines += [f"- {text}: {kinds[kind]}" for kind, text in KINDS.items()]
    lines.append("")
    lines += _table(("where", "mutant", "why it survives"), map(_survivor, last["survivors"]))
    return "\n".join(lines) + "\n"


def _key(row: Told) -> tuple[str, str, str]:
    return row["file"], row["before"], row["after"]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    every = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(row) + " |" for row in every]


def _rate(tried: int, survived: int) -> str:
    return f"{100 * (tried - survived) / tried:.1f} %" if tried else "-"


def _sample(one: Told) -> list[str]:
    total = {
        key: sum(room[key] for room in one["rooms"].values())
        for key in ("tried", "hung", "survived", "weight", "weight_survived")
    }
    tried, survived = total["tried"], total["survived"]
    kinds = Counter(row["kind"] for row in one["survivors"])
    alike = kinds["same"] + kinds["speed"]
    judged = alike + kinds["missed"] == survived
    return [
        one["name"], one["by"], str(one["seed"]), str(tried), str(tried - survived),
        str(total["hung"]),
        str(survived), _rate(tried, survived),
        _rate(tried - alike, survived - alike) if judged else "not told",
        _rate(total["weight"], total["weight_survived"]),
        f"{one['minutes']:.0f}", f"{one['cpu_minutes']:.0f}",
    ]  # fmt: skip


def _room(room: str, counts: Told) -> list[str]:
    tried, survived = counts["tried"], counts["survived"]
    left_out = sum(counts["left_out"].values())
    numbers = (
        counts["places"], counts["mutants"], left_out, tried, tried - survived, survived
    )  # fmt: skip
    return [room, *(f"{n:,}" for n in numbers), _rate(tried, survived)]


def _survivor(row: Told) -> list[str]:
    before, after = (
        " ".join(row[key].split()).replace("|", "\\|") or "nothing"
        for key in ("before", "after")
    )
    where = f"{row['file'].removeprefix('collsim/')}:{row['line']}"
    return [where, f"`` {before} `` → `` {after} ``", f"{row['kind']}: {row['reason']}"]
