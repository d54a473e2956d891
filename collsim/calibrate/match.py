"""Whether measured rows and a model are of the same machine, as far as one can tell."""

import os
from collections.abc import Sequence

from collsim.calibrate.gpu_names import gpus_named, names_joined
from collsim.calibrate.message import is_message
from collsim.calibrate.predictor import is_ideal
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement
from collsim.core.profile import Profile
from collsim.errors import InputError
from collsim.units import format_size

__all__ = ["cluster_notes", "device_notes", "profile_notes", "size_notes"]


def cluster_notes(rows: Sequence[Measurement], cluster: Cluster) -> list[str]:
    """Return what makes rows hard to compare with a cluster.

    Raises
    ------
    InputError
        If they were measured on another number of ranks or nodes; an ideal network takes
        any, and a message between two ranks is of any cluster.

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
    whole = [row for row in rows if not is_message(row)]
    for row in whole:
        if row.ranks != cluster.ranks or row.nodes not in (None, cluster.nodes):
            raise InputError(
                f"{row.source}: measured on {_size(row.ranks, row.nodes)}, but cluster "
                f"{cluster.name} has {_size(cluster.ranks, cluster.nodes)}; "
                f"{_cure(row, whole, cluster)}"
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


def device_notes(
    rows: Sequence[Measurement], cluster: str, profile: Profile | None = None
) -> list[str]:
    """Return which GPU of the rows is not that of the cluster or of the profile.

    Parameters
    ----------
    rows : sequence of Measurement
        That may name their GPUs.
    cluster : str
        Its name, which may tell one.
    profile : Profile, optional
        Whose numbers it has.

    Examples
    --------
    >>> from collsim.core.measurements import Source
    >>> row = Measurement("all_reduce", 8, 8, 1e-5, source=Source(device="NVIDIA A100-SXM4"))
    >>> device_notes([row], "dgx-h100")
    ['the rows are of NVIDIA A100-SXM4, but the cluster is dgx-h100: is -c right?']
    """
    joined = {row.source.device for row in rows if row.source.device}
    devices = sorted({name for device in joined for name in names_joined(device)})
    notes = []
    for device in devices:
        gpus = gpus_named(device)
        fitted = profile.device if profile is not None else None
        theirs = gpus_named(fitted or "")
        if gpus and theirs and not gpus & theirs:
            notes.append(f"the rows are of {device}, but the profile was fitted on {fitted}")
            continue
        own = gpus_named(cluster)
        if gpus and own and not gpus & own:
            notes.append(
                f"the rows are of {device}, but the cluster is {cluster}: is -c right?"
            )
    return notes


def profile_notes(rows: Sequence[Measurement], profile: Profile) -> list[str]:
    """Return in what rows differ from those that a profile was fitted to."""
    notes = _seen(rows, profile)
    models = {row.source.process_model for row in rows} - {None}
    if profile.process_model and models and models != {profile.process_model}:
        found = ", ".join(sorted(filter(None, models)))
        notes.append(f"rows of {found}, but the profile was fitted to {profile.process_model}")
    nodes = {row.nodes for row in rows if row.nodes is not None}
    if profile.nodes and nodes - set(profile.nodes):
        here, there = (_nodes(found) for found in (nodes, profile.nodes))
        notes.append(f"rows of {here}, but the profile was fitted to {there}")
    if profile.model == "nccl":
        kinds = {row.collective for row in rows} - set(profile.collectives)
        if profile.collectives and kinds:
            known = ", ".join(profile.collectives)
            notes.append(
                f"rows of {', '.join(sorted(kinds))}, but the profile was fitted to {known}"
            )
        ranks = {row.ranks for row in rows} - set(profile.ranks)
        if profile.ranks and ranks:
            here, there = (", ".join(map(str, sorted(c))) for c in (ranks, profile.ranks))
            notes.append(f"rows of {here} ranks, but the profile was fitted to {there}")
    sizes = [row.nbytes for row in rows]
    if profile.max_bytes and (min(sizes) < profile.min_bytes or max(sizes) > profile.max_bytes):
        span = f"{format_size(profile.min_bytes)} to {format_size(profile.max_bytes)}"
        notes.append(f"some sizes lie outside {span}, which the profile was fitted to")
    return notes


def _seen(rows: Sequence[Measurement], profile: Profile) -> list[str]:
    """Return that rows are of logs that a profile was fitted to, by their names and counts.

    Only the name of a log is kept, so another one of the same name has to be told apart by its
    collective, ranks, nodes and sizes, as far as it can be.
    """
    names = {os.path.basename(file) for file in profile.sources}
    logs = {
        os.path.basename(row.source.file)
        for row in rows
        if row.collective in profile.collectives
        and row.ranks in profile.ranks
        and (row.nodes is None or not profile.nodes or row.nodes in profile.nodes)
        and profile.min_bytes <= row.nbytes <= profile.max_bytes
    }
    found = sorted((logs & names) - {"", "-"})
    if not found:
        return []
    one = "this log" if len(found) == 1 else "these logs"
    said = f"profile {profile.name} was fitted to {one} (by name: {', '.join(found)})"
    worth = "that they agree says nothing of the machine since then"
    return [f"{said}: {worth}; where not, the fit is off"]


def size_notes(sizes: Sequence[int], profile: Profile) -> list[str]:
    """Return which sizes lie beyond those that a profile was fitted to.

    Below them the time of a line is alpha's, which the fit knows, unless it did not tell it.

    Examples
    --------
    >>> from collsim.core.profile import Parameter
    >>> ab = {"link.alpha": Parameter(1e-6, 0.0, 2e-6, "s"),
    ...       "link.beta": Parameter(1e-11, None, None, "s/B")}
    >>> profile = Profile("mine", ab, min_bytes=1024, max_bytes=2**20)
    >>> size_notes([8, 2**20, 2**21, 2**30], profile)
    ['2MiB to 1GiB is extrapolated: profile mine was fitted up to 1MiB', '8B is extrapolated:
    profile mine was fitted from 1KiB on, and does not tell alpha']
    """
    if not profile.max_bytes:
        return []
    notes = []
    above = sorted(n for n in sizes if n > profile.max_bytes)
    below = sorted(n for n in sizes if 0 < n < profile.min_bytes)
    if above:
        fitted = f"was fitted up to {format_size(profile.max_bytes)}"
        notes.append(f"{_span(above)} is extrapolated: profile {profile.name} {fitted}")
    tells = _tells_alpha(profile)
    if below and (profile.model == "nccl" or not tells):
        fitted = f"was fitted from {format_size(profile.min_bytes)} on"
        more = "" if tells else ", and does not tell alpha"
        notes.append(f"{_span(below)} is extrapolated: profile {profile.name} {fitted}{more}")
    return notes


def _span(sizes: Sequence[int]) -> str:
    first, last = format_size(sizes[0]), format_size(sizes[-1])
    return first if first == last else f"{first} to {last}"


def _tells_alpha(profile: Profile) -> bool:
    alphas = [p for key, p in profile.parameters.items() if key.endswith(".alpha")]
    return all(p.value > 0 and p.low != 0 for p in alphas)


def _nodes(counts: set[int] | tuple[int, ...]) -> str:
    found = sorted(counts)
    return f"{', '.join(map(str, found))} node{'s' if found != [1] else ''}"
