"""Reads JSON value by value, so that a large file is never held as a whole."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final

__all__ = ["JsonError", "Pull", "parsed"]

_MARK = re.compile(r"[\"\\\[\]{}]")
_SCALAR_END = re.compile(r"[\s,\]}:]")
_SPACE = re.compile(r"[\s\ufeff\0]*")
_MOST: Final = 16 << 20


class JsonError(ValueError):
    """JSON that ends or goes on otherwise than it must."""


class Pull:
    """A position in JSON text that comes in pieces.

    Parameters
    ----------
    pieces : iterable of str
        The text.

    Attributes
    ----------
    line : int
        Line of the position, counted from 1.

    Examples
    --------
    >>> pull = Pull(['{"a": [1, 2],', '"b": {"c": "}"}}'])
    >>> [(key, pull.value()) for key in pull.members()]
    [('a', '[1, 2]'), ('b', '{"c": "}"}')]
    """

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = iter(pieces)
        self._text = ""
        self._at = 0
        self.line = 1

    def peek(self) -> str:
        """Return the next character that is not blank, or "" at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            end = found.end() if found else self._at
            self._advance(end)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._fill():
                return ""

    def take(self, expected: str) -> None:
        """Take one character; JsonError if another one comes."""
        found = self.peek()
        if found != expected:
            raise JsonError(f"expected {expected!r}, got {found!r}" if found else "cut here")
        self._advance(self._at + 1)

    def members(self) -> Iterator[str]:
        """Yield the keys of an object; the caller takes the value after each."""
        self.take("{")
        if self.peek() == "}":
            self.take("}")
            return
        while True:
            key = self.value(1 << 12)
            if key is None or not key.startswith('"'):
                raise JsonError("expected a key")
            self.take(":")
            yield key[1:-1]
            if self.peek() == "}":
                self.take("}")
                return
            self.take(",")

    def items(self) -> Iterator[int]:
        """Yield the line of each item of a list; the caller takes the item."""
        self.take("[")
        if self.peek() == "]":
            self.take("]")
            return
        while True:
            self.peek()
            yield self.line
            if self.peek() == "]":
                self.take("]")
                return
            self.take(",")

    def value(self, most: int = _MOST) -> str | None:
        """Take one value and return its text; None if it is longer than `most`."""
        parts: list[str] = []
        length = 0
        for part in self._span():
            length += len(part)
            if length <= most:
                parts.append(part)
        return "".join(parts) if length <= most else None

    def skip(self) -> None:
        """Take one value and keep nothing of it."""
        for _ in self._span():
            pass

    def _span(self) -> Iterator[str]:
        first = self.peek()
        if not first:
            raise JsonError("cut here")
        if first in '"[{':
            yield from self._nested()
        elif first in "]},:":
            raise JsonError(f"expected a value, got {first!r}")
        else:
            yield from self._scalar()

    def _scalar(self) -> Iterator[str]:
        while True:
            found = _SCALAR_END.search(self._text, self._at)
            end = found.start() if found else len(self._text)
            yield self._text[self._at : end]
            self._advance(end)
            if found or not self._fill():
                return

    def _nested(self) -> Iterator[str]:
        depth, quoted, skipped = 0, False, False
        while True:
            begin = self._at
            if skipped:  # a backslash ended the last piece
                self._at += 1
                skipped = False
            done = False
            while not done:
                found = _MARK.search(self._text, self._at)
                if found is None:
                    break
                self._at = found.end()
                mark = found[0]
                if mark == "\\":
                    if quoted and self._at == len(self._text):
                        skipped = True
                    self._at += quoted and self._at < len(self._text)
                elif mark == '"':
                    quoted = not quoted
                    done = depth == 0 and not quoted
                elif not quoted:
                    depth += 1 if mark in "[{" else -1
                    done = depth == 0
            end = self._at if done else len(self._text)
            self._at = begin
            yield self._text[begin:end]
            self._advance(end)
            if done:
                return
            if not self._fill():
                raise JsonError("cut here")

    def _advance(self, end: int) -> None:
        self.line += self._text.count("\n", self._at, end)
        self._at = end

    def _fill(self) -> bool:
        """Replace what was taken by the next piece; False at the end."""
        rest = self._text[self._at :]
        piece = next(self._pieces, None)
        if piece is None:
            return False
        self._text, self._at = rest + piece, 0
        return True


def parsed(text: str | None) -> object:
    """Return a value, numbers with a point as their own text; None for what is no JSON.

    Examples
    --------
    >>> parsed('{"time": 1.50, "size": 8, "wrong": NaN}')
    {'time': '1.50', 'size': 8, 'wrong': 'nan'}
    """
    if text is None:
        return None
    try:
        return json.loads(text, parse_float=str, parse_constant=lambda _: "nan")
    except (ValueError, RecursionError):
        return None
