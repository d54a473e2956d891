"""The loop of fair sharing, compiled with numba; equal to the plain one to the last bit."""

from collections.abc import Callable
from typing import Final

from collsim.engine import fair_kernel, fair_levels, queues
from collsim.engine.jit import jit, jitable

__all__ = ["run"]

for _helper in (
    *(queues.settle, queues.take, queues.push, queues.pop, queues.heap, queues.arrange),
    *(fair_levels.fill, fair_levels.near, fair_levels.again),
):
    jitable(_helper)

run: Final[Callable[..., int]] = jit(fair_kernel.run)
