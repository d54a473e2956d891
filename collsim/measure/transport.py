"""What a backend offers: memory, messages, the library's collectives, and a clock."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from collsim.core.collective import Collective

__all__ = ["MOVED", "Buffer", "Message", "Transport"]

Buffer = Any
"""A one-dimensional buffer of the backend; a slice of it shares its memory."""

Message = tuple[Buffer, int, int]
"""What is sent or where it is received, the peer, and a number that both ends know."""

Values = NDArray[np.float64]

MOVED: Final = {
    "int8": "int8",
    "uint8": "uint8",
    "int32": "int32",
    "int64": "int64",
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "bfloat16": "bfloat16",
}
"""Element types that our backends move: nccl-tests' names, and torch's."""


class Transport(Protocol):
    """One rank's end of a backend.

    Attributes
    ----------
    rank, ranks : int
        Of this process or thread, and how many there are.
    clock : str
        What the times are of: ``"host"``, ``"CUDA events"`` or ``"CUDA graph"``.
    process_model, library : str
        As in :class:`collsim.core.measurements.Source`.
    device : str or None
        Name of the GPU.
    dtypes : tuple of str
        Element types that it can move, by nccl-tests' names.
    calls : int
        How many calls in a row each stamp is the mean of.
    one_clock : bool
        Whether the stamps of all ranks are of one clock.
    """

    rank: int
    ranks: int
    clock: str
    process_model: str
    library: str
    device: str | None
    dtypes: tuple[str, ...]
    calls: int
    one_clock: bool

    def empty(self, count: int, dtype: str) -> Buffer:
        """Return a buffer of `count` elements."""
        ...

    def load(self, buffer: Buffer, values: Values) -> None:
        """Copy whole numbers into a buffer of their length."""
        ...

    def read(self, buffer: Buffer) -> Values:
        """Return the elements of a buffer."""
        ...

    def fill(self, buffer: Buffer, value: float) -> None:
        """Set every element."""
        ...

    def copy(self, into: Buffer, source: Buffer) -> None:
        """Copy within this rank's memory."""
        ...

    def combine(self, op: str, into: Buffer, source: Buffer) -> None:
        """Reduce into a buffer; an average is summed."""
        ...

    def divide(self, buffer: Buffer, by: int) -> None:
        """Divide every element."""
        ...

    def group(self, sends: Sequence[Message], receives: Sequence[Message]) -> None:
        """Start all messages at once, and go on when what follows may use their data."""
        ...

    def collective(
        self, kind: Collective, inputs: Buffer, outputs: Buffer, op: str, root: int
    ) -> Callable[[], None]:
        """Return a function that runs the library's own collective once.

        `inputs` and `outputs` hold the blocks of this rank end to end; they are the same
        buffer where the library works in place.
        """
        ...

    def force(self, algorithm: str, protocol: str) -> None:
        """Make the library take an algorithm and protocol; empty: let it choose."""
        ...

    def in_place(self, kind: Collective) -> bool:
        """Whether the library's collective replaces its input."""
        ...

    def stamps(self, call: Callable[[], None], repetitions: int, aligned: bool) -> Values:
        """Return when each call began and ended, in seconds, shape (repetitions, 2).

        `aligned`: with a barrier before each. Otherwise the ranks keep each other in step,
        and one call that is not timed goes first.
        """
        ...

    def exchange(self, values: Values) -> Values:
        """Return the arrays of all ranks, one row each; all ranks pass the same shape."""
        ...

    def barrier(self) -> None:
        """Wait for all ranks."""
        ...

    def finish(self) -> None:
        """Wait until all that was started is done."""
        ...

    def close(self) -> None:
        """Give everything back."""
        ...
