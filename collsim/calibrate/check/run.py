"""Hold measured times beside predicted ones, and say what falls short."""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from collsim.calibrate.check.expected import Expectation, expectation_of, forced_notes
from collsim.calibrate.check.failed import failures_of
from collsim.calibrate.check.fastest import FastestOfNccl
from collsim.calibrate.check.nccl_choice import NcclChoice
from collsim.calibrate.check.others import others_of
from collsim.calibrate.check.series import series_of
from collsim.calibrate.check.suggest import Network, network_of, suggestions
from collsim.calibrate.check.summary import shortfall
from collsim.calibrate.check.verdict import verdicts
from collsim.calibrate.formula import Chunks, Predicted, Predictor
from collsim.calibrate.importers import Logs, measurements_of
from collsim.calibrate.in_place import in_place_notes
from collsim.calibrate.match import cluster_notes, device_notes, profile_notes
from collsim.calibrate.rows import usable
from collsim.calibrate.select import select
from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.core.measurements import LeftOut, Measurement
from collsim.core.profile import Profile
from collsim.errors import InputError
from collsim.nccl.families import SEVERAL
from collsim.units import format_size

__all__ = ["CheckResult", "CheckRow", "check"]


@dataclass(frozen=True)
class CheckRow:
    """One measured time beside its prediction.

    Parameters
    ----------
    collective : str
        What was measured.
    ranks, nodes : int
        On how many; nodes is None if not known.
    size : int
        Bytes.
    measured_us, predicted_us : float
        Microseconds.
    ratio : float
        Measured / predicted.
    verdict : str
        ``ok latency bandwidth both faster``; see `collsim.calibrate.check.verdict.verdicts`.
    measured_busbw, predicted_busbw : float
        Bus bandwidths by nccl-tests' definition, GB/s (1e9 bytes).
    algorithm, protocol : str, optional
        What ran when it was measured, if the log says so.
    chunks : int
        Into how many the predicted algorithm cuts its message.
    model : str
        How the prediction was made: ``formula``, ``event``, or ``fit`` of NCCL's pieces.
    file : str, optional
        The log.
    """

    collective: str
    ranks: int
    nodes: int | None
    size: int
    measured_us: float
    predicted_us: float
    ratio: float
    verdict: str
    measured_busbw: float
    predicted_busbw: float
    algorithm: str | None
    protocol: str | None
    chunks: int
    model: str
    file: str | None


@dataclass(frozen=True)
class CheckResult:
    """What a check found.

    Parameters
    ----------
    rows : tuple of CheckRow
        By file, collective, ranks, nodes, what ran if it was forced, then size.
    summary : str
        A sentence a line for each of these series: what falls short, at which sizes, by what
        factor.
    notes : tuple of str
        What was left out of the comparison, or makes it weaker.
    left_out : tuple of LeftOut
        Rows that the files hold and that could not be used.
    suggestions : tuple of str
        What that looks like, where the numbers say so: as if 2 of 8 NICs were used, as if the
        protocol changed late.
    failures : tuple of str
        What went wrong in the runs themselves: wrong results, an end by an error.
    chosen : tuple of str
        Algorithms that were predicted because NCCL's own model chooses them, or because they
        are the fastest that NCCL has, where rows do not say what ran.
    """

    rows: tuple[CheckRow, ...]
    summary: str
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...] = ()
    suggestions: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no run failed, and no row is slower than predicted by the tolerance."""
        return not self.failures and all(row.verdict in ("ok", "faster") for row in self.rows)


@checked
def check(
    logs: Logs,
    model: Profile | Cluster | Predictor,
    tolerance: float = 0.2,
    algorithm: str | None = None,
    columns: str = "out-of-place",
    where: Iterable[str] = (),
    chunks: Chunks | None = None,
    profile: Profile | None = None,
    network: Network | None = None,
) -> CheckResult:
    """Compare measured with predicted times and judge each row.

    What each verdict means is in `collsim.calibrate.check.verdict.verdicts`. Where no formula
    is exact the prediction is simulated, as `predict` does.

    Parameters
    ----------
    logs : Measurements, or path, or iterable of path
        Rows to judge, or the files that hold them.
    model : Profile, Cluster or callable
        What to expect; a callable is ``(collective, ranks, nbytes) -> Predicted``.
    tolerance : float
        0 or more.
    algorithm : str, optional
        What to predict; by default what ran, where a row names it, else the profile's own;
        without a profile NCCL's choice by its own model for rows of NCCL, or ring; on a
        cluster with a profile of NCCL the fastest that NCCL has.
    columns, where
        Which rows: see `collsim.calibrate.select.select`.
    chunks : int or "auto", optional
        Of pipelined algorithms; by default the profile's own, or auto.
    profile : Profile, optional
        Whose numbers the cluster has, if `model` is a cluster made with one.
    network : Network, optional
        Cards of a node, by default those of the cluster.

    Returns
    -------
    CheckResult
        Rows with measured and predicted microseconds and a verdict, `ok`, and a `summary`.

    Raises
    ------
    InputError
        If the tolerance is negative, the algorithm stands for several, no row is left, or
        rows are of other numbers of ranks or nodes than the cluster.

    Examples
    --------
    >>> from collsim.calibrate.formula import formula_of
    >>> from collsim.core.measurements import Measurements
    >>> model = formula_of(1e-6, 1e-9, 0.0, "ring")
    >>> rows = [Measurement("all_reduce", 2, n, 2e-6 + n * 3e-9) for n in (8, 2**20, 2**22)]
    >>> result = check(Measurements(rows), model)
    >>> [row.verdict for row in result.rows], result.ok
    (['ok', 'bandwidth', 'bandwidth'], False)
    >>> print(result.summary)
    all_reduce on 2 ranks: bandwidth falls short from 1MiB on, 3 times the predicted
    time (2 of 3 rows).
    """
    if not 0 <= tolerance <= sys.float_info.max:
        raise InputError(f"tolerance: got {tolerance!r}, expected a finite number from 0 up")
    if algorithm in SEVERAL:
        raise InputError(
            f"algorithm: got {algorithm!r}, expected a name; without one what ran is "
            "predicted, or what NCCL chooses"
        )
    measured = measurements_of(logs)
    chosen = select(measured, columns, where)
    rows, notes = usable(chosen.rows, None)
    profile = model if isinstance(model, Profile) else profile
    if isinstance(model, Cluster) and rows:
        notes += cluster_notes(rows, model)
        network = network_of(model) if network is None else network
    if profile is not None and rows:
        notes += profile_notes(rows, profile)
        chunks = profile.chunks if chunks is None else chunks
    own = profile.algorithm if profile is not None and profile.model == "line" else None
    choice = _choice(model, profile, chunks)
    pairs, more = _expected(rows, expectation_of(model, algorithm, chunks, own, choice))
    notes += [*more, *(choice.notes if choice else ())]
    if not pairs:
        raise InputError(f"no row to check: {'; '.join(notes)}")
    notes += device_notes(rows, _name(model), profile) + forced_notes(rows, algorithm)
    notes += chosen.notes[len(measured.notes) :]
    if columns == "out-of-place":
        notes += in_place_notes(select(measured, "both", where).rows, tolerance)
    found: list[CheckRow] = []
    sentences, looks = [], []
    series = series_of([row for row, _ in pairs])
    expected = {id(row): predicted for row, predicted in pairs}
    several = len({one.rows[0].source.file for one in series}) > 1
    for one in series:
        judged = _judge(one.rows, [expected[id(row)] for row in one.rows], tolerance)
        found += judged
        title = f"{judged[0].file}: {one.title}" if several else one.title
        sentences.append(f"{title}: {shortfall(judged, tolerance)}.")
        how = one.rows[0].source.process_model
        others = _others(model, one.rows, judged, algorithm or own, choice, chunks)
        names = (*others, *(choice.names if choice else ()))
        switched = any(name.startswith("nvls") for name in names)
        seen = suggestions(judged, tolerance, network, how, others, switched)
        looks += [f"{title}: {words}" for words in seen]
    return CheckResult(
        tuple(found),
        "\n".join(sentences),
        tuple(notes),
        chosen.left_out,
        tuple(looks),
        failures_of(chosen.left_out, chosen.rows),
        () if choice is None else choice.names,
    )


def _choice(
    model: Profile | Cluster | Predictor, profile: Profile | None, chunks: Chunks | None
) -> NcclChoice | FastestOfNccl | None:
    """Return what tells on a cluster what NCCL ran, where rows don't."""
    if not isinstance(model, Cluster):
        return None
    if profile is None:
        return NcclChoice(model)
    return FastestOfNccl(model, chunks) if profile.model == "nccl" else None


