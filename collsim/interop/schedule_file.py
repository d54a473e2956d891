"""A schedule in a file: MSCCL's XML or our text, told by its content."""

import os
import re
from dataclasses import dataclass, replace
from typing import Final

from collsim.core.arguments import checked
from collsim.core.same import difference
from collsim.core.schedule import Schedule
from collsim.engine.verdict import Verdict, verify_schedule
from collsim.errors import FileError, InputError, UnknownNameError
from collsim.files import read_bytes, write_whole
from collsim.interop.msccl.blocks import to_program
from collsim.interop.msccl.flow import Flow, follow
from collsim.interop.msccl.limits import input_lost, limits_broken
from collsim.interop.msccl.lower import Lowered, lower
from collsim.interop.msccl.parser import text_limits
from collsim.interop.msccl.program import OwnWordsError, Program, WrongScheduleError
from collsim.interop.msccl.races import find_race
from collsim.interop.msccl.reader import read_program
from collsim.interop.msccl.writer import to_xml
from collsim.interop.schedule_text.reader import read_text_schedule
from collsim.interop.schedule_text.writer import to_text

__all__ = [
    "ScheduleFile",
    "load_schedule",
    "read_schedule",
    "save_schedule",
    "written",
]

_FORMATS: Final = ("text", "msccl")
_MOST_BYTES: Final = 16 << 20
# How checks call operations and places, see collsim.engine.wording.
_OPERATION: Final = re.compile(r"operation (\d+) \(([^)]*)\)")
_PLACE: Final = re.compile(r"block (\d+)(?: part (\d+))?|scratch place (\d+)")


@dataclass(frozen=True)
class ScheduleFile:
    """What a file says.

    Parameters
    ----------
    file, format : str
        Its path; ``"msccl"`` or ``"text"``.
    name : str
        Name of the algorithm: its own, or that of the file.
    collective : str
        What it is meant to do.
    ranks, root : int
        Rank count P, and root.
    schedule : Schedule or None
        None where steps hang or race, so that there is none.
    verdict : Verdict
        Whether it does what it is meant to, and if not, why.
    warnings : tuple of str
        What it does beside being right: limits of MSCCL's runtime that it breaks, attributes
        that nobody reads.
    sizes : (int, int) or None
        The least size that the file is for, and the first that it is too large for.
    """

    file: str
    format: str
    name: str
    collective: str
    ranks: int
    root: int
    schedule: Schedule | None
    verdict: Verdict
    warnings: tuple[str, ...] = ()
    sizes: tuple[int, int] | None = None

    def right(self) -> Schedule:
        """Return the schedule.

        Raises
        ------
        FileError
            If it is wrong; says why.
        """
        if self.schedule is None or not self.verdict.ok:
            reason = f"is not a correct {self.collective}: {self.verdict.reason}"
            raise FileError(self.file, reason)
        return self.schedule


