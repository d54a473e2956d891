"""MSCCL files run on memory, step by step in any order that they allow: what comes of it.

Written from the runtime's source and apart from the importer: it reads the XML with the
standard library, holds contributions in lists, and knows nothing of schedules.
"""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from collections import Counter, deque
from typing import Any

Data = Counter[Any]
RECEIVING = {"r", "rcs", "rrs", "rrc", "rrcs"}
SENDING = {"s", "rcs", "rrs", "rrcs"}
GARBAGE: Data = Counter({"garbage": 1})


class HangsError(Exception):
    """No step can be done."""


class Machine:
    """GPUs with memory, thread blocks and queues."""

    def __init__(self, text: str, seed: int) -> None:
        self.random = random.Random(seed)
        algo = ET.fromstring(text)
        self.coll = algo.get("collective") or algo.get("coll", "")
        self.ranks = int(algo.get("ngpus", 0))
        self.chunks = int(algo.get("nchunksperloop", 0))
        self.root = int(algo.get("root", 0))
        self.in_place = algo.get("inplace") == "1"
        self.memory: list[list[Data]] = []
        self.base: list[dict[str, int]] = []
        self.threads: list[tuple[int, int, int, int, list[dict[str, str]]]] = []
        for rank, gpu in enumerate(sorted(algo, key=lambda g: int(g.get("id", 0)))):
            self._allocate(rank, gpu)
            for tb in gpu:
                if tb.tag != "tb":
                    continue
                ends = (int(tb.get(key, 0)) for key in ("send", "recv", "chan"))
                steps = [dict(step.attrib) for step in tb]
                self.threads.append((rank, *ends, steps))  # type: ignore[arg-type]
        self.blocks = [[t for t in self.threads if t[0] == rank] for rank in range(self.ranks)]

    def _allocate(self, rank: int, gpu: ET.Element) -> None:
        """Lay the buffers out as a caller of NCCL would."""
        n, p = self.chunks, self.ranks
        size = {
            "i": n // p if self.coll == "allgather" else n,
            "o": n // p if self.coll == "reduce_scatter" else n,
            "s": int(gpu.get("s_chunks", 0)),
        }
        base = {"i": 0, "o": size["i"], "s": size["i"] + size["o"]}
        if self.in_place:
            base = {"i": 0, "o": 0, "s": max(size["i"], size["o"])}
            if self.coll == "allgather":
                base["i"] = rank * size["i"]
            if self.coll == "reduce_scatter":
                base["o"] = rank * size["o"]
        memory = [GARBAGE.copy() for _ in range(base["s"] + size["s"])]
        for i in range(size["i"]):
            if self._brings(rank, i):
                memory[base["i"] + i] = Counter({(rank, i): 1})
        self.memory.append(memory)
        self.base.append(base)

    def _brings(self, rank: int, chunk: int) -> bool:
        if self.coll in ("broadcast", "scatter"):
            return rank == self.root
        return self.coll != "gather" or chunk // (self.chunks // self.ranks) == rank

    def expected(self, rank: int) -> dict[int, Data]:  # noqa: PLR0911 - one for each
        """Return what the chunks of the output must hold."""
        n, p = self.chunks, self.ranks
        share = n // p
        everyone = range(p)
        if self.coll in ("allreduce", "reduce"):
            whole = {c: Counter({(r, c): 1 for r in everyone}) for c in range(n)}
            return whole if self.coll == "allreduce" or rank == self.root else {}
        if self.coll == "broadcast":
            return {c: Counter({(self.root, c): 1}) for c in range(n)}
        if self.coll == "allgather":
            return {c: Counter({(c // share, c % share): 1}) for c in range(n)}
        if self.coll == "reduce_scatter":
            return {
                c: Counter({(r, rank * share + c): 1 for r in everyone}) for c in range(share)
            }
        if self.coll == "alltoall":
            return {c: Counter({(c // share, rank * share + c % share): 1}) for c in range(n)}
        if self.coll == "scatter":
            mine = range(rank * share, (rank + 1) * share)
            return {c: Counter({(self.root, c): 1}) for c in mine}
        if self.coll == "gather":
            whole = {c: Counter({(c // share, c): 1}) for c in range(n)}
            return whole if rank == self.root else {}
        if self.coll == "sendrecv":
            return {c: Counter({((rank - 1) % p, c): 1}) for c in range(n)}
        raise AssertionError(self.coll)

    def run(self) -> bool:
        """Run in some order; return whether the result is right. Raises `HangsError`."""
        at = {id(t): 0 for t in self.threads}
        flags = {id(t): -1 for t in self.threads}
        queues: dict[tuple[int, int, int], deque[list[Data]]] = {}
        left = sum(len(t[4]) for t in self.threads)
        while left:
            ready = [t for t in self.threads if self._ready(t, at, flags, queues)]
            if not ready:
                raise HangsError
            thread = self.random.choice(ready)
            step = thread[4][at[id(thread)]]
            if step["type"] != "nop":
                self._do(thread, step, queues)
                if step["hasdep"] == "1":
                    flags[id(thread)] = at[id(thread)]
            at[id(thread)] += 1
            left -= 1
        if any(queues.values()):
            raise HangsError
        return all(
            self.memory[rank][self.base[rank]["o"] + c] == data
            for rank in range(self.ranks)
            for c, data in self.expected(rank).items()
        )

    def _ready(self, thread: Any, at: Any, flags: Any, queues: Any) -> bool:
        rank, _, recv, channel, steps = thread
        if at[id(thread)] == len(steps):
            return False
        step = steps[at[id(thread)]]
        if step["depid"] != "-1":
            other = self.blocks[rank][int(step["depid"])]
            if flags[id(other)] < int(step["deps"]):
                return False
        return step["type"] not in RECEIVING or bool(queues.get((recv, rank, channel)))

    def _do(self, thread: Any, step: dict[str, str], queues: Any) -> None:
        rank, send, recv, channel, _ = thread
        memory, base, count = self.memory[rank], self.base[rank], int(step["cnt"])
        src = base[step["srcbuf"]] + int(step["srcoff"])
        dst = base[step["dstbuf"]] + int(step["dstoff"])
        kind = step["type"]
        if kind == "cpy":
            memory[dst : dst + count] = [d.copy() for d in memory[src : src + count]]
            return
        if kind == "re":
            for i in range(count):
                memory[dst + i] = memory[dst + i] + memory[src + i]
            return
        data = [d.copy() for d in memory[src : src + count]]
        if kind != "s":
            came = queues[recv, rank, channel].popleft()
            if len(came) != count:
                raise HangsError
            data = [a + b for a, b in zip(data, came, strict=True)] if "rr" in kind else came
        if "c" in kind or kind == "r":
            memory[dst : dst + count] = [d.copy() for d in data]
        if kind.endswith("s"):
            queues.setdefault((rank, send, channel), deque()).append(data)


def outcomes(text: str, runs: int) -> set[str]:
    """Return what comes of some random orders: ``right``, ``wrong`` or ``hangs``."""
    found = set()
    for seed in range(runs):
        try:
            found.add("right" if Machine(text, seed).run() else "wrong")
        except HangsError:
            found.add("hangs")
    return found


def depth(text: str) -> int:
    """Return how many messages follow each other at most, if steps take no time.

    A message arrives 1 after it was sent; a step is done when the one before it is, what it
    waits for is announced, and what it receives is there.
    """
    machine = Machine(text, 0)
    at = {id(t): 0 for t in machine.threads}
    now = {id(t): 0 for t in machine.threads}
    announced: dict[int, list[tuple[int, int]]] = {id(t): [] for t in machine.threads}
    queues: dict[tuple[int, int, int], deque[int]] = {}
    moving = True
    while moving:
        moving = False
        for thread in machine.threads:
            rank, send, recv, channel, steps = thread
            me = id(thread)
            while at[me] < len(steps):
                step = steps[at[me]]
                when = now[me]
                if step["depid"] != "-1":
                    other = announced[id(machine.blocks[rank][int(step["depid"])])]
                    times = [t for place, t in other if place >= int(step["deps"])]
                    if not times:
                        break
                    when = max(when, times[0])
                if step["type"] in RECEIVING:
                    queue = queues.get((recv, rank, channel))
                    if not queue:
                        break
                    when = max(when, queue.popleft())
                if step["type"] in SENDING:
                    queues.setdefault((rank, send, channel), deque()).append(when + 1)
                if step["hasdep"] == "1":
                    announced[me].append((at[me], when))
                now[me] = when
                at[me] += 1
                moving = True
    return max(now.values(), default=0)
