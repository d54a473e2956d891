"""NCCL through nccl4py, NVIDIA's own binding: one process, a thread for every rank.

All ranks of this machine's GPUs live in this process, so there is nobody to meet. Memory
and events are torch's. Written against nccl4py 0.6.0 and not yet run on a GPU.
"""

import os
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collsim.core.collective import Collective
from collsim.errors import InputError, MissingExtraError, UsageError
from collsim.measure.backends._gpu import CALLS, share_gpus, stamps_of
from collsim.measure.backends._torch import TorchTransport, import_torch
from collsim.measure.place import Place
from collsim.measure.transport import MOVED, Buffer, Message

__all__ = ["connect", "connect_all"]

Values = NDArray[np.float64]

_OPS = {"sum": "SUM", "prod": "PROD", "min": "MIN", "max": "MAX", "avg": "AVG"}


class _Board:
    """Where the threads lay down what the others are to read."""

    def __init__(self, ranks: int, timeout: float) -> None:
        self.places: list[Any] = [None] * ranks
        self.gate = threading.Barrier(ranks, timeout=timeout)

    def exchange(self, rank: int, values: Values) -> Values:
        self.places[rank] = np.array(values)
        self.wait()
        found = np.stack(self.places)
        self.wait()
        return found

    def wait(self) -> None:
        try:
            self.gate.wait()
        except threading.BrokenBarrierError:
            raise TimeoutError("another rank did not come") from None


class _Rank(TorchTransport):
    """One rank: a communicator, a stream, a thread. Shares only memory with its base."""

    process_model = "one process, a thread per rank"
    calls = CALLS
    one_clock = False

    def __init__(
        self, core: Any, communicator: Any, board: _Board, rank: int, gpu: int, graph: bool
    ) -> None:
        # Not the base's: that one would join a process group.
        self.torch = torch = import_torch()
        self.core, self.board, self.graph = core, board, graph
        self.communicator = communicator
        self.rank, self.ranks = rank, len(board.places)
        self.where = f"cuda:{gpu}"
        self.dtypes = tuple(MOVED)
        self.clock = "CUDA graph" if graph else "CUDA events"
        self.device = torch.cuda.get_device_name(gpu)
        loaded = core.get_version().libnccl
        self.library = "NCCL" if loaded is None else f"NCCL {loaded.version}"
        torch.cuda.set_device(gpu)
        self._stream = torch.cuda.Stream(gpu)
        torch.cuda.set_stream(self._stream)
        # A number: the protocol for stream objects is younger than the torch that we take.
        self._handle = self._stream.cuda_stream

    def group(self, sends: Sequence[Message], receives: Sequence[Message]) -> None:
        with self.core.group():
            for buffer, peer, _ in receives:
                self.communicator.recv(buffer, peer, stream=self._handle)
            for buffer, peer, _ in sends:
                self.communicator.send(buffer, peer, stream=self._handle)

    def in_place(self, kind: Collective) -> bool:  # noqa: ARG002 - the base's signature
        return False

    def collective(
        self, kind: Collective, inputs: Buffer, outputs: Buffer, op: str, root: int
    ) -> Callable[[], None]:
        comm, more = self.communicator, {"stream": self._handle}
        how = getattr(self.core, _OPS[op])
        if kind.name == "sendrecv":
            ahead, behind = (self.rank + 1) % self.ranks, (self.rank - 1) % self.ranks
            return lambda: self.group([(inputs, ahead, 0)], [(outputs, behind, 0)])
        calls: dict[str, Callable[[], None]] = {
            "broadcast": lambda: comm.broadcast(inputs, outputs, root, **more),
            "reduce": lambda: comm.reduce(inputs, outputs, how, root, **more),
            "all_reduce": lambda: comm.allreduce(inputs, outputs, how, **more),
            "all_gather": lambda: comm.allgather(inputs, outputs, **more),
            "reduce_scatter": lambda: comm.reduce_scatter(inputs, outputs, how, **more),
            "all_to_all": lambda: comm.alltoall(inputs, outputs, **more),
            "gather": lambda: comm.gather(inputs, outputs, root, **more),
            "scatter": lambda: comm.scatter(inputs, outputs, root, **more),
        }
        return calls[kind.name]

    def stamps(self, call: Callable[[], None], repetitions: int, aligned: bool) -> Values:
        del aligned
        self.barrier()
        return stamps_of(self.torch, self._stream, call, repetitions, self.graph)

    def exchange(self, values: Values) -> Values:
        return self.board.exchange(self.rank, values)

    def barrier(self) -> None:
        self.finish()
        self.board.wait()

    def finish(self) -> None:
        self._stream.synchronize()

    def close(self) -> None:
        self.communicator.destroy()


def connect(place: Place, *_: object) -> TorchTransport:
    """Refuse: one process drives all ranks here, see :func:`connect_all`."""
    raise UsageError(
        f"nccl4py: {place.launcher} started {place.ranks} processes, but one drives all GPUs "
        "of a machine; expected to be started alone"
    )


def connect_all(
    ranks: int | None, timeout: float, graph: bool, ranks_per_gpu: int
) -> list[Callable[[], TorchTransport]]:
    """Make all communicators of this machine; return what makes each rank's transport.

    Each is to be called in the thread of its rank, in the order of the ranks.

    Raises
    ------
    MissingExtraError
        If nccl4py is not installed.
    """
    share_gpus(ranks_per_gpu, os.environ)
    torch = import_torch()
    try:
        from nccl import core
    except ImportError as error:
        raise MissingExtraError("nccl4py", "nccl4py") from error
    gpus = torch.cuda.device_count()
    ranks = gpus * ranks_per_gpu if ranks is None else ranks
    if not 0 < ranks <= gpus * ranks_per_gpu:
        raise InputError(
            f"{ranks} ranks on {gpus} GPUs: expected 1 to {gpus * ranks_per_gpu}, or more "
            "--ranks-per-gpu"
        )
    devices = [rank // ranks_per_gpu for rank in range(ranks)]
    board = _Board(ranks, timeout)
    made = core.Communicator.init_all(devices)
    return [
        partial(_Rank, core, comm, board, rank, devices[rank], graph)
        for rank, comm in enumerate(made)
    ]
