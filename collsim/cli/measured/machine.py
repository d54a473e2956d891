"""Whether a cluster is the machine that a profile of NCCL was fitted on, or has alike nodes."""

from typing import TYPE_CHECKING

from collsim.cli.program.output import note
from collsim.errors import CollsimError, InputError

if TYPE_CHECKING:
    from collsim.core.cluster import Cluster
    from collsim.core.profile import Profile

__all__ = ["check_machine"]

_SHEET = ("architecture", "inside", "nvls", "uniform")
_SPEED = ("channels", "intra_bus")
_WORDS = {
    "gpus": "GPUs of a node",
    "inside": "links in a node",
    "nvls": "reducing switches",
    "uniform": "alike links",
    "intra_bus": "GB/s in a node",
    "inter_bus": "GB/s of a node's network",
}


def check_machine(profile: "Profile", name: str, cluster: "Cluster") -> None:
    """Refuse fitted times of NCCL on another machine than the profile's.

    A node of another preset that NCCL knows no difference of, as of dgx-h200 and dgx-h100, is
    taken, with a note: what is fitted to one node is of its GPUs, links and switches.

    Parameters
    ----------
    profile : Profile
        A profile of lines is of links, which other machines may have too: it passes.
    name : str
        What the cluster was called: a preset, or a file.
    cluster : Cluster
        As it is in its file, with nothing changed but its size.

    Raises
    ------
    InputError
        If it is another preset, or what NCCL knows of it differs.
    """
    if profile.model != "nccl" or name == profile.cluster:
        return
    from collsim.config.presets import is_path

    own = profile.cluster
    why = "another machine"
    if own == "ideal" or is_path(own) or is_path(name):
        found = _difference(profile, cluster)
        if found is None:
            return
        why = found
    elif cluster.nodes == 1 and profile.nodes == (1,):
        found = _difference(profile, cluster, ("gpus",))
        if found is None:
            note(
                f"profile {profile.name} was fitted on {own}: a node of {name} has the same "
                "links and switches as far as NCCL knows, and its times are taken for it"
            )
            return
        why = found
    elif profile.nodes == (1,):
        why = "another machine, and only one node of it could be taken for the profile's"
    where = profile.device or "a machine of no preset" if own == "ideal" else own
    raise InputError(
        f"profile {profile.name}: fitted on {where}, but the cluster is {name} ({why}); leave "
        "-c out, or fit a profile of it with collsim calibrate fit"
    )


def _difference(
    profile: "Profile", cluster: "Cluster", more: tuple[str, ...] = ()
) -> str | None:
    """Return what NCCL knows otherwise of a cluster than of a profile's, or None."""
    from collsim.calibrate.nccl_model import system_of

    try:
        system = system_of(cluster)
    except CollsimError as error:
        return str(error)
    keys: tuple[str, ...] = (*_SHEET, *more)
    if profile.cluster != "ideal":
        # Of a GPU's name alone the speeds are those of the machine that it is mostly in.
        keys += _SPEED
    both = system.several and profile.nccl["inter_bus"]
    for key in (*keys, *(("inter_bus", "ll128_network") if both else ())):
        here, there = getattr(system, key), profile.nccl[key]
        if here != there:
            return f"{_WORDS.get(key, key)}: {_said(here)}, not {_said(there)}"
    return None


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
