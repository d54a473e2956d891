"""The ring of NCCL: P operations for P - 1 transfers, in three protocols.

On one node, with the ratios r and f of reducing steps, and of an all_reduce that does both in
one kernel (`reduce_*`, `fused_*`):

- LL128, Simple: launch + extra + f_a alpha (K_c + r_a K_r) + f_b c beta (K_c + r_b K_r)
  + local c beta. The last term is the operation on a rank's own share.
- LL: launch + f_a alpha (K_c + r_a K_r) + q (local_fill + f_a fill (K_c + r_f K_r))
  + beta (f_b K + 1) max(c - channels 4096, 0), with q = min(c / quantum, 1): a step takes
  longer while its one channel fills, the same while further channels open, then longer again.

On several nodes N of the P steps leave a node: those cost the network's alpha, every byte the
slower of both links, and the whole is at least K alpha_busy of the network, as its occupancy
is paid at every step.

Broadcast and reduce pass the whole array on, P - 1 hops deep: K = P - 1, c = n/(P - 1).
"""

import numpy as np

from collsim.calibrate.nccl_model.batch import Floats, Group, Values
from collsim.calibrate.nccl_model.prior import QUANTUM, REDUCES

__all__ = ["network_alpha", "ring"]

_SHARP = 8  # how abruptly LL turns from eager to rendezvous


def ring(t: Values, at: Group) -> Floats:
    """Return the seconds of a ring."""
    p, inside = at.protocol, f"inside.{at.protocol}"
    hops = at.ranks - 1
    copying, reducing = REDUCES.get(at.collective, (int(at.collective == "broadcast"), 0))
    passed_on = at.collective in ("broadcast", "reduce")
    reducing = reducing or int(at.collective == "reduce")
    share = at.nbytes / (hops if passed_on else at.ranks)
    copies, reduces = copying * hops, reducing * hops
    steps = copies + reduces
    fused_alpha, fused_beta = (
        t.get(f"{inside}.fused_{of}", 1.0) if at.collective == "all_reduce" else 1.0
        for of in ("alpha", "beta")
    )
    alpha = t[f"{inside}.alpha"] * t.get(f"{at.span}.alpha_ratio", 1.0)
    beta = t[f"{inside}.beta"] * t.get(f"{at.span}.{p}.beta_ratio", 1.0)
    far = (at.nodes - 1) / hops
    near = fused_alpha * (1 - far)
    chain = near * alpha * (copies + reduces * t.get(f"{inside}.reduce_alpha", 1.0))
    per_byte = beta
    if at.several:
        chain = chain + far * steps * network_alpha(t, p, share)
        per_byte = np.maximum(beta, t[f"between.{p}.beta"])
    moved = fused_beta * (copies + reduces * t.get(f"{inside}.reduce_beta", 1.0))
    if p == "ll":
        full = np.minimum(share / t.get(f"{inside}.quantum", QUANTUM), 1.0)
        filling = copies + reduces * t.get(f"{inside}.reduce_fill", 1.0)
        chain = chain + full * (
            t[f"{inside}.local_fill"] + near * t[f"{inside}.fill"] * filling
        )
        opened = share
        if not at.several:
            opened = np.maximum(share - t[f"{inside}.channels"] * QUANTUM, 0.0)
        chain = chain + per_byte * opened * (moved + 1)
    else:
        own = beta * t[f"{inside}.local"] * share
        chain = chain + per_byte * share * moved + own
    if at.several:
        chain = np.maximum(chain, steps * t[f"between.{p}.alpha_busy"])
    return t["launch"] + t.get(f"{inside}.extra", 0.0) + chain


def network_alpha(t: Values, protocol: str, message: Floats) -> Floats:
    """Return the latency of a hop between nodes; LL's grows past its eager size."""
    alpha = t[f"between.{protocol}.alpha"]
    if protocol != "ll":
        return alpha
    late = 1.0 / (1.0 + (t["between.ll.eager"] / np.maximum(message, 1.0)) ** _SHARP)
    return alpha * (1.0 + (t["between.ll.rendezvous"] - 1.0) * late)
