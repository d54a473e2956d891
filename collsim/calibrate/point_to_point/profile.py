"""The profile of a message between two ranks alone."""

from collections.abc import Sequence

from collsim.calibrate.point_to_point.fit import PointToPoint, alone_in
from collsim.calibrate.scope import SHARED_CORES
from collsim.core.measurements_format import MeasuredRow
from collsim.core.profile import Profile

__all__ = ["profile_of"]


def profile_of(
    found: PointToPoint, rows: Sequence[MeasuredRow], name: str, source: str
) -> Profile:
    """Return the profile of a message alone: alpha and beta of an ideal network.

    Parameters
    ----------
    found : PointToPoint
        The fit.
    rows : sequence of mapping
        What it was fitted to.
    name, source : str
        Of the profile, and the file of the rows.
    """
    used = alone_in(rows)
    worlds = sorted({int(row.get("world") or row["ranks"]) for row in used})
    count = f"{len(used)} {used[0].get('pattern')} {'row' if len(used) == 1 else 'rows'}"
    told = f"fitted to messages between pairs, {count}, and to no collective; times of "
    notes = [f"{told}ring and other algorithms are carried over from them"]
    if found.launch.value == 0:
        notes.append("launch is 0: no message that all begin together took longer than alone")
    if found.shares:
        notes.append(
            f"of several messages at once only {found.lanes} need not wait, the others "
            f"{found.busy.value * 1e6:.3g} us and {found.shared.value * 1e12:.3g} ps/B each; "
            f"{SHARED_CORES}"
        )
    first = used[0]
    return Profile(
        name=name,
        parameters={
            "link.alpha": found.alpha,
            "link.beta": found.beta,
            "launch": found.launch,
        },
        algorithm="ring",
        collectives=("sendrecv",),
        ranks=tuple(worlds),
        min_bytes=int(min(row["size"] for row in used)),
        max_bytes=int(max(row["size"] for row in used)),
        library=first.get("library"),
        process_model=first.get("process_model"),
        clock=first.get("clock"),
        device=first.get("device"),
        columns="out-of-place",
        sources=(source,),
        errors=(found.alone,),
        notes=tuple(notes),
    )
