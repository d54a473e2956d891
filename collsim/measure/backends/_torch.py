"""What torch.distributed's backends have in common."""

import contextlib
import gc
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from types import ModuleType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.collective import Collective
from collsim.errors import InputError, MissingExtraError, UnknownNameError, UsageError
from collsim.measure.place import Place
from collsim.measure.transport import MOVED, Buffer, Message

__all__ = ["TorchTransport", "import_torch"]

Values = NDArray[np.float64]

_OPS: Final = {"sum": "SUM", "prod": "PRODUCT", "min": "MIN", "max": "MAX", "avg": "AVG"}
_BOOT: Final = "/proc/sys/kernel/random/boot_id"


def import_torch() -> ModuleType:
    """Return torch, with torch.distributed.

    Raises
    ------
    MissingExtraError
        If it is not installed; says what to install.
    """
    # Its warnings are pages of C++ frames; what failed is in the error too.
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    try:
        import torch
        import torch.distributed
    except ImportError as error:
        raise MissingExtraError("torch", "measure") from error
    if not torch.distributed.is_available():
        raise InputError("torch: this build has no torch.distributed, expected one that has")
    found: ModuleType = torch
    return found


class TorchTransport:
    """One rank of a torch.distributed process group.

    Parameters
    ----------
    place : Place
        Which rank this is.
    timeout : float
        Seconds after which a call that hangs fails.
    backend : str
        As torch spells it.
    where : str
        Device of the buffers.
    """

    clock: str = "host"
    process_model: str = "process per rank"
    calls: int = 1
    device: str | None = None
    library: str = ""

    def __init__(self, place: Place, timeout: float, backend: str, where: str) -> None:
        self.torch = torch = import_torch()
        self.dist: Any = torch.distributed
        self.place, self.where = place, where
        self.rank, self.ranks = place.rank, place.ranks
        self.dtypes = tuple(MOVED)
        self.dist.init_process_group(
            backend, init_method=place.meeting, rank=place.rank, world_size=place.ranks,
            timeout=timedelta(seconds=timeout),
        )  # fmt: skip
        self.group_of_all: Any = None
        self.one_clock = self._one_host()

    def _one_host(self) -> bool:
        """Tell whether all ranks run on one kernel, whose monotonic clock they then share."""
        try:
            with open(_BOOT, encoding="ascii") as file:
                name = file.read()
        except OSError:
            name = os.uname().nodename
        mine = float(hash_of(name) % 2**40)
        return bool((self.exchange(np.array([mine])) == mine).all())

    def empty(self, count: int, dtype: str) -> Buffer:
        """Return a buffer."""
        if dtype not in MOVED:
            raise UnknownNameError("dtype", dtype, self.dtypes)
        return self.torch.empty(
            count, dtype=getattr(self.torch, MOVED[dtype]), device=self.where
        )

    def load(self, buffer: Buffer, values: Values) -> None:
        """Copy values in."""
        buffer.copy_(self.torch.from_numpy(values))

    def read(self, buffer: Buffer) -> Values:
        """Copy values out."""
        array: Values = buffer.to("cpu", self.torch.float64).numpy()
        return array

    def fill(self, buffer: Buffer, value: float) -> None:
        """Set every element."""
        buffer.fill_(value)

    def copy(self, into: Buffer, source: Buffer) -> None:
        """Copy."""
        into.copy_(source)

    def combine(self, op: str, into: Buffer, source: Buffer) -> None:
        """Reduce."""
        if op in ("sum", "avg"):
            into.add_(source)
        elif op == "prod":
            into.mul_(source)
        elif op == "min":
            self.torch.minimum(into, source, out=into)
        else:
            self.torch.maximum(into, source, out=into)

    def divide(self, buffer: Buffer, by: int) -> None:
        """Divide; whole numbers towards zero."""
        if buffer.dtype.is_floating_point:
            buffer.div_(by)
        else:
            buffer.div_(by, rounding_mode="trunc")

    def group(self, sends: Sequence[Message], receives: Sequence[Message]) -> None:
        """Start all messages and wait for them."""
        works = [self.dist.irecv(buffer, peer, tag=tag) for buffer, peer, tag in receives]
        works += [self.dist.isend(buffer, peer, tag=tag) for buffer, peer, tag in sends]
        for work in works:
            work.wait()

    def force(self, algorithm: str, protocol: str) -> None:
        """Refuse: only NCCL can be told what to take."""
        if algorithm or protocol:
            raise UsageError(
                f"{algorithm}/{protocol}: {self.library} takes no forced algorithm, "
                "expected --backend nccl with --force"
            )

    def in_place(self, kind: Collective) -> bool:
        """Tell whether torch's own call replaces its input."""
        return kind.name in ("broadcast", "reduce", "all_reduce")

    def collective(
        self, kind: Collective, inputs: Buffer, outputs: Buffer, op: str, root: int
    ) -> Callable[[], None]:
        """Return torch's own collective, as a function of no argument."""
        dist, group, mine = self.dist, self.group_of_all, self.rank == root
        how = getattr(dist.ReduceOp, _OPS[op])
        name = kind.name
        parts: list[Buffer] | None = None
        if mine and name in ("scatter", "gather"):
            parts = list((inputs if name == "scatter" else outputs).chunk(self.ranks))
        ahead, behind = (self.rank + 1) % self.ranks, (self.rank - 1) % self.ranks
        gather_all = _either(dist, "all_gather_single", "all_gather_into_tensor")
        scatter_all = _either(dist, "reduce_scatter_single", "reduce_scatter_tensor")
        calls: dict[str, Callable[[], None]] = {
            "broadcast": lambda: dist.broadcast(outputs, root, group=group),
            "reduce": lambda: dist.reduce(inputs, root, op=how, group=group),
            "all_reduce": lambda: dist.all_reduce(inputs, op=how, group=group),
            "scatter": lambda: dist.scatter(outputs, parts, src=root, group=group),
            "gather": lambda: dist.gather(inputs, parts, dst=root, group=group),
            "all_gather": lambda: gather_all(outputs, inputs, group=group),
            "reduce_scatter": lambda: scatter_all(outputs, inputs, op=how, group=group),
            "all_to_all": lambda: dist.all_to_all_single(outputs, inputs, group=group),
            "sendrecv": lambda: self.group([(inputs, ahead, 0)], [(outputs, behind, 0)]),
        }
        return calls[name]

    def stamps(self, call: Callable[[], None], repetitions: int, aligned: bool) -> Values:
        """Time calls at the host, by a clock that all processes of a machine share."""
        made = np.empty((repetitions, 2))
        now = time.perf_counter
        self.barrier()
        with quiet():
            if not aligned:
                call()
            for i in range(repetitions):
                if aligned:
                    self.barrier()
                start = now()
                call()
                made[i] = start, now()
        return made

    def exchange(self, values: Values) -> Values:
        """Return the arrays of all ranks."""
        mine = self.torch.from_numpy(np.ascontiguousarray(values, dtype=np.float64))
        parts = [self.torch.empty_like(mine) for _ in range(self.ranks)]
        self.dist.all_gather(parts, mine)
        return np.stack([part.numpy() for part in parts])

    def barrier(self) -> None:
        """Wait for all ranks."""
        self.dist.barrier()

    def finish(self) -> None:
        """Do nothing: a call at the host returns when it is done."""

    def close(self) -> None:
        """Leave the process group."""
        self.dist.destroy_process_group()


def _either(dist: Any, new: str, old: str) -> Any:
    """Return a function of torch by its new name, or by the one that it had before 2.13."""
    return getattr(dist, new) if hasattr(dist, new) else getattr(dist, old)


def hash_of(text: str) -> int:
    """Return a number that is the same in every process, unlike Python's own."""
    import hashlib

    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep the garbage collector and torch's advice out of what is timed."""
    was = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if was:
            gc.enable()
