"""A verification for the reader: a line for each algorithm, and what is wrong."""

from collections.abc import Iterable
from itertools import groupby

from collsim.choose.verify import LeftOut, Row, Verification
from collsim.report.table import aligned

__all__ = ["left_out_notes", "verify_text"]


def _spans(numbers: Iterable[int]) -> str:
    """Spell whole numbers as `parse_ranks` reads them.

    Examples
    --------
    >>> _spans([1, 2, 3, 4, 13, 16, 17])
    '1-4,13,16-17'
    """
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def verify_text(found: Verification) -> str:
    """Return a verification as text.

    Examples
    --------
    >>> from collsim.choose.verify import verify
    >>> print(verify_text(verify("all_reduce", "ring", (1, 2, 3, 5))))
    collective  algorithm  ranks  cases  result
    all_reduce  ring       1-3,5      4  ok
    """
    lines = []
    for (collective, algorithm), group in groupby(found.rows, key=_key):
        rows = list(group)
        wrong = sum(not row.ok for row in rows)
        lines.append(
            (
                collective,
                algorithm,
                _spans(row.ranks for row in rows),
                str(len(rows)),
                f"{wrong} wrong" if wrong else "ok",
            )
        )
    left = ("collective", "algorithm", "ranks", "result")
    table = aligned(("collective", "algorithm", "ranks", "cases", "result"), lines, left)
    wrong_rows = [_wrong(row) for row in found.rows if not row.ok]
    return "\n".join([table, *wrong_rows, *_nodes(found)])


def _nodes(found: Verification) -> list[str]:
    """Return on which nodes was verified what can't do without."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for (collective, algorithm), words in found.nodes.items():
        alike.setdefault(words, []).append(f"{collective}/{algorithm}")
    return [f"on {'; '.join(words)}: {', '.join(names)}" for words, names in alike.items()]


def _key(row: Row) -> tuple[str, str]:
    return row.collective, row.algorithm


def _wrong(row: Row) -> str:
    root = "" if row.root is None else f", root {row.root}"
    return f"wrong: {row.collective}/{row.algorithm} on {row.ranks} ranks{root}: {row.reason}"


def left_out_notes(found: Verification) -> list[str]:
    """Return what was left out, a sentence for each algorithm and reason.

    Reasons that differ only in the rank count that they name are one.
    """
    cases: dict[tuple[str, str], list[LeftOut]] = {}
    for case in found.left_out:
        general = case.reason.replace(f"{case.ranks} ranks", "so many ranks")
        cases.setdefault((f"{case.collective}/{case.algorithm}", general), []).append(case)
    return [
        f"left out {name} on {_spans([case.ranks for case in alike])} ranks: "
        f"{general if len(alike) > 1 else alike[0].reason}"
        for (name, general), alike in cases.items()
    ]
