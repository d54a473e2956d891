"""Command lines: every command and option, with values of its kind, odd ones, and files.

What is drawn is walked from the program itself, so that a new command or option is tried
without a line here; options whose values have a meaning get them from ``VALUES``.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click
from robustness.damage import damaged
from robustness.documents import ROOT
from robustness.verdict import OLD, Case

from collsim.algorithms import algorithm_names
from collsim.cli.main import main
from collsim.core.collective import COLLECTIVES

JUNK = (
    *(
        "",
        " ",
        "-1",
        "0",
        "1",
        "3",
        "9",
        "1e9",
        "nan",
        "inf",
        "x",
        "1K",
        "é",
        "\x00",
        "-",
        "--",
    ),
    *(
        "\udcff",
        "\n",
        "9" * 400,
        "\u0661",
        "a\nb",
        "%s",
        "{}",
        "*",
        "~",
        "..",
        "/",
        "\x1b[31m",
        "0x10",
    ),
    *("1,", ",", "=", "a=", "=1", "[", "nic[", "1-", "-1-1", "1e-400", "ring:", ":", "--json"),
)
ODD_COLLECTIVES = ("all", "p2p", "nonsense", "all_redcue", "", "../ring", "__init__")
ALGORITHM = (
    *("mst", "ring", "ring", "ring", "mst", "linear", "ring", "direct", "bruck", "one_shot"),
    *("two_shot", "nvls", "pat", "hierarchical", "pairwise", "halving_doubling", "swing"),
    *("double_binary_tree", "bidirectional_ring", "recursive_doubling", "bruck:radix=3"),
    *("hierarchical:inside=ring,across=bruck", "nvls_tree"),
)
ODD_ALGORITHMS = (
    *("bruck:radix=0", "bruck:radix=x", "bruck:radix=999999999", "ring:x=1", "ring,ring"),
    *("hierarchical:inside=hierarchical", "hierarchical:inside=ring:x=1", "rnig", "../ring"),
    *("__init__", "ring,,mst", "auto", "all", "mst,ring", "hierarchical:inside=,across="),
)
SIZES = ("1", "7", "1000", "1K", "64KiB", "1MiB", "1M", "1GB", "8G", "0", "10MB", "1TiB")
ODD_SIZES = ("12XB", "-1", "1.5", "1.5K", "1e3", "8EiB", "999999999999999999", "1 MiB", "1kb")
COUNTS = ("1", "2", "2", "3", "4", "5", "8", "8", "9", "16", "17")
LARGE = ("0", "-1", "33", "64", "100", "512", "4096", "131072", "1048577")
TIMES = ("0", "1us", "10us", "1.5ms", "0s", "3ns")
ODD_TIMES = ("1e300s", "5", "1e9s", "1e-30s", "-1us", "999999s", "1e-400s")
PARTS = (
    "nic[3]",
    "gpu[0]",
    "gpu[1].up",
    "switch[0]",
    "leaf[1]",
    "nic[1:3]",
    "nic[0]",
    "gpu[1]",
)
ODD_PARTS = (
    *("nic[9999999]", "nci", "link[0]", "nic", "nic[0-3]", "rank[1]", "node[0]", "nic[-1]"),
    *("nic[]", "gpu[a]", "nic[0", "[0]"),
)
CLUSTERS = tuple(p.stem for p in sorted((ROOT / "configs" / "clusters").glob("*.toml")))
ODD_CLUSTERS = ("nope", "/", ".", "x.toml", "dgx-h10", "./nowhere.toml", "./damaged.toml")
PROFILES = tuple(p.stem for p in sorted((ROOT / "configs" / "profiles").glob("*.toml")))
ODD_PROFILES = ("nope", "nope.toml", "./cluster.toml", "./damaged.toml")
# Of every parameter by its name: values that make sense, and others.
NAMED: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "collective": ((*COLLECTIVES, "alltoall", "all-reduce", "AllGather"), ODD_COLLECTIVES),
    "what": (COLLECTIVES, ODD_COLLECTIVES),
    "a": (ALGORITHM, ODD_ALGORITHMS),
    "b": (ALGORITHM, ODD_ALGORITHMS),
    "algorithm": (ALGORITHM, ODD_ALGORITHMS),
    "chunks": (
        ("auto", "1", "2", "7", "1,2", "1-8"),
        ("8-1", "1-4096", "1048577", "1-64", "64", "1,,2", "a", "1-99999", "0"),
    ),
    "channels": (("auto", "1", "2", "8", "1,2"), ("64", "65", "1-64", "1000", "0", "1,2,3")),
    "size": (SIZES, ODD_SIZES),
    "sizes": (SIZES, ODD_SIZES),
    "nbytes": (SIZES, ODD_SIZES),
    "first": (("8", "1K", "1M", "1", "2"), (*SIZES, *ODD_SIZES)),
    "last": (("1M", "64M", "1G", "8G"), (*SIZES, *ODD_SIZES)),
    "factor": (("2", "3", "7", "1024"), ("1", "0", "1048576")),
    "step": (("64K", "1M"), ("1", "0", "1000")),
    "dtype": (("float", "half", "bfloat16", "double", "int8", "uint64"), ("flot", "")),
    "op": (("sum", "avg", "max", "prod", "min"), ("smu", "")),
    "root": (("0", "0", "1", "3", "7"), ("99", "-1", "1048576")),
    "cluster": ((*CLUSTERS, "./cluster.toml"), ODD_CLUSTERS),
    "name": ((*CLUSTERS, "./cluster.toml"), ODD_CLUSTERS),
    "nodes": (COUNTS, LARGE),
    "gpus_per_node": (COUNTS, LARGE),
    "ranks": (COUNTS, LARGE),
    "node_counts": (("1-4", "2,4", "1"), ("8-1", "0", "1-3,x", "1,1", "64")),
    "rank_counts": (("1-5", "2,4", "4"), ("8-1", "0", "1-3,x", "1-9", "1,1")),
    "machine": ((*CLUSTERS, "./cluster.toml"), ODD_CLUSTERS),
    "ranks_per_gpu": (("1", "2"), ("0", "99")),
    "iterations": (("1", "5"), ("0", "1048576")),
    "warmups": (("0", "3"), ("1048576",)),
    "graph": (("0", "8"), ("1048576",)),
    "algorithms": (ALGORITHM, ODD_ALGORITHMS),
    "version": (("2.18", "2.30", "2.30.7"), ("2.17", "3", "x", "", "2.30.7.1", "2.9999999")),
    "alpha": (TIMES, ODD_TIMES),
    "alpha_busy": (TIMES, ODD_TIMES),
    "launch": (TIMES, ODD_TIMES),
    "budget": (TIMES, ODD_TIMES),
    "timeout": (TIMES, ODD_TIMES),
    "gamma": (("0", "1ns", "1GB/s", "2000GB/s"), ("0GB/s", "1s", "5")),
    "bandwidth": (
        ("1GB/s", "400Gb/s", "900GB/s", "50GiB/s", "1TB/s"),
        ("1B/s", "0GB/s", "1e300GB/s", "1e-9B/s", "8bps", "1e18B/s", "-1GB/s", "5"),
    ),
    "profile": ((*PROFILES, "./profile.toml"), ODD_PROFILES),
    "order": (
        ("across", "inside", "0-7", "7,6,5,4,3,2,1,0", "0,2,4,6,1,3,5,7"),
        ("0,0", "acros", "1-0", "0-1048575", "0-15", "8-15"),
    ),
    "changes": (
        ("network.bandwidth=1GB/s", "node.gpus=4", "cost.launch=1us", "sharing=fair"),
        (
            *("node.gpus=x", "nope=1", "node.gpus=99999999", "node.link=ndr400", "a.b.c=1"),
            *("node.shape=ring", "network.nics=3", "network.shape=fat_tree", "name=x", "="),
            *("network.oversubscription=0", "network.nodes=3", "node.link.alpha=1us"),
            *("node=1", "network.oversubscription=1e-9", "schema=x", "node.gpus=1e3"),
            *("network.nodes=100000", 'node.gpus="8"', "node.gpus=[1]"),
        ),
    ),
    "degrade": (
        tuple(f"{part}={left}" for part in PARTS for left in ("0.25", "1")),
        tuple(f"{part}={left}" for part in (*ODD_PARTS, "nic[0]") for left in ("2", "0", "1")),
    ),
    "fail": (PARTS, ODD_PARTS),
    "delay": (
        ("rank[3]=500us", "rank[0]=0", "1=1us"),
        ("rank[1:0]=1s", "rank[9]=1us", "nic[3]=1us"),
    ),
    "where": (
        ("size >= 1M", "ranks == 8", "collective == all_reduce", "dtype != float", "size<1G"),
        tuple(
            f"{field} {sign} {value}"
            for field in ("size", "ranks", "nodes", "collective", "algorithm", "foo", "")
            for sign in ("==", ">=", "<", "=", "")
            for value in ("1M", "8", "ring", "", "x")
        ),
    ),
    "tolerance": (("0", "0.2", "20%"), ("-1", "nan", "11", "1000%")),
    "min_gain": (("0", "5%", "0.3"), ("1", "2", "nan")),
    "routes": (("0 1", "7 0", "1 2"), ("0 0", "0 99", "x 1")),
    "most": (("1", "8", "40"), ("1048576", "0")),
    "workers": (("1",), ("2", "0")),
    "target": (("0.02", "0.5"), ("0", "1", "2", "nan")),
    "force": (("ring/ll128", "ring", "/simple"), ("a/b/c", "")),
    # No address that anybody could be asked at.
    "scheduler": (("nobody",), ("", "tcp://", "x://y", "tcp:/:")),
    "python": (("/nonexistent/python",), ("", "/dev/null")),
    "data": (("logs",), (".", "nowhere", "/dev/null", "log.txt")),
    "logs": (("log.txt",), ("rows.jsonl", "damaged.log", "nowhere", ".", "-")),
    "file": (("topology.xml", "smi.txt"), ("damaged.xml", "damaged.txt", "nowhere", ".")),
    "workload": (("workload.toml",), ("damaged.toml", "cluster.toml", "nowhere", ".")),
    "schedule": (("schedule.txt", "msccl.xml"), ("damaged.txt", "damaged.xml", "log.txt", ".")),
    "measured": (("rows.jsonl",), ("damaged.jsonl", "log.txt", "nowhere")),
}
# Files that command lines name, and whose damaged ones are of which.
GIVEN = {
    "log.txt": "examples/nccl_tests_all_reduce_8gpu.txt",
    "rows.jsonl": "examples/gloo_4_ranks.jsonl",
    "topology.xml": "examples/nccl_topology_4_h100.xml",
    "smi.txt": "examples/nvidia_smi_topo_8_v100.txt",
    "workload.toml": "examples/workloads/by_hand.toml",
    "schedule.txt": "examples/schedule_all_reduce_4.txt",
    "msccl.xml": "examples/msccl_wrong.xml",
    "cluster.toml": "configs/clusters/dgx-a100.toml",
    "profile.toml": "configs/profiles/h100-nvswitch-8.toml",
}  # fmt: skip
SWEEP = (
    b'schema = "collsim/grid/1"\ncollectives = ["all_reduce", "broadcast"]\n'
    b'algorithms = ["ring", "auto"]\nsizes = ["1KiB", "1MiB"]\n'
    b'[[clusters]]\nalpha = "10us"\nbandwidth = "50GB/s"\nranks = [2, 4]\n'
)
DAMAGED = {
    "damaged.log": ("log.txt",),
    "damaged.xml": ("topology.xml", "msccl.xml"),
    "damaged.txt": ("schedule.txt", "smi.txt"),
    "damaged.toml": ("cluster.toml", "workload.toml", "profile.toml", "sweep.toml"),
    "damaged.jsonl": ("rows.jsonl",),
}
PICTURES = (("out.png", "out.svg", "out.pdf"), ("out.gif", "nowhere/out.png", "", "out", "."))
OUTPUTS = {
    "plot": PICTURES,
    "picture": PICTURES,
    "tuner": (("out.csv",), ("nowhere/out.csv", "", "out")),
    "trace": (("out.json", "out.json.gz"), ("out.txt", "nowhere/out.json", "")),
    "path": (
        ("out.txt",),
        ("out.csv", "out.jsonl", "out.toml", "nowhere/out.txt", "", "-", "."),
    ),
}
_FEW = (("1-5", "2,4", "4", "2-4"), ("8-1", "0", "1-3,x", "1-9", "1,1"))
_WHOLE = (("1", "2", "7"), ("0", "64", "x"))
# Where a command takes something else by the same name.
SPECIAL = {
    ("verify", "ranks"): _FEW,
    ("list", "what"): (("algorithms", "clusters", "links", "profiles", "collectives"), JUNK),
    ("export", "chunks"): _WHOLE, ("export", "channels"): _WHOLE,
    ("sweep", "file"): (("sweep.toml",), ("damaged.toml", "nowhere", "log.txt")),
    ("sweep", "path"): (("out.csv", "out.jsonl"), ("out.txt", "nowhere/out.csv", "", "-")),
    ("report", "path"): (("out.html",), ("out.txt", "nowhere/out.html", "", "-", ".")),
    ("calibrate run", "path"): (("out.toml",), ("out.jsonl", "", "-", ".", "nowhere/out.toml")),
    ("calibrate measure", "path"): (("out.jsonl",), ("out.txt", "", "-", "nowhere/out.jsonl")),
    ("calibrate fit", "name"): (("mine", "h100"), JUNK),
    ("calibrate run", "name"): (("mine", "h100"), JUNK),
}  # fmt: skip
# How often, as a command that takes long is not to take the time of all.
OFTEN = {
    "predict": 20, "simulate": 14, "check": 6, "crossover": 6, "verify": 5, "choose": 3,
    "explain": 4, "export": 6, "estimate": 5, "show cluster": 8, "list": 4, "sweep": 3,
    "import topology": 6, "calibrate fit": 3, "calibrate measure": 4, "calibrate run": 4,
}  # fmt: skip
# Given whenever the command has them, so that most lines get past the parser.
USUAL = {
    "simulate": ("algorithm",), "verify": ("ranks", "algorithm"), "export": ("algorithm",),
    "plot links": ("algorithm",), "plot timeline": ("algorithm",),
    "sweep": ("workers",), "plot scaling": ("rank_counts", "algorithms"),
    "plot winners": ("rank_counts",),
}  # fmt: skip
# Options that say little without others.
COMPANY = {
    "alpha": ("bandwidth",), "bandwidth": ("alpha",), "alpha_busy": ("alpha", "bandwidth"),
    "fail": ("cluster",), "degrade": ("cluster",), "changes": ("cluster",),
    "order": ("cluster",), "nodes": ("cluster",), "gpus_per_node": ("cluster",),
    "tolerance": ("cluster",), "where": ("cluster",), "tuner": ("cluster",),
}  # fmt: skip
RANKS_OF_RUNS = {
    "RANK": ("0", "1", "-1", "x", ""), "WORLD_SIZE": ("2", "0", "x", "1"),
    "SLURM_PROCID": ("0", "x"), "SLURM_STEP_ID": ("0",), "SLURM_NTASKS": ("2", "x", ""),
    "SLURM_NODELIST": ("n[07-08]", "n[", ""), "OMPI_COMM_WORLD_RANK": ("0", "x"),
}  # fmt: skip


def walked(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    """Yield every command of the program with its words."""
    context = click.Context(command)
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        if inner is not None:
            yield from walked(inner, (*path, name))


@functools.cache
def all_commands() -> dict[str, click.Command]:
    """Return every command by its words."""
    return dict(walked(main))


@functools.cache
def given_files() -> dict[str, bytes]:
    """Return the files that lines name, by the names there."""
    return {name: (ROOT / path).read_bytes() for name, path in GIVEN.items()} | {
        "sweep.toml": SWEEP
    }


def values_of(
    command: str, parameter: click.Parameter
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what to draw values of a parameter from: those that make sense, and others."""
    name = str(parameter.name)
    if name == "path" and command.startswith("plot"):
        return PICTURES
    if name in OUTPUTS:
        return OUTPUTS[name]
    if isinstance(parameter.type, click.Choice):
        return tuple(parameter.type.choices), JUNK
    return SPECIAL.get((command, name)) or NAMED.get(name, (JUNK, JUNK))


