"""Trees of NCCL: two of them over nodes, a chain inside each node; and PAT.

- tree: launch + extra + 2 (g - 1) alpha + 2 log2(N) alpha_net + wire + fill, with
  wire = max(2 n beta, f n beta_net), where f is 1 on two nodes and 2 on more: each of two nodes
  is the root of one tree and a leaf of the other, so half of the bytes cross once each way.
- fill = f depth pipeline chunk beta_net, chunk = n / (8 depth channels) between 32 KiB and
  512 KiB: a pipeline that NCCL cuts finer the deeper it is (src/enqueue.cc). `pipeline` and
  `channels` are fitted scales of that rule, not counts of real channels.
- PAT: launch + extra + ceil(log2 N) alpha_net + (P - 1) c max(beta, beta_net).
"""

import numpy as np

from collsim.calibrate.nccl_model.batch import Floats, Group, Values
from collsim.calibrate.nccl_model.ring import network_alpha

__all__ = ["crossings", "pat", "tree", "tree_fill"]

_CHUNK_LEAST, _CHUNK_MOST = 32768.0, 524288.0
_CHUNKS_A_LEVEL = 8


def crossings(nodes: Floats) -> Floats:
    """Return how many times the bytes leave the busiest node of two trees.

    Examples
    --------
    >>> crossings(np.array([2.0, 3.0, 64.0])).tolist()
    [1.0, 2.0, 2.0]
    """
    return np.where(nodes == 2, 1.0, 2.0)


def tree_fill(t: Values, depth: Floats, nbytes: Floats, nodes: Floats) -> Floats:
    """Return how long a pipelined tree takes to fill: every level passes a chunk on."""
    chunk = nbytes / (_CHUNKS_A_LEVEL * depth * t["tree.simple.channels"])
    chunk = np.clip(chunk, _CHUNK_LEAST, _CHUNK_MOST)
    each = t["tree.simple.pipeline"] * chunk * t["between.simple.beta"]
    filled: Floats = crossings(nodes) * depth * each
    return filled


def tree(t: Values, at: Group) -> Floats:
    """Return the seconds of two trees."""
    p, inside = at.protocol, f"inside.{at.protocol}"
    gpus = at.ranks / at.nodes
    alpha, beta = (
        t[f"{inside}.{of}"] * t.get(f"tree.{of}_ratio", 1.0) for of in ("alpha", "beta")
    )
    alpha = alpha * t.get(f"{at.span}.alpha_ratio", 1.0)
    beta = beta * t.get(f"{at.span}.{p}.beta_ratio", 1.0)
    wire = np.where(gpus > 1, 2.0, 0.0) * at.nbytes * beta
    total = t["launch"] + t.get(f"{inside}.extra", 0.0) + 2 * (gpus - 1) * alpha
    if at.several:
        wire = np.maximum(wire, crossings(at.nodes) * at.nbytes * t[f"between.{p}.beta"])
        hops = np.log2(at.nodes)
        total = total + 2 * hops * network_alpha(t, p, at.nbytes)
        if p == "simple":
            total = total + tree_fill(t, gpus - 1 + hops, at.nbytes, at.nodes)
    found: Floats = total + wire
    return found


def pat(t: Values, at: Group) -> Floats:
    """Return the seconds of PAT, one GPU a node."""
    inside = f"inside.{at.protocol}"
    beta = t[f"{inside}.beta"]
    total = t["launch"] + t.get(f"{inside}.extra", 0.0)
    if at.several:
        beta = np.maximum(beta, t[f"between.{at.protocol}.beta"])
        total = total + np.ceil(np.log2(at.nodes)) * t[f"between.{at.protocol}.alpha"]
    found: Floats = total + (at.ranks - 1) * at.nbytes / at.ranks * beta
    return found
