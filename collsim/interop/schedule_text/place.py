"""Where a reader of text is: what is wrong there is said with the number of the line."""

from typing import Final, NoReturn

from collsim.errors import FileError

__all__ = ["MOST", "Place"]

MOST: Final = 2**31 - 1
"""Of a number that nothing else limits."""
_SHOWN: Final = 40


class Place:
    """A line of a file.

    Parameters
    ----------
    file : str
        Its path.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.line = 0

    def wrong(self, got: str, expected: str) -> NoReturn:
        """Raise FileError with what was got here, and what was expected."""
        shown = got if len(got) <= _SHOWN else got[:_SHOWN] + "..."
        raise FileError(self.file, f"line {self.line}: got {shown!r}, expected {expected}")

    def whole(self, text: str, what: str, high: int, low: int = 0) -> int:
        """Return a whole number in range; FileError for anything else.

        Examples
        --------
        >>> place = Place("a.txt")
        >>> place.whole("3", "a rank", 7)
        3
        >>> place.whole("8", "a rank", 7)
        Traceback (most recent call last):
        collsim.errors.FileError: a.txt: line 0: got '8', expected a rank from 0 to 7
        """
        if text.isascii() and text.isdigit() and len(text) <= 10 and low <= int(text) <= high:
            return int(text)
        expected = f"from {low} to {high}" if high < MOST else f"from {low} up"
        return self.wrong(text, f"{what} {expected}")
