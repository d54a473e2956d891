"""What a profile's own notes say that its ideal network leaves out."""

from typing import Final

from collsim.core.profile import Profile

__all__ = ["SHARED_CORES", "sharing_note"]

SHARED_CORES: Final = "the cluster file has it as the link `cores`, an ideal network has not"
"""How the note of a profile ends whose ranks share the cores of a machine."""


def sharing_note(profile: Profile) -> str | None:
    """Return what to know of predictions by a profile whose messages wait for each other.

    Parameters
    ----------
    profile : Profile
        Of one class of links, as `calibrate run` writes it.

    Examples
    --------
    >>> from collsim.core.profile import Parameter
    >>> ab = {"link.alpha": Parameter(1e-6, None, None, "s"),
    ...       "link.beta": Parameter(1e-11, None, None, "s/B")}
    >>> told = f"of several messages at once only 1 need not wait; {SHARED_CORES}"
    >>> sharing_note(Profile("desk", ab, notes=(told,)))
    'profile desk: of several messages at once only 1 need not wait; its ideal network lets none
    wait, so times are too short; expected -c with the cluster file that `calibrate run` wrote
    beside it (desk-cluster.toml)'
    >>> sharing_note(Profile("mine", ab)) is None
    True
    """
    for text in profile.notes:
        if text.endswith(SHARED_CORES):
            what = text.removesuffix(SHARED_CORES).rstrip("; ")
            return (
                f"profile {profile.name}: {what}; its ideal network lets none wait, so times "
                "are too short; expected -c with the cluster file that `calibrate run` wrote "
                f"beside it ({profile.name}-cluster.toml)"
            )
    return None
