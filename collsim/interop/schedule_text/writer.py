"""Write a schedule as text, from which the same schedule is read."""

from collections.abc import Iterable, Iterator

from collsim.core.builder import Builder
from collsim.core.schedule import REDUCE, Schedule
from collsim.errors import InputError, TooLargeError
from collsim.interop.schedule_text.head import SCHEMA
from collsim.interop.schedule_text.reader import MOST_MESSAGES

__all__ = ["to_text"]


def to_text(schedule: Schedule, name: str = "") -> str:
    """Return the text.

    Parameters
    ----------
    schedule : Schedule
        Any that sends no message to or from a switch.
    name : str
        What to call it.

    Raises
    ------
    InputError
        If switches take part, or a message carries nothing.
    TooLargeError
        If it has more messages than are read.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> print(to_text(build("reduce", "mst", 3)), end="")
    schema: collsim/schedule/1
    collective: reduce
    ranks: 3
    root: 0
    parts: 1
    <BLANKLINE>
    1 -> 0: reduce chunk 0
    <BLANKLINE>
    2 -> 0: reduce chunk 0
    """
    if schedule.agents:
        raise InputError(
            f"{name or 'schedule'}: its messages go by way of a switch that adds up and "
            "multicasts, for which the text has no word"
        )
    if len(schedule) > MOST_MESSAGES:
        raise TooLargeError(
            f"{name or 'schedule'}: {len(schedule):,} messages, expected at most "
            f"{MOST_MESSAGES:,}"
        )
    return "\n".join(_lines(schedule, name)) + "\n"


def _lines(schedule: Schedule, name: str) -> Iterator[str]:
    yield f"schema: {SCHEMA}"
    if name:
        yield f"name: {name}"
    yield f"collective: {schedule.collective.name}"
    yield f"ranks: {schedule.ranks}"
    if schedule.collective.rooted:
        yield f"root: {schedule.root}"
    yield f"parts: {schedule.parts}"
    if schedule.scratch:
        yield f"scratch: {schedule.scratch}"
    held_up = _held_up(schedule)
    named = {d for after in held_up for d in after}
    before, blank = -1, ""
    for o in range(len(schedule)):
        now = int(schedule.round[o])
        if now != before:
            yield blank
            if now != before + 1:
                yield f"round {now}"
        before = now
        yield _message(schedule, o, held_up[o], o in named)


def _message(schedule: Schedule, o: int, after: list[int], named: bool) -> str:
    reads, writes = schedule.carried(o).tolist(), schedule.written(o).tolist()
    if not reads:
        raise InputError(f"schedule: operation {o} carries nothing, expected a chunk")
    words = [f"{schedule.src[o]} -> {schedule.dst[o]}:"]
    if schedule.kind[o] == REDUCE:
        words.append("reduce")
    words += ["chunk" if len(reads) == 1 else "chunks", _chunks(schedule, reads)]
    if reads != writes:
        words += ["into", _chunks(schedule, writes)]
    if schedule.channel[o]:
        words += ["channel", str(schedule.channel[o])]
    if named:
        words += ["named", f"m{o}"]
    if after:
        words += ["after", ",".join(f"m{d}" for d in after)]
    return " ".join(words)


def _chunks(schedule: Schedule, places: Iterable[int]) -> str:
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and place == runs[-1][1] + 1 and place != schedule.pieces:
            runs[-1] = runs[-1][0], place
        else:
            runs.append((place, place))
    return ",".join(_run(schedule, first, last) for first, last in runs)


def _run(schedule: Schedule, first: int, last: int) -> str:
    mark, shift = ("s", schedule.pieces) if first >= schedule.pieces else ("", 0)
    one = f"{mark}{first - shift}"
    return one if first == last else f"{one}-{last - shift}"


def _held_up(schedule: Schedule) -> list[list[int]]:
    """Return, per message, what it waits for beyond what its data ask for."""
    b = Builder(schedule.collective, schedule.ranks, schedule.root, parts=schedule.parts)
    b.scratch(schedule.scratch)
    for o in range(len(schedule)):
        add = b.reduce if schedule.kind[o] == REDUCE else b.copy
        add(schedule.src[o], schedule.dst[o], schedule.carried(o), schedule.written(o))
    data = b.finish()
    return [
        sorted(set(schedule.waits_for(o).tolist()) - set(data.waits_for(o).tolist()))
        for o in range(len(schedule))
    ]
