"""The public functions of Python, with values that make sense and odd ones in their place."""

from __future__ import annotations

import inspect
import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from robustness import trees
from robustness.commands import ALGORITHM, NAMED
from robustness.documents import ROOT
from robustness.verdict import BrokenLawError, Case

import collsim
from collsim import units
from collsim.core.collective import COLLECTIVES

LOG = str(ROOT / "examples" / "nccl_tests_all_reduce_8gpu.txt")
SCHEDULE = str(ROOT / "examples" / "schedule_all_reduce_4.txt")
WORKLOAD = str(ROOT / "examples" / "workloads" / "by_hand.toml")
GRID = {
    "schema": "collsim/grid/1", "collectives": "all_reduce", "sizes": ["1KiB"],
    "algorithms": "ring", "clusters": [{"alpha": "1us", "bandwidth": "1GB/s", "ranks": 2}],
}  # fmt: skip


def _clusters(rng: random.Random) -> Any:
    return rng.choice(
        (
            lambda: collsim.Cluster.ideal(rng.choice((1, 2, 5, 8)), "1us", "100GB/s"),
            lambda: collsim.Cluster.load("dgx-h100", nodes=2, gpus_per_node=2),
            lambda: collsim.Cluster.load("pcie-8"),
        )
    )()


def _schedule(rng: random.Random) -> Any:
    kind, name = rng.choice(
        (("all_reduce", "ring"), ("broadcast", "mst"), ("gather", "linear"))
    )
    return collsim.build(kind, name, rng.choice((1, 2, 4, 8)))


def _timeline(rng: random.Random) -> Any:
    schedule = collsim.build("all_reduce", "ring", 4)
    return collsim.simulate(schedule, _four(rng), 1024)


def _four(_rng: random.Random) -> Any:
    return collsim.Cluster.ideal(4, "1us", "1GB/s")


def _grid(rng: random.Random) -> Any:
    grid = dict(GRID)
    for key in rng.sample(sorted(grid), rng.choice((0, 1, 2))):
        grid[key] = rng.choice(trees.ODD)
    return grid


def _two(_rng: random.Random) -> Any:
    return collsim.build("broadcast", "mst", 2)


def _all_reduce(rng: random.Random) -> Any:
    return collsim.build("all_reduce", rng.choice(("ring", "mst")), 4)


Draw = Callable[[random.Random], Any]


def _one(*values: Any) -> Draw:
    return lambda rng: rng.choice(values)


def _texts(name: str) -> Draw:
    good, others = NAMED[name]
    return lambda rng: rng.choice(rng.choices((good, others), (9, 1))[0])


