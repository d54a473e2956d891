"""all_to_all of NCCL: a send and a receive per peer, all in one kernel.

With c = n/P, in LL setup + (P-1) alpha + fill min(c/4096, 1) + beta c: peers go side by side.
In Simple setup + extra + (P-1) alpha + beta max(m - hidden, 0) + ramp m / (m + ramp_bytes),
m = c (P-1) + local c: bytes of its own are copied too, some are hidden behind the start, and
more channels per peer open as messages grow. NCCL takes LL for small messages and Simple for
large ones; the faster of both is taken here. Over nodes a node's network carries g c (P - g).
"""

import numpy as np

from collsim.calibrate.nccl_model.batch import Floats, Group, Values
from collsim.calibrate.nccl_model.prior import QUANTUM

__all__ = ["peer_to_peer"]


def peer_to_peer(t: Values, at: Group) -> Floats:
    """Return the seconds of a send and a receive per peer."""
    later = t.get(f"{at.span}.alpha_ratio", 1.0)
    slower = t.get(f"{at.span}.p2p.beta_ratio", 1.0)
    share, peers = at.nbytes / at.ranks, at.ranks - 1
    alpha = peers * t[f"p2p.{at.protocol}.alpha"]
    if at.protocol == "ll":
        filled = t["p2p.ll.fill"] * np.minimum(share / QUANTUM, 1.0)
        own = later * (alpha + filled) + slower * t["p2p.ll.beta"] * share
    else:
        moved = share * (peers + t["p2p.simple.local"])
        ramp = t["p2p.simple.ramp"] * moved / (moved + t["p2p.simple.ramp_bytes"])
        byte = t["p2p.simple.beta"] * np.maximum(moved - t["p2p.simple.hidden"], 0.0)
        own = t["p2p.simple.extra"] + later * (alpha + ramp) + slower * byte
    if at.several:
        gpus = at.ranks / at.nodes
        away = at.ranks - gpus
        crossing = gpus * away * share * t["between.p2p.beta"]
        own = np.maximum(own, crossing) + t["between.p2p.alpha"]
    found: Floats = t["p2p.setup"] + own
    return found
