"""What is said of NCCL's choice beside the answer: what counts, and what is not known."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from collsim.cli.measured.datasheets import OFF_BY
from collsim.cli.program.output import note

if TYPE_CHECKING:
    from collsim.core.cluster import Cluster
    from collsim.core.profile import ErrorSummary, Profile
    from collsim.interop.nccl_tuner import Setting

__all__ = [
    "NO_CSV",
    "OFF",
    "counted_gain",
    "held_back",
    "kept_beyond",
    "left_alone",
    "tell_beyond",
    "tell_version",
]

OFF = f"without a profile, times come of datasheets, which are {OFF_BY}"
NO_CSV = "has no tuner plugin that reads a CSV, which came with 2.27.7"


def tell_version(version: str, *, tuner: bool) -> None:
    """Say where a release is newer than any known, or reads no file."""
    from collsim.interop.nccl_tuner import reads_no_csv, taken_for

    newest = taken_for(version)
    if newest is not None:
        note(
            f"NCCL {version} is newer than the newest that is known here, {newest.name}, whose "
            "rules are used"
        )
    if tuner and reads_no_csv(version):
        note(f"NCCL {version} {NO_CSV}")


def counted_gain(asked: float | None, profile: "Profile | None") -> float:
    """Return the least gain that counts, and say why it is more than the usual.

    Parameters
    ----------
    asked : float, optional
        What the user says, which holds whatever the times are worth.
    profile : Profile, optional
        What measured the machine.
    """
    from collsim.interop.nccl_tuner import least_gain

    counts = None if asked is None else f"gains of {100 * asked:.3g} % or more count as asked"
    usual = least_gain(profile is not None)
    if profile is None:
        why = f"{OFF}: {counts or f'only gains of {100 * usual:.3g} % or more count'}"
        note(f"{why}, where bytes decide; NCCL's latencies are in no cluster file")
        return usual if asked is None else asked
    least, error = usual if asked is None else asked, _error(profile)
    if error is None or error.p90 <= least:
        return least
    about = (
        f"profile {profile.name} is off by up to {error.p90:.1%} on 90 % of its rows "
        f"({error.kind})"
    )
    if counts is not None:
        note(f"{about}; {counts}")
        return least
    note(f"{about}, so gains of less than {error.p90:.1%} are taken for none")
    return error.p90


def _error(profile: "Profile") -> "ErrorSummary | None":
    """Return how far off a profile is: on rows that were held out, if there were any."""
    if not profile.errors:
        return None
    held = profile.error({e.kind for e in profile.errors} - {"in_sample"})
    return held or profile.error({"in_sample"})


def left_alone(s: "Setting", least: float) -> str:
    """Say why NCCL's own choice is best left alone, and what a variable would lose."""
    from collsim.units import format_size

    if not s.other:
        return f"{s.collective}: no setting changes what NCCL chooses, so none is given"
    if s.other_gain <= 1:
        mean = f"would take {1 / s.other_gain:.3g} times as long"
    elif s.other_gain < 1 + least:
        mean = f"would gain x{s.other_gain:.3g}, too little"
    else:
        mean = f"may gain x{s.other_gain:.3g}, which hinges on latencies of NCCL"
    at = f"; at {format_size(s.worst_size, 4)} it would take {s.worst:.3g} times as long"
    return (
        f"{s.collective}: NCCL's own choice is best left alone: {','.join(s.other)}, the next "
        f"best, {mean}, geometric mean over all sizes{at if s.worst > 1 else ''}"
    )


def held_back(
    names: Sequence[str], profile: "Profile | None", network: "Cluster"
) -> dict[str, str]:
    """Return, and say, of which collectives fitted times do not overrule NCCL, and why."""
    if profile is None:
        return {}
    from collsim.calibrate.scope import beyond

    found = {name: beyond(profile, name, network.ranks, network.nodes) for name in names}
    held = {name: why for name, why in found.items() if why is not None}
    for why in dict.fromkeys(held.values()):
        alike = ", ".join(name for name in held if held[name] == why)
        note(f"{alike}: NCCL's own choice is kept: {why}")
    return held


def tell_beyond(sizes: tuple[int, int], seen: tuple[int, int], name: str) -> None:
    """Say, if sizes go beyond those of a fit, that NCCL's choice is kept there."""
    if sizes[0] < seen[0] or sizes[1] > seen[1]:
        note(f"{kept_beyond(seen)}, which profile {name} was fitted to")


def kept_beyond(seen: tuple[int, int]) -> str:
    """Return that NCCL's choice is kept beyond some sizes, in words."""
    from collsim.units import format_size

    span = f"{format_size(seen[0])} to {format_size(seen[1])}"
    return f"NCCL's own choice is kept at sizes beyond {span}"
