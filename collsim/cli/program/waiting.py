"""Files that keep a command waiting, told before it begins."""

import os
import stat
import sys
from typing import Final

import click

from collsim.cli.program.output import note
from collsim.cli.program.overwriting import files_named

__all__ = ["tell_waiting"]

_LARGE: Final = 16 << 20  # bytes that take seconds to read


def tell_waiting(context: click.Context) -> None:
    """Tell of pipes, which wait for somebody at their other end, and of large files.

    Parameters
    ----------
    context : click.Context
        Of a command, with its parameters parsed.
    """
    for written, what in ((False, "writes to it"), (True, "reads it")):
        for _, path in files_named(context, written=written):
            try:
                found = os.stat(path)
            except (OSError, ValueError):
                continue  # whoever opens it says what is wrong with it
            # Those that a shell makes are of its own, as in `<(command)`.
            if stat.S_ISFIFO(found.st_mode) and not path.startswith(("/dev/", "/proc/")):
                note(f"{path} is a pipe: waiting until somebody {what}")
            elif found.st_size > _LARGE and not written:
                from collsim.units import format_size

                note(f"{path} has {format_size(found.st_size, 3)}, which takes a while to read")
    if "-" in context.params.get("logs", ()) and sys.stdin is not None and sys.stdin.isatty():
        note("reading what is typed; Ctrl-D ends it")
