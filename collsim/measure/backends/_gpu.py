"""What both NCCL transports need of CUDA: several ranks on a GPU, and the device's clock."""

from collections.abc import Callable, MutableMapping
from types import ModuleType
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["CALLS", "share_gpus", "stamps_of"]

Values = NDArray[np.float64]

CALLS: Final = 20
"""Calls in a row that one sample is the mean of: nccl-tests' own default."""

# NCCL 2.30.7, docs env.rst: 2.30.3 and newer; off unless set; CTAs of all ranks of a GPU
# must fit on it together, or their kernels wait for each other for ever.
_SWITCH: Final = "NCCL_MULTI_RANK_GPU_ENABLE"
_CTAS: Final = "NCCL_MAX_CTAS"
_MOST_CTAS: Final = 64
_OWN_CTAS: Final = 8


def share_gpus(ranks_per_gpu: int, environment: MutableMapping[str, str]) -> None:
    """Set what NCCL needs so that several ranks may use one GPU; what is set stays.

    Examples
    --------
    >>> environment = {}
    >>> share_gpus(2, environment)
    >>> environment
    {'NCCL_MULTI_RANK_GPU_ENABLE': '1', 'NCCL_MAX_CTAS': '8'}
    >>> share_gpus(1, environment := {})
    >>> environment
    {}
    """
    if ranks_per_gpu == 1:
        return
    environment.setdefault(_SWITCH, "1")
    environment.setdefault(_CTAS, str(max(1, min(_OWN_CTAS, _MOST_CTAS // ranks_per_gpu))))


def stamps_of(
    torch: ModuleType, stream: object, call: Callable[[], None], repetitions: int, graph: bool
) -> Values:
    """Return begin and end of samples on the device: 0, and the seconds of one call.

    Each sample is the mean over `CALLS` calls in a row between two CUDA events. In a graph
    these calls are captured once and replayed, so that no launch of the host is in it.
    """
    made = np.zeros((repetitions, 2))
    run = call
    if graph:
        captured = torch.cuda.CUDAGraph()
        call()
        torch.cuda.synchronize()
        # Threads of other ranks allocate and wait meanwhile, which is none of this one's.
        with torch.cuda.graph(captured, stream=stream, capture_error_mode="thread_local"):
            for _ in range(CALLS):
                call()
        captured.replay()
        torch.cuda.synchronize()
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for i in range(repetitions):
        first.record(stream)
        if graph:
            captured.replay()
        else:
            for _ in range(CALLS):
                run()
        last.record(stream)
        last.synchronize()
        made[i, 1] = first.elapsed_time(last) * 1e-3 / CALLS
    return made
