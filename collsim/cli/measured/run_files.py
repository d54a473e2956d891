"""The files that `calibrate run` writes: their names, and what becomes of old ones."""

import contextlib
import os
from collections.abc import Iterable
from typing import Final

from collsim.cli.program.output import note
from collsim.errors import FileError, UsageError

__all__ = ["check_written", "file_names", "remove_stale"]

_BY: Final = b'source = "collsim calibrate run"'


def file_names(path: str) -> tuple[str, str]:
    """Return the names of the rows and of the cluster file beside a profile.

    Raises
    ------
    UsageError
        If the name is none that three files can be made of.

    Examples
    --------
    >>> file_names("out/desk.toml")
    ('out/desk.jsonl', 'out/desk-cluster.toml')
    """
    stem = path.removesuffix(".toml")
    if path == "-" or os.path.basename(stem) in ("", ".", ".."):
        raise UsageError(
            f"-o {path!r}: the rows and a cluster file go beside the profile, expected its "
            "name, such as machine.toml"
        )
    if path.endswith(".jsonl"):
        raise UsageError(
            f"-o {path}: expected the name of the profile, such as "
            f"{path.removesuffix('.jsonl')}.toml; the rows go beside it, into {path}"
        )
    return f"{stem}.jsonl", f"{stem}-cluster.toml"


def check_written(paths: Iterable[str], resume: bool) -> None:
    """Refuse to write over what is there, before hours of measuring."""
    for path in paths:
        if os.path.isdir(path):
            raise FileError(path, "is a directory")
        if os.path.lexists(path) and not resume:
            raise FileError(
                path, "exists; --resume goes on and writes it anew, or name another file"
            )


def remove_stale(path: str) -> None:
    """Remove a cluster file of an earlier run that the rows no longer tell of, and say so.

    One that `calibrate run` has not written stays.
    """
    if not os.path.isfile(path):
        return
    with contextlib.suppress(OSError):
        with open(path, "rb") as file:
            own = _BY in file.read()
        if own:
            os.unlink(path)
            note(f"{path} removed: by all rows, messages do not wait for each other any more")
            return
    note(f"{path} is not by this run, and stays as it is")
