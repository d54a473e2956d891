"""The cluster that a log is held against where nobody names one: by the name of its GPU."""

from dataclasses import replace
from typing import TYPE_CHECKING

from collsim.cli.measured.logs import compared_with
from collsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from collsim.cli.clusters.choice import ClusterChoice
    from collsim.core.cluster import Cluster
    from collsim.core.measurements import Measurement
    from collsim.core.profile import Profile

__all__ = ["is_named", "named_by", "with_named"]


def is_named(choice: "ClusterChoice") -> bool:
    """Return whether options name a cluster: what they change of one names none."""
    return (choice.cluster, choice.profile, choice.alpha, choice.bandwidth) != (None,) * 4


def named_by(
    rows: "Sequence[Measurement]", choice: "ClusterChoice"
) -> "tuple[ClusterChoice, str, str]":
    """Return the cluster of some rows, why it is that, or why it is not that of their GPU.

    The GPU counts where a fit without a cluster would take it: for rows of NCCL on one node.

    Parameters
    ----------
    rows : sequence of Measurement
        That are judged.
    choice : ClusterChoice
        That names none, and may change what it will be; it comes back where the GPU's name
        does not tell it.

    Raises
    ------
    InputError
        If runs are of GPUs that tell different clusters.
    """
    if not rows:
        return choice, "", ""
    from collsim.calibrate.fit.nccl import refusal_of
    from collsim.calibrate.nccl_model import preset_named
    from collsim.core.cluster import Cluster

    _refuse_several(rows)
    _, reason = refusal_of(rows, None)
    if reason is not None:
        return choice, "", reason.removesuffix(", and no cluster is given (-c)")
    device = min(row.source.device for row in rows if row.source.device)
    preset = preset_named(device)
    if preset is None:
        return choice, "", f"no preset is of {device}"
    counts = sorted({row.ranks for row in rows})
    if len(counts) > 1:
        said = ", ".join(map(str, counts))
        return choice, "", f"of {device} there are rows of {said} ranks, and -c has one count"
    if counts[0] > Cluster.load(preset, nodes=1).ranks:
        return choice, "", f"one node of {preset} has fewer than {counts[0]} GPUs"
    taken = replace(choice, cluster=preset, ranks=counts[0], gpus_per_node=None)
    return taken, f"by the log's {device}", ""


def with_named(
    choice: "ClusterChoice", why_not: str
) -> "tuple[Cluster | Profile, Profile | None]":
    """Return what `compared_with` does; an error says that nobody named the cluster.

    Parameters
    ----------
    choice : ClusterChoice
        As `named_by` returns it.
    why_not : str
        Why the GPU's name does not tell the cluster; empty where it does.

    Raises
    ------
    CollsimError
        As of `compared_with`; where options change what the default cluster lacks, an
        InputError that asks for -c.
    """
    try:
        return compared_with(choice)
    except InputError as error:
        if choice.cluster is not None or not why_not or not choice.said:
            raise
        said = ", ".join(choice.said)
        raise InputError(f"{said}: needs a cluster, give -c; {why_not} ({error})") from error


def _refuse_several(rows: "Sequence[Measurement]") -> None:
    """Refuse runs of GPUs that tell different clusters, of which only one is taken."""
    from collsim.calibrate.nccl_model import preset_named

    first: dict[str, Measurement] = {}
    for row in rows:
        if row.source.device:
            first.setdefault(row.source.device, row)
    devices = list(first)
    for device in devices[1:]:
        if preset_named(device) != preset_named(devices[0]):
            raise InputError(
                f"{first[devices[0]].source} is of {devices[0]}, but {first[device].source} of "
                f"{device}: without -c they are held against one cluster; check each on its "
                "own, or give -c"
            )
