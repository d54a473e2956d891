"""How far numbers of datasheets are off, and what to hold a log against rather."""

from typing import TYPE_CHECKING, Final

from collsim.cli.program.output import note

if TYPE_CHECKING:
    from collections.abc import Collection

    from collsim.calibrate.check import CheckResult
    from collsim.cli.clusters.choice import ClusterChoice
    from collsim.core.cluster import Cluster

__all__ = ["OFF_BY", "caveat", "tell_datasheet"]

OFF_BY: Final = (
    "off by 7 % in the median and 27 % at the 90th percentile from 64 MiB on, and by more below"
)
"""The line "all" of "Datasheets alone" in docs/validation.md."""
_WIDE: Final = 0.3


def caveat(found: "CheckResult", choice: "ClusterChoice", tolerance: float) -> str:
    """Return what to know of a verdict against a preset with nothing fitted, or nothing.

    Parameters
    ----------
    found : CheckResult
        Where all is as predicted there is nothing to know.
    choice : ClusterChoice
        A profile, a cluster file and an alpha are the user's own numbers.
    tolerance : float
        By which rows were judged.
    """
    from collsim.config.presets import is_path

    name = choice.cluster or ""
    own = choice.profile is not None or choice.alpha is not None or is_path(name)
    if not name or own or all(row.verdict == "ok" for row in found.rows):
        return ""
    fits = _shipped(found, name)
    ways = [f"--profile {fits}"] if fits else []
    ways.append("a profile of your own machine (collsim calibrate fit)")
    wide = f", or allow --tolerance {_WIDE:.0%}" if tolerance < _WIDE else ""
    return (
        f"held against datasheets, which are {OFF_BY} (docs/validation.md): before you call "
        f"it a fault, hold it against {' or '.join(ways)}{wide}"
    )


def _shipped(found: "CheckResult", cluster: str) -> str | None:
    """Return the profile that ships and was fitted to such rows, or None."""
    from collsim.config.shipped import shipped_profiles

    ranks = {row.ranks for row in found.rows}
    nodes = {row.nodes or 1 for row in found.rows}
    kinds = {row.collective for row in found.rows}
    for one in shipped_profiles():
        if one.cluster != cluster or not kinds & set(one.collectives):
            continue
        if ranks <= set(one.ranks) and nodes <= set(one.nodes):
            return one.name
    return None


def tell_datasheet(
    choice: "ClusterChoice", network: "Cluster", collectives: "Collection[str]"
) -> None:
    """Say that times are a datasheet's, where a profile that ships has measured ones."""
    as_it_is = not (choice.changes or choice.degrade or choice.fail or choice.delay)
    name = choice.cluster
    if name is None or choice.profile is not None or not as_it_is or network.ranks == 1:
        return
    from collsim.config.presets import is_path
    from collsim.config.shipped import profile_for
    from collsim.core.collective import collective

    kinds = {collective(one).name for one in collectives}
    fits = profile_for(network.name, kinds, network.nodes)
    if fits is not None and not is_path(name):
        note(f"times are by datasheets; --profile {fits} has those of a measured machine")