def read_schedule(
    path: str | os.PathLike[str], collective: str | None = None, root: int | None = None
) -> ScheduleFile:
    """Read a schedule and verify it.

    Parameters
    ----------
    path : str or path
        MSCCL's XML, or text as docs/schedules.md describes it.
    collective : str, optional
        What it is meant to do, where the file does not say it; else it must agree.
    root : int, optional
        The root, likewise.

    Raises
    ------
    FileError
        If it can't be read, is of no such format, or breaks its rules. What is well formed
        but hangs, races or mixes data up is told by `verdict`.
    """
    file = os.fspath(path)
    data = read_bytes(file, _MOST_BYTES)
    if _is_xml(data):
        return _from_msccl(read_program(file, data, collective, root), file, data)
    if data.lstrip()[:1] in (b"{", b"["):
        raise FileError(
            file,
            "is JSON, as execution plans of MSCCL++ are, whose one-sided puts, signals and "
            "packets are not simulated; expected MSCCL XML or text",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(file, f"line {line} is not UTF-8 text, nor is it MSCCL XML") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    name, schedule, lines = read_text_schedule(file, text, collective, root)
    return ScheduleFile(
        file=file,
        format="text",
        name=_plain(name) or _stem(file),
        collective=schedule.collective.name,
        ranks=schedule.ranks,
        root=schedule.root,
        schedule=schedule,
        verdict=_by_line(verify_schedule(schedule), schedule, lines),
    )


@checked
def load_schedule(path: str | os.PathLike[str]) -> Schedule:
    """Return the schedule of a file, MSCCL's XML or text, if it is right.

    Parameters
    ----------
    path : str or path
        MSCCL's XML, or text as docs/schedules.md describes it.

    Returns
    -------
    Schedule
        Verified: it does what it is meant to, and no two of its messages race.

    Raises
    ------
    FileError
        If it can't be read, or is wrong; says why.

    Examples
    --------
    >>> load_schedule("examples/schedule_broadcast_4.txt")
    <Schedule of broadcast on 4 ranks: 3 operations in 2 rounds>
    """
    return read_schedule(path).right()


@checked
def save_schedule(
    schedule: Schedule,
    path: str | os.PathLike[str],
    format: str = "text",  # noqa: A002 - what everybody calls it
    name: str = "",
) -> None:
    """Write a schedule to a file, from which the same schedule is read.

    Parameters
    ----------
    schedule : Schedule
        Any that sends no message to or from a switch.
    path : str or path
        Where to.
    format : {"text", "msccl"}
        In which form.
    name : str
        What to call it; by default as the file.

    Raises
    ------
    UnknownNameError
        For another format.
    InputError
        If the format has no word for something in it.
    FileError
        If it can't be written.

    Examples
    --------
    >>> import tempfile
    >>> from collsim.algorithms import build
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_schedule(build("all_gather", "pat", 8), f"{folder}/pat.xml", "msccl")
    ...     len(load_schedule(f"{folder}/pat.xml"))
    24
    """
    write_whole(path, written(schedule, format, name or _stem(os.fspath(path)))[0])


def written(schedule: Schedule, form: str, name: str) -> tuple[str, list[str]]:
    """Return the text of a schedule's file, and limits of MSCCL's runtime that it breaks.

    What is written is read again: what does not give the same schedule is not given away.
    See :func:`save_schedule`.
    """
    if form not in _FORMATS:
        raise UnknownNameError("format", form, _FORMATS)
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError(f"name: got {name!r}, expected text that has a UTF-8 form") from None
    if form == "text":
        text, warnings = to_text(schedule, name), []
        _, again, _ = read_text_schedule(name, text)
    else:
        program = to_program(schedule, name)
        text, warnings = to_xml(program), limits_broken(program)
        program = read_program(name, text.encode())
        again = lower(program, follow(program, 1)).schedule
    reason = difference(schedule, again)
    if reason is not None:
        raise InputError(f"{name}: can't be written as {form}: {reason} when read again")
    return text, warnings


def _stem(file: str) -> str:
    return _plain(os.path.splitext(os.path.basename(file))[0]) or "schedule"


def _plain(name: str) -> str:
    """Return a name that fits into a column of a table."""
    return re.sub(r"[^\w.:=,+-]+", "-", name).strip("-.,")[:60]


def _is_xml(data: bytes) -> bool:
    # Of any encoding that has ASCII in it.
    return data.replace(b"\x00", b"").lstrip(b"\xff\xfe\xef\xbb\xbf \t\r\n")[:1] == b"<"


def _from_msccl(program: Program, file: str, data: bytes) -> ScheduleFile:
    warnings = []
    try:
        schedule, verdict = _verified(program)
    except OwnWordsError as error:
        # Somebody has changed the file since; the runtime does not read these words at all.
        warnings.append(f"is not as collsim wrote it, so op and its like are ignored: {error}")
        program = program.plain()
        schedule, verdict = _verified(program)
    if verdict.ok and program.apart_too:
        _, verdict = _verified(replace(program, in_place=False))
        if not verdict.ok:
            verdict = replace(verdict, reason=f"out of place: {verdict.reason}")
    if verdict.ok:
        broken = [*text_limits(data), *limits_broken(program)]
        warnings += [f"breaks a limit of MSCCL's runtime: {text}" for text in broken]
        lost = input_lost(program)
        if lost is not None:
            warnings.append(
                f"overwrites its input, which a call out of place leaves as it is: {lost}"
            )
    if program.ignored:
        warnings.append(f"has attributes that nobody reads: {', '.join(program.ignored)}")
    return ScheduleFile(
        file=file,
        format="msccl",
        name=_plain(program.name) or _stem(file),
        collective=program.collective,
        ranks=len(program.gpus),
        root=program.root,
        schedule=schedule,
        verdict=verdict,
        warnings=tuple(warnings),
        sizes=program.sizes,
    )


def _verified(program: Program) -> tuple[Schedule | None, Verdict]:
    """Return the schedule of a program, where there is one, and what is wrong with it."""
    try:
        flow = follow(program)
        race = find_race(program, flow)
        if race is not None:
            return None, Verdict(False, race)
        lowered = lower(program, flow)
    except OwnWordsError:
        raise
    except WrongScheduleError as error:
        return None, Verdict(False, str(error))
    verdict = verify_schedule(lowered.schedule)
    return lowered.schedule, _named(verdict, program, flow, lowered)


def _named(verdict: Verdict, program: Program, flow: Flow, lowered: Lowered) -> Verdict:
    """Return a verdict that calls an operation by its steps, as the file does."""

    def steps(found: re.Match[str]) -> str:
        units = [flow.units[u] for u in lowered.units[int(found[1])]]
        named = " to ".join(program.where(u.rank, u.block, u.at) for u in units)
        return named or found[0]

    return replace(verdict, reason=_OPERATION.sub(steps, verdict.reason))


def _by_line(verdict: Verdict, schedule: Schedule, lines: tuple[int, ...]) -> Verdict:
    """Return a verdict in the words of a text: lines and chunks."""

    def chunk(found: re.Match[str]) -> str:
        if found[3] is not None:
            return f"chunk s{found[3]}"
        return f"chunk {int(found[1]) * schedule.parts + int(found[2] or 0)}"

    reason = _OPERATION.sub(
        lambda found: f"line {lines[int(found[1])]} ({found[2]})", verdict.reason
    )
    return replace(verdict, reason=_PLACE.sub(chunk, reason))
