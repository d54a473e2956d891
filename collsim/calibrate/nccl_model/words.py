"""What a fit of NCCL's pieces cannot tell, in words."""

from collections.abc import Sequence
from typing import Final

from collsim.calibrate.nccl_model.fitted import Fitted
from collsim.core.measurements import Measurement

__all__ = ["fit_notes"]

_FEW: Final = 5
_SHOWN: Final = 6


def fit_notes(rows: Sequence[Measurement], fitted: Fitted) -> list[str]:
    """Return what the rows leave open, and how NCCL's table was read.

    Examples
    --------
    >>> from collsim.calibrate.nccl_model.ladder import fit_nccl
    >>> from collsim.calibrate.nccl_model.system import System
    >>> rows = [Measurement("all_reduce", 8, 1024, 2e-5)]
    >>> notes = fit_notes(rows, fit_nccl(rows, System("ampere", 12, 240.0)))
    >>> notes[0]
    '1 row tells little: what it does not tell is as NCCL 2.30.7 and datasheets have it'
    """
    notes = []
    if len(rows) < _FEW:
        count, it = (
            ("1 row tells", "it does")
            if len(rows) == 1
            else (f"{len(rows)} rows tell", "they do")
        )
        known = "is as NCCL 2.30.7 and datasheets have it"
        notes.append(f"{count} little: what {it} not tell {known}")
    ranks = sorted({row.ranks for row in rows})
    kinds = sorted({row.collective for row in rows})
    if len(ranks) == 1 and len(kinds) < 3:
        notes.append(
            f"rows of {', '.join(kinds)} on {ranks[0]} ranks only: launch is hardly told from "
            "the latency of a step, so other rank counts are less sure"
        )
    nodes = sorted({row.nodes or 1 for row in rows})
    if fitted.system.several and len(set(nodes) - {1}) < 2:
        counts = " and ".join(map(str, nodes))
        notes.append(f"rows of {counts} nodes only: other node counts are less sure")
    if not fitted.by_table:
        notes.append(
            "NCCL's table does not tell what ran here: the fastest fitted piece is taken"
        )
    elif fitted.selector.scale != 1 or fitted.selector.two_nodes != 1:
        notes.append(
            f"NCCL's choice is read as if it believed in {fitted.selector.scale:g} times the "
            "bandwidth of its graph, which predicts left-out rows best"
        )
    return notes + _untold_notes(fitted)


def _untold_notes(fitted: Fitted) -> list[str]:
    """Return which parameters the rows move but don't tell, by class.

    A parameter that no row depends on is not named: its kind in a profile is assumption.
    """
    untold = [key for key in fitted.untold if not fitted.believed(key)]
    if not untold:
        return []
    more = f" and {len(untold) - _SHOWN} more" if len(untold) > _SHOWN else ""
    names = ", ".join(untold[:_SHOWN]) + more
    return [f"the rows don't tell {names}: hardly surer than before measuring"]
