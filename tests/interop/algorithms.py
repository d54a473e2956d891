"""Every algorithm of the registry in some setting, for tests of what is written and read."""

from __future__ import annotations

from collections.abc import Iterator

from collsim.algorithms import build, find
from collsim.core.collective import collective
from collsim.core.schedule import Schedule
from collsim.core.setting import Setting


def schedules(kind: str, name: str, counts: range) -> Iterator[tuple[str, Schedule]]:
    """Yield schedules of an algorithm for rank counts, each in another setting.

    The setting goes round: one node, one node with chunks and channels and the last root, two
    nodes. What takes another one only is built in that; in-switch algorithms not at all.
    """
    found = find(kind, name)
    for ranks in counts:
        nodes = [rank * 2 // ranks for rank in range(ranks)]
        settings = [(None, 1, 1, 0), (None, 3, 2, ranks - 1), (nodes, 2, 2, 0)]
        for turn in range(3):
            node, chunks, channels, root = settings[(ranks + turn) % 3]
            setting = Setting(ranks, node)
            if found.limits(ranks) or found.needs(setting) or found.in_switch:
                continue
            schedule = build(
                kind, name, ranks, root if collective(kind).rooted else 0,
                chunks if found.chunked else 1, node=node,
                channels=channels if found.channeled else 1,
            )  # fmt: skip
            yield f"{kind}/{name} on {ranks} ranks, setting {(ranks + turn) % 3}", schedule
            break
