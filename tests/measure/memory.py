"""A transport of threads in one process: what ranks do, without a library under them."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from collsim.core.collective import Collective

PATIENCE = 5.0
TYPES = {"float": np.float32, "half": np.float16, "int32": np.int32, "double": np.float64}
COMBINE = {"sum": np.add, "avg": np.add, "prod": np.multiply, "min": np.minimum}


class World:
    """What the threads share."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.boxes: dict[tuple[int, int, int], queue.Queue[Any]] = {}
        self.lock = threading.Lock()
        self.gate = threading.Barrier(ranks)
        self.board: list[Any] = [None] * ranks

    def box(self, src: int, dst: int, tag: int) -> queue.Queue[Any]:
        """Return the queue of one pair and tag."""
        with self.lock:
            return self.boxes.setdefault((src, dst, tag), queue.Queue())


class Memory:
    """One rank."""

    clock, process_model, library, device = "host", "one process", "threads", None
    dtypes = tuple(TYPES)
    calls, one_clock = 1, True

    def __init__(self, world: World, rank: int) -> None:
        self.world, self.rank, self.ranks = world, rank, world.ranks
        self.messages = 0

    def empty(self, count: int, dtype: str) -> Any:
        """Return a buffer."""
        return np.empty(count, TYPES[dtype])

    def load(self, buffer: Any, values: Any) -> None:
        """Copy values in."""
        buffer[:] = values

    def read(self, buffer: Any) -> Any:
        """Copy values out."""
        return buffer.astype(np.float64)

    def fill(self, buffer: Any, value: float) -> None:
        """Set every element."""
        buffer[:] = value

    def copy(self, into: Any, source: Any) -> None:
        """Copy."""
        into[:] = source

    def combine(self, op: str, into: Any, source: Any) -> None:
        """Reduce."""
        COMBINE.get(op, np.maximum)(into, source, out=into)

    def divide(self, buffer: Any, by: int) -> None:
        """Divide."""
        buffer[:] = buffer / by

    def group(self, sends: Sequence[Any], receives: Sequence[Any]) -> None:
        """Send all, then receive all."""
        for buffer, peer, tag in sends:
            self.messages += 1
            self.world.box(self.rank, peer, tag).put(buffer.copy())
        for buffer, peer, tag in receives:
            buffer[:] = self.world.box(peer, self.rank, tag).get(timeout=PATIENCE)

    def in_place(self, kind: Collective) -> bool:
        """Say no."""
        return False

    def collective(self, *args: Any) -> Callable[[], None]:
        """Refuse: there is no library."""
        raise NotImplementedError

    def stamps(self, call: Callable[[], None], repetitions: int, aligned: bool) -> Any:
        """Time calls."""
        made = np.empty((repetitions, 2))
        for i in range(repetitions):
            self.barrier()
            start = time.perf_counter()
            call()
            made[i] = start, time.perf_counter()
        return made

    def exchange(self, values: Any) -> Any:
        """Return the arrays of all ranks."""
        self.world.board[self.rank] = np.array(values)
        self.world.gate.wait(PATIENCE)
        found = np.stack(self.world.board)
        self.world.gate.wait(PATIENCE)
        return found

    def barrier(self) -> None:
        """Wait for all."""
        self.world.gate.wait(PATIENCE)

    def finish(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def on_ranks(ranks: int, work: Callable[[Memory], Any]) -> list[Any]:
    """Run a function on every rank, each in its thread, and return what they return."""
    world = World(ranks)
    results: list[Any] = [None] * ranks
    errors: list[BaseException] = []

    def run(rank: int) -> None:
        try:
            results[rank] = work(Memory(world, rank))
        except BaseException as error:  # noqa: BLE001 - raised again below
            errors.append(error)
            world.gate.abort()

    threads = [threading.Thread(target=run, args=(r,), daemon=True) for r in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE * 2)
    assert not any(thread.is_alive() for thread in threads), "a rank hangs"
    if errors:
        first = [e for e in errors if not isinstance(e, threading.BrokenBarrierError)]
        raise (first or errors)[0]
    return results
