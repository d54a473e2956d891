"""Files that a command writes are none that it reads, and no two of them are one."""

import os
import stat
from collections.abc import Iterator
from itertools import combinations
from typing import Final

import click

from collsim.errors import UsageError

__all__ = ["WRITES", "files_named", "refuse_overwriting"]

WRITES: Final = frozenset({"--output", "--plot", "--trace", "--html", "--nccl-tuner"})
"""Options whose file is written. Others, and arguments, of a FILE or LOG are read."""
_READS: Final = ("FILE", "LOG")
_NAMED: Final = "NAME"  # a preset's name that is no path


def refuse_overwriting(context: click.Context) -> None:
    """Refuse a command line by which a file that is read, or just written, is lost.

    Parameters
    ----------
    context : click.Context
        Of a command, with its parameters parsed.

    Raises
    ------
    UsageError
        Names the option and the file, under whatever names it has.
    """
    written = list(files_named(context, written=True))
    for (option, path), (other, again) in combinations(written, 2):
        if _same(path, again):
            raise UsageError(f"{option} and {other}: both are {again}, expected two files")
    read = list(files_named(context, written=False))
    for option, path in written:
        for name, source in read:
            if _same(path, source):
                raise UsageError(f"{option}: {path} is read as {name}, expected another file")


def files_named(context: click.Context, *, written: bool) -> Iterator[tuple[str, str]]:
    """Yield the files of parameters that write, or that read, with what they are called."""
    for parameter in context.command.params:
        metavar = parameter.metavar or ""
        if not any(word in metavar for word in _READS):
            continue
        if bool(WRITES.intersection(parameter.opts)) != written:
            continue
        value = context.params.get(parameter.name or "")
        name = parameter.opts[-1] if isinstance(parameter, click.Option) else metavar.strip(".")
        for path in (value,) if isinstance(value, str) else value or ():
            if path not in ("", "-") and (_NAMED not in metavar or _is_path(path)):
                yield name, path


def _is_path(name: str) -> bool:
    from collsim.config.presets import is_path

    return is_path(name)


def _same(one: str, other: str) -> bool:
    """Return whether two names are of one file, which may be yet to come."""
    try:
        mode = os.stat(one).st_mode
        return stat.S_ISREG(mode) and os.path.samefile(one, other)
    except FileNotFoundError:
        return os.path.realpath(one) == os.path.realpath(other)
    except (OSError, ValueError):
        return False  # whoever opens it says what is wrong with it
