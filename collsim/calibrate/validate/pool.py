"""Results of several systems taken together."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from collsim.calibrate.validate.bench import Line
from collsim.calibrate.validate.errors import Errors, errors
from collsim.calibrate.validate.result import Result

__all__ = ["met", "pooled"]


def pooled(
    results: Sequence[Result], system: str, wanted: Callable[[Result], bool]
) -> list[Result]:
    """Return one result per contender over the rows of all wanted results.

    A contender that says nothing of some of them says nothing of all: errors beside one another
    are of the same rows.

    Examples
    --------
    >>> def one(system, ratio):
    ...     return Result("sizes", system, "own", "", ("broadcast",), "fitted", None, None,
    ...         None, (ratio,), (False,))
    >>> both = pooled([one("a", 0.9), one("b", 1.3)], "both", lambda result: True)
    >>> [(result.system, round(result.all.median, 3), result.all.n) for result in both]
    [('both', 0.2, 2)]
    """
    chosen = [one for one in results if wanted(one)]
    found = []
    for name in dict.fromkeys(one.predictor for one in chosen):
        parts = [one for one in chosen if one.predictor == name]
        kinds = tuple(dict.fromkeys(k for one in parts for k in one.collectives))
        whole = replace(parts[0], system=system, collectives=kinds)
        reason = next((one.reason for one in parts if one.reason is not None), None)
        if reason is not None:
            found.append(replace(whole, reason=reason, all=None, clean=None, ratio=()))
            continue
        ratio = np.concatenate([one.ratio for one in parts])
        outlier = np.concatenate([one.outlier for one in parts]).astype(bool)
        found.append(
            replace(
                whole,
                all=errors(ratio),
                clean=errors(ratio[~outlier]),
                ratio=tuple(ratio.tolist()),
                outlier=tuple(outlier.tolist()),
            )
        )
    return found


def met(line: Line, found: Errors | None) -> bool | None:
    """Return whether errors are within what is asked; None if nothing is asked or told.

    Examples
    --------
    >>> line = Line("sizes", 0.03, 0.10)
    >>> met(line, Errors(0.02, 0.09, 5)), met(line, Errors(0.02, 0.11, 5)), met(line, None)
    (True, False, None)
    """
    if found is None or line.median is None or line.p90 is None:
        return None
    return found.median <= line.median and found.p90 <= line.p90
