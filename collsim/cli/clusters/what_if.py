"""What the reader is told of the cluster that the options make, beside the answer."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from collsim.cli.clusters.notes import cluster_notes
from collsim.cli.program.output import note

if TYPE_CHECKING:
    from collsim.choose.rows import Row
    from collsim.cli.clusters.choice import ClusterChoice
    from collsim.core.cluster import Cluster

__all__ = [
    "as_folded",
    "opened",
    "tell_folded",
    "tell_healthy",
    "tell_large",
    "tell_uncrossed",
]

_SHOWN: Final = 4
_LARGE: Final = 512
# Ranks from which every size counts for a policy, and runs with fair shares take long.
_LARGE_FAIR: Final = 12
# Sizes times pairs of ranks from which a table takes long: 500 sizes on 512 ranks.
_LONG: Final = 2**27


def opened(choice: "ClusterChoice") -> "Cluster":
    """Return the cluster, and say what a reader has to know of it before any time."""
    cluster = choice.load()
    for text in (
        *_failed(choice),
        *_idle(choice, cluster),
        *_fair(choice, cluster),
        *cluster_notes(choice, cluster),
    ):
        note(text)
    return cluster


def _fair(choice: "ClusterChoice", cluster: "Cluster") -> Iterator[str]:
    if cluster.sharing != "fair" or cluster.ranks == 1:
        return
    text = (
        "links are shared fairly: start-ups overlap (alpha_busy counts as 0), so times are "
        "not comparable with those of --sharing fifo"
    )
    if choice.sharing is None and "sharing" not in choice.changed_keys:
        text += f"; {cluster.name} is fair by default"
    yield text


def _failed(choice: "ClusterChoice") -> Iterator[str]:
    """Say which links each part that failed stands for."""
    if not choice.fail:
        return
    from collsim.topology import find_links

    unhurt = choice.unhurt()
    for part in choice.fail:
        names = [unhurt.links.names[i] for i in find_links(unhurt, part)]
        if names != [part]:
            text = f"failed with {part}: {_some(names)}"
            if part.startswith("gpu[") and part.endswith("]"):
                text += "; its rank goes on over what is left"
            yield text


def _idle(choice: "ClusterChoice", cluster: "Cluster") -> Iterator[str]:
    """Say which changes have nothing to change."""
    network = [key for key in choice.changed_keys if key.startswith("network.")]
    idle = [key for key in network if key != "network.nodes"]
    if idle and cluster.nodes == 1:
        yield f"on one node nothing changes with {_some(idle)}: take more with --nodes"


def tell_uncrossed(
    choice: "ClusterChoice", collective: str, algorithms: Iterable[str], root: int | None
) -> None:
    """Say which degraded or failed parts no message of an algorithm crosses."""
    parts = [*(part for part, _ in choice.degrade), *choice.fail]
    if not parts:
        return
    from collsim.algorithms import build, find
    from collsim.choose.crossed import crossed_links
    from collsim.engine.chunks import channels_of
    from collsim.topology import find_links

    unhurt = choice.unhurt()
    setting = unhurt.setting
    crossed: dict[str, set[int]] = {}
    for name in dict.fromkeys(algorithms):
        crossed[name] = set()
        for channels in channels_of(find(collective, name), setting):
            schedule = build(
                *(collective, name, unhurt.ranks, root or 0),
                node=unhurt.node,
                channels=channels,
                multicast=setting.multicast,
                rings=setting.rings,
            )
            crossed[name] |= crossed_links(schedule, unhurt)
    for part in dict.fromkeys(parts):
        links = set(find_links(unhurt, part).tolist())
        idle = [name for name, used in crossed.items() if not links & used]
        if idle:
            note(f"no message of {_some(idle, ' or ')} crosses {part}")


def tell_healthy(rows: "Iterable[Row]") -> None:
    """Say where another algorithm is the fastest of the cluster as it was."""
    from collsim.units import format_size

    others = [
        f"{format_size(row.size)} ({row.healthy_algorithm}, not {row.algorithm})"
        for row in rows
        if row.healthy_algorithm not in {None, row.algorithm}
    ]
    if others:
        note(f"the healthy time is of another algorithm at {_some(others)}")


def tell_folded(folded: "Mapping[str, str]") -> None:
    """Say of which algorithms a few ranks were simulated in place of all."""
    for said in dict.fromkeys(folded.values()):
        names = [name for name, one in folded.items() if one == said]
        note(f"folded: {_some(names)}: {said}")


def as_folded(folded: "Mapping[str, str]") -> dict[str, dict[str, str]]:
    """Return the same as a key of the JSON object, which is there if anything was folded."""
    return {"folded": dict(folded)} if folded else {}


def tell_large(
    cluster: "Cluster", every_size: bool = False, *, fold: bool = False, sizes: int = 1
) -> None:
    """Say before a long simulation that it is one."""
    fair = cluster.sharing == "fair" and cluster.ranks >= _LARGE_FAIR
    # Reductions end at times of their own, and rates are shared out anew at each.
    why = "at every size" if every_size else "in many chunks where reductions take time, too"
    if fair and (every_size or cluster.gamma):
        note(
            f"links of {cluster.ranks} ranks are shared fairly, which takes long to simulate "
            f"{why}: up to minutes"
        )
    elif cluster.uniform is None and cluster.ranks >= _LARGE:
        from collsim.choose.folding import FOLD_FROM

        # Whether an algorithm folds is not known before; then it takes a second or two.
        few = ""
        if fold and cluster.ranks >= FOLD_FROM:
            from collsim.choose.folding import why_none_stand_for_all

            reason = why_none_stand_for_all(cluster)
            few = " where a few can't stand for all"
            if reason is not None:
                few = f"; none can stand for all: {reason}"
        note(
            f"simulating message by message on {cluster.ranks} ranks, which can take "
            f"minutes{few}"
        )
    elif cluster.uniform is None and sizes * cluster.ranks**2 >= _LONG:
        note(
            f"simulating {sizes} sizes one by one on {cluster.ranks} ranks, which can take "
            "minutes; -f 2 takes one in each doubling"
        )


def _some(names: list[str], join: str = ", ") -> str:
    more = len(names) - _SHOWN
    return join.join(names[:_SHOWN]) + f" and {more} more" * (more > 0)
