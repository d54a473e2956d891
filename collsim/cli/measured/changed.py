"""What to know of a check against a machine that is not as its profile knows it."""

from typing import TYPE_CHECKING

from collsim.cli.program.output import note

if TYPE_CHECKING:
    from collsim.calibrate.check import CheckResult
    from collsim.core.profile import Profile

__all__ = ["tell_changed_check"]


def tell_changed_check(profile: "Profile", found: "CheckResult") -> None:
    """Say that times are simulated, and what fitted ones are of the machine as it was.

    Parameters
    ----------
    profile : Profile
        Of NCCL, whose numbers the changed cluster has.
    found : CheckResult
        Of which the smallest and the largest size are told.
    """
    from collsim.calibrate.nccl_model import COVERED, fitted_of
    from collsim.errors import CollsimError
    from collsim.units import format_size, format_time_us

    note(
        f"profile {profile.name} was fitted to the machine as it was: with what is changed, "
        "the fastest that NCCL has is simulated with its alpha and beta"
    )
    fitted = fitted_of(profile)
    rows = sorted(
        (row for row in found.rows if row.collective in COVERED and row.algorithm is None),
        key=lambda row: row.size,
    )
    told = {}
    for row in rows[:1] + rows[-1:]:
        nodes = fitted.system.nodes_of(row.ranks, row.nodes)
        try:
            seconds = fitted.seconds(row.collective, row.ranks, nodes, row.size)
        except CollsimError:
            continue  # of more nodes than it was fitted to; nothing hangs on it
        told[format_size(row.size)] = f"{format_time_us(seconds)} us"
    if told:
        words = " and ".join(f"{time} at {size}" for size, time in told.items())
        note(f"by its fitted times the machine as it was takes {words}")
