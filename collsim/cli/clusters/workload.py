"""Where a workload runs: what its file says, as far as the options say nothing else."""

from dataclasses import replace
from typing import TYPE_CHECKING

from collsim.cli.program.output import note
from collsim.errors import CollsimError

if TYPE_CHECKING:
    from collsim.cli.clusters.choice import ClusterChoice
    from collsim.core.workload import Home

__all__ = ["at_home"]


def at_home(choice: "ClusterChoice", home: "Home") -> "ClusterChoice":
    """Return the choice with what the workload's file says where the options are silent.

    Another preset, or a profile's own cluster, takes the place of the file's with as many
    nodes: groups of ranks are made for them. A cluster's file is of a size of its own.

    Parameters
    ----------
    choice : ClusterChoice
        The options.
    home : Home
        What the file says.
    """
    if home.cluster is None or choice.alpha is not None:
        return choice
    own = choice.cluster is None and choice.profile is None
    if own:
        choice = replace(choice, cluster=home.cluster)
    if choice.ranks is not None:
        return choice
    if own and choice.gpus_per_node is None:
        choice = replace(choice, gpus_per_node=home.gpus_per_node)
    if choice.nodes is not None or "network.nodes" in choice.changed_keys:
        return choice
    return replace(choice, nodes=_nodes(choice, home.nodes, own))


def _nodes(choice: "ClusterChoice", nodes: int | None, own: bool) -> int | None:
    """Return how many nodes of the file's the cluster takes."""
    from collsim.config.presets import is_path

    if own or nodes is None:
        return nodes
    if choice.cluster is not None and is_path(choice.cluster):
        return None
    try:
        replace(choice, nodes=nodes).unhurt()
    except CollsimError as error:
        try:
            choice.unhurt()
        except CollsimError:
            return nodes  # wrong in either case, as loading it will say
        note(f"not on the {nodes} nodes that the workload's file names: {error}")
        return None
    return nodes
