"""The points of a job, in the order in which they are measured, and what names each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from collsim.core.collective import Collective, collective
from collsim.core.dtype import element_size
from collsim.core.measurements_setup import SETUP, setup_of
from collsim.core.schedule import Schedule
from collsim.errors import InputError
from collsim.measure.job import LIBRARY, PATTERNS, Job
from collsim.measure.patterns import Pairs, pairs_of
from collsim.measure.transport import MOVED
from collsim.registry import member
from collsim.units import format_size

__all__ = ["Case", "cases", "check_job", "key_of", "schedule_of"]

_KEY: Final = (
    "pattern", "collective", "runs", "algorithm", "protocol", "chunks", "ranks", "size",
    "dtype", "op", "root", "pairs", "backend", "clock", "process_model", "world", "graph",
    "nodes", *SETUP,
)  # fmt: skip
"""Fields of a row that say what was measured; `--resume` compares them."""


@dataclass(frozen=True)
class Case:
    """One point.

    Parameters
    ----------
    pattern : str
        ``"collective"``, or one of the patterns.
    collective : str, optional
        Which one; ``"sendrecv"`` of messages between pairs.
    algorithm : str
        ``"library"``, or an algorithm of the registry.
    forced : (str, str)
        Algorithm and protocol that the library must take.
    count, nbytes : int
        Elements of the full buffer, and their bytes.
    pairs : tuple of (int, int)
        Who, in a pattern.
    """

    pattern: str
    collective: str | None
    algorithm: str
    forced: tuple[str, str]
    count: int
    nbytes: int
    pairs: Pairs = ()

    @property
    def ours(self) -> bool:
        """Whether one of our schedules runs."""
        return self.pattern == "collective" and self.algorithm != LIBRARY

    @property
    def label(self) -> str:
        """What it is, for messages."""
        size = format_size(self.nbytes)
        if self.pattern != "collective":
            who = " ".join(f"{a}-{b}" for a, b in self.pairs[:2])
            more = " ..." if len(self.pairs) > 2 else ""
            return f"{self.pattern}{' ' if who else ''}{who}{more}, {size}"
        how = "/".join(part for part in (self.algorithm, *self.forced) if part)
        return f"{self.collective}/{how}, {size}"

    def fields(self, job: Job, ranks: int) -> dict[str, object]:
        """Return the fields of a row that say what was measured."""
        whole = self.pattern == "collective"
        kind = collective(self.collective) if self.collective else None
        algorithm = (self.forced[0] or None) if whole and not self.ours else self.algorithm
        reason = {
            "relay": "a message that goes around all ranks",
            "pairs": "pairs of ranks at once",
            "exchange": "a pair that sends both ways at once",
            "shift": "all ranks at once",
            "start": "one message that all begin together",
            "self": "a copy in one rank's memory",
            "add": "adding up in one rank's memory",
        }.get(self.pattern)
        return {
            "pattern": self.pattern,
            "left_out": f"{self.pattern}, {reason}: no collective" if reason else None,
            "collective": self.collective,
            "runs": None if not whole else "schedule" if self.ours else "library",
            "algorithm": "direct" if self.pattern == "ping_pong" else algorithm or None,
            "protocol": self.forced[1] or None,
            "chunks": job.chunks if self.ours else None,
            "ranks": 2 if self.pattern == "ping_pong" else ranks,
            "size": self.nbytes,
            "count": self.count,
            "dtype": job.dtype,
            "op": job.op if kind is not None and kind.reduces else None,
            "root": job.root if kind is not None and kind.rooted else None,
            "pairs": [list(pair) for pair in self.pairs] or None,
            "backend": job.backend,
        }


def key_of(row: Mapping[str, object]) -> str:
    """Return what names a measured point."""
    *_, cores = setup_of(row)
    return repr([*(row.get(field) for field in _KEY), cores])


def cases(job: Job, ranks: int, local_ranks: int) -> tuple[list[Case], list[str]]:
    """Return the points of a job, and notes about what was left out.

    Examples
    --------
    >>> points, notes = cases(Job("gloo", ("ping_pong", "all_gather"), (2, 16)), 4, 4)
    >>> [point.label for point in points], notes
    (['ping_pong 0-1, 16B', 'all_gather/library, 16B'], ['left out all_gather/library at 2B:
    too small for an element of every rank', 'left out ping_pong at 2B: no whole element'])
    """
    found: list[Case] = []
    refused: dict[str, list[int]] = {}
    notes: list[str] = []
    for what in job.what:
        if what in PATTERNS:
            found += _pattern_cases(job, what, ranks, local_ranks, refused)
            continue
        for algorithm in job.algorithms:
            forced = job.forced if algorithm == LIBRARY else (("", ""),)
            if algorithm == LIBRARY:
                reason = _not_by_library(what, job)
            else:
                reason = _refusal(what, algorithm, job, ranks, local_ranks)
            if reason:
                notes.append(f"left out {reason}")
                continue
            for pair in forced:
                found += _collective_cases(job, what, algorithm, pair, ranks, refused)
    for reason, sizes in sorted(refused.items()):
        span = format_size(sizes[0])
        span += f" to {format_size(sizes[-1])}" if len(sizes) > 1 else ""
        notes.append(f"left out {reason.replace(':', f' at {span}:', 1)}")
    return list(dict.fromkeys(found)), notes


def check_job(job: Job, ranks: int, local_ranks: int) -> None:
    """Raise InputError if a job makes no sense on so many ranks, before they are started.

    Examples
    --------
    >>> check_job(Job("gloo", ("broadcast",), (8,), root=2), 2, 2)
    Traceback (most recent call last):
    collsim.errors.InputError: root: got 2, expected a rank below 2
    """
    if job.dtype not in MOVED:
        raise InputError(
            f"dtype: got {job.dtype}, expected one that backends move: {', '.join(MOVED)}"
        )
    rooted = any(what not in PATTERNS and collective(what).rooted for what in job.what)
    if rooted and job.root >= ranks:
        raise InputError(f"root: got {job.root}, expected a rank below {ranks}")
    points, notes = cases(job, ranks, local_ranks)
    if not points:
        reasons = "; ".join(note.removeprefix("left out ") for note in notes)
        raise InputError(f"nothing to measure: {reasons}")


def _pattern_cases(
    job: Job, pattern: str, ranks: int, local_ranks: int, refused: dict[str, list[int]]
) -> Iterator[Case]:
    element = element_size(job.dtype)
    message = None if pattern in ("self", "add") else "sendrecv"
    found = pairs_of(pattern, ranks, local_ranks, job.every_pair)
    if not found:
        need = 4 if pattern == "pairs" else 2
        refused[f"{pattern}: needs {need} ranks or more"] = list(job.sizes)
    for pairs in found:
        for size in job.sizes:
            count = size // element
            if count:
                yield Case(pattern, message, "", ("", ""), count, count * element, pairs)
            else:
                refused.setdefault(f"{pattern}: no whole element", []).append(size)


def _collective_cases(
    job: Job,
    name: str,
    algorithm: str,
    forced: tuple[str, str],
    ranks: int,
    refused: dict[str, list[int]],
) -> Iterator[Case]:
    kind, element = collective(name), element_size(job.dtype)
    for size in job.sizes:
        count = size // element
        if algorithm == LIBRARY and _cut_evenly(kind):
            count -= count % ranks
        if count == 0:
            shared = algorithm == LIBRARY and _cut_evenly(kind)
            why = "too small for an element of every rank" if shared else "no whole element"
            refused.setdefault(f"{name}/{algorithm}: {why}", []).append(size)
            continue
        yield Case("collective", name, algorithm, forced, count, count * element)


def _cut_evenly(kind: Collective) -> bool:
    """Tell whether a library cuts the buffer into equal shares of whole elements."""
    return kind.split > 0


def _not_by_library(name: str, job: Job) -> str | None:
    """Return why a library can't do a collective in this type."""
    average = job.op == "avg" and collective(name).reduces
    if average and job.backend == "gloo" and "int" in job.dtype:
        return f"{name}/{LIBRARY}: Gloo averages no whole numbers, which {job.dtype} are"
    return None


def _refusal(name: str, algorithm: str, job: Job, ranks: int, local_ranks: int) -> str | None:
    names = member("collsim", "algorithms", "algorithm_names", "room")
    refuse = member("collsim", "algorithms", "refusal", "room")
    others = [what for what in job.what if what not in PATTERNS]
    plain = algorithm.partition(":")[0]
    if plain not in names(name) and any(plain in names(other) for other in others):  # type: ignore[operator]
        return f"{name}/{algorithm}: there is no such algorithm"
    reason = refuse(name, algorithm, ranks, _nodes(ranks, local_ranks))  # type: ignore[operator]
    return None if reason is None else str(reason)


def _nodes(ranks: int, local_ranks: int) -> list[int] | None:
    return None if ranks <= local_ranks else [r // local_ranks for r in range(ranks)]


def schedule_of(case: Case, job: Job, ranks: int, local_ranks: int) -> Schedule:
    """Build the schedule of a case; the algorithms' room is found by its name."""
    build = member("collsim", "algorithms", "build", "room")
    find = member("collsim", "algorithms", "find", "room")
    known = find(case.collective, case.algorithm)  # type: ignore[operator]
    made = build(  # type: ignore[operator]
        case.collective, case.algorithm, ranks,
        job.root if collective(case.collective or "").rooted else 0,
        job.chunks if known.chunked else 1,
        node=_nodes(ranks, local_ranks),
    )  # fmt: skip
    if not isinstance(made, Schedule):
        raise TypeError("algorithms.build must return a Schedule")
    return made
