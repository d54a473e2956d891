"""In-switch reduction (NVLS), inside nodes and with a tree over them.

- nvls: launch + alpha + (turns + 2) (loop + b (1 + 1/g) beta / efficiency), beta that of the
  fitted ring with Simple; a turn of the loop moves b bytes, channels x heads x chunk (16
  channels, a head per GPU), or all n if they are fewer; turns = n / b, at least 1. Three groups
  of warps work at once, which scatter, reduce and gather (src/device/all_reduce.h), so the last
  bytes leave two turns after they came. Chunks: see `loop_bytes`.
- nvls_tree: launch + alpha, n (1 + 1/g) beta / efficiency inside, 2 log2(N) alpha_net and a
  tree's fill over nodes, and at least f n beta_net, f being 1 on two nodes and 2 on more.
  Where several nodes were fitted, nvls inside one has no turns either.
"""

from typing import Final

import numpy as np

from collsim.calibrate.nccl_model.batch import Floats, Group, Values
from collsim.calibrate.nccl_model.tree import crossings, tree_fill

__all__ = ["loop_bytes", "nvls", "nvls_tree"]

_CHANNELS: Final = 16
_SHORTEST: Final = 16384.0
_CHUNKS: Final = ((2, 32768.0), (8, 65536.0), (64, 131072.0))
_FILL: Final = 2.0
"""Turns that pass before the first bytes are through: three stages, less one."""


def loop_bytes(gpus: Floats, nbytes: Floats) -> Floats:
    """Return the bytes of one turn of the loop.

    NCCL takes chunks of 32, 64 and 128 KiB from 2, 8 and 64 turns on, and of half of that a
    byte below (src/enqueue.cc): on 8 GPUs from 8 MiB, 64 MiB and 1 GiB on. Rows of public
    tables and logs are at powers of two: they show times before such a doubling and after, and
    none between. So chunks grow evenly there, and no time jumps where no row has shown it.

    Examples
    --------
    >>> sizes = np.array([2.0**20, 2.0**29, 1.5 * 2.0**29, 2.0**30])
    >>> (loop_bytes(np.full(4, 8.0), sizes) / 2**20).tolist()
    [2.0, 8.0, 12.0, 16.0]
    """
    operations = _CHANNELS * gpus
    found: Floats = operations * _SHORTEST + 0 * nbytes
    for turns, chunk in _CHUNKS:
        found = np.maximum(found, np.minimum(nbytes / turns, operations * chunk))
    return found


def nvls(t: Values, at: Group) -> Floats:
    """Return the seconds of in-switch reduction in a node."""
    start = t["launch"] + t["nvls.simple.alpha"]
    if "nvls.simple.loop" not in t:
        return start + _wire(t, at, at.nbytes)
    most = loop_bytes(at.ranks / at.nodes, at.nbytes)
    turns = np.maximum(at.nbytes / most, 1.0) + _FILL
    each = t["nvls.simple.loop"] + _wire(t, at, np.minimum(at.nbytes, most))
    found: Floats = start + turns * each
    return found


def nvls_tree(t: Values, at: Group) -> Floats:
    """Return the seconds of in-switch reduction with a tree over nodes."""
    if not at.several:
        return nvls(t, at)
    hops = np.log2(at.nodes)
    cards = crossings(at.nodes) * at.nbytes * t["between.simple.beta"]
    found: Floats = (
        t["launch"]
        + t["nvls.simple.alpha"]
        + 2 * hops * t["between.simple.alpha"]
        + tree_fill(t, hops, at.nbytes, at.nodes)
        + np.maximum(_wire(t, at, at.nbytes), cards)
    )
    return found


def _wire(t: Values, at: Group, nbytes: Floats) -> Floats:
    moved = nbytes * (1 + at.nodes / at.ranks)
    return moved * t["inside.simple.beta"] / t["nvls.simple.efficiency"]
