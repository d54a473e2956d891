"""Checks for the reader."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from collsim.calibrate.check import CheckResult, CheckRow
from collsim.report.table import aligned, format_number, format_us

__all__ = ["Compared", "check_text"]

_LEFT: Final = ("file", "collective", "ran", "verdict")
_COLUMNS: Final[dict[str, Callable[[CheckRow], str]]] = {
    "file": lambda row: row.file or "-",
    "collective": lambda row: row.collective,
    "ranks": lambda row: str(row.ranks),
    "nodes": lambda row: "-" if row.nodes is None else str(row.nodes),
    "ran": lambda row: "/".join(filter(None, (row.algorithm, row.protocol))) or "-",
    "size (B)": lambda row: str(row.size),
    "measured us": lambda row: format_us(row.measured_us),
    "predicted us": lambda row: format_us(row.predicted_us),
    "measured busbw": lambda row: format_number(row.measured_busbw),
    "predicted busbw": lambda row: format_number(row.predicted_busbw),
    "ratio": lambda row: f"{row.ratio:.3f}",
    "verdict": lambda row: row.verdict,
}


@dataclass(frozen=True)
class Compared:
    """What measured times were compared with.

    Parameters
    ----------
    cluster : str
        Name of the cluster.
    profile : str, optional
        Name of the profile whose numbers it has.
    algorithm : str
        What was predicted.
    network : str
        What the cluster is, in words.
    why : str
        Why it is that cluster, if nobody named one.
    """

    cluster: str
    profile: str | None
    algorithm: str
    network: str
    why: str = ""

    def __str__(self) -> str:
        """Return a line for the reader.

        Examples
        --------
        >>> print(Compared("ideal", "mine", "ring", "ideal one-port network"))
        predicted with profile mine: ring on ideal (ideal one-port network)
        """
        how = f" with profile {self.profile}" if self.profile is not None else ""
        why = f", {self.why}" if self.why else ""
        return f"predicted{how}: {self.algorithm} on {self.cluster}{why} ({self.network})"


def check_text(found: CheckResult, compared: Compared, caveat: str = "") -> str:
    """Return a check as text: measured beside predicted, what falls short, what it looks like.

    Which file a row is from is told where there are several, and what ran where a log
    says it. A caveat stands below the sentences of what falls short.
    """
    names = _short({row.file for row in found.rows if row.file})
    shown = dict(_COLUMNS)
    if len(names) > 1:
        shown["file"] = lambda row: names[row.file] if row.file else "-"
    else:
        del shown["file"]
    if not any(row.algorithm or row.protocol for row in found.rows):
        del shown["ran"]
    rows: Sequence[Sequence[str]] = [
        [cell(row) for cell in shown.values()] for row in found.rows
    ]
    table = aligned(tuple(shown), rows, _LEFT)
    words = f"{found.summary}\n{caveat}." if caveat else found.summary
    if found.suggestions:
        words += "\n\nwhat it looks like:\n" + "\n".join(
            f"- {one}" for one in found.suggestions
        )
    if found.failures:
        words += "\n\nwhat went wrong:\n" + "\n".join(f"- {one}" for one in found.failures)
    for file, name in names.items():
        words = words.replace(f"{file}: ", f"{name}: ")
    return f"# {compared}; busbw in GB/s\n{table}\n\n{words}"


def _short(files: set[str]) -> dict[str, str]:
    """Return the names of files without their folders, as far as they differ so."""
    names = {file: os.path.basename(file) for file in sorted(files)}
    return names if len(set(names.values())) == len(names) else {file: file for file in names}
