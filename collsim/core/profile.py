"""Fitted numbers of a real machine, and how far they can be trusted."""

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Literal

from collsim.errors import InputError, UnknownNameError

__all__ = ["MAX_CHUNKS", "UNITS", "ErrorSummary", "Parameter", "Profile"]

UNITS = {"alpha": "s", "beta": "s/B", "alpha_busy": "s", "launch": "s"}
MAX_CHUNKS = 65536
KINDS = ("fit", "datasheet", "assumption")


@dataclass(frozen=True)
class Parameter:
    """One number with its uncertainty.

    Parameters
    ----------
    value : float
        SI, finite and from 0 up.
    low, high : float, optional
        Ends of the 95 % interval; None if the data do not tell it.
    unit : str
        ``"s"`` or ``"s/B"``.
    kind : str
        ``fit``, ``datasheet`` or ``assumption``.

    Examples
    --------
    >>> Parameter(2e-6, 1.5e-6, 2.5e-6, "s").value
    2e-06
    """

    value: float
    low: float | None
    high: float | None
    unit: str
    kind: str = "fit"

    def __post_init__(self) -> None:
        for name in ("value", "low", "high"):
            number = getattr(self, name)
            if number is None and name != "value":
                continue
            _check_number(name, number)
        if (self.low is None) != (self.high is None):
            raise InputError("low, high: expected both or neither")
        low = self.value if self.low is None else self.low
        high = self.value if self.high is None else self.high
        if not low <= self.value <= high:
            raise InputError(
                f"value: got {self.value!r}, expected it between low {low!r} and high {high!r}"
            )
        if self.unit not in UNITS.values():
            raise InputError(f"unit: got {self.unit!r}, expected 's' or 's/B'")
        if self.kind not in KINDS:
            raise InputError(f"kind: got {self.kind!r}, expected one of {', '.join(KINDS)}")


@dataclass(frozen=True)
class ErrorSummary:
    """Distribution over rows of the absolute value of predicted / measured - 1.

    Parameters
    ----------
    kind : str
        ``"in_sample"``, or what was held out: ``sizes collectives ranks nodes``.
    median, p90 : float
        Its median and its 90th percentile.
    n : int
        Number of rows.
    """

    kind: str
    median: float
    p90: float
    n: int

    def __post_init__(self) -> None:
        _check_number("median", self.median)
        _check_number("p90", self.p90)
        if self.n < 1:
            raise InputError(f"n: got {self.n!r}, expected a whole number from 1 up")


def _check_chunks(chunks: object) -> None:
    whole = not isinstance(chunks, bool) and isinstance(chunks, int)
    if not (whole and 1 <= chunks <= MAX_CHUNKS):  # type: ignore[operator]
        raise InputError(
            f"chunks: got {_shown(chunks)}, expected auto or a whole number "
            f"from 1 to {MAX_CHUNKS}"
        )


def _check_number(name: str, number: object) -> None:
    real = not isinstance(number, bool) and isinstance(number, int | float)
    if not (real and 0 <= number < math.inf and _fits(number)):  # type: ignore[operator]
        raise InputError(f"{name}: got {_shown(number)}, expected a finite number from 0 up")


def _fits(number: object) -> bool:
    """Return whether a number is no integer beyond what a float can hold."""
    return not isinstance(number, int) or number.bit_length() <= sys.float_info.max_exp


def _shown(value: object) -> str:
    # Python refuses to write out an integer of thousands of digits.
    return repr(value) if _fits(value) else "a huge number"


