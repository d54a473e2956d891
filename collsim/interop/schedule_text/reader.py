"""Read a schedule from text; docs/schedules.md describes it."""

import re
from dataclasses import replace
from typing import Final

import numpy as np

from collsim.core.builder import Builder
from collsim.core.schedule import Schedule
from collsim.errors import CollsimError, FileError
from collsim.interop._order import reduced
from collsim.interop.schedule_text.head import Head, HeadReader
from collsim.interop.schedule_text.message import ARROW, Message, MessageReader
from collsim.interop.schedule_text.place import MOST, Place

__all__ = ["MOST_MESSAGES", "read_text_schedule"]

# A person writes ten, a program some thousands; all of them are verified.
MOST_MESSAGES: Final = 60_000


def read_text_schedule(
    file: str, text: str, given: str | None = None, root: int | None = None
) -> tuple[str, Schedule, tuple[int, ...]]:
    """Return the name, the schedule, and the line of every operation.

    Parameters
    ----------
    file : str
        Its path, for errors.
    text : str
        What it holds.
    given : str, optional
        The collective that is expected; a head that says none takes it.
    root : int, optional
        The root that is expected; likewise.

    Raises
    ------
    FileError
        Names the line, what was got and what was expected.

    Examples
    --------
    >>> _, schedule, lines = read_text_schedule("a.txt", '''
    ... collective: broadcast
    ... ranks: 3
    ...
    ... 0 -> 1: chunk 0
    ...
    ... 0 -> 2: chunk 0
    ... ''')
    >>> len(schedule), schedule.rounds, lines
    (2, 2, (5, 7))
    """
    return _Reader(file, given, root).read(text)


class _Reader:
    """Line by line: a head of ``key: value``, then messages."""

    def __init__(self, file: str, given: str | None, root: int | None) -> None:
        self.file = file
        self.place = Place(file)
        self.heads = HeadReader(self.place, given, root)
        self.messages = MessageReader(self.place)

    def read(self, text: str) -> tuple[str, Schedule, tuple[int, ...]]:
        lines: list[Message] = []
        head: Head | None = None
        now, begun = 0, False
        for number, whole in enumerate(text.split("\n"), start=1):
            self.place.line = number
            line = whole.partition("#")[0].strip()
            if not line:
                # Only a line that is blank parts rounds; one with a comment does not.
                if begun and not whole.strip():
                    now, begun = now + 1, False
                continue
            if ARROW.search(line):
                head = head or self.heads.read()
                if len(lines) == MOST_MESSAGES:
                    self.place.wrong(line, f"at most {MOST_MESSAGES:,} messages")
                lines.append(self.messages.read(line, head, now))
                begun = True
            elif re.fullmatch(r"round(\s+\S+)?\s*:?", line):
                if head is None and not self.heads.values:
                    self.place.wrong(line, "a head first, such as 'collective: broadcast'")
                given = line.removeprefix("round").rstrip(":").strip()
                now = self.place.whole(given, "a round", MOST) if given else now + begun
                begun = False
            elif head is None and ":" in line and not line[0].isdigit():
                self.heads.key(line)
            else:
                self.place.wrong(line, "a message such as '0 -> 1: chunk 0', or 'round'")
        self.place.line = number
        head = head or self.heads.read()
        return head.name, self._built(head, lines), tuple(line.number for line in lines)

    def _built(self, head: Head, lines: list[Message]) -> Schedule:
        try:
            b = Builder(head.kind, head.ranks, head.root, parts=head.parts)
            b.scratch(head.scratch)
            for line in lines:
                add = b.reduce if line.reduces else b.copy
                add(line.src, line.dst, line.chunks, line.into, line.channel)
            schedule = b.finish()
        except FileError:
            raise
        except CollsimError as error:
            raise FileError(self.file, str(error)) from None
        rounds = np.array([line.round for line in lines], dtype=np.int32)
        schedule = replace(schedule, round=rounds)
        return self._held_up(schedule, lines)

    def _held_up(self, schedule: Schedule, lines: list[Message]) -> Schedule:
        """Add what messages wait for by name."""
        names: dict[str, int] = {}
        waits: list[list[int]] = []
        for o, line in enumerate(lines):
            self.place.line = line.number
            mine = schedule.waits_for(o).tolist()
            for name in line.after:
                if name not in names:
                    self.place.wrong(name, "the name of a message above")
                mine.append(names[name])
            waits.append(mine)
            if line.named:
                if line.named in names:
                    self.place.wrong(line.named, "a name that no message above has")
                names[line.named] = o
        if not any(line.after for line in lines):
            return schedule
        dep_ptr, dep = reduced(waits)
        return replace(schedule, dep_ptr=dep_ptr, dep=dep)
