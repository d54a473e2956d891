"""The chunk count where the command line leaves it open."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collsim.choose.curve import Counts
    from collsim.core.profile import Profile

__all__ = ["chosen_chunks"]


def chosen_chunks(given: "Counts", profile: "Profile | None", collective: str) -> "Counts":
    """Return the value of --chunks; if it was not given, that of the profile.

    The profile's is for its own algorithm, where that is pipelined.

    Parameters
    ----------
    given : int, "auto" or sequence of int
        What click made of the option.
    profile : Profile, optional
        The one that --profile names.
    collective : str
        Any spelling.
    """
    source = click.get_current_context().get_parameter_source("chunks")
    if profile is None or source is not click.core.ParameterSource.DEFAULT:
        return given
    from collsim.algorithms import algorithm_names, find
    from collsim.core.collective import collective as kind

    name = kind(collective).name
    own = profile.algorithm.partition(":")[0]
    if own not in algorithm_names(name) or not find(name, own).chunked:
        return given
    return profile.chunks