# Of every parameter by its name: what makes sense.
GOOD: Final[Mapping[str, Draw]] = {
    "collective_name": _one(*COLLECTIVES), "name": _one(*ALGORITHM), "a": _one(*ALGORITHM),
    "b": _one(*ALGORITHM), "algorithm": _one("auto", "ring", "mst"),
    "algorithms": _one(None, ["ring"], ("mst", "ring"), "all"),
    "cluster": _clusters, "ranks": _one(1, 2, 3, 4, 7, 8), "root": _one(0, 1),
    "chunks": _one(1, 2, 4, "auto", [1, 2]), "channels": _one(1, 2, "auto"),
    "node": _one(None, [0, 0, 1, 1], [0] * 8), "multicast": _one(True, False),
    "sizes": _one(1024, "1MiB", [1, 2**20], ("1KiB", 8.5)), "size": _one(1024, "1MiB"),
    "nbytes": _one(0, 1, 1024, 1e6, "1MiB"), "min_bytes": _one(8, "1K", 1024),
    "max_bytes": _one("1M", 2**20, 65536), "model": _one("event", "formula", "auto"),
    "fold": _one(True, False), "dtype": _texts("dtype"), "op": _texts("op"),
    "alpha": _one("1us", 1e-6, 0), "bandwidth": _one("1GB/s", 1e9), "gamma": _one(0.0, 1e-12),
    "launch": _one("1us", 0.0), "alpha_busy": _one(None, 0, "1us"),
    "name_or_path": _texts("cluster"), "nodes": _one(None, 1, 2),
    "gpus_per_node": _one(None, 2),
    "changes": _one(None, {}, {"network.bandwidth": "1GB/s"}),
    "component": _texts("fail"), "components": _texts("fail"), "left": _one(0.5, 1),
    "rank": _one(0, 1, "rank[1]"), "seconds": _one(1e-6, "5us", 0),
    "order": _one("across", [1, 0]), "kind": _one("node", "switch", "rank"),
    "schedule": _schedule,
    "logs": _one(LOG, [LOG]), "hold_out": _one("sizes", "ranks"),
    "where": _one((), ["size > 1M"]),
    "columns": _one("both", "out-of-place"), "tolerance": _one(0.2, 0),
    "collective": lambda rng: collsim.collective(rng.choice(COLLECTIVES)), "parts": _one(1, 2),
    "grid": _one(GRID), "workers": _one(1), "workload": _one(WORKLOAD),
    "outcome": _timeline, "timeline": _timeline, "path": _one("out.json", "out.json.gz"),
    "format": _one("text", "msccl"), "text": _one("64MiB", "10us", "900GB/s", "1-4,8"),
    "rate": _one(1e9, 1), "digits": _one(None, 2, 4), "version": _texts("version"),
    "capability": _one(None, 70, 80, 90, 100), "environment": _one(None, {"NCCL_ALGO": "ring"}),
    "roots": _one(None, (0,)), "most": _one(1, 40), "start": _one(0.0, 1e-6),
    "clusters": lambda rng: [_clusters(rng)], "output": _one(None, "out.csv"),
    "by": _one("round"), "per": _one("rank", "port"), "file": _one("<log>"),
}  # fmt: skip
# In the place of a value of the same type; values of another one are for type checkers to find.
ODD: Final[Mapping[type, tuple[Any, ...]]] = {
    str: (
        *("", "x", "\0", "é", "\udcff", "1us", "-1us", "1GB/s", "1e999s", "nan", "ring", "all"),
        *("0", "8", "9" * 400, "auto", "x" * 5000, "\u2028", "../x", "a\nb", "-", "1,2", "[0]"),
    ),
    int: (0, -1, 3, 7, 64, 65, 10**6, 2**20 + 1, 2**31, 2**63, 10**400, -(10**400)),
    float: (0.5, -0.0, -1.0, 1e308, 1e-320, math.nan, math.inf, -math.inf, 1e-9, 2.0**53),
}
# Where a function takes less than others do by that name.
OWN: Final[Mapping[tuple[str, str], Draw]] = {
    ("explain", "sizes"): _one([1024.0], (1, 1e9)), ("simulate", "nbytes"): _one(0, 1.5, 1024),
    ("explain", "chunks"): _one(1, 2, "auto"), ("build", "chunks"): _one(1, 2, 4),
    ("build", "channels"): _one(1, 2), ("Builder", "chunks"): _one(1, 2, 4),
    ("Builder", "channels"): _one(1, 2), ("crossover", "min_bytes"): _one(1.0, 1024),
    ("crossover", "max_bytes"): _one(65536.0, 2**20), ("verify", "ranks"): _one([2, 3], (4,)),
    ("check", "chunks"): _one(None, 1, "auto"), ("fit", "chunks"): _one(None, 1, "auto"),
    ("verify", "algorithm"): _one("ring", ["mst"]), ("fit", "algorithm"): _one(None, "ring"),
    ("check", "algorithm"): _one(None, "ring"), ("fit", "model"): _one("auto", "nccl", "line"),
    ("check", "model"): _four, ("explain", "algorithms"): _one(None, ["ring", "mst"]),
    ("fit", "cluster"): _one("ideal", "dgx-h100"), ("fit", "name"): _one("mine"),
    ("Cluster.ideal", "name"): _one("mine"), ("save_schedule", "name"): _one("mine", ""),
    ("collective", "name"): _one(*COLLECTIVES), ("plot.link_map", "cluster"): _four,
    ("plot.timeline_lanes", "cluster"): _four, ("write_trace", "cluster"): _four,
    ("plot.time_breakdown", "algorithms"): _one(["all"], ("ring", "mst")),
    ("verify", "collective_name"): _one("broadcast", "gather"), ("build", "ranks"): _one(4, 8),
    ("format_size", "nbytes"): _one(8, 1e6), ("units.format_time", "seconds"): _one(1e-6, 1.0),
    ("units.format_time_us", "seconds"): _one(1e-6, 1.0),
    ("fail", "components"): _texts("fail"),
    ("units.format_size", "nbytes"): _one(8, 1e6), ("delay", "seconds"): _one(1e-6, "5us", 0.0),
    ("degrade", "left"): _one(0.5, 0.25), ("save_schedule", "path"): _one("out.txt", "out"),
    ("sweep", "grid"): _grid, ("Job", "schedule"): _two,
    ("Job", "ranks"): _one([0, 1], [1, 0]), ("groups", "kind"): _one("inside", "across"),
    ("simulate", "schedule"): _all_reduce, ("simulate", "cluster"): _four,
    ("load_schedule", "path"): _one(SCHEDULE),
}  # fmt: skip
UNITS: Final = tuple(name for name in units.__all__ if name[0].islower())
# What is not tried with odd values: the parameters of others, and what would take long.
FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    **{
        name: getattr(collsim, name)
        for name in (
            "algorithm_names", "build", "check", "choose", "collective", "crossover", "degrade",
            "delay", "explain", "fail", "fit", "groups", "predict", "reorder", "save_schedule",
            "simulate", "sweep", "verify", "verify_schedule", "write_trace", "load_schedule",
            "estimate",
        )
    },
    "Builder": collsim.Builder, "Job": collsim.Job,
    "Cluster.ideal": collsim.Cluster.ideal, "Cluster.load": collsim.Cluster.load,
    "nccl.communicator": collsim.nccl.communicator, "nccl.parse_log": collsim.nccl.parse_log,
    "nccl.release": collsim.nccl.release, "plot.timeline_lanes": collsim.plot.timeline_lanes,
    "plot.time_breakdown": collsim.plot.time_breakdown, "plot.link_map": collsim.plot.link_map,
    **{f"units.{name}": getattr(units, name) for name in UNITS},
}  # fmt: skip
OFTEN: Final = {
    "predict": 6, "build": 6, "simulate": 4, "Builder": 4, "Cluster.ideal": 4,
    "Cluster.load": 6,
    **{f"units.{name}": 3 for name in UNITS},
}  # fmt: skip
_WEIGHTED: Final = [name for name in FUNCTIONS for _ in range(OFTEN.get(name, 2))]


