"""Buckets of gradients, as PyTorch's DistributedDataParallel fills them."""

from collections.abc import Iterator, Sequence
from typing import Final

__all__ = ["buckets"]

# torch.distributed, kDefaultFirstBucketBytes: so that the first one can go early.
_FIRST: Final = 2.0**20


def buckets(sizes: Sequence[Sequence[float]], cap: float) -> Iterator[tuple[int, float]]:
    """Yield, for every bucket, the part with which it is full, and its bytes.

    Gradients come in the reverse order of the tensors; a bucket takes whole tensors until
    it is at its cap or above, the first one until 1 MiB (PyTorch,
    torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size).

    Parameters
    ----------
    sizes : sequence of sequence of float
        Bytes of each tensor of each part.
    cap : float
        Bytes at which a bucket is full.

    Examples
    --------
    >>> list(buckets([[3e6], [2e6, 2e6], [1e6, 1e5]], cap=4e6))
    [(2, 1100000.0), (1, 4000000.0), (0, 3000000.0)]
    """
    limit, held, last = min(_FIRST, cap), 0.0, None
    for part in range(len(sizes) - 1, -1, -1):
        for nbytes in reversed(sizes[part]):
            held, last = held + nbytes, part
            if held >= limit:
                yield part, held
                held, limit = 0.0, cap
    if held > 0 and last is not None:
        yield last, held
