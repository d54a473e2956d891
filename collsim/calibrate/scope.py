"""What a profile does not cover: what it was never shown, and what its network leaves out."""

from collections.abc import Collection, Sequence
from typing import Final

from collsim.calibrate.nccl_model import fitted_of
from collsim.core.profile import Profile
from collsim.nccl.names import OUR_NAME

__all__ = ["SHARED_CORES", "beyond", "pieces_run", "scope_notes", "sharing_note"]

SHARED_CORES: Final = "the cluster file has it as the link `cores`, an ideal network has not"
"""How the note of a profile ends whose ranks share the cores of a machine."""


def scope_notes(
    profile: Profile, collectives: Collection[str], ranks: int, nodes: int
) -> list[str]:
    """Return what of a question no row of the fit was of, a line of each kind.

    Parameters
    ----------
    profile : Profile
        Of NCCL's pieces; of others nothing is said.
    collectives : collection of str
        That are asked for.
    ranks, nodes : int
        Where.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from collsim.calibrate.nccl_model import example_profile
    >>> from collsim.core.cluster import Cluster
    >>> known = {"collectives": ("all_reduce",), "ranks": (8,), "nodes": (1,)}
    >>> profile = replace(example_profile(Cluster.load("dgx-h100")), **known)
    >>> scope_notes(profile, ["all_reduce", "broadcast"], 4, 1)
    ['broadcast: profile example was fitted to all_reduce only', '4 ranks: profile example was
    fitted to 8']
    """
    if profile.model != "nccl":
        return []
    notes = []
    name = f"profile {profile.name} was fitted to"
    unseen = [one for one in collectives if one not in profile.collectives]
    if profile.collectives and unseen:
        notes.append(
            f"{', '.join(dict.fromkeys(unseen))}: {name} {', '.join(profile.collectives)} only"
        )
    if profile.ranks and ranks not in profile.ranks:
        odd = not profile.nccl["uniform"]
        where = " on a machine where other ranks have other links" if odd else ""
        notes.append(f"{_counted(ranks, 'rank')}: {name} {_listed(profile.ranks)}{where}")
    if profile.nodes and nodes not in profile.nodes:
        count = _counted(nodes, "node")
        notes.append(f"{count}: {name} {_listed(profile.nodes)}{_extrapolated(profile, nodes)}")
    return notes


def _extrapolated(profile: Profile, nodes: int) -> str:
    """Return what times are worth on fewer or more nodes than those of the fit."""
    bus = float(profile.nccl["inter_bus"])
    if nodes == 1 or not bus or min(profile.nodes) < nodes < max(profile.nodes):
        return ""
    return (
        "; its times there are extrapolated, and none is less than a node's network cards "
        f"take by what NCCL reckons, {bus:g}GB/s"
    )


def beyond(profile: Profile, collective: str, ranks: int, nodes: int) -> str | None:
    """Return why a profile is not to overrule NCCL's choice there, or None.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from collsim.calibrate.nccl_model import example_profile
    >>> from collsim.core.cluster import Cluster
    >>> known = {"collectives": ("all_reduce",), "ranks": (2, 8), "nodes": (1,)}
    >>> profile = replace(example_profile(Cluster.load("dgx-h100")), **known)
    >>> beyond(profile, "broadcast", 8, 1), beyond(profile, "all_reduce", 4, 1)
    ('no row of the fit is of the collective', None)
    >>> beyond(profile, "all_reduce", 16, 2)
    'no row of the fit is of so many nodes as 2'
    """
    if not fitted_of(profile).by_table:
        return "its table does not tell what ran where the profile was fitted"
    if profile.collectives and collective not in profile.collectives:
        return "no row of the fit is of the collective"
    for count, known, word in (
        (nodes, profile.nodes, "nodes"),
        (ranks, profile.ranks, "ranks"),
    ):
        if known and count > max(known):
            return f"no row of the fit is of so many {word} as {count}"
        if known and count < min(known):
            return f"no row of the fit is of so few {word} as {count}"
    if profile.ranks and ranks not in profile.ranks and not profile.nccl["uniform"]:
        return (
            f"no row of the fit is of {_counted(ranks, 'rank')}, which have links of their own"
        )
    return None


def pieces_run(profile: Profile, collective: str) -> frozenset[tuple[str, str]] | None:
    """Return the algorithms and protocols that NCCL chose for the rows of a fit.

    A profile keeps ranks, nodes and sizes of its rows, so it is what NCCL chooses at every
    doubled size there, as the profile reads its table.

    Parameters
    ----------
    profile : Profile
        Of NCCL's pieces.
    collective : str
        Which.

    Returns
    -------
    frozenset of (str, str), optional
        By our names; None where a profile does not say what its rows were of.

    Examples
    --------
    >>> from collsim.config.profile_file import load_profile
    >>> sorted(pieces_run(load_profile("h100-efa"), "all_reduce"))
    [('double_binary_tree', 'll'), ('nvls_tree', 'simple')]
    """
    if collective not in profile.collectives or not profile.max_bytes or not profile.nodes:
        return None
    fitted = fitted_of(profile)
    gpus = fitted.system.gpus
    found = set()
    for ranks in profile.ranks:
        for nodes in profile.nodes:
            if ranks % nodes or (gpus and not 1 <= ranks // nodes <= gpus) or ranks == 1:
                continue
            size = max(1, profile.min_bytes)
            while size <= profile.max_bytes:
                algorithm, protocol = fitted.choice(collective, ranks, nodes, size)
                found.add((OUR_NAME.get(algorithm, "direct"), protocol))
                size *= 2
    return frozenset(found)


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


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'s' if count != 1 else ''}"


def _listed(counts: Sequence[int]) -> str:
    return ", ".join(map(str, counts))
