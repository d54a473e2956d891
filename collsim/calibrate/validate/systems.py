"""The systems whose measurements the model is held against.

Which of them the model was made with is told, because an error on rows that its makers had seen
is worth less than one on rows of a machine that nobody had looked at.
"""

from typing import Final

from collsim.calibrate.validate.bench import Bench, Line, Log, TorchSettings, Trial
from collsim.nccl import Graph

__all__ = ["BENCHES", "LINES", "REDUCING", "ROLES"]

LINES: Final = {
    "sizes": Line("sizes between fitted sizes, same collective and ranks", 0.03, 0.10),
    "reduce_scatter": Line("reduce_scatter from all_gather and all_reduce", 0.05, 0.15),
    "ranks": Line("8 GPUs from 2 and 4, all_reduce all_gather reduce_scatter", 0.08, 0.20),
    "ranks_all_to_all": Line("8 GPUs from 2 and 4, all_to_all"),
    "nodes": Line("32 and 128 nodes from 1, 2 and 8", 0.15, 0.35),
    "nodes_other": Line("other node counts, other systems"),
    "forced": Line("one GPU, forced algorithm and protocol, 4 ranks from 2"),
}
"""Kinds of prediction, in the order of the page."""

ROLES: Final = {
    "design": "the structure of the model and the widths of its priors were tried on it",
    "seen": "its held-out errors were looked at while the model was made",
    "confirmation": "it played no part in making the model",
    "own": "measured for this project",
}
"""What a system was for when the model was made."""

REDUCING: Final = ("all_reduce", "all_gather", "reduce_scatter")

_SIZES = Trial("sizes", "every second size", alternate=True)
_SCATTER = Trial(
    "reduce_scatter",
    "reduce_scatter",
    {"collective": ("all_reduce", "all_gather")},
    {"collective": ("reduce_scatter",)},
)


def _ranks(*seen: int) -> Trial:
    words = f"8 GPUs, fitted {' and '.join(map(str, seen))}"
    fit = {"collective": REDUCING, "ranks": seen}
    return Trial("ranks", words, fit, {"collective": REDUCING, "ranks": (8,)})


_ALL_TO_ALL = Trial(
    "ranks_all_to_all",
    "8 GPUs, fitted 2 and 4",
    {"collective": ("all_to_all",), "ranks": (2, 4)},
    {"collective": ("all_to_all",), "ranks": (8,)},
)
_TABLE = (_SIZES, _SCATTER, _ranks(2, 4), _ALL_TO_ALL)


def _nodes(line: str, seen: tuple[int, ...], held: tuple[int, ...]) -> Trial:
    nodes = " and ".join(map(str, held))
    words = f"{nodes} nodes, fitted {', '.join(map(str, seen))}"
    fit, hold = {"nodes": seen}, {"nodes": held}
    return Trial(line, words, {**fit, "collective": REDUCING}, {**hold, "collective": REDUCING})


_THROUGH_CPU: Final = "PHB"
# The oldest release whose rules are known; those logs are of 2.8 to 2.18.
_NCCL_218: Final = "2.18"
_A100: Final = TorchSettings("AMPERE", 240.0)
_H100: Final = TorchSettings("HOPPER", 370.0, 50.0)
_B200: Final = TorchSettings("BLACKWELL", 720.0, 50.0)
# NCCL 2.30.7 dumped this graph on that machine: 32 channels of 60 GB/s, all in one GPU.
_ONE_GPU: Final = Graph(32, 60.0, 60.0, type_intra="LOC", pattern=4)
_ONE_TREE: Final = Graph(32, 6.0, 3.0, type_intra="LOC", pattern=1)

