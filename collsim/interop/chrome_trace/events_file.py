"""The file of a trace: a head, and its events as they are made, packed or not."""

import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from collsim.errors import InputError
from collsim.files import write_parts

__all__ = ["check_trace_path", "write_events"]

_SCHEMA: Final = "collsim/trace/1"

_ENDINGS: Final = (".json", ".json.gz")
_LINES: Final = 1024
# What tells zlib to write gzip's header: the window's 15 bits, and 16.
_GZIP: Final = 31


def check_trace_path(path: str | os.PathLike[str]) -> str:
    """Return the name of a trace's file.

    Raises
    ------
    InputError
        If it ends in neither ``.json`` nor ``.json.gz``.

    Examples
    --------
    >>> check_trace_path("run.json.gz")
    'run.json.gz'
    """
    name = os.fspath(path)
    if not name.lower().endswith(_ENDINGS):
        raise InputError(f"trace {name!r}: expected a name that ends in .json or .json.gz")
    return name


def write_events(
    path: str | os.PathLike[str], unit: str, about: Mapping[str, str], events: Iterable[str]
) -> None:
    """Write the events of a trace, each the text of a JSON object; no list of all is held.

    Parameters
    ----------
    path : str or Path
        A name that ends in ``.json``, or in ``.json.gz`` to be packed.
    unit : str
        In which viewers spell times, ``ns`` or ``ms``.
    about : mapping
        What the trace is of.
    events : iterable of str
        The events.

    Raises
    ------
    InputError
        For another ending.
    FileError
        If the file can't be written; it is written whole or not at all.
    """
    name = check_trace_path(path)
    parts = _text(unit, {"schema": _SCHEMA, "producer": "collsim", **about}, iter(events))
    write_parts(path, _packed(parts) if name.lower().endswith(".gz") else parts)


def _text(unit: str, about: Mapping[str, str], events: Iterator[str]) -> Iterator[bytes]:
    head = f'{{"displayTimeUnit":"{unit}","otherData":{json.dumps(about)},"traceEvents":[\n'
    yield head.encode()
    between = ""
    while lines := list(islice(events, _LINES)):
        yield (between + ",\n".join(lines)).encode()
        between = ",\n"
    yield b"\n]}\n"


def _packed(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Return parts as gzip packs them, without a name or a date."""
    packer = zlib.compressobj(level=6, wbits=_GZIP)
    for part in parts:
        yield packer.compress(part)
    yield packer.flush()
