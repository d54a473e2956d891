"""The head of a schedule as text: lines of ``key: value``, and what follows from them."""

from dataclasses import dataclass
from typing import Final

from collsim.core.collective import COLLECTIVES, Collective, collective
from collsim.core.schema import expected_schema
from collsim.errors import FileError, UnknownNameError
from collsim.interop._size import MOST_RANKS, too_many_chunks
from collsim.interop.schedule_text.place import MOST, Place

__all__ = ["SCHEMA", "Head", "HeadReader"]

SCHEMA: Final = "collsim/schedule/1"
"""What a head may say; one that says nothing is of this version."""

_KEYS: Final = ("schema", "name", "collective", "ranks", "root", "parts", "scratch")
_MOST_SCRATCH: Final = 1_000_000


@dataclass
class Head:
    """The head, and what follows from it."""

    name: str
    kind: Collective
    ranks: int
    root: int
    parts: int
    scratch: int

    @property
    def pieces(self) -> int:
        """Chunks of the whole buffer."""
        return self.kind.blocks(self.ranks) * self.parts


class HeadReader:
    """Lines of a head, taken one by one.

    Parameters
    ----------
    place : Place
        Where the reader is.
    given : str, optional
        The collective that is expected.
    root : int, optional
        The root that is expected.
    """

    def __init__(self, place: Place, given: str | None, root: int | None) -> None:
        self.place, self.given, self.wanted_root = place, given, root
        self.values: dict[str, tuple[int, str]] = {}

    def key(self, line: str) -> None:
        """Take a line of the head."""
        values = self.values
        key, _, value = (part.strip() for part in line.partition(":"))
        if key not in _KEYS:
            error = UnknownNameError("key", key, _KEYS)
            raise FileError(self.place.file, f"line {self.place.line}: {error}")
        if key in values:
            self.place.wrong(line, f"one {key}, and line {values[key][0]} has one")
        if not value:
            self.place.wrong(line, f"a value after '{key}:'")
        if key == "schema" and value != SCHEMA:
            self.place.wrong(value, expected_schema(SCHEMA, value))
        values[key] = self.place.line, value

    def read(self) -> Head:
        """Return the head, after its last line."""
        values, place = self.values, self.place

        def number(key: str, low: int, high: int, default: int | None = None) -> int:
            if key not in values:
                if default is None:
                    raise FileError(
                        self.place.file,
                        f"line {self.place.line}: no '{key}:' before this, expected one",
                    )
                return default
            here, place.line = place.line, values[key][0]
            found = place.whole(values[key][1], key, high, low)
            place.line = here
            return found

        kind = self._kind()
        ranks = number("ranks", 1, MOST_RANKS)
        root = number("root", 0, ranks - 1, self.wanted_root or 0)
        if self.wanted_root is not None and kind.rooted and root != self.wanted_root:
            raise FileError(self.place.file, f"has root {root}, expected {self.wanted_root}")
        parts = number("parts", 1, MOST, 1)
        reason = too_many_chunks(kind.name, ranks, parts)
        if reason is not None:
            line = values.get("parts", values["ranks"])[0]
            raise FileError(self.place.file, f"line {line}: {reason}")
        return Head(
            name=values.get("name", (0, ""))[1],
            kind=kind,
            ranks=ranks,
            root=root if kind.rooted else 0,
            parts=parts,
            scratch=number("scratch", 0, _MOST_SCRATCH, 0),
        )

    def _kind(self) -> Collective:
        values = self.values
        asked = None if self.given is None else collective(self.given)
        if "collective" not in values:
            if asked is None:
                raise FileError(
                    self.place.file,
                    f"line {self.place.line}: no 'collective:' before this, expected one of "
                    f"{', '.join(COLLECTIVES)}",
                )
            return asked
        try:
            found = collective(values["collective"][1])
        except UnknownNameError as error:
            raise FileError(
                self.place.file, f"line {values['collective'][0]}: {error}"
            ) from None
        if asked is not None and asked.name != found.name:
            raise FileError(
                self.place.file, f"is a schedule of {found.name}, expected one of {asked.name}"
            )
        return found
