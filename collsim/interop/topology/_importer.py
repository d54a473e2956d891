"""What an importer is: how to know its format, and how to read it."""

from collections.abc import Callable
from dataclasses import dataclass

from collsim.interop.topology._machine import Machine

__all__ = ["Importer"]


@dataclass(frozen=True)
class Importer:
    """One format of machine descriptions; ``topology/<name>.py`` has it as ``IMPORTER``.

    Parameters
    ----------
    marks : callable
        ``head -> bool``: whether a file that begins so is of this format. `head` is
        text; of XML it begins with the first tag, whatever comes before it.
    read : callable
        ``(file, data) -> Machine``, from the bytes of the whole file. Raises FileError.
    summary : str
        What the format is called.
    """

    marks: Callable[[str], bool]
    read: Callable[[str, bytes], Machine]
    summary: str
