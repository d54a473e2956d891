"""What a validation finds."""

from dataclasses import dataclass
from typing import Final

from collsim.calibrate.validate.datasheets import SheetResult
from collsim.calibrate.validate.errors import Errors

__all__ = ["PREDICTORS", "Result", "Validation"]

PREDICTORS: Final = ("fitted", "three lines", "NCCL's model", "torch")
"""Contenders in the order of the page."""


@dataclass(frozen=True)
class Result:
    """What one contender reached in one trial.

    Parameters
    ----------
    line : str
        Key of the kind of prediction.
    system : str
        Name of the bench.
    role : str
        What that was for when the model was made.
    held_out : str
        Which rows were predicted.
    collectives : tuple of str
        Of those rows.
    predictor : str
        The contender.
    all, clean : Errors, optional
        With outliers, and without; None if it predicts nothing, see `reason`.
    reason : str, optional
        Why it predicts nothing.
    ratio : tuple of float
        Predicted / measured of every row.
    outlier : tuple of bool
        Which of them are outliers.
    """

    line: str
    system: str
    role: str
    held_out: str
    collectives: tuple[str, ...]
    predictor: str
    all: Errors | None
    clean: Errors | None
    reason: str | None = None
    ratio: tuple[float, ...] = ()
    outlier: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Validation:
    """What was reached on the logs of a folder.

    Parameters
    ----------
    results : tuple of Result
        In the order of `LINES`, then of the systems.
    sheets : tuple of SheetResult
        What the presets reach with nothing fitted.
    torch : str or None
        Version of torch; None if it was not asked, see `no_torch`.
    no_torch : str or None
        Why it was not.
    missing : tuple of str
        Names of systems whose logs the folder lacks.
    """

    results: tuple[Result, ...]
    sheets: tuple[SheetResult, ...]
    torch: str | None
    no_torch: str | None
    missing: tuple[str, ...]