def line(rng: random.Random, odd: Sequence[Any]) -> Case:
    """Return a command line with its files; `odd` are words to put in the place of others."""
    odd = [value for value in odd if isinstance(value, str)] or [""]
    commands = all_commands()
    weighted = [name for name in sorted(commands) for _ in range(OFTEN.get(name, 1))]
    name = rng.choice(weighted)
    words = name.split()
    options = [p for p in commands[name].params if isinstance(p, click.Option)]
    for argument in commands[name].params:
        if isinstance(argument, click.Argument) and (
            argument.required or argument.name == "collective" or rng.random() < 0.6
        ):
            words += _value(rng, name, argument, odd, words)
    wanted = {o.name: o for o in options if o.required or o.name in USUAL.get(name, ())}
    drawn = rng.sample(options, min(len(options), rng.choice((0, 1, 1, 2, 2, 3, 4))))
    company = {n for o in drawn for n in COMPANY.get(str(o.name), ()) if rng.random() < 0.8}
    wanted |= {o.name: o for o in (*drawn, *(o for o in options if o.name in company))}
    chosen = [
        *wanted.values(),
        *rng.choices([*wanted.values(), *options], k=rng.random() < 0.1),
    ]
    for option in chosen:
        words.append(rng.choice(option.opts))
        if not option.is_flag:
            words += _value(rng, name, option, odd, words)
    if rng.random() < 0.3 and any(o.name == "as_json" for o in options):
        words.append("--json")
    if rng.random() < 0.06:
        place = rng.randrange(len(words))
        words[place] = rng.choice((*JUNK, *COLLECTIVES, *ALGORITHM, *odd))
    if rng.random() < 0.04:
        words.append(rng.choice(("--help", "--help", "--nope", "extra", *JUNK)))
    return Case(
        f"command {name}", "drawn", tuple(words), _files(rng, words), None, _env(rng, name)
    )