def call(rng: random.Random, odd: Sequence[Any]) -> Case:
    """Return a call of a public function; `odd` are values to put in the place of others."""
    name = rng.choice(_WEIGHTED)
    function = FUNCTIONS[name]
    parameters = list(inspect.signature(function).parameters.values())
    wrong = rng.choice((None, *parameters, *parameters))
    odd = [*odd, 0]  # never empty
    positional, named = [], {}
    for parameter in parameters:
        needed = parameter.default is inspect.Parameter.empty or (
            # All algorithms on all of its counts take a minute, as it says.
            name == "verify" and parameter.name in ("collective_name", "ranks")
        )
        if parameter.name not in GOOD or (
            not needed and parameter is not wrong and rng.random() < 0.7
        ):
            continue
        value = _value(rng, name, parameter, odd if parameter is wrong else ())
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL or (
            parameter.default is inspect.Parameter.empty and not named
        ):
            positional.append(value)
        else:
            named[parameter.name] = value
    said = [*map(_shown, positional), *(f"{key}={_shown(v)}" for key, v in named.items())]
    return Case(
        f"Python {name.partition('.')[0] if '.' in name else name}",
        f"odd {wrong.name}" if wrong else "plain",
        ("Python", f"{name}({', '.join(said)})"),
        call=lambda: held(name, function(*positional, **named)),
    )


def _value(
    rng: random.Random, function: str, parameter: inspect.Parameter, odd: Sequence[Any]
) -> Any:
    """Return a value for a parameter, an odd one of the same type where there are any."""
    good = OWN.get((function, parameter.name)) or GOOD.get(parameter.name)
    value = parameter.default if good is None else good(rng)
    return _odd(rng, parameter.name, value, odd) if odd else value


def _odd(rng: random.Random, name: str, value: Any, odd: Sequence[Any]) -> Any:
    if isinstance(value, list | tuple):
        items = [_odd(rng, name, item, odd) for item in value]
        return type(value)(rng.choice((items, [], [*items, *items], [*value, *items])))
    if isinstance(value, dict):
        return {_odd(rng, name, key, odd): item for key, item in value.items()}
    kind = type(value)
    if kind is int and name in ("chunks", "ranks", "node"):
        # A million of them are answered, in half a minute.
        return rng.choice(
            (0, -1, 3, 65, 2**20 + 1 if name == "ranks" else 1000, 2**63, 10**400)
        )
    if kind not in ODD or rng.random() < 0.1:
        return value
    return rng.choice((*ODD[kind], *(one for one in odd if type(one) is kind)))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def held(name: str, answer: Any) -> None:
    """Hold an answer to what is true of every one."""
    for row in getattr(answer, "rows", ()):
        time = getattr(row, "time_us", None)
        if time is not None and not 0 <= time < math.inf:
            raise BrokenLawError(f"{name}: a row of {time} us")
        efficiency = getattr(row, "efficiency", None)
        if efficiency is not None and efficiency > 1 + 1e-9:
            raise BrokenLawError(f"{name}: efficiency {efficiency}")
    makespan = getattr(answer, "makespan", 0.0)
    if not 0 <= makespan < math.inf:
        raise BrokenLawError(f"{name}: makespan {makespan}")
