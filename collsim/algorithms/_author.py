"""A mistake in an algorithm's file: one line that names the author's own."""

import inspect
import math
import traceback
from collections.abc import Callable
from dataclasses import fields, replace
from functools import update_wrapper
from numbers import Real
from types import TracebackType
from typing import Any, Final, Generic, ParamSpec, TypeVar

from collsim.core.algorithm import Algorithm, Terms
from collsim.core.collective import check_count
from collsim.core.symmetry import Symmetry
from collsim.errors import AlgorithmError, CollsimError, InputError

__all__ = ["guarded", "mistakes", "place_of"]

P = ParamSpec("P")
R = TypeVar("R")


class mistakes:  # noqa: N801 - used as a function is
    """Tell of what fails in an algorithm's file where it does.

    No generator, through which a StopIteration would pass as if it were its own.

    Parameters
    ----------
    known, name : str
        Collective and algorithm, as its path has them.
    place : str
        Where, if nothing in the file was running.

    Raises
    ------
    AlgorithmError
        For whatever is no error of ours, an exit included; Ctrl-C is not held up.
    InputError
        What the builder refuses, with the place.
    """

    def __init__(self, known: str, name: str, place: str = "") -> None:
        self.known, self.name, self.place = known, name, place

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Raise what is told instead of an error."""
        if error is None or isinstance(error, KeyboardInterrupt | MemoryError):
            return
        place = _place(trace, self.known, self.name)
        if isinstance(error, CollsimError):
            # Children of it have causes of their own, such as a schedule that is too large;
            # and an algorithm that another one is made of has told its place already.
            if type(error) is not InputError or error.__cause__ is not None:
                return
            if place is not None:
                raise InputError(f"{error} ({place})") from error
            if self.place:
                raise AlgorithmError(
                    f"{self.known}/{self.name}: {error} ({self.place})"
                ) from error
            return
        place = place or self.place or "in its file"
        if isinstance(error, SyntaxError):
            place = f"{error.filename}, line {error.lineno}"
        said = _written(str, error.msg if isinstance(error, SyntaxError) else error) or ""
        raise AlgorithmError(
            f"{self.known}/{self.name}: {type(error).__name__}{f': {said}' if said else ''} "
            f"({place})"
        ) from error


def _written(write: Callable[[object], str], what: object) -> str | None:
    """Return an author's object as `str` or `repr` writes it, or None where that fails."""
    try:
        return write(what)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - an author's __str__ may raise anything
        return None


def _place(trace: TracebackType | None, known: str, name: str) -> str | None:
    """Return file and line of the algorithm's own code that is nearest to the mistake."""
    module = f"collsim.algorithms.{known}.{name}"
    own = [
        f"{frame.f_code.co_filename}, line {line}"
        for frame, line in traceback.walk_tb(trace)
        if frame.f_globals.get("__name__") == module
    ]
    return own[-1] if own else None


def place_of(function: object) -> str:
    """Return file and line in which a function of an algorithm's file begins.

    Examples
    --------
    >>> from collsim.algorithms import find
    >>> place_of(find("broadcast", "mst").build).rpartition(" ")[0][-12:]
    'mst.py, line'
    """
    while isinstance(function, _Guarded):
        function = function.function
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}, line {code.co_firstlineno}" if code else "in its file"


def _wrong_build(result: object) -> str | None:
    if inspect.isgenerator(result):
        return "build must list messages, it is a generator"
    if inspect.iscoroutine(result):
        result.close()
        return "build must list messages, it is a coroutine"
    return None


def _wrong_terms(result: object) -> str | None:
    if result is None:
        return None
    if not isinstance(result, Terms):
        return f"terms: got {_shown(result)}, expected Terms or None"
    for key in ("alphas", "betas", "gammas"):
        value = getattr(result, key)
        if not isinstance(value, Real) or not math.isfinite(value) or value < 0:
            return f"terms: {key} is {_shown(value)}, expected a finite number from 0 up"
    return None


def _wrong_parts(result: object) -> str | None:
    try:
        check_count("parts", result)
    except InputError as error:
        return str(error)
    return None


def _wrong_reason(result: object) -> str | None:
    if result is None or isinstance(result, str):
        return None
    return f"got {_shown(result)} for a reason, expected text or None"


def _wrong_symmetry(result: object) -> str | None:
    if result is None or isinstance(result, Symmetry):
        return None
    return f"symmetry: got {_shown(result)}, expected a Symmetry or None"


def _shown(value: object) -> str:
    written = _written(repr, value)
    return f"a {type(value).__name__}" if written is None else written


# What each function of an algorithm may return: why a result is wrong, or None.
_WRONG: Final[dict[str, Callable[[object], str | None]]] = {
    "build": _wrong_build,
    "terms": _wrong_terms,
    "parts": _wrong_parts,
    "parts_on": _wrong_parts,
    "limits": _wrong_reason,
    "needs": _wrong_reason,
    "symmetry": _wrong_symmetry,
}


class _Guarded(Generic[P, R]):
    """A function of an algorithm's file; a class, so that it can be sent to a process."""

    def __init__(self, function: Callable[P, R], known: str, name: str, field: str) -> None:
        self.function, self.known, self.name, self.field = function, known, name, field
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        with mistakes(self.known, self.name):
            result = self.function(*args, **kwargs)
        wrong = _WRONG[self.field](result)
        if wrong is not None:
            raise AlgorithmError(f"{self.known}/{self.name}: {wrong} ({place_of(self)})")
        return result


def guarded(algorithm: Algorithm, known: str, name: str) -> Algorithm:
    """Return an algorithm that says where in its file its functions fail.

    Examples
    --------
    >>> from collsim.algorithms import find
    >>> find("all_reduce", "ring").terms("eight", 1)
    Traceback (most recent call last):
        ...
    collsim.errors.AlgorithmError: all_reduce/ring: TypeError: ...
    """
    usual = {field.name: field.default for field in fields(algorithm)}
    own = {key: getattr(algorithm, key) for key in _WRONG}
    # Who asks whether it is the usual one finds that it is.
    changed: dict[str, Any] = {
        key: _Guarded(function, known, name, key)
        for key, function in own.items()
        if callable(function) and function is not usual[key]
    }
    return replace(algorithm, **changed)
