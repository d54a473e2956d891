"""The cluster that a log is held against where nobody names one: by the name of its GPU."""

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from collsim.cli.clusters.choice import ClusterChoice
    from collsim.core.measurements import Measurement

__all__ = ["is_named", "named_by"]


def is_named(choice: "ClusterChoice") -> bool:
    """Return whether options name a cluster, or change what is the default one."""
    return replace(choice, ranks=None, nodes=None, gpus_per_node=None) != type(choice)()


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
        That names none; it comes back where the GPU's name does not tell it.
    """
    if not rows:
        return choice, "", ""
    from collsim.calibrate.fit.nccl import refusal_of
    from collsim.calibrate.nccl_model import preset_named
    from collsim.core.cluster import Cluster

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
