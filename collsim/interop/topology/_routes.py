"""The way from every GPU to every other one, over the cables that a file names."""

import heapq
import math
from typing import Final

from collsim.errors import FileError
from collsim.interop.topology._machine import Cable, Machine, gpu, is_gpu

__all__ = ["Routes", "find_routes"]

Routes = dict[tuple[int, int], tuple[Cable, ...]]

# NVLink wins over PCIe whatever the number of hops: drivers and NCCL do the same.
_FAST: Final = 1
_SLOW: Final = 1000


def find_routes(machine: Machine) -> Routes:
    """Return the cables between every ordered pair of GPUs, in order.

    NVLink before PCIe, then the fewest hops, then the widest way. A message passes
    through another GPU as NCCL lets it: one, between NVLinks, where there is no way over
    NVLink without; or, where the machine relays, as many as it takes.

    Raises
    ------
    FileError
        If two GPUs are not joined.
    """
    leaving: dict[str, list[Cable]] = {}
    for cable in machine.cables:
        leaving.setdefault(cable.src, []).append(cable)
    found: Routes = {}
    for src in range(machine.gpus):
        came = _reach(gpu(src), leaving, machine.relays)
        for dst in range(machine.gpus):
            if dst == src:
                continue
            if gpu(dst) not in came:
                raise FileError(
                    machine.file,
                    f"nothing in it joins {machine.labels[src]} to {machine.labels[dst]}",
                )
            found[src, dst] = _back(gpu(dst), came, gpu(src))
    return found


def _reach(start: str, leaving: dict[str, list[Cable]], relays: bool) -> dict[str, Cable]:
    """Return the last cable of the best way to every vertex: cheapest, then widest."""
    came: dict[str, Cable] = {}
    # Cost, and bytes per second of the narrowest cable, negative so that less is better.
    best: dict[str, tuple[int, float]] = {start: (0, -math.inf)}
    heap = [(0, -math.inf, 0, start)]
    order = 0
    while heap:
        cost, width, _, vertex = heapq.heappop(heap)
        if (cost, width) != best[vertex]:
            continue
        through = is_gpu(vertex) and vertex != start
        if through and not relays and (came[vertex].src != start or cost > _FAST):
            continue
        for cable in leaving.get(vertex, ()):
            fast = cable.wire.name.startswith("nvlink")
            if through and not relays and not (fast and is_gpu(cable.dst)):
                continue
            # A GPU in between counts as a hop of its own.
            far = cost + (_FAST if fast or relays else _SLOW) + through * _FAST
            way = (far, max(width, -cable.wire.bandwidth.value))
            if cable.dst not in best or way < best[cable.dst]:
                best[cable.dst] = way
                came[cable.dst] = cable
                order += 1
                heapq.heappush(heap, (*way, order, cable.dst))
    return came


def _back(end: str, came: dict[str, Cable], start: str) -> tuple[Cable, ...]:
    way = []
    while end != start:
        way.append(came[end])
        end = came[end].src
    return tuple(reversed(way))
