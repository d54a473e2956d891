"""A simulation for the reader: what ran, how long, and the critical path."""

from typing import Final, TypedDict

from collsim.choose.predict import COMPARED, Row
from collsim.core.collective import collective
from collsim.core.folded import Folded
from collsim.core.timeline import Timeline
from collsim.report.records import check_finite, keys_of, record
from collsim.report.table import aligned, format_us
from collsim.units import format_size

__all__ = ["SIMULATION_KEYS", "simulation_record", "simulation_text"]

# The columns of the CSV: a path has no place in one cell.
SIMULATION_KEYS: Final = (
    *(key for key in keys_of(Row) if key not in COMPARED),
    "rounds",
    "operations",
    "makespan_us",
)

_SHOWN: Final = 20
_PARTS: Final = ("launch", "alpha", "beta", "gamma", "waiting")


def simulation_record(
    row: Row, timeline: Timeline, folded: Folded | None = None
) -> dict[str, object]:
    """Return a simulation as a mapping.

    Parameters
    ----------
    row : Row
        The prediction for the same algorithm and size; its times are replaced.
    timeline : Timeline
        What the simulation found.
    folded : Folded, optional
        What ran, if only a few ranks did: operations are then those that it stands for, and
        the path is that of the ranks that stand for all.

    Returns
    -------
    dict
        With `SIMULATION_KEYS` and ``critical_path``, each step of which is a mapping with
        ``operation round src dst bytes start_us finish_us why waiting_us``; rounds count
        from 1. The switch of node k, where switches take part, is number P + k.
    """
    ranks = timeline.schedule.ranks
    seconds = timeline.makespan
    algbw = row.size / seconds / 1e9 if seconds > 0 and ranks > 1 else 0.0
    bound = row.lower_bound_us * 1e-6
    found = record(row) | {
        "model": "event",
        "time_us": timeline.makespan_us,
        "algbw": algbw,
        "busbw": algbw * collective(timeline.schedule.collective.name).bus_factor(ranks),
        **{f"{part}_us": getattr(timeline.breakdown, part) * 1e6 for part in _PARTS},
        "efficiency": min(1.0, bound / seconds) if seconds > 0 else None,
        "rounds": timeline.rounds,
        "operations": timeline.operations if folded is None else folded.operations,
        "makespan_us": timeline.makespan_us,
        "critical_path": _steps(timeline, folded),
    }
    check_finite(found)
    return {key: found[key] for key in (*SIMULATION_KEYS, "critical_path")}


class PathStep(TypedDict):
    """A message of the critical path; see :func:`simulation_record`."""

    operation: int
    round: int
    src: int
    dst: int
    bytes: float
    start_us: float
    finish_us: float
    why: str
    waiting_us: float


def _steps(timeline: Timeline, folded: Folded | None) -> list[PathStep]:
    schedule, fraction = timeline.schedule, timeline.schedule.fraction
    receiver = schedule.dst if folded is None else folded.receiver
    return [
        {
            "operation": step.operation,
            "round": int(schedule.round[step.operation]) + 1,
            "src": int(schedule.src[step.operation]),
            "dst": int(receiver[step.operation]),
            "bytes": float(fraction[step.operation]) * timeline.nbytes,
            "start_us": step.start * 1e6,
            "finish_us": step.finish * 1e6,
            "why": step.why,
            "waiting_us": step.waiting * 1e6,
        }
        for step in timeline.critical_path
    ]


def simulation_text(
    row: Row, timeline: Timeline, title: str, folded: Folded | None = None
) -> str:
    """Return a simulation as text for the reader.

    Parameters
    ----------
    row, timeline, folded
        As :func:`simulation_record` takes them.
    title : str
        The collective and where it ran.
    """
    party = timeline.schedule.party
    operations = timeline.operations if folded is None else folded.operations
    chunks = f" in {row.chunks} chunks" if row.chunks > 1 else ""
    parts = [(part, getattr(timeline.breakdown, part) * 1e6) for part in _PARTS]
    shares = [f"{part} {format_us(us)}" for part, us in parts if us > 0]
    lines = [
        f"{title}, {format_size(row.size)}, algorithm {row.algorithm}{chunks}",
        f"rounds      {timeline.rounds}",
        f"operations  {operations}{_kinds(timeline) if folded is None else ''}",
        f"makespan    {format_us(timeline.makespan_us)} us"
        + (f" = {' + '.join(shares)}" if shares else ""),
    ]
    steps = _steps(timeline, folded)
    if not steps:
        return "\n".join(lines)
    lines += ["", f"critical path, {len(steps)} of {operations} operations:"]
    shown = steps if len(steps) <= _SHOWN else [*steps[: _SHOWN - 1], steps[-1]]
    table = aligned(
        ("operation", "round", "from", "to", "bytes", "start us", "finish us", "held up by"),
        [
            (
                str(step["operation"]),
                str(step["round"]),
                party(step["src"]),
                party(step["dst"]),
                f"{step['bytes']:.9g}",
                format_us(step["start_us"]),
                format_us(step["finish_us"]),
                _held_up(step, row.sharing),
            )
            for step in shown
        ],
        left=("held up by",),
    ).splitlines()
    if len(shown) < len(steps):
        table.insert(-1, f"... {len(steps) - len(shown)} more ...")
    return "\n".join([*lines, *table])


def _kinds(timeline: Timeline) -> str:
    """Say how many operations are copies of a rank to itself, if some are."""
    schedule = timeline.schedule
    copies = int((schedule.src == schedule.dst).sum())
    messages = f"{timeline.operations - copies} messages"
    return f" ({messages}, {copies} copies inside a rank)" if copies else ""


def _held_up(step: PathStep, sharing: str) -> str:
    """Say what a message waited for before it started, and what slowed it down then."""
    why: str = _WHY.get(step["why"], step["why"])
    if (
        sharing != "fair"
        or step["why"] in {"late rank", "job"}
        or not (
            # Less is rounding.
            step["waiting_us"] > 1e-9 * step["finish_us"]
        )
    ):
        return why
    shared = f"sharing its links, {format_us(step['waiting_us'])} us"
    return shared if step["why"] == "start" else f"{why}, then {shared}"


_WHY: Final = {
    "start": "nothing",
    "data": "its data",
    "rank": "an earlier message of the same rank",
    "link": "other ranks' messages",
    "reduction": "an earlier reduction",
    "late rank": "a rank that enters late",
    "job": "another collective",
}
