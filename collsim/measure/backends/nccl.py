"""NCCL on GPUs, through torch.distributed; timed on the device by CUDA events.

One process drives one rank. Every call is put on a stream and the host goes on, so what is
timed is the device's own time; with a CUDA graph the host's launches drop out altogether.
Not run in this project's tests, which have no GPU.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from collsim.errors import InputError, UsageError
from collsim.measure.backends._gpu import CALLS, share_gpus, stamps_of
from collsim.measure.backends._torch import TorchTransport
from collsim.measure.place import Place
from collsim.measure.transport import Message

__all__ = ["connect"]

Values = NDArray[np.float64]

# NCCL reads these when a communicator is made (NCCL 2.30, src/graph/tuning.cc).
_FORCE: Final = ("NCCL_ALGO", "NCCL_PROTO")


class _Nccl(TorchTransport):
    def __init__(self, place: Place, timeout: float, graph: bool, ranks_per_gpu: int) -> None:
        share_gpus(ranks_per_gpu, os.environ)
        from collsim.measure.backends._torch import import_torch

        torch = import_torch()
        if not torch.cuda.is_available():
            raise InputError("nccl: no GPU is to be found here, expected --backend gloo")
        gpus = torch.cuda.device_count()
        if place.local_ranks > gpus * ranks_per_gpu:
            raise UsageError(
                f"{place.local_ranks} ranks on {gpus} GPUs: expected at most "
                f"{gpus * ranks_per_gpu}, or --ranks-per-gpu (NCCL 2.30.3 and newer)"
            )
        number = place.local_rank // ranks_per_gpu % gpus
        torch.cuda.set_device(number)
        # Host arrays, such as the stamps, travel by Gloo.
        super().__init__(place, timeout, "cpu:gloo,cuda:nccl", f"cuda:{number}")
        self.graph = graph
        self.clock = "CUDA graph" if graph else "CUDA events"
        self.calls = CALLS
        self.one_clock = False
        self.device = str(torch.cuda.get_device_name(number))
        version = ".".join(map(str, torch.cuda.nccl.version()))
        self.library = f"NCCL {version}"
        self.group_of_all = self.dist.group.WORLD
        self._groups: dict[tuple[str, str], Any] = {("", ""): self.group_of_all}
        self._stream = torch.cuda.Stream()
        torch.cuda.set_stream(self._stream)
        # The first call makes the communicator, and all ranks must make it; a message between
        # two of them would wait for the others.
        self.dist.all_reduce(torch.zeros(1, device=self.where))
        self.finish()

    def group(self, sends: Sequence[Message], receives: Sequence[Message]) -> None:
        """Put all messages on the stream as one group."""
        dist = self.dist
        parts = [dist.P2POp(dist.irecv, buffer, peer) for buffer, peer, _ in receives]
        parts += [dist.P2POp(dist.isend, buffer, peer) for buffer, peer, _ in sends]
        for work in dist.batch_isend_irecv(parts):
            work.wait()

    def force(self, algorithm: str, protocol: str) -> None:
        """Take a communicator that was made with NCCL_ALGO and NCCL_PROTO set."""
        wanted = (algorithm, protocol)
        if wanted not in self._groups:
            before = {name: os.environ.get(name) for name in _FORCE}
            try:
                for name, value in zip(_FORCE, wanted, strict=True):
                    if value:
                        os.environ[name] = value
                made = self.dist.new_group(backend="nccl")
                # Communicators are made by their first call.
                self.dist.all_reduce(self.empty(1, "float").fill_(0), group=made)
                self.finish()
            finally:
                for name, old in before.items():
                    if old is None:
                        os.environ.pop(name, None)
                    else:
                        os.environ[name] = old
            self._groups[wanted] = made
        self.group_of_all = self._groups[wanted]

    def stamps(self, call: Callable[[], None], repetitions: int, aligned: bool) -> Values:
        """Return durations on the device, each the mean of calls in a row."""
        del aligned  # calls on a stream follow each other, and ranks keep in step
        self.barrier()
        return stamps_of(self.torch, self._stream, call, repetitions, self.graph)

    def barrier(self) -> None:
        """Wait for all ranks, at the host."""
        self.finish()
        self.exchange(np.zeros(1))

    def finish(self) -> None:
        """Wait for the device."""
        self.torch.cuda.synchronize()


def connect(
    place: Place, timeout: float, graph: bool = False, ranks_per_gpu: int = 1
) -> TorchTransport:
    """Join the other ranks, on this rank's GPU.

    Parameters
    ----------
    place : Place
        Which rank this is.
    timeout : float
        Seconds after which a call that hangs fails.
    graph : bool
        Capture calls in a CUDA graph and time its replays.
    ranks_per_gpu : int
        Ranks that share each GPU; above 1 sets what NCCL needs for it.
    """
    return _Nccl(place, timeout, graph, ranks_per_gpu)
