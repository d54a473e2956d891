"""A message of a schedule as text: ``0 -> 1: reduce chunks 0-3 into 4-7 after first``."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from collsim.interop.schedule_text.head import Head
from collsim.interop.schedule_text.place import Place

__all__ = ["ARROW", "Message", "MessageReader"]

ARROW: Final = re.compile(r"\s*(?:->|→)\s*")
"""What stands between the two ranks of a message, and in no other line."""
# What may follow the chunks of a message.
_WORDS: Final = ("into", "channel", "named", "after")
# Chunks carried, over all messages: a text of some megabytes could ask for billions.
_MOST_CHUNKS: Final = 4_000_000


@dataclass
class Message:
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


class MessageReader:
    """Messages of one file, read one by one.

    Parameters
    ----------
    place : Place
        Where the reader is.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self._carried = 0

    def read(self, line: str, head: Head, now: int) -> Message:
        """Return the message of a line, in round `now`."""
        ends, colon, rest = line.partition(":")
        parts = ARROW.split(ends.strip())
        if not colon or len(parts) != 2:
            self.place.wrong(line, "a message such as '0 -> 1: chunk 0'")
        src, dst = (self.place.whole(end, "a rank", head.ranks - 1) for end in parts)
        words = re.sub(r"\s*([,+-])\s*", r"\1", rest.strip()).replace("+", " + ").split()
        reduces = bool(words) and words[0] in ("reduce", "+")
        if reduces:
            words.pop(0)
        if words and words[0] in ("chunk", "chunks"):
            words.pop(0)
        elif not reduces or not words:
            self.place.wrong(rest.strip(), "'chunk 0', 'chunks 0-3,5', or 'reduce' before it")
        if not words:
            self.place.wrong(rest.strip(), "the number of a chunk")
        chunks = self._chunks(words.pop(0), head)
        found = Message(self.place.line, src, dst, reduces, chunks, chunks, 0, now)
        for word, value in self._options(words):
            if word == "into":
                found.into = self._chunks(value, head)
            elif word == "channel":
                found.channel = self.place.whole(value, "a channel", 2**15 - 1)
            elif word == "named":
                found.named = value
            else:
                found.after = tuple(value.split(","))
        if len(found.into) != len(chunks):
            self.place.wrong(
                rest.strip(),
                f"as many chunks after 'into' as before it, which are {len(chunks)}",
            )
        return found

    def _options(self, words: list[str]) -> Iterator[tuple[str, str]]:
        seen: set[str] = set()
        while words:
            word = words.pop(0)
            if word not in _WORDS or word in seen:
                self.place.wrong(word, f"the end of the line, or {', '.join(_WORDS)} once")
            seen.add(word)
            if word == "into" and words and words[0] in ("chunk", "chunks"):
                words.pop(0)
            if not words:
                self.place.wrong(word, f"a value after {word!r}")
            yield word, words.pop(0)

    def _chunks(self, text: str, head: Head) -> list[int]:
        found: list[int] = []
        for part in text.split(","):
            spare = part.startswith("s")
            first, dash, last = part.removeprefix("s").partition("-")
            what = "a scratch chunk" if spare else "a chunk"
            high = (head.scratch if spare else head.pieces) - 1
            if high < 0:
                self.place.wrong(
                    part, "a 'scratch:' in the head, which says how many there are"
                )
            low = self.place.whole(first, what, high)
            end = self.place.whole(last.removeprefix("s"), what, high) if dash else low
            if end < low:
                self.place.wrong(part, "a range that rises")
            self._carried += end - low + 1
            if self._carried > _MOST_CHUNKS:
                self.place.wrong(
                    part, f"at most {_MOST_CHUNKS:,} chunks in all messages together"
                )
            shift = head.pieces if spare else 0
            found += range(low + shift, end + shift + 1)
        return found