@dataclass(frozen=True)
class Profile:
    """Fitted parameters of one machine, with provenance.

    Parameters
    ----------
    name : str
        What to call it.
    parameters : dict of str to Parameter
        Keyed ``class.alpha``, ``class.beta`` (``class.protocol.alpha`` where a
        protocol was fitted apart) and ``launch``. Not to be changed.
    cluster : str
        The cluster it was fitted on; ``"ideal"`` is one uniform link class.
    algorithm : str
        The algorithm whose formula was fitted.
    chunks : int or "auto"
        Chunks of that algorithm; auto is the best power of two at each size.
    collectives : tuple of str
        What was measured.
    ranks, nodes : tuple of int
        The rank and node counts that were measured.
    min_bytes, max_bytes : int
        Smallest and largest size that was measured.
    library, process_model, clock, device : str, optional
        What the numbers hold for, as far as the sources say.
    columns : str
        ``out-of-place``, ``in-place`` or ``both``.
    sources : tuple of str
        Files that were read.
    errors : tuple of ErrorSummary
        In-sample first; then held-out, unless the rows were too few.
    notes : tuple of str
        What the numbers do not say, such as why ``launch`` is 0.

    Examples
    --------
    >>> ab = {"link.alpha": Parameter(1e-6, None, None, "s"),
    ...       "link.beta": Parameter(1e-11, None, None, "s/B")}
    >>> profile = Profile("mine", ab, algorithm="ring", ranks=(8,))
    >>> profile.uniform
    (1e-06, 1e-11, 0.0)
    >>> profile.classes
    ('link',)
    """

    name: str
    parameters: dict[str, Parameter]
    cluster: str = "ideal"
    algorithm: str = "ring"
    chunks: int | Literal["auto"] = 1
    collectives: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    nodes: tuple[int, ...] = ()
    min_bytes: int = 0
    max_bytes: int = 0
    library: str | None = None
    process_model: str | None = None
    clock: str | None = None
    device: str | None = None
    columns: str = "out-of-place"
    sources: tuple[str, ...] = ()
    errors: tuple[ErrorSummary, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, list):
                object.__setattr__(self, field.name, tuple(value))
        object.__setattr__(self, "parameters", dict(self.parameters))
        if self.chunks != "auto":
            _check_chunks(self.chunks)
        if not self.parameters:
            raise InputError("parameters: got none, expected link.alpha and link.beta or more")
        for key, parameter in self.parameters.items():
            unit = parameter_unit(key)
            if parameter.unit != unit:
                raise InputError(f"{key}: got unit {parameter.unit!r}, expected {unit!r}")

    @property
    def classes(self) -> tuple[str, ...]:
        """Link classes that have parameters."""
        found = (key.partition(".")[0] for key in self.parameters if "." in key)
        return tuple(dict.fromkeys(found))

    @property
    def uniform(self) -> tuple[float, float, float] | None:
        """``(alpha, beta, launch)`` if there is one link class, else None."""
        if len(self.classes) != 1:
            return None
        link = self.classes[0]
        if f"{link}.alpha" not in self.parameters or f"{link}.beta" not in self.parameters:
            return None
        launch = self.parameters["launch"].value if "launch" in self.parameters else 0.0
        return self.value(f"{link}.alpha"), self.value(f"{link}.beta"), launch

    def value(self, key: str) -> float:
        """Return the value of one parameter; UnknownNameError names the nearest."""
        if key not in self.parameters:
            raise UnknownNameError("parameter", key, tuple(self.parameters))
        return self.parameters[key].value

    def error(self, kinds: Iterable[str]) -> ErrorSummary | None:
        """Return the error summary whose kind is one of `kinds`, or None."""
        wanted = set(kinds)
        return next((error for error in self.errors if error.kind in wanted), None)


def parameter_unit(key: str) -> str:
    """Return the unit of a parameter by its key, or raise InputError.

    Examples
    --------
    >>> parameter_unit("nvlink4.ll128.beta")
    's/B'
    """
    parts = key.split(".")
    good = key == "launch" or (2 <= len(parts) <= 3 and all(parts) and parts[-1] != "launch")
    if not good or parts[-1] not in UNITS:
        raise InputError(
            f"parameter {key!r}: expected launch, "
            "or CLASS[.PROTOCOL] followed by .alpha, .beta or .alpha_busy"
        )
    return UNITS[parts[-1]]
