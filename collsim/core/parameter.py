"""A fitted number, its uncertainty, and what its name says of its unit."""

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from collsim.errors import InputError

__all__ = [
    "LINE_UNITS",
    "UNITS",
    "Parameter",
    "check_number",
    "parameter_unit",
    "shown",
]

LINE_UNITS: Final = {"alpha": "s", "beta": "s/B", "alpha_busy": "s", "launch": "s"}
"""Units by the last part of a name, of profiles with one line per class of links."""
UNITS: Final = {
    **LINE_UNITS,
    # Start of a call beyond launch, of its own or of a whole kind of call.
    "extra": "s",
    "setup": "s",
    # While an LL channel fills: per step, and of the operation on a rank's own share.
    "fill": "s",
    "local_fill": "s",
    # A turn of NVLS's loop; what a kernel takes until all its channels are open.
    "loop": "s",
    "ramp": "s",
    # Sizes at which something turns: an LL channel is full, messages are no more eager, bytes
    # are no more hidden by the start, half of the ramp is over.
    "quantum": "B",
    "eager": "B",
    "hidden": "B",
    "ramp_bytes": "B",
    # Ratios: reducing steps to copying ones, both in one kernel to each, to another rank count.
    "reduce_alpha": "1",
    "reduce_beta": "1",
    "reduce_fill": "1",
    "fused_alpha": "1",
    "fused_beta": "1",
    "alpha_ratio": "1",
    "beta_ratio": "1",
    "rendezvous": "1",
    # Shares and counts.
    "local": "1",
    "efficiency": "1",
    "channels": "1",
    "pipeline": "1",
}
"""The same of profiles of NCCL: of what each is a part, `collsim.calibrate.nccl_model` says."""
_KINDS: Final = ("fit", "datasheet", "assumption")


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
        ``"s"``, ``"s/B"``, ``"B"``, or ``"1"`` for a number without one.
    kind : str
        ``fit``, ``datasheet`` or ``assumption``.
    source : str, optional
        Where it comes from, if it is not a fit.

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
    source: str | None = None

    def __post_init__(self) -> None:
        for name in ("value", "low", "high"):
            number = getattr(self, name)
            if number is None and name != "value":
                continue
            check_number(name, number)
        if (self.low is None) != (self.high is None):
            raise InputError("low, high: expected both or neither")
        low = self.value if self.low is None else self.low
        high = self.value if self.high is None else self.high
        if not low <= self.value <= high:
            raise InputError(
                f"value: got {self.value!r}, expected it between low {low!r} and high {high!r}"
            )
        if self.unit not in UNITS.values():
            units = ", ".join(dict.fromkeys(UNITS.values()))
            raise InputError(f"unit: got {self.unit!r}, expected one of {units}")
        if self.kind not in _KINDS:
            raise InputError(f"kind: got {self.kind!r}, expected one of {', '.join(_KINDS)}")


def check_number(name: str, number: object) -> None:
    """Refuse what is no finite number from 0 up."""
    real = not isinstance(number, bool) and isinstance(number, int | float)
    if not (real and 0 <= number < math.inf and _fits(number)):  # type: ignore[operator]
        raise InputError(f"{name}: got {shown(number)}, expected a finite number from 0 up")


def _fits(number: object) -> bool:
    """Return whether a number is no integer beyond what a float can hold."""
    return not isinstance(number, int) or number.bit_length() <= sys.float_info.max_exp


def shown(value: object) -> str:
    """Return what a message can repeat of a value."""
    # Python refuses to write out an integer of thousands of digits.
    return repr(value) if _fits(value) else "a huge number"


def parameter_unit(key: str, units: Mapping[str, str] = UNITS) -> str:
    """Return the unit of a parameter by its key, or raise InputError.

    Parameters
    ----------
    key : str
        ``launch``, or ``CLASS[.PROTOCOL].NAME``.
    units : mapping of str to str
        By the last part of a name: `UNITS`, or `LINE_UNITS`.

    Examples
    --------
    >>> parameter_unit("nvlink4.ll128.beta"), parameter_unit("nvls.simple.efficiency")
    ('s/B', '1')
    """
    parts = key.split(".")
    good = key == "launch" or (2 <= len(parts) <= 3 and all(parts) and parts[-1] != "launch")
    if not good or parts[-1] not in units:
        names = [f".{name}" for name in units if name != "launch"]
        raise InputError(
            f"parameter {key!r}: expected launch, "
            f"or CLASS[.PROTOCOL] followed by {', '.join(names[:-1])} or {names[-1]}"
        )
    return units[parts[-1]]
