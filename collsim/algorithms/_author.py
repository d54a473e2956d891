"""A mistake in an algorithm's file: one line that names the author's own."""

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import update_wrapper
from types import TracebackType
from typing import Generic, ParamSpec, TypeVar

from collsim.core.algorithm import Algorithm
from collsim.errors import AlgorithmError, CollsimError, InputError

__all__ = ["guarded", "mistakes"]

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def mistakes(known: str, name: str) -> Iterator[None]:
    """Tell of what fails in an algorithm's file where it does.

    Parameters
    ----------
    known, name : str
        Collective and algorithm, as its path has them.

    Raises
    ------
    AlgorithmError
        For whatever is no error of ours.
    InputError
        What the builder refuses, with the place.
    """
    try:
        yield
    except MemoryError:
        raise
    except CollsimError as error:
        # Children of it have causes of their own, such as a schedule that is too large; and
        # an algorithm that another one is made of has told its place already.
        place = _place(error.__traceback__, known, name)
        if place is None or type(error) is not InputError or error.__cause__ is not None:
            raise
        raise InputError(f"{error} ({place})") from error
    except Exception as error:
        place = _place(error.__traceback__, known, name) or "in its file"
        if isinstance(error, SyntaxError):
            place = f"{error.filename}, line {error.lineno}"
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        kind = type(error).__name__
        raise AlgorithmError(
            f"{known}/{name}: {kind}{f': {said}' if said else ''} ({place})"
        ) from error


def _place(trace: TracebackType | None, known: str, name: str) -> str | None:
    """Return file and line of the algorithm's own code that is nearest to the mistake."""
    module = f"collsim.algorithms.{known}.{name}"
    own = [
        f"{frame.f_code.co_filename}, line {line}"
        for frame, line in traceback.walk_tb(trace)
        if frame.f_globals.get("__name__") == module
    ]
    return own[-1] if own else None


class _Guarded(Generic[P, R]):
    """A function of an algorithm's file; a class, so that it can be sent to a process."""

    def __init__(self, function: Callable[P, R], known: str, name: str) -> None:
        self.function, self.known, self.name = function, known, name
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        with mistakes(self.known, self.name):
            return self.function(*args, **kwargs)


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
    return replace(
        algorithm,
        build=_Guarded(algorithm.build, known, name),
        terms=_Guarded(algorithm.terms, known, name),
    )
