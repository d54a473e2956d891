"""What NCCL's example tuner plugin does with its file, written from its source alone.

NCCL 2.30.7, plugins/tuner/example/plugin.c: lines 95-123 (words), 124-292 (the file) and
352-450 (a call). Nothing of the package is used here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

COLLECTIVES = ("broadcast", "reduce", "allgather", "reducescatter", "allreduce")
ALGORITHMS = ("tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat")
PROTOCOLS = ("ll", "ll128", "simple")
IGNORE = -1.0
LINE = 256  # with its end and the final 0


def atoi(text: str) -> int:
    """Read a leading number as C does: 0 where there is none."""
    found = re.match(r"\s*([+-]?\d+)", text)
    return int(found[1]) if found else 0


def strtoull(text: str) -> int:
    """Read a leading number without a sign; -1 wraps around, too much is the most."""
    number = atoi(text)
    return min(number, 2**64 - 1) if number >= 0 else 2**64 + number


def word(text: str, known: tuple[str, ...], otherwise: str) -> str:
    """Return a word that is known in exactly this case; of any other no word is said."""
    return text if text in known else otherwise


@dataclass
class Plugin:
    """The plugin with a file loaded, for one communicator."""

    text: str
    ranks: int
    nodes: int
    lines: list[tuple[str, int, int, str, str, int, int, int, int, int]] = field(init=False)

    def __post_init__(self) -> None:
        self.lines = []
        for line in self.text.splitlines():
            assert len(line.encode()) < LINE, "fgets would part it"
            if not line or line[0] in "#\n":
                continue
            fields = [part.strip() for part in line.split(",") if part]
            if len(fields) < 8:
                continue
            more = [atoi(part) for part in fields[8:10]] + [-1] * (10 - len(fields))
            self.lines.append(
                (
                    word(fields[0], COLLECTIVES, "allreduce"),
                    strtoull(fields[1]),
                    strtoull(fields[2]),
                    word(fields[3], ALGORITHMS, "ring"),
                    word(fields[4], PROTOCOLS, "simple"),
                    *map(atoi, fields[5:8]),
                    *more[:2],
                )  # type: ignore[arg-type]
            )

    def call(
        self,
        collective: str,
        nbytes: int,
        table: dict[tuple[str, str], float],
        pipes: int = 1,
        registered: int = 0,
    ) -> tuple[tuple[str, str] | None, int]:
        """Return what NCCL runs after the plugin has set its costs, and its channels.

        None where no line decided: NCCL chooses, and gets the one channel all the same.
        """
        channels = 1
        for name, low, high, algorithm, protocol, count, nodes, ranks, ops, regs in self.lines:
            fits = (
                name == collective
                and low <= nbytes <= high
                and nodes in (-1, self.nodes)
                and ranks in (-1, self.ranks)
                and ops in (-1, pipes)
                and regs in (-1, registered)
            )
            if not fits or table.get((algorithm, protocol), IGNORE) == IGNORE:
                continue
            return (algorithm, protocol), (count if count != -1 else channels)
        return None, channels