BENCHES: Final = (
    Bench(
        "a100-nvswitch-8",
        "8 A100 on NVSwitch",
        (Log("207", 8, "half"),),
        "dgx-a100",
        "design",
        _TABLE,
        _A100,
        "2.27.3",
    ),
    Bench(
        "h100-nvswitch-8",
        "8 H100 on NVSwitch",
        (Log("209", 8, "half"),),
        "dgx-h100",
        "design",
        _TABLE,
        _H100,
        "2.29.2",
    ),
    Bench(
        "b200-nvswitch-8",
        "8 B200 on NVSwitch",
        (Log("211", 8, "half"),),
        "dgx-b200",
        "seen",
        _TABLE,
        _B200,
        "2.27.5",
    ),
    Bench(
        "l40s-pcie-8",
        "8 L40S on PCIe 4",
        (Log("217", 8, "half"),),
        "pcie-8",
        "seen",
        (_SIZES, _SCATTER),
        TorchSettings("AMPERE", 24.0, nvlink=False),
        "2.27.3",
    ),
    Bench(
        "gh200-slingshot",
        "nodes of 4 GH200 on Slingshot",
        tuple(Log(stem, 4) for stem in ("046", "047", "049", "051", "053")),
        "gh200-slingshot",
        "seen",
        (
            _nodes("nodes", (1, 2, 8), (32, 128)),
            _nodes("nodes_other", (1, 2), (8,)),
        ),
        TorchSettings("HOPPER", 370.0, 25.0, gpus_per_node=4),
        "2.23.4",
        cpu=("arm64", ""),
        card=_THROUGH_CPU,  # the cards are at Grace, and GPUs reach them over NVLink-C2C
    ),
    Bench(
        "a100-slingshot",
        "nodes of 4 A100 with 2 NICs on Slingshot",
        tuple(Log(stem, 4) for stem in ("066", "067", "069", "070")),
        "hgx-a100-4",
        "seen",
        (_nodes("nodes_other", (2,), (8,)),),
        TorchSettings("AMPERE", 240.0, 12.5, gpus_per_node=4),
        _NCCL_218,
        {"network.nics": 2, "network.link": "slingshot200"},
        cpu=("x86_64", "amd"),
        card=_THROUGH_CPU,  # GPUs and cards are each at the EPYC, without a PCIe switch
    ),
    Bench(
        "a100-hdr",
        "nodes of 8 A100 with 4 HDR NICs",
        (Log("103", 4), *(Log(stem, 8) for stem in ("104", "105", "107"))),
        "dgx-a100",
        "seen",
        (_nodes("nodes_other", (1, 2), (8,)),),
        TorchSettings("AMPERE", 240.0, 12.5),
        _NCCL_218,
        {"network.nics": 4},
        cpu=("x86_64", "amd"),
    ),
    Bench(
        "h100-ndr",
        "nodes of 8 H100 with 8 NDR NICs",
        (Log("245", 8), Log("244", 8)),
        "dgx-h100",
        "seen",
        (_nodes("nodes_other", (2,), (8,)),),
        _H100,
    ),
    Bench(
        "h100-other",
        "8 H100 on NVSwitch, another machine",
        (Log("004", 8), Log("006", 8)),
        "dgx-h100",
        "confirmation",
        (_SIZES, _SCATTER, _ranks(4)),
        _H100,
        "2.29.2",
    ),
    Bench(
        "a100-one-process",
        "8 A100 on NVSwitch, one process for all",
        (Log("178", 8), Log("179", 8)),
        "dgx-a100",
        "confirmation",
        (_SIZES,),
        _A100,
        _NCCL_218,
    ),
    Bench(
        "h100-shared",
        "4 of 8 H100 on NVSwitch, shared with others",
        tuple(Log(stem, 8) for stem in ("184", "185", "186")),
        "dgx-h100",
        "confirmation",
        (_SIZES, _SCATTER),
        _H100,
        "2.29.2",
    ),
    Bench(
        "a100-two-nodes",
        "2 nodes of 8 A100 with HDR InfiniBand",
        (Log("093", 8), Log("094", 8)),
        "dgx-a100",
        "confirmation",
        (_SIZES,),
        TorchSettings("AMPERE", 240.0, 25.0),
        _NCCL_218,
        cpu=("x86_64", "amd"),
    ),
    Bench(
        "h100-two-nodes",
        "2 nodes of 8 H100 with NDR InfiniBand",
        (Log("242", 8),),
        "dgx-h100",
        "confirmation",
        (_SIZES,),
        _H100,
        "2.26.2",
    ),
    Bench(
        "h100-efa",
        "2 nodes of 8 H100 with EFA",
        (Log("001", 8),),
        "p5-efa",
        "confirmation",
        (_SIZES,),
        _H100,
        "2.22.3",
    ),
    Bench(
        "h200-one-gpu",
        "several ranks on one H200",
        tuple(Log(f"h200_one_gpu_{p}_ranks_device", p, forced=True) for p in (2, 4)),
        "dgx-h200",
        "own",
        (Trial("forced", "4 ranks, fitted 2", {"ranks": (2,)}, {"ranks": (4,)}),),
        None,
        graphs={"ring": _ONE_GPU, "tree": _ONE_TREE},
        channels=8,
    ),
)
