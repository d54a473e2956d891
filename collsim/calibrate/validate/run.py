"""Run every trial that a folder of measurements allows, and gather the errors."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collsim.calibrate.nccl_model import outliers
from collsim.calibrate.validate.bench import Bench, Trial
from collsim.calibrate.validate.datasheets import SHEETS, Predicts, SheetResult, datasheet
from collsim.calibrate.validate.errors import errors, ratios
from collsim.calibrate.validate.fitted import fitted_to
from collsim.calibrate.validate.nccl_model import nccl_model
from collsim.calibrate.validate.result import Result, Validation
from collsim.calibrate.validate.rows import Rows, bench_rows, parted
from collsim.calibrate.validate.systems import BENCHES, LINES
from collsim.calibrate.validate.three_lines import three_lines
from collsim.calibrate.validate.torch_estimator import TorchTimes, torch_times
from collsim.core.measurements import Measurement
from collsim.errors import FileError

__all__ = ["validate"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class _Run:
    """A trial of a bench with its rows."""

    bench: Bench
    trial: Trial
    fit: Rows
    hold: Rows
    outliers: frozenset[Measurement]


def validate(
    folder: str,
    python: str | None = None,
    benches: Sequence[Bench] = BENCHES,
    predict: Predicts | None = None,
) -> Validation:
    """Fit and predict every trial whose logs are there.

    Parameters
    ----------
    folder : str
        Holds the logs, or has folders ``public`` and ``ours`` that do.
    python : str, optional
        A Python that has torch, whose estimator is a baseline; by default the running one.
    benches : sequence of Bench
        The systems.
    predict : callable, optional
        :func:`collsim.predict`, by which presets are held against logs; none are without it.

    Raises
    ------
    FileError
        If the folder has no log of any of them.

    Examples
    --------
    >>> found = validate("examples/h200_one_gpu")
    >>> [(one.line, one.predictor, one.all.n) for one in found.results if one.all][0]
    ('forced', 'fitted', 414)
    """
    runs, missing = _runs(folder, benches)
    if not runs:
        raise FileError(folder, "has none of the logs that the model is held against")
    asked = [run for run in runs if run.bench.torch is not None]
    told = torch_times(
        python or sys.executable,
        [(run.bench.torch, run.hold) for run in asked if run.bench.torch],
    )
    estimates = dict(zip(map(id, asked), told.seconds, strict=False))
    found = [one for run in runs for one in _results(run, told, estimates.get(id(run)))]
    sheets: list[SheetResult] = []
    if predict is not None:
        sheets = [one for sheet in SHEETS for one in datasheet(sheet, folder, predict)]
    return Validation(tuple(found), tuple(sheets), told.version, told.reason, tuple(missing))


def _runs(folder: str, benches: Sequence[Bench]) -> tuple[list[_Run], list[str]]:
    runs, missing = [], []
    for bench in benches:
        rows = bench_rows(bench, folder)
        if rows is None:
            missing.append(bench.name)
            continue
        odd = zip(rows, outliers(rows), strict=True)
        out = frozenset(row for row, stands_out in odd if stands_out)
        for trial in bench.trials:
            both = parted(rows, trial)
            runs.append(_Run(bench, trial, both.fit, both.hold, out))
    order = list(LINES)
    return sorted(runs, key=lambda run: order.index(run.trial.line)), missing


def _results(run: _Run, told: TorchTimes, estimate: FloatArray | None) -> list[Result]:
    """Return what every contender reached on the rows of a run, and on parts of them."""
    answers: dict[str, FloatArray | str] = {
        "fitted": fitted_to(run.bench, run.fit).predict(run.hold),
        "three lines": three_lines(run.fit, run.hold),
        "NCCL's model": nccl_model(run.bench, run.hold),
    }
    if run.bench.torch is None:
        answers["torch"] = "it can't be told what was forced"
    else:
        answers["torch"] = told.reason or "no answer" if estimate is None else estimate
    return [
        _result(
            run, [i for i, row in enumerate(run.hold) if row.collective in part], name, answer
        )
        for part in _parts(run)
        for name, answer in answers.items()
    ]


def _parts(run: _Run) -> list[tuple[str, ...]]:
    """Return of which collectives the errors are told: of all, and of some apart."""
    kinds = tuple(dict.fromkeys(row.collective for row in run.hold))
    if "all_to_all" in kinds and len(kinds) > 1:
        return [kinds, tuple(k for k in kinds if k != "all_to_all"), ("all_to_all",)]
    if run.trial.line == "ranks":
        return [kinds, *((kind,) for kind in kinds)]
    return [kinds]


def _result(run: _Run, places: list[int], name: str, answer: FloatArray | str) -> Result:
    rows = [run.hold[i] for i in places]
    kinds = tuple(dict.fromkeys(row.collective for row in rows))
    where = run.trial.line, run.bench.name, run.bench.role, run.trial.words, kinds, name
    if isinstance(answer, str):
        return Result(*where, None, None, answer)
    ratio = ratios(answer[places], rows)
    if np.isnan(ratio).any():
        lacks = sorted({rows[i].collective for i in np.flatnonzero(np.isnan(ratio))})
        return Result(*where, None, None, f"no model of {', '.join(lacks)}")
    outlier = np.array([row in run.outliers for row in rows])
    both = errors(ratio), errors(ratio[~outlier])
    return Result(*where, *both, None, tuple(ratio.tolist()), tuple(outlier.tolist()))
