"""Whether measured rows and a model are of the same machine, as far as one can tell."""

from collections.abc import Sequence

from collsim.calibrate.predictor import is_ideal
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement
from collsim.core.profile import Profile
from collsim.errors import InputError
from collsim.units import format_size

__all__ = ["cluster_notes", "profile_notes"]


def cluster_notes(rows: Sequence[Measurement], cluster: Cluster) -> list[str]:
    """Return what makes rows hard to compare with a cluster.

    Raises
    ------
    InputError
        If they were measured on another number of ranks or nodes; an ideal network takes
        any.

    Examples
    --------
    >>> rows = [Measurement("all_reduce", 16, 1024, 1e-5, nodes=2)]
    >>> cluster_notes(rows, Cluster.ideal(8, "1us", "1GB/s"))
    ['an ideal network has no nodes: rows of 2 nodes are compared with ranks joined all alike']
    """
    if is_ideal(cluster):
        nodes = sorted({row.nodes for row in rows if row.nodes is not None} - {1})
        if not nodes:
            return []
        found = ", ".join(map(str, nodes))
        why = f"rows of {found} nodes are compared with ranks joined all alike"
        return [f"an ideal network has no nodes: {why}"]
    for row in rows:
        if row.ranks != cluster.ranks or row.nodes not in (None, cluster.nodes):
            raise InputError(
                f"{row.source}: measured on {_size(row.ranks, row.nodes)}, but cluster "
                f"{cluster.name} has {_size(cluster.ranks, cluster.nodes)}; "
                f"{_cure(row, rows, cluster)}"
            )
    return []


def _size(ranks: int, nodes: int | None) -> str:
    if nodes is None:
        return f"{ranks} ranks"
    return f"{ranks} ranks of {nodes} node{'s' if nodes > 1 else ''}"


def _cure(row: Measurement, rows: Sequence[Measurement], cluster: Cluster) -> str:
    """Say which options make both the same."""
    of_node = cluster.ranks // cluster.nodes
    nodes = row.nodes
    if nodes is None and row.ranks % of_node == 0:
        nodes = row.ranks // of_node
    if nodes is None and row.ranks > of_node:
        cure = "give --nodes and --gpus-per-node"
    elif nodes in (None, 1) and row.ranks < of_node:
        cure = f"give --ranks {row.ranks}"
    else:
        nodes = nodes or 1
        cure = f"give --nodes {nodes}"
        if row.ranks != nodes * of_node:
            cure += f" --gpus-per-node {-(-row.ranks // nodes)}"
    if len({(other.ranks, other.nodes) for other in rows}) > 1:
        cure += f", and choose rows with --where 'ranks == {row.ranks}'"
    return cure


def profile_notes(rows: Sequence[Measurement], profile: Profile) -> list[str]:
    """Return in what rows differ from those that a profile was fitted to."""
    notes = []
    models = {row.source.process_model for row in rows} - {None}
    if profile.process_model and models and models != {profile.process_model}:
        found = ", ".join(sorted(filter(None, models)))
        notes.append(f"rows of {found}, but the profile was fitted to {profile.process_model}")
    nodes = {row.nodes for row in rows if row.nodes is not None}
    if profile.nodes and nodes - set(profile.nodes):
        here, there = (_nodes(found) for found in (nodes, profile.nodes))
        notes.append(f"rows of {here}, but the profile was fitted to {there}")
    sizes = [row.nbytes for row in rows]
    if profile.max_bytes and (min(sizes) < profile.min_bytes or max(sizes) > profile.max_bytes):
        span = f"{format_size(profile.min_bytes)} to {format_size(profile.max_bytes)}"
        notes.append(f"some sizes lie outside {span}, which the profile was fitted to")
    return notes


def _nodes(counts: set[int] | tuple[int, ...]) -> str:
    found = sorted(counts)
    return f"{', '.join(map(str, found))} node{'s' if found != [1] else ''}"
