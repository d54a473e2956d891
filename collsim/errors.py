"""Every error that collsim raises on purpose.

One base class, so that one boundary can catch them; each child is also the
builtin that it specialises, so that ``except ValueError`` keeps working.
``str(error)`` is always one line.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from typing import Any, Self

__all__ = [
    "AlgorithmError",
    "CollsimError",
    "ConfigError",
    "FileError",
    "InputError",
    "MeasureError",
    "MissingExtraError",
    "TooLargeError",
    "UnknownNameError",
    "UsageError",
    "nearest",
    "one_line",
]

_SHOWN = 60  # characters of an offending value that a message repeats
_LONGEST = 2000  # characters of a message; what a file calls a key may be megabytes


def one_line(text: str) -> str:
    r"""Fold white space to single blanks and escape what cannot be printed.

    Examples
    --------
    >>> one_line("first\n  second")
    'first second'
    """
    folded = " ".join(text.split())
    if folded.isprintable():
        return folded
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in folded
    )


def nearest(name: str, choices: Iterable[str]) -> str | None:
    """Return the choice that `name` most likely meant, or None if none is close.

    Case, ``-`` and ``_`` make no difference.

    Examples
    --------
    >>> nearest("All-Redcue", ["all_reduce", "reduce"])
    'all_reduce'
    >>> nearest("zebra", ["all_reduce", "reduce"]) is None
    True
    """
    plain = {_plain(choice): choice for choice in sorted(choices, reverse=True)}
    close = difflib.get_close_matches(_plain(name), plain, n=1)
    return plain[close[0]] if close else None


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _suggestion(name: str, choices: Iterable[str]) -> str:
    return _meaning(nearest(name, choices))


def _meaning(meant: str | None) -> str:
    return f"; did you mean {meant!r}?" if meant else ""


def _restore(kind: type[CollsimError], args: tuple[Any, ...], state: dict[str, Any]) -> Any:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class CollsimError(Exception):
    """Base of every error that collsim raises on purpose.

    Parameters
    ----------
    message
        What was got and what was expected. Line breaks in it become blanks; of a very long
        one the middle is left out.

    Examples
    --------
    >>> print(CollsimError("ranks: got 0, expected 1 or more"))
    ranks: got 0, expected 1 or more
    """

    def __init__(self, message: str) -> None:
        said = one_line(message)
        if len(said) > _LONGEST:
            said = f"{said[: _LONGEST // 2]} ... {said[-_LONGEST // 2 :]}"
        super().__init__(said)

    # OSError and KeyError bring their own __str__, which would win otherwise.
    def __str__(self) -> str:
        return str(self.args[0])

    # The default calls the class with `args`, which fails for every child
    # whose constructor takes parts and not the finished message.
    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.args, self.__dict__)


class InputError(CollsimError, ValueError):
    """A value that a caller passed is not acceptable."""


class TooLargeError(InputError):
    """A job needs more memory or time than anyone would want to spend on it."""


class AlgorithmError(CollsimError, RuntimeError):
    """The file of an algorithm has a mistake; ``__cause__`` is what was raised there."""


class MeasureError(CollsimError, RuntimeError):
    """Ranks that were measured failed: one died, hung, or got the wrong data."""


class MissingExtraError(CollsimError, ImportError):
    """A library that only some users need is not installed.

    Examples
    --------
    >>> print(MissingExtraError("torch", "measure"))
    needs torch, which is not installed; expected: pip install 'collsim[measure]'
    """

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(
            f"needs {library}, which is not installed; expected: pip install 'collsim[{extra}]'"
        )


class UsageError(CollsimError, ValueError):
    """Arguments that contradict each other; the command line exits with 2."""


class UnknownNameError(CollsimError, LookupError):
    """A name that does not exist, with the nearest one that does.

    Parameters
    ----------
    what
        The kind of thing that was looked for, such as ``"algorithm"``.
    name
        The name that was asked for.
    choices
        The names that exist, in the order in which to list them.
    meant
        What was meant, where that is known better than by the spelling; ``""`` where
        the name is no slip of the pen, so that nothing is suggested.

    Examples
    --------
    >>> print(UnknownNameError("algorithm", "rng", ["mst", "ring"]))
    unknown algorithm 'rng'; did you mean 'ring'? (known: mst, ring)
    >>> print(UnknownNameError("algorithm", "swing", ["mst", "ring"], meant=""))
    unknown algorithm 'swing' (known: mst, ring)
    """

    def __init__(
        self, what: str, name: str, choices: Iterable[str], meant: str | None = None
    ) -> None:
        self.what = what
        self.name = name
        self.choices = tuple(choices)
        known = ", ".join(self.choices) if self.choices else "none"
        guess = _suggestion(name, self.choices) if meant is None else _meaning(meant)
        super().__init__(f"unknown {what} {_shown(name)}{guess} (known: {known})")


class ConfigError(CollsimError, ValueError):
    """A configuration file says something that collsim cannot accept.

    Parameters
    ----------
    file
        The file at fault.
    key
        The dotted key at fault, such as ``"node.gpus"``.
    got
        The value found there.
    expected
        What would have been right, in words.

    Examples
    --------
    >>> print(ConfigError("my.toml", "node.gpus", -1, "a whole number from 1 up"))
    my.toml: node.gpus: got -1, expected a whole number from 1 up
    >>> print(ConfigError.unknown_key("my.toml", "node.gpu", ["gpus", "link"]))
    my.toml: node.gpu: unknown key; did you mean 'gpus'? (known: gpus, link)
    >>> print(ConfigError.missing_key("my.toml", "node.gpus", "a whole number"))
    my.toml: node.gpus: missing, expected a whole number
    """

    file: str
    key: str | None

    def __init__(
        self, file: str | os.PathLike[str], key: str, got: object, expected: str
    ) -> None:
        self._say(file, key, f"got {_shown(got)}, expected {expected}")

    def _say(self, file: str | os.PathLike[str], key: str | None, problem: str) -> None:
        self.file = os.fspath(file)
        self.key = key
        where = self.file if key is None else f"{self.file}: {key}"
        super().__init__(f"{where}: {problem}")

    @classmethod
    def _saying(cls, file: str | os.PathLike[str], key: str | None, problem: str) -> Self:
        error = cls.__new__(cls)
        error._say(file, key, problem)  # noqa: SLF001 - a class may look into its own
        return error

    @classmethod
    def unknown_key(
        cls, file: str | os.PathLike[str], key: str, choices: Iterable[str]
    ) -> Self:
        """Error for a key that is not known; `choices` are its known siblings."""
        known = tuple(choices)
        meant = _suggestion(key.rpartition(".")[2], known)
        return cls._saying(file, key, f"unknown key{meant} (known: {', '.join(known)})")

    @classmethod
    def missing_key(cls, file: str | os.PathLike[str], key: str, expected: str) -> Self:
        """Error for a key that has to be there and is not."""
        return cls._saying(file, key, f"missing, expected {expected}")

    @classmethod
    def broken(cls, file: str | os.PathLike[str], reason: str) -> Self:
        """Error for a file that cannot be parsed or does not fit as a whole."""
        return cls._saying(file, None, reason)


class FileError(CollsimError, OSError):
    """A file that cannot be read or written.

    Parameters
    ----------
    path
        The file at fault, as the caller named it.
    reason
        Why, in words, or the error of the operating system.

    Examples
    --------
    >>> print(FileError("out.json", "is a directory"))
    out.json: is a directory
    """

    def __init__(self, path: str | os.PathLike[str], reason: str | OSError) -> None:
        self.path = os.fspath(path)
        if isinstance(reason, OSError):
            reason = reason.strerror or str(reason)
        self.reason = reason
        super().__init__(f"{self.path or repr('')}: {reason}")
