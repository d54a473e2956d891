"""The page of what the fitted model reaches on rows that it did not see.

``docs/validation.md`` is what `validation_page` returns; tests compare the two.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from collsim.calibrate.validate import (
    BENCHES,
    LINES,
    PREDICTORS,
    ROLES,
    Result,
    Validation,
    met,
    pooled,
)
from collsim.calibrate.validate.datasheets import SheetResult
from collsim.calibrate.validate.errors import Errors, errors
from collsim.calibrate.validate.systems import REDUCING
from collsim.report.validation_words import HEAD, HOW_MADE, SHEETS_HEAD, unmet

__all__ = ["line_section", "result_rows", "validation_page"]

_SHOWN: Final = {bench.name: bench.title for bench in BENCHES}
_CONFIRMS: Final = "confirmation"
_TABLES: Final = "all tables"
_SWITCHED: Final = "the tables of NVSwitch systems"


def validation_page(found: Validation) -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    found : Validation
        What was reached.
    """
    torch = f" ({found.torch})" if found.torch else f" ({found.no_torch})"
    parts = [HEAD.format(torch=torch), _short(found)]
    for line in LINES:
        section = line_section(found, line)
        if section:
            parts.append(section)
    if found.sheets:
        parts.append(_sheets_section(found.sheets))
    present = {one.role for one in found.results}
    roles = [f"- {role}: {words}" for role, words in ROLES.items() if role in present]
    named = [f"  ({_names(found, role)})" for role in ROLES if role in present]
    both = "\n".join(f"{a}\n{b}" for a, b in zip(roles, named, strict=True))
    parts.append(HOW_MADE.format(roles=both))
    if found.missing:
        names = ", ".join(_SHOWN.get(name, name) for name in found.missing)
        parts.append(f"Not held against here, for want of their logs: {names}.\n")
    return "\n".join(parts)


def _names(found: Validation, role: str) -> str:
    systems = dict.fromkeys(one.system for one in found.results if one.role == role)
    return "; ".join(_SHOWN.get(name, name) for name in systems)


def _short(found: Validation) -> str:
    """Return the table of what is asked and what is reached."""
    rows = []
    for key, line in LINES.items():
        asked = _asked(line.median, line.p90)
        for title, group in _groups(found, key):
            cells = [_pair(one.all) for one in group]
            rows.append(
                [f"{line.title}: {title}", _count(group[0]), asked, *cells, _met(group)]
            )
    head = ["what is predicted", "rows", "asked", *PREDICTORS, "met"]
    return "## In short\n\n" + _table(head, rows, 1)


def _groups(found: Validation, line: str) -> list[tuple[str, list[Result]]]:
    """Return the results of a line over what belongs together."""
    whole = [one for one in _whole(found) if one.line == line]
    confirming = [one for one in whole if one.role == _CONFIRMS]
    others = [one for one in whole if one.role != _CONFIRMS]
    systems = list(dict.fromkeys(one.system for one in others))
    groups = []
    if len(systems) == 1:
        groups.append((_SHOWN.get(systems[0], systems[0]), others[: len(PREDICTORS)]))
    elif systems:
        words = _SWITCHED if all("nvswitch" in name for name in systems) else _TABLES
        words = words if "nodes" not in line else "all systems"
        groups.append((words, pooled(others, words, lambda _: True)))
        switched = [one for one in others if "nvswitch" in one.system]
        if 0 < len(switched) < len(others):
            groups.append((_SWITCHED, pooled(switched, _SWITCHED, lambda _: True)))
        if any("all_to_all" in one.collectives for one in others) and line == "sizes":
            # NCCL has no model of all_to_all: so that it can be told of the others.
            words += " without all_to_all"
            parts = [one for one in found.results if one.line == line and one.role != _CONFIRMS]
            parts = [one for one in parts if set(one.collectives) == set(REDUCING)]
            groups.append((words, pooled(parts, words, lambda _: True)))
    if confirming:
        words = "systems that played no part in the model"
        groups.append((words, pooled(confirming, words, lambda _: True)))
    return groups


def _whole(found: Validation) -> list[Result]:
    """Return the results over all rows of a trial, without those over parts of them."""
    most: dict[tuple[str, str, str], int] = {}
    for one in found.results:
        key = one.line, one.system, one.held_out
        most[key] = max(most.get(key, 0), len(one.collectives))
    return [
        one
        for one in found.results
        if len(one.collectives) == most[one.line, one.system, one.held_out]
    ]


