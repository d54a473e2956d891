"""Damage logs in every way and read them: an error of one line, or rows that were there.

    python benchmarks/fuzz_importers.py [CASES] [SEED] [FOLDER]

Cuts, shuffles, doubles and removes lines, mixes two logs, changes letters, adds binary noise.
A case fails if reading raises anything but the package's own errors, if an error or a reason
has more than one line, or if a row comes out with a time that the log never told, in the log's
unit. That last law holds only where the damage moves whole lines, not where it changes digits.

FOLDER holds further logs to damage, such as real ones.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from collsim.calibrate.importer import ReadOptions
from collsim.calibrate.importers import read_log
from collsim.core.measurements import Measurements
from collsim.errors import CollsimError

ROOT = Path(__file__).resolve().parent.parent
MOST = 24_000  # characters of a log that are kept, so that a case takes milliseconds
OPTIONS = ReadOptions(collective="all_reduce", ranks=8)
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?")
FASTEST = 50e12  # bytes/s; no memory moves more

Lines = list[str]
Damage = Callable[[random.Random, Lines], Lines]


def cut(rng: random.Random, lines: Lines) -> Lines:
    """End the log somewhere, perhaps in the middle of a line."""
    text = "".join(lines)
    return text[: rng.randrange(len(text) + 1)].splitlines(keepends=True)


def behead(rng: random.Random, lines: Lines) -> Lines:
    """Begin the log somewhere."""
    text = "".join(lines)
    return text[rng.randrange(len(text) + 1) :].splitlines(keepends=True)


def shuffle(rng: random.Random, lines: Lines) -> Lines:
    """Put lines in any order."""
    return rng.sample(lines, len(lines))


def swap(rng: random.Random, lines: Lines) -> Lines:
    """Exchange a few lines."""
    lines = lines.copy()
    for _ in range(rng.randint(1, 5)):
        a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[a], lines[b] = lines[b], lines[a]
    return lines


def double(rng: random.Random, lines: Lines) -> Lines:
    """Write some lines twice."""
    return [line for line in lines for _ in range(rng.choice((1, 1, 1, 2, 3)))]


def lose(rng: random.Random, lines: Lines) -> Lines:
    """Lose some lines."""
    keep = rng.random()
    return [line for line in lines if rng.random() < keep]


def interrupt(rng: random.Random, lines: Lines) -> Lines:
    """Put lines of something else between the lines."""
    noise = (
        "node-a:7:7 [0] NCCL INFO Channel 00/24 : 0 1\n",
        "hello 12 13\n",
        "\0\n",
        "{\n",
        "1\n",
    )
    return [
        part
        for line in lines
        for part in ((line, rng.choice(noise)) if rng.random() < 0.2 else (line,))
    ]


def binary(rng: random.Random, lines: Lines) -> Lines:
    """Overwrite stretches with random bytes."""
    data = bytearray("".join(lines).encode())
    for _ in range(rng.randint(1, 8)):
        at, size = rng.randrange(len(data) + 1), rng.randint(1, 40)
        data[at : at + size] = rng.randbytes(size)
    return data.decode("utf-8", errors="replace").splitlines(keepends=True)


def letters(rng: random.Random, lines: Lines) -> Lines:
    """Change, add and drop single characters."""
    text = list("".join(lines))
    for _ in range(rng.randint(1, 30)):
        if text:
            at = rng.randrange(len(text))
            text[at : at + rng.randint(0, 1)] = rng.choice(
                ("", " ", "9", "-", ".", "e", '"', ",", "\n", "[", "us", "N/A", "nan")
            )
    return "".join(text).splitlines(keepends=True)


def join(rng: random.Random, lines: Lines) -> Lines:
    """Lose line ends."""
    return ["".join(line.rstrip("\n") if rng.random() < 0.1 else line for line in lines)]


MOVES: tuple[Damage, ...] = (shuffle, swap, double, lose, interrupt)
CHANGES: tuple[Damage, ...] = (cut, behead, binary, letters, join)


@dataclass
class Result:
    """What came of some cases."""

    cases: int = 0
    read: int = 0
    refused: int = 0
    rows: int = 0
    left_out: int = 0
    failures: list[str] = field(default_factory=list)


def logs_of(folder: Path) -> list[Lines]:
    """Return the beginnings of all logs in a folder."""
    paths = [
        p
        for p in sorted(folder.rglob("*"))
        if p.suffix in (".txt", ".csv", ".json", ".jsonl", ".log")
    ]
    texts = [path.read_text("utf-8", errors="replace") for path in paths]
    return [_shortened(text).splitlines(keepends=True) for text in texts if text.strip()]


def _shortened(text: str) -> str:
    # Of a long log the end, where its rows are, with its head; whole lines.
    if len(text) <= MOST:
        return text
    head, tail = text[: MOST // 2], text[-MOST // 2 :]
    return head[: head.rfind("\n") + 1] + tail[tail.find("\n") + 1 :]


def told(lines: Lines) -> set[float] | None:
    """Return every number of a log as a time in the log's unit, None if a time is computed."""
    text = "".join(lines)
    if "MB/s" in text:
        return None
    if "nccl_dtype" in text or re.search(r"\bbytes\s+N\s+type\b", text):
        exponent = -3
    else:
        exponent = 0 if re.search('nranks,|"schema"|,seconds', text) else -6
    found = (match[0].lower().partition("e") for match in NUMBER.finditer(text))
    return {float(f"{digits}e{int(own or 0) + exponent}") for digits, _, own in found}


