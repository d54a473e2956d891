"""What nccl-tests says about a run before its table."""

import re

from collsim.calibrate.gpu_names import joined_names
from collsim.core.measurements import CPU_TIME, Source
from collsim.nccl.names import ALGORITHMS, PROTOCOLS

__all__ = ["Header", "collective_named", "is_test"]

# Names of the test programs; the last two have no counterpart here.
_TESTS = (
    "all_reduce|all_gather|reduce_scatter|alltoallv|alltoall|broadcast|reduce|"
    "gather|scatter|sendrecv|hypercube"
)
_PERF = re.compile(rf"(?<![A-Za-z])({_TESTS})_perf(?:_mpi)?\b")
_KNOWN = frozenset(_TESTS.split("|"))
_START = re.compile(r"Collective test starting:\s*(\w+)")
# A program that goes by nccl-tests' custom and is none of its own.
_OTHER = re.compile(r"(?<![\w.-])(\w{1,40})_perf(?:_mpi)?\s+(?:-[bef]\b|--(?:min|max)bytes\b)")
_VERSION = re.compile(r"nccl-tests version .*nccl-library=(\d{4,6})")
_THREAD = re.compile(r"nThread:? (\d{1,6}) nGpus:? (\d{1,6}) minBytes")
_GRAPH = re.compile(r"\bgraph: (\d+)")
_RANK = re.compile(
    r"Rank\s+(\d{1,7})\s+(?:Group\s+(\d{1,7})\s+)?(?:Pid\s+(\d+)\s+)?on\s+(\S+)\s+device\s+\d+"
    r"\s+\[[^\]]*\]\s*(.*)"
)
_LIBRARY = re.compile(
    r"\b(NCCL|RCCL) version\s*:?\s*(\d+\.\d+[\w.:-]*)|compiled with (NCCL) (\d+\.\d+[\w.]*)"
)
_FORCED = re.compile(r"\b(?:NCCL_)?(ALGO|PROTO)(?:=| set by environment to )(\w+)(?![\w,^;:])")
_ALGORITHMS = {name.replace("_", ""): name for name in ALGORITHMS}
_VERSION_STEP, _START_STEP, _THREAD_STEP, _RANK_STEP = 1, 2, 3, 4


def collective_named(text: str) -> str | None:
    """Return the collective whose test program `text` names, or None.

    Examples
    --------
    >>> collective_named("mpirun -np 16 ./build/alltoall_perf -b 8 -e 8G")
    'alltoall'
    >>> collective_named("./foo_perf -b 8"), is_test("foo")
    ('foo', False)
    """
    found = _PERF.search(text) or _OTHER.search(text)
    return found[1] if found is not None else None


def is_test(name: str) -> bool:
    """Return whether nccl-tests has a test of that name."""
    return name in _KNOWN


class Header:
    """Gathers the head of one run, line by line.

    Attributes
    ----------
    collective : str or None
        Name of the test, if a line says it.
    algorithm, protocol : str or None
        What was forced, if a line says it.
    """

    def __init__(self) -> None:
        self.collective: str | None = None
        self.algorithm: str | None = None
        self.protocol: str | None = None
        self._step = 0
        self._per_process: tuple[int, int] | None = None
        self._graph = False
        self._library: str | None = None
        self._devices: set[str] = set()
        self._groups: dict[int, dict[int, tuple[str, str | None]]] = {}

    def begins(self, text: str) -> bool:
        """Return whether `text` opens the head of another run than this one."""
        step = _step(text)
        return 0 < step < _RANK_STEP and step <= self._step

    def absorb(self, text: str) -> None:
        """Take what one line says."""
        step = _step(text)
        self._step = max(self._step, step)
        if found := _RANK.search(text):
            self.device(int(found[1]), int(found[2] or 0), found[3], found[4], found[5])
        elif found := _VERSION.search(text):
            self.library(int(found[1]))
        elif found := _LIBRARY.search(text):
            name, version = found[1] or found[3], found[2] or found[4]
            self._library = self._library or f"{name} {version}"
        elif found := _START.search(text):
            self.collective = found[1].removesuffix("_perf")
        elif found := _THREAD.search(text):
            graph = _GRAPH.search(text)
            self.run(int(found[1]), int(found[2]), graph is not None and int(graph[1]) > 0)
        for name, value in _FORCED.findall(text):
            if name == "ALGO":
                self.algorithm = _ALGORITHMS.get(value.lower(), self.algorithm)
            elif value.lower() in PROTOCOLS:
                self.protocol = value.lower()

    def device(self, rank: int, group: int, pid: str | None, host: str, name: str) -> None:
        """Take one rank of one communicator."""
        self._groups.setdefault(group, {})[rank] = host, pid
        self._devices.add(name.strip())

    def library(self, code: int) -> None:
        """Take NCCL_VERSION_CODE of the library that ran."""
        self._library = f"NCCL {_release(code)}"

    def run(self, threads: int, gpus: int, graph: bool) -> None:
        """Take threads of a process, GPUs of a thread, and whether a graph was replayed."""
        self._per_process = threads, gpus
        self._graph = graph

    @property
    def ranks(self) -> int | None:
        """Ranks of one communicator, or None without device lines."""
        sizes = {len(group) for group in self._groups.values()}
        if len(self._groups) == 1:
            # The highest number, so that a line lost from the middle costs nothing.
            return max(next(iter(self._groups.values()))) + 1
        return sizes.pop() if len(sizes) == 1 else None

    @property
    def nodes(self) -> int | None:
        """Hosts of one communicator, or None if device lines are missing."""
        hosts = {len({host for host, _ in g.values()}) for g in self._groups.values()}
        whole = len(self._groups) > 1 or self.ranks == sum(map(len, self._groups.values()))
        return hosts.pop() if len(hosts) == 1 and whole else None

    def source(self, file: str, line: int, cpu: bool) -> Source:
        """Return the provenance of a row."""
        clock = CPU_TIME if cpu else "host"
        if self._graph:
            clock += ", CUDA graph"
        device = joined_names(self._devices)
        backend = "rccl" if (self._library or "").startswith("RCCL") else "nccl"
        return Source(file, line, self._library, clock, self._process_model(), device, backend)

    def _process_model(self) -> str | None:
        members = [place for group in self._groups.values() for place in group.values()]
        if self._per_process is not None:
            threads, gpus = self._per_process
            per_process = threads * gpus
        elif members and all(pid is not None for _, pid in members):
            threads, per_process = 1, -(-len(members) // len(set(members)))
        else:
            return None
        if per_process == 1:
            return "process per GPU"
        if threads > 1:
            return f"{threads} threads with {per_process // threads} GPUs per process"
        if self.ranks == per_process:
            return "one process"
        return f"{per_process} GPUs per process"


def _step(text: str) -> int:
    if "nccl-tests version" in text:
        return _VERSION_STEP
    if _START.search(text):
        return _START_STEP
    if _THREAD.search(text):
        return _THREAD_STEP
    return _RANK_STEP if _RANK.search(text) else 0


def _release(code: int) -> str:
    """Spell NCCL_VERSION_CODE, whose form changed with 2.9.

    Examples
    --------
    >>> _release(22902), _release(2804)
    ('2.29.2', '2.8.4')
    """
    step = 10000 if code >= 10000 else 1000
    return f"{code // step}.{code % step // 100}.{code % 100}"
