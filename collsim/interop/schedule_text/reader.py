"""Read a schedule from text; docs/schedules.md describes it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NoReturn

import numpy as np

from collsim.core.builder import Builder
from collsim.core.collective import COLLECTIVES, Collective, collective
from collsim.core.schedule import Schedule
from collsim.core.schema import expected_schema
from collsim.errors import CollsimError, FileError, UnknownNameError
from collsim.interop._order import reduced
from collsim.interop._size import MOST_RANKS, too_many_chunks

__all__ = ["MOST_MESSAGES", "SCHEMA", "read_text_schedule"]

SCHEMA: Final = "collsim/schedule/1"
"""What a head may say; one that says nothing is of this version."""

# A person writes ten, a program some thousands; all of them are verified.
MOST_MESSAGES: Final = 60_000

_KEYS: Final = ("schema", "name", "collective", "ranks", "root", "parts", "scratch")
_MOST: Final = 2**31 - 1
_ARROW: Final = re.compile(r"\s*(?:->|→)\s*")
# What may follow the chunks of a message.
_WORDS: Final = ("into", "channel", "named", "after")
_SHOWN: Final = 40
_MOST_SCRATCH: Final = 1_000_000
# Chunks carried, over all messages: a text of some megabytes could ask for billions.
_MOST_CHUNKS: Final = 4_000_000


@dataclass
class _Line:
    """One message as it was written."""

    number: int
    src: int
    dst: int
    reduces: bool
    chunks: list[int]
    into: list[int]
    channel: int
    round: int
    named: str = ""
    after: tuple[str, ...] = ()


@dataclass
class _Head:
    """The head, and what follows from it."""

    name: str
    kind: Collective
    ranks: int
    root: int
    parts: int
    scratch: int

    @property
    def pieces(self) -> int:
        return self.kind.blocks(self.ranks) * self.parts


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
        self.file, self.given, self.wanted_root = file, given, root
        self.line = 0
        self._carried = 0

    def wrong(self, got: str, expected: str) -> NoReturn:
        shown = got if len(got) <= _SHOWN else got[:_SHOWN] + "..."
        raise FileError(self.file, f"line {self.line}: got {shown!r}, expected {expected}")

    def read(self, text: str) -> tuple[str, Schedule, tuple[int, ...]]:
        values: dict[str, tuple[int, str]] = {}
        lines: list[_Line] = []
        head: _Head | None = None
        now, begun = 0, False
        for number, whole in enumerate(text.split("\n"), start=1):
            self.line = number
            line = whole.partition("#")[0].strip()
            if not line:
                # Only a line that is blank parts rounds; one with a comment does not.
                if begun and not whole.strip():
                    now, begun = now + 1, False
                continue
            if _ARROW.search(line):
                head = head or self._head(values)
                if len(lines) == MOST_MESSAGES:
                    self.wrong(line, f"at most {MOST_MESSAGES:,} messages")
                lines.append(self._message(line, head, now))
                begun = True
            elif re.fullmatch(r"round(\s+\S+)?\s*:?", line):
                if head is None and not values:
                    self.wrong(line, "a head first, such as 'collective: broadcast'")
                given = line.removeprefix("round").rstrip(":").strip()
                now = self._whole(given, "a round", _MOST) if given else now + begun
                begun = False
            elif head is None and ":" in line and not line[0].isdigit():
                self._key(line, values)
            else:
                self.wrong(line, "a message such as '0 -> 1: chunk 0', or 'round'")
        self.line = number
        head = head or self._head(values)
        return head.name, self._built(head, lines), tuple(line.number for line in lines)

    # The head ---------------------------------------------------------------------------

    def _key(self, line: str, values: dict[str, tuple[int, str]]) -> None:
        key, _, value = (part.strip() for part in line.partition(":"))
        if key not in _KEYS:
            error = UnknownNameError("key", key, _KEYS)
            raise FileError(self.file, f"line {self.line}: {error}")
        if key in values:
            self.wrong(line, f"one {key}, and line {values[key][0]} has one")
        if not value:
            self.wrong(line, f"a value after '{key}:'")
        if key == "schema" and value != SCHEMA:
            self.wrong(value, expected_schema(SCHEMA, value))
        values[key] = self.line, value

    def _head(self, values: dict[str, tuple[int, str]]) -> _Head:
        def number(key: str, low: int, high: int, default: int | None = None) -> int:
            if key not in values:
                if default is None:
                    raise FileError(
                        self.file, f"line {self.line}: no '{key}:' before this, expected one"
                    )
                return default
            here, self.line = self.line, values[key][0]
            found = self._whole(values[key][1], key, high, low)
            self.line = here
            return found

        kind = self._kind(values)
        ranks = number("ranks", 1, MOST_RANKS)
        root = number("root", 0, ranks - 1, self.wanted_root or 0)
        if self.wanted_root is not None and kind.rooted and root != self.wanted_root:
            raise FileError(self.file, f"has root {root}, expected {self.wanted_root}")
        parts = number("parts", 1, _MOST, 1)
        reason = too_many_chunks(kind.name, ranks, parts)
        if reason is not None:
            line = values.get("parts", values["ranks"])[0]
            raise FileError(self.file, f"line {line}: {reason}")
        return _Head(
            name=values.get("name", (0, ""))[1],
            kind=kind,
            ranks=ranks,
            root=root if kind.rooted else 0,
            parts=parts,
            scratch=number("scratch", 0, _MOST_SCRATCH, 0),
        )

    def _kind(self, values: dict[str, tuple[int, str]]) -> Collective:
        asked = None if self.given is None else collective(self.given)
        if "collective" not in values:
            if asked is None:
                raise FileError(
                    self.file,
                    f"line {self.line}: no 'collective:' before this, expected one of "
                    f"{', '.join(COLLECTIVES)}",
                )
            return asked
        try:
            found = collective(values["collective"][1])
        except UnknownNameError as error:
            raise FileError(self.file, f"line {values['collective'][0]}: {error}") from None
        if asked is not None and asked.name != found.name:
            raise FileError(
                self.file, f"is a schedule of {found.name}, expected one of {asked.name}"
            )
        return found

    # A message --------------------------------------------------------------------------

    def _message(self, line: str, head: _Head, now: int) -> _Line:
        ends, colon, rest = line.partition(":")
        parts = _ARROW.split(ends.strip())
        if not colon or len(parts) != 2:
            self.wrong(line, "a message such as '0 -> 1: chunk 0'")
        src, dst = (self._whole(end, "a rank", head.ranks - 1) for end in parts)
        words = re.sub(r"\s*([,+-])\s*", r"\1", rest.strip()).replace("+", " + ").split()
        reduces = bool(words) and words[0] in ("reduce", "+")
        if reduces:
            words.pop(0)
        if words and words[0] in ("chunk", "chunks"):
            words.pop(0)
        elif not reduces or not words:
            self.wrong(rest.strip(), "'chunk 0', 'chunks 0-3,5', or 'reduce' before it")
        if not words:
            self.wrong(rest.strip(), "the number of a chunk")
        chunks = self._chunks(words.pop(0), head)
        found = _Line(self.line, src, dst, reduces, chunks, chunks, 0, now)
        for word, value in self._options(words):
            if word == "into":
                found.into = self._chunks(value, head)
            elif word == "channel":
                found.channel = self._whole(value, "a channel", 2**15 - 1)
            elif word == "named":
                found.named = value
            else:
                found.after = tuple(value.split(","))
        if len(found.into) != len(chunks):
            self.wrong(
                rest.strip(),
                f"as many chunks after 'into' as before it, which are {len(chunks)}",
            )
        return found

    def _options(self, words: list[str]) -> Iterator[tuple[str, str]]:
        seen: set[str] = set()
        while words:
            word = words.pop(0)
            if word not in _WORDS or word in seen:
                self.wrong(word, f"the end of the line, or {', '.join(_WORDS)} once")
            seen.add(word)
            if word == "into" and words and words[0] in ("chunk", "chunks"):
                words.pop(0)
            if not words:
                self.wrong(word, f"a value after {word!r}")
            yield word, words.pop(0)

    def _chunks(self, text: str, head: _Head) -> list[int]:
        found: list[int] = []
        for part in text.split(","):
            spare = part.startswith("s")
            first, dash, last = part.removeprefix("s").partition("-")
            what = "a scratch chunk" if spare else "a chunk"
            high = (head.scratch if spare else head.pieces) - 1
            if high < 0:
                self.wrong(part, "a 'scratch:' in the head, which says how many there are")
            low = self._whole(first, what, high)
            end = self._whole(last.removeprefix("s"), what, high) if dash else low
            if end < low:
                self.wrong(part, "a range that rises")
            self._carried += end - low + 1
            if self._carried > _MOST_CHUNKS:
                self.wrong(part, f"at most {_MOST_CHUNKS:,} chunks in all messages together")
            shift = head.pieces if spare else 0
            found += range(low + shift, end + shift + 1)
        return found

    def _whole(self, text: str, what: str, high: int, low: int = 0) -> int:
        if text.isascii() and text.isdigit() and len(text) <= 10 and low <= int(text) <= high:
            return int(text)
        expected = f"from {low} to {high}" if high < _MOST else f"from {low} up"
        return self.wrong(text, f"{what} {expected}")

    # The schedule -----------------------------------------------------------------------

    def _built(self, head: _Head, lines: list[_Line]) -> Schedule:
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

    def _held_up(self, schedule: Schedule, lines: list[_Line]) -> Schedule:
        """Add what messages wait for by name."""
        names: dict[str, int] = {}
        waits: list[list[int]] = []
        for o, line in enumerate(lines):
            self.line = line.number
            mine = schedule.waits_for(o).tolist()
            for name in line.after:
                if name not in names:
                    self.wrong(name, "the name of a message above")
                mine.append(names[name])
            waits.append(mine)
            if line.named:
                if line.named in names:
                    self.wrong(line.named, "a name that no message above has")
                names[line.named] = o
        if not any(line.after for line in lines):
            return schedule
        dep_ptr, dep = reduced(waits)
        return replace(schedule, dep_ptr=dep_ptr, dep=dep)