def _others(
    model: Profile | Cluster | Predictor,
    rows: Sequence[Measurement],
    judged: Sequence[CheckRow],
    asked: str | None,
    choice: NcclChoice | FastestOfNccl | None,
    chunks: Chunks | None,
) -> dict[str, list[float]]:
    """Return times of what else NCCL may have run, where rows are late and don't say what."""
    late = any(row.verdict in ("bandwidth", "both") for row in judged)
    guessed = asked is None and not any(row.algorithm for row in rows)
    if (
        not late
        or not guessed
        or (isinstance(model, Cluster) and not (choice and choice.names))
    ):
        return {}
    return others_of(model, rows, chunks)


def _name(model: Profile | Cluster | Predictor) -> str:
    """Return the name of the cluster, as far as there is one."""
    if isinstance(model, Cluster):
        return model.name
    return model.cluster if isinstance(model, Profile) else ""


def _expected(
    rows: Sequence[Measurement], expect: Expectation
) -> tuple[list[tuple[Measurement, Predicted]], list[str]]:
    """Return rows with what is expected of them, and why nothing is of the others."""
    pairs, reasons = [], Counter[str]()
    for row in rows:
        predicted = expect(row)
        if isinstance(predicted, str):
            reasons[predicted] += 1
        else:
            pairs.append((row, predicted))
    counts = {why: "1 row" if n == 1 else f"{n} rows" for why, n in reasons.items()}
    return pairs, [f"{count} left out: {why}" for why, count in counts.items()]


def _judge(
    rows: Sequence[Measurement], expected: Sequence[Predicted], tolerance: float
) -> list[CheckRow]:
    for row, model in zip(rows, expected, strict=True):
        if not model.seconds > 0:
            raise InputError(
                f"{row.source}: {row.collective} of {format_size(row.nbytes)} is predicted to "
                "take no time, expected a model with alpha or beta above 0"
            )
    judged = verdicts([row.seconds for row in rows], expected, tolerance)
    factor = collective(rows[0].collective).bus_factor(rows[0].ranks) / 1e9
    return [
        CheckRow(
            collective=row.collective,
            ranks=row.ranks,
            nodes=row.nodes,
            size=row.nbytes,
            measured_us=row.seconds * 1e6,
            predicted_us=model.seconds * 1e6,
            ratio=row.seconds / model.seconds,
            verdict=verdict,
            measured_busbw=factor * row.nbytes / row.seconds,
            predicted_busbw=factor * row.nbytes / model.seconds,
            algorithm=row.algorithm,
            protocol=row.protocol,
            chunks=model.chunks,
            model=model.model,
            file=row.source.file or None,
        )
        for row, model, verdict in zip(rows, expected, judged, strict=True)
    ]
