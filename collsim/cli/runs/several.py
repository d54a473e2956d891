"""One answer from those of several algorithms that were named."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from collsim.errors import InputError, UsageError

if TYPE_CHECKING:
    from collsim.choose.predict import Prediction

__all__ = ["joined", "names_alone"]


def names_alone(names: Sequence[str]) -> None:
    """Refuse auto and all beside names."""
    word = next((name for name in names if name in ("auto", "all")), None)
    if word is not None and len(names) > 1:
        raise UsageError(f"--algorithm {','.join(names)}: expected names, or {word} alone")


def joined(names: Sequence[str], ask: Callable[[str], "Prediction"]) -> "Prediction":
    """Return the rows of several algorithms by size; those that can't run are left out.

    Parameters
    ----------
    names : sequence of str
        Of the algorithms, in the order of the rows.
    ask : callable
        Predicts for one of them.
    """
    from dataclasses import replace

    names_alone(names)
    if len(names) == 1:
        return ask(names[0])
    answers, left_out = [], {}
    for name in dict.fromkeys(names):
        try:
            answers.append(ask(name))
        except InputError as error:
            left_out[name] = str(error)
    if not answers:
        raise InputError("; ".join(left_out.values()))
    rows = [
        row for at_size in zip(*(one.rows for one in answers), strict=True) for row in at_size
    ]
    return replace(answers[0], rows=tuple(rows), left_out=left_out)
