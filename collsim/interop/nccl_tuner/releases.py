"""Releases of NCCL as they were asked for: newer than any known, or without a CSV tuner."""

import re
from typing import Final

from collsim.nccl import Release, release

__all__ = ["reads_no_csv", "taken_for"]

# The example plugin reads a CSV from 2.27.7 on; that of 2.27.3 did not yet.
_FIRST_CSV: Final = (2, 27, 7)
# A number that no release has, for the newest that is known.
_NEWEST: Final = "9999.0"
_LAST: Final = 10**6


def reads_no_csv(version: str) -> bool:
    """Return whether a release of NCCL has no example plugin that reads a CSV.

    Examples
    --------
    >>> [reads_no_csv(v) for v in ("2.26", "2.27.5", "2.27", "2.30.7+cuda13.0")]
    [True, True, False, False]
    """
    return _number(version) < _FIRST_CSV


def taken_for(version: str) -> Release | None:
    """Return the newest known release if what is asked for is newer, else None.

    Examples
    --------
    >>> newest = taken_for("2.99")
    >>> newest.name if newest else "", taken_for("2.30"), taken_for("2.30.7"), taken_for("2.18")
    ('2.30.7', None, None, None)
    """
    newest = release(_NEWEST)
    asked, known = _number(version), newest.number
    named = asked[:2] > known[:2] or (asked > known and asked[2] != _LAST)
    return newest if named else None


def _number(version: str) -> tuple[int, int, int]:
    """Return major, minor, patch; of the last of its kind where no patch is named."""
    # Who has no version there is told so.
    release(version)
    major, minor, *patch = (int(n) for n in re.findall(r"\d+", re.split("[-+]", version)[0]))
    return major, minor, patch[0] if patch else _LAST
