"""Every message of every algorithm on a few ranks is the one that is written down.

data/schedules.txt holds what `verify` found right. Where an algorithm is meant to change,
`python tests/algorithms/test_listed.py` writes it anew, and the difference is to be read: a
schedule may be right and slower, or wait for more than it must. A message is
`sender>receiver`, `=` where it overwrites or `+` where it adds up, the places that it reads,
`:` those that it writes if they are others, `@` its channel if it is not the first, and `<` the
messages that it waits for, counted from 0. A line is a round.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from collsim.algorithms import algorithm_names, build, find, refusal
from collsim.core.collective import COLLECTIVES, collective
from collsim.core.schedule import COPY, Schedule

FILE = Path(__file__).parent / "data" / "schedules.txt"
# Ranks and their nodes: one odd node, two, four, three that differ, and an even one.
SETTINGS: tuple[tuple[int, list[int] | None], ...] = (
    (5, None), (6, [0, 0, 0, 1, 1, 1]), (8, [0, 0, 1, 1, 2, 2, 3, 3]),
    (7, [0, 0, 0, 1, 1, 2, 2]), (4, None),
)  # fmt: skip
MEMBERS = [(kind, name) for kind in COLLECTIVES for name in algorithm_names(kind)]


def runs(places: list[int]) -> str:
    """Return places as 0-3,7."""
    found: list[list[int]] = []
    for place in places:
        if found and found[-1][1] + 1 == place:
            found[-1][1] = place
        else:
            found.append([place, place])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in found)


def message(schedule: Schedule, i: int) -> str:
    """Return one message."""
    read, written = (runs(at(i).tolist()) for at in (schedule.carried, schedule.written))
    waits = ",".join(map(str, schedule.waits_for(i).tolist()))
    return (
        f"{schedule.src[i]}>{schedule.dst[i]}{'=' if schedule.kind[i] == COPY else '+'}{read}"
        + (f":{written}" if written != read else "")
        + (f"@{schedule.channel[i]}" if schedule.channel[i] else "")
        + (f"<{waits}" if waits else "")
    )


def listed(kind: str, name: str) -> Iterator[str]:
    """Yield the schedules of an algorithm on the first four settings that it runs on."""
    found = find(kind, name)
    root = 1 if collective(kind).rooted else 0
    # In chunks and channels where it has them.
    chunks, channels = 1 + found.chunked, 1 + found.channeled
    fit = [one for one in SETTINGS if refusal(kind, name, one[0], node=one[1], multicast=True)
           is None]  # fmt: skip
    for ranks, node in fit[:4]:
        schedule = build(
            kind, name, ranks, root, chunks, node=node, channels=channels, multicast=True
        )
        nodes = "" if node is None else f" on {len(set(node))} nodes"
        yield f"## {kind}/{name}, {ranks} ranks{nodes}"
        for step in range(schedule.rounds):
            at = np.flatnonzero(schedule.round == step).tolist()
            yield " ".join(message(schedule, i) for i in at)


@pytest.mark.parametrize(("kind", "name"), MEMBERS)
def test_messages_are_those_that_are_written_down(kind: str, name: str) -> None:
    """Who sends what to whom, in which order, and what each waits for."""
    written = FILE.read_text(encoding="utf-8").split("\n## ")
    own = [
        block for block in written if block.removeprefix("## ").startswith(f"{kind}/{name},")
    ]
    assert own
    assert [*listed(kind, name)] == [
        line for block in own for line in ("## " + block.removeprefix("## ")).splitlines()
    ]


def test_nothing_else_is_written_down() -> None:
    """Four settings of every algorithm, or those that it runs on."""
    heads = [line[3:].split(",")[0] for line in FILE.read_text(encoding="utf-8").splitlines()
             if line.startswith("## ")]  # fmt: skip
    assert {tuple(head.split("/")) for head in heads} == set(MEMBERS)
    assert max(heads.count(head) for head in heads) == 4


if __name__ == "__main__":
    text = "\n".join(line for member in MEMBERS for line in listed(*member))
    FILE.write_text(text + "\n", encoding="utf-8")
