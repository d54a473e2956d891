"""In-switch reduction (NVLS), inside nodes and with a tree over them.

- nvls: launch + alpha + n (1 + 1/g) beta / efficiency + loop n / loop_bytes, beta that of the
  fitted ring with Simple. A loop moves channels x heads x chunk bytes (16 channels, a head per
  GPU); NCCL's chunk is 128 KiB, less for less than 64, 8 and 2 times as much as a loop has
  (src/enqueue.cc).
- nvls_tree: the same inside, 2 log2(N) alpha_net and a tree's fill over nodes, and at least
  f n beta_net, f being 1 on two nodes and 2 on more.
"""

import numpy as np

from collsim.calibrate.nccl_model.batch import Floats, Group, Values
from collsim.calibrate.nccl_model.tree import crossings, tree_fill

__all__ = ["loop_bytes", "nvls", "nvls_tree"]

_CHANNELS = 16
_CHUNKS = ((64, 65536.0), (8, 32768.0), (2, 16384.0))


def loop_bytes(gpus: Floats, nbytes: Floats) -> Floats:
    """Return the bytes of one turn of the loop.

    Examples
    --------
    >>> loop_bytes(np.array([8.0, 8.0]), np.array([2.0**30, 2.0**20])).astype(int).tolist()
    [16777216, 2097152]
    """
    operations = _CHANNELS * gpus
    chunk = np.full(np.shape(nbytes), 131072.0)
    for least, smaller in _CHUNKS:
        chunk = np.where(nbytes < least * operations * chunk, smaller, chunk)
    found: Floats = operations * chunk
    return found


def nvls(t: Values, at: Group) -> Floats:
    """Return the seconds of in-switch reduction in a node."""
    return _inside(t, at) + _wire(t, at)


def nvls_tree(t: Values, at: Group) -> Floats:
    """Return the seconds of in-switch reduction with a tree over nodes."""
    if not at.several:
        return nvls(t, at)
    hops = np.log2(at.nodes)
    wire = np.maximum(_wire(t, at), crossings(at.nodes) * at.nbytes * t["between.simple.beta"])
    found: Floats = (
        _inside(t, at)
        + 2 * hops * t["between.simple.alpha"]
        + tree_fill(t, hops, at.nbytes, at.nodes)
        + wire
    )
    return found


def _inside(t: Values, at: Group) -> Floats:
    turns = at.nbytes / loop_bytes(at.ranks / at.nodes, at.nbytes)
    return t["launch"] + t["nvls.simple.alpha"] + t.get("nvls.simple.loop", 0.0) * turns


def _wire(t: Values, at: Group) -> Floats:
    moved = at.nbytes * (1 + at.nodes / at.ranks)
    return moved * t["inside.simple.beta"] / t["nvls.simple.efficiency"]
