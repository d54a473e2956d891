"""The page of performance, made of what was measured and of nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

__all__ = ["page", "tables"]

Told = dict[str, Any]

# GiB of a usual machine that a schedule may take.
_ROOM: Final = 6

_LIMITS: Final = """\
## What is exact

Every time that collsim predicts here is an exact answer of its model: start and end of each
message are computed, and none is extrapolated, sampled or fitted. Where a few ranks stand for
the others, it has been proven for that schedule on that cluster that renaming the ranks changes
nothing, ties included; where it can't be proven, all are simulated. `fold=False` in Python and
`--no-fold` on the command line simulate all in any case. The one rule of thumb is in the choice
of a number of chunks: powers of two are tried until two in a row were no better, or a lower
bound shows that more are slower; the time of the number that is named is exact.

Messages that are ready at the same time go by their index. Two times are the same here if the
same costs add up to them; sums of different costs that are equal on paper may part by a step of
the grid, 1e-15 of the whole, and then the other message goes first. Of 20,000 random runs,
first come, first served, 4 have some messages at other times than with exact fractions, and
none another time of the whole; of an earlier 3,300 there were 3, with times up to 6 % off.

## Memory, and what limits it

A schedule is held whole, so memory grows with its messages: {piece:,} bytes for each, beside
{loaded:,.0f} MiB for Python, numpy and the compiler. Those of a ring grow with the square
of the ranks, so {limit:,} of them would fit in {gib} GiB. Where few ranks stand for all, memory
grows with the cluster alone: {rank:,} bytes a rank at {far:,} ranks. A schedule that would not
fit into four fifths of the machine's memory is refused, and so are more than 2^20 ranks.

{limit_words}
"""


def page(measured: Told) -> str:
    """Return the page as Markdown."""
    machine, versions = measured["machine"], measured["versions"]
    names = {"python": "Python", "numpy": "numpy", "numba": "numba"}
    told = ", ".join(f"{names.get(name, name)} {versions[name]}" for name in versions)
    runs = measured["repetitions"]
    head = f"""\
# Performance

`python benchmarks/table.py --write` measures all of this and writes the page; the numbers are
in [performance.json](performance.json).

Machine: {machine["cpu"]}, {machine["cores"]} cores, {machine["memory_gib"]} GiB,
{machine["system"]}. Versions: {told}.
Medians of {runs} runs, of fewer where they take a minute, each in a process of its own; seconds
are those of one processor core (user and system), so that what else ran counts little.
"""
    return "\n".join([head, *tables(measured), _limits(measured)])


def _limits(measured: Told) -> str:
    """Return what memory is taken, by the largest of what was measured."""
    ring = max(_of(measured, "collsim"), key=lambda row: int(row["ranks"]))
    far = max(
        (row for row in measured["far"] if row["how"] != "all ranks simulated"),
        key=lambda row: (int(row["ranks"]), float(row["peak_mib"])),
    )
    loaded = ring["loaded_mib"]
    piece = round((ring["peak_mib"] - loaded) * 2**20 / ring["messages"])
    limit = int((_ROOM * 2**30 / max(1, piece) / 2) ** 0.5) // 64 * 64
    rank = round((far["peak_mib"] - loaded) * 2**20 / far["ranks"])
    return _LIMITS.format(
        piece=piece, loaded=loaded, limit=limit, gib=_ROOM, rank=rank, far=far["ranks"],
        limit_words=_traffic(measured, ring),
    )  # fmt: skip


def _traffic(measured: Told, ring: Told) -> str:
    """Say how near the engine is to what reading and writing alone takes."""
    (least,) = (row for row in measured["engine"] if row["case"] == "limit")
    best = min(_of(measured, "collsim"), key=lambda row: row["seconds"] / row["messages"])
    one, other = (row["seconds"] / row["messages"] * 1e9 for row in (best, ring))
    again, first = (f"{least[key]:.1f} ns" for key in ("again_ns", "first_ns"))
    count = f"{least['bytes']:.0f}"
    return f"""\
