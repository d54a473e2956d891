"""Every kind of file that is read: samples of it, and what is done with a damaged one."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from robustness.damage import NUMBER, damaged, mixed
from robustness.verdict import BrokenLawError, Case

import collsim
from collsim.calibrate.importer import ReadOptions
from collsim.calibrate.importers import read_log
from collsim.config import cluster, links, profile, workload
from collsim.config.document import read_table
from collsim.core.measurements_file import RowFile
from collsim.interop.schedule_file import read_schedule
from collsim.interop.topology_file import import_topology
from collsim.sweeps.spec import read_grid

ROOT = Path(__file__).resolve().parents[2]
MOST = 24_000  # characters of a file that are kept, so that a case takes milliseconds
FASTEST = 50e12  # bytes/s; no memory moves more
OPTIONS = ReadOptions(collective="all_reduce", ranks=8)
IDEAL = collsim.Cluster.ideal(8, "1us", "100GB/s")

Use = Callable[[str, "set[float] | None"], object]


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Parameters
    ----------
    name : str
    suffix : str
        Of its files.
    samples : sequence of bytes
        Whole files.
    use : callable
        Reads one and does what one does with it; also gets what times it may tell.
    commands : tuple of str
        Command lines that read it as ``FILE``.
    """

    name: str
    suffix: str
    samples: Sequence[bytes]
    use: Use
    commands: tuple[str, ...]
    stem: str = "damaged"

    def case(self, rng: random.Random, others: Sequence[Kind]) -> Case:
        """Return a damaged file, read by Python or, one time in eight, by a command."""
        data, moves = rng.choice(self.samples), rng.random() < 0.3
        told = times_told(data)
        how = ""
        if rng.random() < 0.1:
            kind = self if moves else rng.choice(others)
            other = rng.choice(kind.samples)
            more = times_told(other)
            told = None if told is None or more is None else told | more
            data, how = mixed(rng, data, other), "mixed+"
        data, names = damaged(rng, data, moves)
        name, how = f"{self.stem}{self.suffix}", how + names
        if rng.random() < 0.125:
            words = tuple(
                name if word == "FILE" else word for word in rng.choice(self.commands).split()
            )
            return Case(f"{self.name}, by a command", how, words, {name: data})
        truth = told if moves else None
        return Case(
            self.name, how, ("Python", name), {name: data}, lambda: self.use(name, truth)
        )


def times_told(data: bytes) -> set[float] | None:
    """Return every number of a log as a time in the log's unit, None if times are computed."""
    if b"MB/s" in data:
        return None
    if b"nccl_dtype" in data or re.search(rb"\bbytes\s+N\s+type\b", data):
        exponent = -3
    else:
        exponent = 0 if re.search(b'nranks,|"schema"|,seconds', data) else -6
    found = (match[0].decode().lower().partition("e") for match in NUMBER.finditer(data))
    return {float(f"{digits}e{int(own or 0) + exponent}") for digits, _, own in found}


def _log(name: str, told: set[float] | None) -> None:
    found = read_log(name, OPTIONS)
    if any("\n" in text for text in (*map(str, found.left_out), *found.notes)):
        raise BrokenLawError("a reason of several lines")
    for row in found:
        if not row.seconds > 0 or row.nbytes / row.seconds > FASTEST:
            raise BrokenLawError(f"{row.source}: {row.nbytes} bytes in {row.seconds} s")
        if told is not None and row.seconds not in told:
            raise BrokenLawError(
                f"{row.source}: {row.nbytes} bytes in {row.seconds} s, never told"
            )


def _simulated(found: collsim.Cluster) -> None:
    if found.ranks <= 64:
        schedule = collsim.build("all_reduce", "ring", found.ranks)
        makespan = collsim.simulate(schedule, found, 1 << 20).makespan
        if not 0 <= makespan < float("inf"):
            raise BrokenLawError(f"all_reduce takes {makespan} s")


def _cluster(name: str, _told: object) -> None:
    _simulated(cluster.load(name))
    cluster.load(name, nodes=2)


def _link(name: str, _told: object) -> None:
    links.read_link(read_table(name, links.SCHEMA), name, extra=("schema", "family"))


def _topology(name: str, _told: object) -> None:
    found = import_topology(name)
    _simulated(cluster.parse(found.text, "imported.toml"))


def _schedule(name: str, _told: object) -> None:
    found = read_schedule(name)
    if found.schedule is not None and found.ranks <= 64:
        collsim.simulate(
            found.schedule, collsim.Cluster.ideal(found.ranks, "1us", "1GB/s"), 4096
        )


def _workload(name: str, _told: object) -> None:
    if not collsim.estimate(workload.load(name), IDEAL).step_us >= 0:
        raise BrokenLawError("a step that takes no time")


def _sweep(name: str, _told: object) -> None:
    grid = read_grid(name)
    if grid.sizes <= 20 and all((p.place.nodes or 1) <= 4 for p in grid.points):
        collsim.sweep(name, "out.csv")


