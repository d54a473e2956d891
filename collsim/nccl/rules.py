"""What NCCL's releases do differently, other than numbers."""

from dataclasses import dataclass

__all__ = ["Rules"]


@dataclass(frozen=True)
class Rules:
    """What differs between releases other than numbers. Each default is the newest.

    Parameters
    ----------
    capabilities : tuple of int
        Least compute capability of each row of the tables.
    slow_vendors : tuple of str
        CPUs of which LL over nodes has the second row.
    half_ring_ll : bool
        Ring LL reaches half the bandwidth; before 2.21 a quarter or a third.
    ring_ll128_alone : float
        Share that Ring LL128 reaches with one rank a node.
    pattern_tree : float
        Share that a tree of pattern 3 reaches.
    nvls : str
        How NVLS bandwidth is derived: the release that brought the rule.
    gathers : tuple of str
        Algorithms beside ring that all_gather and reduce_scatter have.
    gather_ratio : tuple of str
        Of these, those of which bus bandwidth is halved, or scaled as `nvls` says.
    collnet_gather : str
        How CollNetDirect's bandwidth of these two is derived.
    exposed_net : bool
        One rank a node pays the tree's network latency in all algorithms.
    net_steps : int
        Steps between nodes of a ring all_reduce, beyond 2(N-1).
    old_nvls_latency : bool
        NVLS waits for base latency and network only, NVLSTree for every other node.
    ll128_capabilities : tuple of int
        Capabilities with LL128; empty for 70 and above.
    ll128_intra : str
        Farthest path inside a node for LL128.
    ll128_inter, ll128_apart : str
        Farthest path to the card for LL128, from capability 90 on, and the same with
        NCCL_LL128_C2C=0.
    ll128_mixed : bool
        From capability 90 on, GPUs may differ.
    pat_capability : int
        Least compute capability for PAT.
    ring_stays : str
        ``"always"``: ring is never disabled but for all_reduce; ``"spare"``: it is used where
        nothing else is left; ``"protocol"``: so, but not with a protocol that is disabled;
        ``""``: neither.
    small_tree : bool
        Below 64 bytes the first entry of the tree's correction holds.
    nvls_tree_correction : bool
        NVLSTree is corrected too, on Blackwell with x86.
    nvls_gather_nodes, nvls_gather_ranks : int
        Most nodes, and ranks of a node, of NVLS but in all_reduce.
    nvls_gather_any : bool
        all_gather may use NVLS whatever the type.
    collnet_direct_ranks, collnet_chain_ranks : int
        Most ranks of a node.
    nvls_fewer : bool
        NVLS over nodes uses no more channels than the others have.
    fp8 : bool
        Rings of more than 8 ranks are the last choice for 8-bit floats.
    least_traffic : int
        Bytes a channel must carry before another is used; 0 where that is not so.
    ll_traffic : int
        Bytes that a byte of LL counts for there.
    rounded_traffic : bool
        Whether a channel's share is rounded up to 16 bytes, instead of up to the least.
    per_function : bool
        NCCL_ALGO and NCCL_PROTO may name functions.
    """

    capabilities: tuple[int, ...] = (0, 80, 90, 100)
    slow_vendors: tuple[str, ...] = ("amd", "mixed")
    half_ring_ll: bool = True
    ring_ll128_alone: float = 0.92
    pattern_tree: float = 0.85
    nvls: str = "2.28"
    gathers: tuple[str, ...] = ("collnet_direct", "nvls", "pat")
    gather_ratio: tuple[str, ...] = ()
    collnet_gather: str = "2.27"
    exposed_net: bool = True
    net_steps: int = 0
    old_nvls_latency: bool = False
    ll128_capabilities: tuple[int, ...] = ()
    ll128_intra: str = "NVB"
    ll128_inter: str = "PXN"
    ll128_apart: str = "PXB"
    ll128_mixed: bool = True
    pat_capability: int = 60
    ring_stays: str = ""
    small_tree: bool = False
    nvls_tree_correction: bool = True
    nvls_gather_nodes: int = 10**9
    nvls_gather_ranks: int = 32
    nvls_gather_any: bool = True
    collnet_direct_ranks: int = 8
    collnet_chain_ranks: int = 8
    nvls_fewer: bool = True
    fp8: bool = True
    least_traffic: int = 32 * 1024
    ll_traffic: int = 4
    rounded_traffic: bool = True
    per_function: bool = True
