"""The profile that options name."""

from typing import TYPE_CHECKING

from collsim.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from collsim.core.profile import Profile

__all__ = ["opened_profile"]


def opened_profile(path: str, costs: "Mapping[str, float | None]") -> "Profile":
    """Return a profile by name or file.

    Parameters
    ----------
    path : str
        What --profile names.
    costs : dict of str
        Values of --launch and --gamma by name; None is one not given.

    Raises
    ------
    UsageError
        For --launch or --gamma beside fitted times, which would not hear of them: the
        simulated rows of a table would, and its lower bound.
    CollsimError
        If there is none, or nothing can be told from it.
    """
    from collsim.config.profile_file import load_profile

    found = load_profile(path)
    if found.model != "nccl":
        return found
    from collsim.calibrate.nccl_model import fitted_of
    from collsim.errors import CollsimError, ConfigError

    try:
        fitted_of(found)
    except CollsimError as error:
        raise ConfigError.broken(path, str(error)) from error
    for name, value in costs.items():
        if value is not None:
            raise UsageError(
                f"--{name} with --profile {found.name}, whose fitted times hold what NCCL "
                "takes for it: expected one of them"
            )
    return found
