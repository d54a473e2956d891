"""XML read with nothing that a description of a machine has no use for.

Straight on expat: no document type (so no entities, and nothing outside the file is ever
fetched), bounded depth and number of elements, and the whole text handed over at once,
because expat's time grew with the square of a token that comes in pieces.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from collsim.errors import FileError

__all__ = ["Element", "parse_xml"]

# NCCL's own readers stop at 256 and 65,536 elements, and nest about ten deep.
_MOST_ELEMENTS: Final = 100_000
_DEEPEST: Final = 64


@dataclass
class Element:
    """An element: its name, attributes, place and children.

    Parameters
    ----------
    file : str
        The file, as the user named it.
    tag : str
        Its name.
    attributes : dict of str to str
        As they are.
    line : int
        Where it begins.
    children : list of Element
        In the order of the file.
    """

    file: str
    tag: str
    attributes: Mapping[str, str]
    line: int
    children: list["Element"] = field(default_factory=list)

    def of(self, *tags: str) -> Iterator["Element"]:
        """Iterate over the children of these names."""
        return (child for child in self.children if child.tag in tags)

    def walk(self) -> Iterator["Element"]:
        """Iterate over the element and all below it, in the order of the file."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))

    def text(self, name: str, default: str = "") -> str:
        """Return an attribute without blanks around it."""
        return self.attributes.get(name, default).strip()

    def whole(self, name: str, low: int, high: int, default: int | None = None) -> int | None:
        """Return an attribute that is a whole number.

        Raises
        ------
        FileError
            If it is there and no number from `low` to `high`.
        """
        given = self.text(name)
        if not given:
            return default
        digits = given.removeprefix("-")
        # int() alone would take underscores, and digits of any script.
        if digits.isascii() and digits.isdigit() and len(digits) <= 18:
            value = int(given)
            if low <= value <= high:
                return value
        raise self.refuse(name, f"a whole number from {low} to {high}")

    def refuse(self, name: str, expected: str) -> FileError:
        """Return the error for an attribute that is not what was expected."""
        given = self.attributes.get(name, "")
        shown = repr(given if len(given) <= 40 else given[:40] + "...")
        return self.wrong(f"{name} is {shown}, expected {expected}")

    def wrong(self, problem: str) -> FileError:
        """Return an error that names the place."""
        return FileError(self.file, f"line {self.line}: {self.tag}: {problem}")


def parse_xml(file: str, data: bytes) -> Element:
    """Return the root element.

    Parameters
    ----------
    file : str
        The file, for errors.
    data : bytes
        What it holds, in any encoding that it declares.

    Raises
    ------
    FileError
        If it is no XML, has a document type, or is too deep or too large.

    Examples
    --------
    >>> root = parse_xml("a.xml", b'<system version="1"><cpu numaid="0"/></system>')
    >>> root.tag, root.children[0].whole("numaid", -1, 9)
    ('system', 0)
    >>> parse_xml("b.xml", b'<!DOCTYPE x [<!ENTITY e "ee">]><system>&e;</system>')
    Traceback (most recent call last):
    collsim.errors.FileError: b.xml: line 1: has a DOCTYPE, expected none
    """
    parser = expat.ParserCreate()
    roots: list[Element] = []
    above: list[Element] = []
    count = 0

    def refuse(reason: str) -> FileError:
        return FileError(file, f"line {parser.CurrentLineNumber}: {reason}")

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if len(above) >= _DEEPEST:
            raise refuse(f"nested too deeply, expected at most {_DEEPEST} levels")
        if count > _MOST_ELEMENTS:
            raise refuse(f"too many elements, expected at most {_MOST_ELEMENTS}")
        element = Element(file, tag, attributes, parser.CurrentLineNumber)
        (above[-1].children if above else roots).append(element)
        above.append(element)

    def doctype(*_: object) -> None:
        raise refuse("has a DOCTYPE, expected none")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: above.pop()
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code) or "no XML"
        raise FileError(file, f"line {error.lineno}: broken XML: {what}") from None
    except (LookupError, ValueError) as error:
        # An encoding that Python does not know, or has no table for.
        if isinstance(error, FileError):
            raise
        raise FileError(file, f"broken XML: {error}") from None
    return roots[0]