def _rows(name: str, _told: object) -> None:
    with RowFile(name, resume=True) as file:
        file.append({"collective": "all_reduce", "ranks": 2, "size": 8, "seconds": 1e-6})


def _nccl_log(name: str, _told: object) -> None:
    log = collsim.nccl.read_log(name)
    comm = collsim.nccl.log_communicator(log, 90, ranks=8, nodes=1, channels=8)
    for table in log.tables:
        collsim.nccl.printed_tuning(table, comm)


def shortened(data: bytes) -> bytes:
    """Return the head and the end of a long file, where its rows are, in whole lines."""
    if len(data) <= MOST:
        return data
    head, tail = data[: MOST // 2], data[-MOST // 2 :]
    return head[: head.rfind(b"\n") + 1] + tail[tail.find(b"\n") + 1 :]


def _found(*patterns: str, more: Sequence[Path] = (), marks: str = "") -> list[bytes]:
    """Return the beginnings of files of the project, and those of more that have a mark."""
    paths = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    data = [shortened(path.read_bytes()) for path in paths]
    others = [path.read_bytes() for path in more] if marks else []
    return data + [shortened(one) for one in others if re.search(marks.encode(), one)]


def kinds(more: Sequence[Path] = ()) -> tuple[Kind, ...]:
    """Return every kind of file; `more` are further files to damage, told by what they hold."""
    logs = r"(?i)nccl|osu|algbw|busbw|nranks|all_?reduce"
    return (
        Kind("cluster TOML", ".toml", [*_found("configs/clusters/*.toml"), *CLUSTERS], _cluster,
             ("show cluster ./FILE --json", "predict all_reduce -c ./FILE -s 1M --json",
              "predict broadcast -c ./FILE -s 1K --algorithm mst",
              "show cluster ./FILE --nodes 2 --routes 0 1")),
        Kind("link TOML", ".toml", _found("configs/links/*.toml"),
             _link,
             ("show cluster ./FILE",)),
        Kind("profile TOML", ".toml", _found("configs/profiles/*.toml"),
             lambda name, _: profile.load(name),
             ("predict all_reduce --profile ./FILE -s 1M --json",
              "predict all_gather -c dgx-h100 --profile ./FILE -s 1K -s 1G",
              f"check {LOG} --profile ./FILE --json")),
        Kind("workload TOML", ".toml", _found("examples/workloads/*.toml"), _workload,
             ("estimate FILE --ranks 8 --json", "estimate FILE --trace out.json.gz")),
        Kind("sweep TOML", ".toml", SWEEPS, _sweep, ("sweep FILE --workers 1 --json",)),
        Kind("log of measurements", ".log",
             [*_found("tests/calibrate/data/*.[ctj]*", "examples/nccl_tests*.txt",
                      "examples/*.jsonl", "examples/h200_one_gpu/*.csv", more=more, marks=logs),
              PIECES], _log,
             ("calibrate fit FILE --json", "calibrate fit FILE -o out.toml",
              "check FILE --alpha 1us --bandwidth 100GB/s --json", "check FILE -c dgx-h100",
              "calibrate fit FILE --collective all_gather --ranks 4 --columns both")),
        Kind("rows to resume", ".jsonl",
             _found("tests/calibrate/data/*.jsonl", "examples/*.jsonl"), _rows,
             ("check FILE --alpha 1us --bandwidth 100GB/s",), "out"),
        Kind("NCCL topology or graph XML", ".xml",
             _found("tests/interop/data/*.xml", "examples/nccl_topology*.xml",
                    more=more, marks="<(system|graphs)"), _topology,
             ("import topology FILE --json", "import topology FILE -o out.toml")),
        Kind("nvidia-smi topo -m", ".txt",
             _found("tests/interop/data/*.txt", "examples/nvidia_smi*.txt",
                    more=more, marks=r"(?m)^\s*GPU0\s+.*(X|NV\d)"), _topology,
             ("import topology FILE --json", "import topology FILE -o out.toml")),
        Kind("NCCL graph XML for tuning", ".xml", _found("tests/interop/data/*graph*.xml"),
             lambda name, _: collsim.nccl.read_graphs(name), ("import topology FILE",)),
        Kind("schedule text", ".txt", [*_found("examples/schedule_*.txt"), *schedules("text")],
             _schedule,
             ("verify --schedule FILE --json", "simulate --schedule FILE -s 1M --json",
              "predict --schedule FILE -s 1K", "export --schedule FILE --format msccl")),
        Kind("MSCCL XML", ".xml", [*_found("examples/msccl*.xml"), *schedules("msccl")],
             _schedule,
             ("verify --schedule FILE", "simulate --schedule FILE -s 1M --json",
              "export --schedule FILE --format text -o out.txt")),
        Kind("NCCL debug log", ".log",
             _found("tests/nccl/data/*.log", "tests/calibrate/data/split_info.txt",
                    more=more, marks="NCCL INFO"), _nccl_log,
             ("check FILE --alpha 1us --bandwidth 100GB/s",)),
    )  # fmt: skip


def schedules(form: str) -> list[bytes]:
    """Return what the project writes of some algorithms, as text or as MSCCL XML."""
    from collsim.interop.schedule_file import written

    pairs = (
        ("all_reduce", "ring", 4, 1), ("broadcast", "mst", 6, 1), ("all_gather", "bruck", 5, 1),
        ("all_to_all", "pairwise", 4, 1), ("reduce", "ring", 3, 4),
    )  # fmt: skip
    return [
        written(collsim.build(kind, name, ranks, chunks=chunks), form, name)[0].encode()
        for kind, name, ranks, chunks in pairs
    ]


LOG = str(ROOT / "examples" / "nccl_tests_all_reduce_8gpu.txt")
CLUSTERS = (
    (
        b'schema = "collsim/cluster/1"\nname = "x"\nnode = {shape = "switch", gpus = 2, '
        b'link = {alpha = "1us", bandwidth = "1GB/s", alpha_busy = "0us"}}\n'
        b'cost = {gamma = "1ns/B", launch = "1us"}\n'
        b'network = {shape = "rails", nodes = 2, link = "ndr400"}\n'
    ),
    b'schema = "collsim/cluster/1"\nname = "x"\nsharing = "fair"\nnodes = [[0], [1]]\n'
    + b"".join(
        f'[[links]]\nname = "{a}>{b}"\nsrc = {a!r}\ndst = {b!r}\nalpha = "1us"\n'
        'bandwidth = "1GB/s"\nlanes = 2\n'.encode()
        for a, b in ((0, "hub"), ("hub", 0), (1, "hub"), ("hub", 1), (0, 1))
    )
    + b'[[routes]]\nsrc = 0\ndst = 1\nlinks = ["0>hub", "hub>1"]\n',
)
# A piece of every format of logs.
PIECES = "\n".join(
    (
        "# nThread 1 nGpus 8 minBytes 8 maxBytes 64 step: 2(factor)",
        "# Collective test starting: all_gather_perf",
        "#  Rank  7 Group  0 Pid  7 on node-a device  0 [0x1b] GPU",
        "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong",
        "# bytes N type op time algbw busbw res time algbw busbw res",
        "#  (B)  (elements)  (us)  (GB/s)  (GB/s)  (us)  (GB/s)  (GB/s)",
        "1048576 262144 float sum -1 20.00 52.43 91.75 0 20.00 52.43 91.75 0",
        "0 0 float sum -1 0.009 0.00 0.00 N/A 9.00 0.00 0.00 1e999",
        "node-a:7:7 [0] NCCL INFO AllGather: 8 Bytes -> Algo RING proto LL",
        "node-a:7:7 [0] NCCL INFO 8 Bytes -> Algo 1 proto 0 time 1.2.3",
        "# OSU MPI-CUDA Allgather Latency Test v5.7",
        "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations",
        "# Size      Bandwidth (MB/s)",
        "1048576  34.31  33.27  35.07  1000",
        "op_name,nccl_dtype,num_gpus,message_size,latency",
        "all_reduce,half,8,512,0.01",
        "nranks,algo,proto,collective,bytes,seconds",
        "2,Ring,LL,p2p,1024,0.00001",
        "collective,ranks,size,seconds,count,root,wrong,nodes",
        "broadcast,2,1024,1e-5,1,-1,0,3",
        '{"schema": "collsim/measurements/1", "library": "x"}',
        '{"collective": "all_reduce", "ranks": 2, "size": 8, "seconds": 1e-6, "root": []}',
        '{"nccl_version": 23007, "config": {"devices": [{"rank": 0}]}, "results": [',
        '{"size": 8, "count": 2, "type": "float", "root": "0", "out_of_place": {"time": 1}}',
        "]}",
        "\0\ufffd\x1b[31m",
    )
).encode()
SWEEPS = (
    # The example, smaller.
    (ROOT / "examples" / "sweep.toml")
    .read_bytes()
    .replace(b"1, 2, 4", b"1")
    .replace(b'to = "1GiB"', b'to = "1KiB"'),
    (
        b'schema = "collsim/grid/1"\ncollectives = ["all_reduce", "broadcast"]\n'
        b'algorithms = ["auto", "ring"]\nsizes = ["1KiB", "1MiB"]\n'
        b'[[clusters]]\nalpha = "10us"\nbandwidth = "50GB/s"\nranks = [2, 4]\n'
    ),
    (
        b'schema = "collsim/grid/1"\ncollectives = "all_gather"\nchunks = [1, 2]\n'
        b'sizes = {from = "1KiB", to = "1MiB", factor = 32}\n'
        b'[[clusters]]\ncluster = "dgx-h100"\nnodes = [1, 2]\n'
        b'[[changes]]\nname = "bad"\ndegrade = {"nic[0]" = 0.25}\n'
        b'delay = {"rank[0]" = "20us"}\n'
    ),
)