The least that a message can take is to read and write what has to be known of it,
{count} bytes: {again} here, and {first} in memory that is touched for the first time.
A message of a ring is built and simulated in {one:.0f} ns at best, on {best["ranks"]:,}
ranks, and in {other:.0f} ns on {ring["ranks"]:,}."""


def tables(measured: Told) -> list[str]:
    """Return the tables, each with its heading."""
    return [_ring(measured), _far(measured), _engine(measured), _commands(measured)]


def _of(measured: Told, simulator: str) -> list[Told]:
    return [row for row in measured["ring"] if row["simulator"] == simulator]


def _ring(measured: Told) -> str:
    simulators = list(dict.fromkeys(row["simulator"] for row in measured["ring"]))
    rows = []
    for row in measured["ring"]:
        ours = next(o for o in _of(measured, "collsim") if o["ranks"] == row["ranks"])
        ratio = row["seconds"] / ours["seconds"]
        rows.append(
            (
                f"{row['ranks']:,}", f"{row['messages']:,}", row["simulator"],
                _seconds(row["seconds"]), _rate(row["messages"] / row["seconds"]),
                f"{row['peak_mib']:,.0f}", "1" if row is ours else f"{ratio:,.0f}",
            )
        )  # fmt: skip
    rows.sort(key=lambda row: int(row[0].replace(",", "")))
    others = " and ".join(name for name in simulators if name != "collsim") or "no other"
    titles = ("ranks", "messages", "simulator", "s", "M messages/s", "peak MiB", "times ours")
    return f"""\
## The same ring all_reduce

1 GiB over P ranks, 2 P (P - 1) messages, on a network of one port per rank (1 us, 900 GB/s),
built and simulated message by message by collsim, {others}. All find the time
that the formula gives, to one in a million. SimPy and SimGrid hold no schedule: their ranks are
programs that run, so their memory does not grow with messages. What a program imports and
compiles is not counted.

{_table(titles, rows)}

![Seconds and memory against ranks](performance.svg)
"""


def _far(measured: Told) -> str:
    rows = [
        (
            f"{row['ranks']:,}", row["algorithm"], str(row["chunks"]), _seconds(row["seconds"]),
            f"{row['peak_mib']:,.0f}", f"{row['time_us'] / 1e3:,.6f}", row["how"],
        )
        for row in measured["far"]
    ]  # fmt: skip
    same = {
        row["algorithm"]: _same(row, measured["far"])
        for row in measured["far"]
        if row["how"] == "all ranks simulated"
    }
    told = [f"{name} on {ranks:,} ranks" for name, ranks in same.items() if ranks]
    cluster = measured["far"][0]["cluster"]
    agree = ""
    if told:
        agree = (
            f"\nFolded and not, the times of {' and '.join(told)} are the same to the last bit."
        )
    return f"""\
## As far as clusters are planned

A 1 GiB all_reduce on so many ranks of `{cluster}`, 8 to a node, over rails: from the name of
the cluster to the answer, in one channel.{agree}

{_table(("ranks", "algorithm", "chunks", "s", "peak MiB", "predicted ms", "how"), rows)}
"""


def _engine(measured: Told) -> str:
    rows = [
        (
            row["case"], f"{row['messages']:,.0f}", _seconds(row["build_s"]),
            _seconds(row["simulate_s"]), _rate(row["simulated_per_s"]),
            f"{row['peak_mb']:,.0f}",
        )
        for row in measured["engine"]
        if row["case"] != "limit"
    ]  # fmt: skip
    titles = ("case", "messages", "build s", "simulate s", "M messages/s", "peak MiB")
    return f"""\
## Messages in each other's way

`benchmarks/engine_speed.py`: all_to_all, ring and trees on 64 nodes of 8 GPUs, on a 2:1 fat
tree and on rails, first come, first served; and so many flows at once, of random length
between random pairs of 1,024 GPUs on a fat tree, that share its links fairly.

{_table(titles, rows)}
"""


def _same(row: Told, rows: Sequence[Told]) -> int:
    """Return the ranks on which another row of the same has the same time, or 0."""
    keys = ("ranks", "algorithm", "chunks", "time_us")
    alike = [other for other in rows if all(other[key] == row[key] for key in keys)]
    return int(row["ranks"]) if len(alike) > 1 else 0


def _commands(measured: Told) -> str:
    rows = [(f"`{row['command']}`", _seconds(row["seconds"])) for row in measured["commands"]]
    return f"""\
## Commands

Whole programs, from start to exit, once compiled. A prediction of one size and algorithm loads
no compiler; one of 31 sizes does, and builds every schedule once for all of them.

{_table(("command", "s"), rows)}
"""


def _seconds(seconds: float) -> str:
    """Spell seconds with three digits."""
    digits = 3 if seconds < 1 else 2 if seconds < 10 else 1 if seconds < 100 else 0
    return f"{seconds:,.4f}" if seconds < 0.1 else f"{seconds:,.{digits}f}"


def _rate(per_second: float) -> str:
    millions = per_second / 1e6
    return f"{millions:.1f}" if millions >= 1 else f"{millions:.3f}"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