def line_section(found: Validation, line: str) -> str:
    """Return the section of one kind of prediction; empty if nothing was predicted."""
    results = [one for one in found.results if one.line == line]
    if not results:
        return ""
    asked = LINES[line]
    title = asked.title[0].upper() + asked.title[1:]
    told = _asked(asked.median, asked.p90)
    words = "Reported only." if asked.median is None else f"Asked: at most {told}."
    rows, missed = [], []
    whole = {id(one) for one in _whole(found)}
    for group in _beside(results):
        first = group[0]
        name = _SHOWN.get(first.system, first.system)
        kinds = "" if id(first) in whole else f": {', '.join(first.collectives)}"
        where = f"{name}, {first.held_out}{kinds}"
        cells = [_pair(one.all) for one in group]
        target = _met(group) if id(first) in whole else ""
        rows.append([where, first.role, _count(first), *cells, target])
        if target == "no":
            missed.append(f"- {name}: {unmet(line, first.system)}.")
        dropped = sum(first.outlier)
        if dropped and first.clean is not None:
            left = [_pair(one.clean) for one in group]
            rows.append([f"… without {dropped}", "", str(first.clean.n), *left, ""])
    head = ["system, held out", "role", "rows", *PREDICTORS, "met"]
    text = f"## {title}\n\n{words}\n\n{_table(head, rows, 2)}"
    reasons = sorted({f"{one.predictor}: {one.reason}" for one in results if one.reason})
    if reasons:
        text += "\nNot told: " + "; ".join(reasons) + ".\n"
    if missed:
        text += "\nMissed, because:\n\n" + "\n".join(dict.fromkeys(missed)) + "\n"
    return text


def _beside(results: Sequence[Result]) -> list[list[Result]]:
    """Return results of the same rows together, a contender each, in the order of the page."""
    groups: dict[tuple[Any, ...], list[Result]] = {}
    for one in results:
        key = one.system, one.held_out, one.collectives
        groups.setdefault(key, []).append(one)
    return list(groups.values())


def _sheets_section(sheets: Sequence[SheetResult]) -> str:
    """Return the section on presets with nothing fitted."""
    rows = [
        [
            one.system,
            f"{one.nodes} x {one.gpus}",
            one.collective,
            str(one.errors.n),
            _pair(one.errors),
            f"{one.bias:.2f}",
            str(len(one.large)),
            _large(one.large),
            _pair(one.default),
            _large(one.default_large),
        ]
        for one in sheets
    ]
    whole = [ratio for one in sheets for ratio in one.large]
    default = [ratio for one in sheets for ratio in one.default_large]
    both = [_large(whole), "", _large(default)]
    rows.append(["all", "", "", "", "", "", str(len(whole)), *both])
    head = ["system", "nodes x GPUs", "collective", "rows", "error", "bias"]
    head += ["rows from 64 MiB on", "their error", "auto: error", "auto: from 64 MiB on"]
    return f"{SHEETS_HEAD}\n{_table(head, rows, 3)}"


def _large(ratio: Sequence[float]) -> str:
    return _pair(errors(np.array(ratio)))


def result_rows(found: Validation) -> list[dict[str, object]]:
    """Return a row for each result, for JSON and CSV.

    Examples
    --------
    >>> result_rows(Validation((), (), None, "torch not installed", ()))
    []
    """
    rows: list[dict[str, object]] = []
    for one in found.results:
        line = LINES[one.line]
        rows.append(
            {
                "line": one.line,
                "system": one.system,
                "role": one.role,
                "held_out": one.held_out,
                "collectives": " ".join(one.collectives),
                "predictor": one.predictor,
                **_numbers(one.all, ""),
                **_numbers(one.clean, "_without_outliers"),
                "asked_median": line.median,
                "asked_p90": line.p90,
                "met": met(line, one.all),
                "reason": one.reason,
            }
        )
    return rows + [
        _sheet_row(sheet, predictor, numbers)
        for sheet in found.sheets
        for predictor, numbers in (("preset", sheet.errors), ("preset auto", sheet.default))
    ]


def _sheet_row(sheet: SheetResult, predictor: str, numbers: Errors) -> dict[str, object]:
    return {
        "line": "datasheets",
        "system": sheet.system,
        "role": None,
        "held_out": f"{sheet.nodes} nodes of {sheet.gpus}",
        "collectives": sheet.collective,
        "predictor": predictor,
        **_numbers(numbers, ""),
        **_numbers(None, "_without_outliers"),
        "asked_median": None,
        "asked_p90": None,
        "met": None,
        "reason": None,
    }


def _numbers(errors: Errors | None, ending: str) -> dict[str, float | int | None]:
    keys = ("median", "p90", "n")
    return {f"{key}{ending}": getattr(errors, key) if errors else None for key in keys}


def _pair(errors: Errors | None) -> str:
    if errors is None:
        return "–"
    return f"{100 * errors.median:.1f} / {100 * errors.p90:.1f}"


def _count(one: Result) -> str:
    return str(len(one.ratio)) if one.all is not None else "–"


def _asked(median: float | None, p90: float | None) -> str:
    if median is None or p90 is None:
        return "–"
    return f"{100 * median:.0f} / {100 * p90:.0f}"


def _met(group: Sequence[Result]) -> str:
    answer = met(LINES[group[0].line], group[0].all)
    return "" if answer is None else "yes" if answer else "no"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> str:
    """Return a Markdown table whose first columns are words and the others numbers."""
    rule = ["---" if i < words else "---:" for i in range(len(head))]
    lines = [head, rule, *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"
