"""Gloo on CPUs, through torch.distributed; timed at the host."""

import os

from collsim.measure.backends._torch import TorchTransport
from collsim.measure.place import Place

__all__ = ["connect"]


class _Gloo(TorchTransport):
    def __init__(self, place: Place, timeout: float) -> None:
        if place.ranks == place.local_ranks:
            # The host's name may lead to an address that nobody listens at.
            os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        super().__init__(place, timeout, "gloo", "cpu")
        self.library = f"Gloo of torch {self.torch.__version__.split('+')[0]}"
        # Ranks that share cores would add up in more threads than there are cores.
        self.torch.set_num_threads(max(1, _cores_of() // place.local_ranks))


def _cores_of() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def connect(
    place: Place, timeout: float, graph: bool = False, ranks_per_gpu: int = 1
) -> TorchTransport:
    """Join the other ranks.

    Parameters
    ----------
    place : Place
        Which rank this is.
    timeout : float
        Seconds after which a call that hangs fails.
    graph : bool
        Of no meaning without a GPU; refused.
    ranks_per_gpu : int
        The same.
    """
    from collsim.errors import UsageError

    if graph:
        raise UsageError("--graph: Gloo runs on CPUs, expected --backend nccl with it")
    if ranks_per_gpu != 1:
        raise UsageError("--ranks-per-gpu: Gloo runs on CPUs, expected --backend nccl with it")
    return _Gloo(place, timeout)