def attempt(lines: Lines, path: Path) -> Measurements | CollsimError:
    """Read lines through a file; only the package's errors are caught."""
    path.write_text("".join(lines), "utf-8", errors="replace", newline="")
    try:
        return read_log(path, OPTIONS)
    except CollsimError as error:
        return error


def complaint(found: Measurements | CollsimError, truth: set[float] | None) -> str | None:
    """Return what is wrong with an outcome, or None."""
    if isinstance(found, CollsimError):
        return "an error of several lines" if "\n" in str(found) else None
    if any("\n" in text for text in (*map(str, found.left_out), *found.notes)):
        return "a reason of several lines"
    for row in found:
        if not row.seconds > 0 or row.nbytes / row.seconds > FASTEST:
            return f"{row.source}: {row.nbytes} bytes in {row.seconds} s"
        if truth is not None and row.seconds not in truth:
            return f"{row.source}: {row.nbytes} bytes in {row.seconds} s were never told"
    return None


def run(logs: list[Lines], cases: int, seed: int, path: Path) -> Result:
    """Read damaged logs; `path` is written over and over."""
    rng = random.Random(seed)  # noqa: S311 - damage, not secrets
    truths = [told(lines) for lines in logs]
    result = Result()
    for case in range(cases):
        at = rng.randrange(len(logs))
        lines, truth = logs[at], truths[at]
        moves = rng.random() < 0.5
        applied = rng.sample(MOVES if moves else MOVES + CHANGES, rng.randint(1, 3))
        if rng.random() < 0.1:
            other = rng.randrange(len(logs))
            lines = lines + logs[other]
            truth = None if truth is None or truths[other] is None else truth | truths[other]
        for damage in applied:
            lines = damage(rng, lines) if lines else lines
        names = "+".join(damage.__name__ for damage in applied)
        try:
            found = attempt(lines, path)
            why = complaint(found, truth if moves else None)
        except Exception as error:  # noqa: BLE001 - a traceback is what is looked for
            found, why = CollsimError(), f"{type(error).__name__}: {error}"
        result.cases += 1
        if isinstance(found, Measurements):
            result.read += 1
            result.rows += len(found)
            result.left_out += len(found.left_out)
        else:
            result.refused += 1
        if why is not None:
            result.failures.append(f"case {case} of log {at}, {names}: {why}")
    return result


def main() -> int:
    """Run as many cases as asked for and print what came of them."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    folders = [ROOT / "tests" / "calibrate" / "data", ROOT / "examples"]
    folders += [Path(argument) for argument in sys.argv[3:]]
    logs = [lines for folder in folders for lines in logs_of(folder)]
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        result = run(logs, cases, seed, Path(folder) / "damaged.log")
    seconds = time.perf_counter() - start
    print(f"{result.cases} cases from {len(logs)} logs in {seconds:.0f} s, seed {seed}")
    print(f"{result.read} read: {result.rows} rows, {result.left_out} left out")
    print(f"{result.refused} refused with one line; {len(result.failures)} failures")
    for why, count in Counter(result.failures).most_common(20):
        print(f"  {count} x {why}")
    return 1 if result.failures else 0


if __name__ == "__main__":
    sys.exit(main())