def _value(
    rng: random.Random,
    command: str,
    parameter: click.Parameter,
    odd: Sequence[Any],
    before: Sequence[str],
) -> list[str]:
    """Return what follows an option, or what stands for an argument."""
    good, others = values_of(command, parameter)
    if parameter.name in ("algorithm", "algorithms", "a", "b") and rng.random() < 0.7:
        good = _fitting(before) or good
    value = rng.choice(rng.choices((good, others, JUNK, odd), (92, 6, 1, 1))[0])
    return value.split() if parameter.name == "routes" else [value]


def _fitting(words: Sequence[str]) -> tuple[str, ...]:
    """Return the algorithms of the collective that a line names."""
    names = [word for word in words if word in COLLECTIVES]
    return algorithm_names(names[0]) if names else ()


def _files(rng: random.Random, words: list[str]) -> dict[str, bytes]:
    """Return the files that a line names, damaged ones and those that it writes over."""
    plain = [word.removeprefix("./") for word in words]
    given = given_files()
    files = {name: given[name] for name in plain if name in given}
    for name, sources in DAMAGED.items():
        if name in plain:
            files[name] = damaged(rng, given[rng.choice(sources)])[0]
    if "logs" in plain:
        files["logs/log.txt"] = given["log.txt"]
    for name in plain:
        if name.startswith("out.") and rng.random() < 0.25:
            files[name] = OLD
    return files


def _env(rng: random.Random, command: str) -> dict[str, str]:
    """Return what a launcher would have set, where ranks may be measured."""
    if command not in ("calibrate run", "calibrate measure"):
        return {}
    names = rng.sample(sorted(RANKS_OF_RUNS), rng.choice((0, 0, 1, 2, 3)))
    return {name: rng.choice(RANKS_OF_RUNS[name]) for name in names}
