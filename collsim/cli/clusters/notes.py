"""What of a cluster may surprise a reader: shared cards, large nodes, detours, alpha."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from collsim.cli.program.output import note

if TYPE_CHECKING:
    from collections.abc import Iterable

    from collsim.choose.rows import Row
    from collsim.cli.clusters.choice import ClusterChoice
    from collsim.cli.options.asked import AskedPrediction
    from collsim.core.cluster import Cluster

__all__ = ["cluster_notes", "tell_alpha", "tell_alpha_busy", "tell_rootless"]

_SHOWN: Final = 3
# Ranks up to which one more run is made for a note.
_FEW: Final = 64
# Of the time that alpha takes where it rules.
_MOST: Final = 0.5


def cluster_notes(choice: "ClusterChoice", cluster: "Cluster") -> Iterator[str]:
    """Yield notes on how the cluster is made."""
    yield from _shared_cards(choice, cluster)
    yield from _larger_nodes(choice)
    yield from _detours(choice, cluster)


def _shared_cards(choice: "ClusterChoice", cluster: "Cluster") -> Iterator[str]:
    """Say of a file of one's own that GPUs share NICs one message after the other."""
    from collsim.config.presets import is_path

    said = choice.sharing is not None or "sharing" in choice.changed_keys
    if said or cluster.sharing != "fifo" or not is_path(choice.file):
        return
    if not any(device.startswith("nic[") for device in cluster.devices):
        return
    from collsim.config.changes import parse_changes
    from collsim.config.cluster import find_spec

    spec = find_spec(choice.file, parse_changes(choice.changes))
    if spec.sharing is None and (spec.network is None or spec.network.sharing is None):
        yield (
            "GPUs share NICs, and one message goes after the other (fifo, the default of a "
            "file); presets of such nodes let messages share bandwidth. Write which you mean, "
            f'sharing = "fair" or "fifo", in {choice.file}, or try --sharing fair'
        )


def _larger_nodes(choice: "ClusterChoice") -> Iterator[str]:
    """Say where a node is larger than that of the preset."""
    from collsim.config.presets import is_path

    if choice.gpus_per_node is None or not choice.file or is_path(choice.file):
        return
    from collsim.config.cluster import find_spec

    spec = find_spec(choice.file)
    gpus = spec.values.get("gpus")
    if not spec.elastic and isinstance(gpus, int) and choice.gpus_per_node > gpus:
        yield (
            f"--gpus-per-node {choice.gpus_per_node} makes nodes that are not those of "
            f"{choice.file}, which have {gpus} GPUs; --nodes takes more of them"
        )


def _detours(choice: "ClusterChoice", cluster: "Cluster") -> Iterator[str]:
    """Say over what messages go now whose way failed: to the next rank, and the next node."""
    if not choice.fail:
        return
    import numpy as np

    from collsim.topology import find_links

    unhurt = choice.unhurt()
    dead = np.concatenate([find_links(unhurt, part) for part in choice.fail])
    ranks, near = np.arange(cluster.ranks), int((cluster.node == cluster.node[0]).sum())
    pairs: list[tuple[int, int]] = []
    for step in sorted({near % cluster.ranks, 1 % cluster.ranks} - {0}):
        there = (ranks + step) % cluster.ranks
        ptr, link = unhurt.router(ranks, there)
        src = np.unique(np.repeat(ranks, np.diff(ptr))[np.isin(link, dead)])
        pairs += zip(src.tolist(), there[src].tolist(), strict=True)
    if pairs:
        names = cluster.links.names
        found = [
            f"from rank {a} to {b} over {', '.join(names[i] for i in cluster.route(a, b))}"
            for a, b in pairs[:_SHOWN]
        ]
        more = len(pairs) - _SHOWN
        text = f"messages take another way: {'; '.join(found)}"
        yield text + f"; and {more} more pairs of neighbours" * (more > 0)


def tell_rootless(collective: str, root: int | None, ranks: int) -> None:
    """Say that a root has no effect, where a collective has none."""
    from collsim.core.collective import collective as kind

    if root and ranks > 1 and not kind(collective).rooted:
        note(f"--root {root} changes nothing: {kind(collective).name} has no root")


def _holds(choice: "ClusterChoice", cluster: "Cluster") -> bool:
    """Return whether alpha of several nodes holds links, and nobody has asked for it."""
    if choice.alpha_busy is not None or choice.profile is not None or cluster.nodes == 1:
        return False
    busy = any("alpha_busy" in key for key in choice.changed_keys)
    return not busy and cluster.sharing == "fifo" and bool(cluster.links.busy.any())


def tell_alpha_busy(choice: "ClusterChoice", cluster: "Cluster") -> None:
    """Say which assumption rules small sizes on several nodes."""
    if _holds(choice, cluster):
        note(
            "while a message starts it holds its links (alpha_busy = alpha), which rules small "
            "sizes on several nodes; --alpha-busy 0us: latency that overlaps"
        )


def tell_alpha(
    choice: "ClusterChoice",
    cluster: "Cluster",
    rows: "Iterable[Row]",
    collective: str,
    run: "AskedPrediction",
) -> None:
    """Say, of the first size that alpha rules, how long it takes where latency overlaps."""
    if not _holds(choice, cluster):
        return
    ruled = [row for row in rows if row.alpha_us > _MOST * row.time_us]
    if not ruled:
        return
    if cluster.ranks > _FEW:
        tell_alpha_busy(choice, cluster)
        return
    from dataclasses import replace

    from collsim.choose.predict import predict
    from collsim.units import format_size

    row = ruled[-1]
    overlapping = replace(choice, alpha_busy=0.0).load()
    (other,) = predict(collective, overlapping, row.size, row.algorithm, **run).rows
    if other.time_us < row.time_us * (1 - 1e-3):
        note(
            f"{row.alpha_us / row.time_us:.0%} of {row.algorithm}'s time at "
            f"{format_size(row.size)} is alpha, which holds links here; with latency that "
            f"overlaps (--alpha-busy 0us) it takes {other.time_us:.4g} us and not "
            f"{row.time_us:.4g}"
        )
