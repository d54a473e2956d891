"""A job: everything that is to be measured, as plain data that every rank gets alike."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from collsim.core.collective import COLLECTIVES, OPS, collective
from collsim.core.dtype import element_size
from collsim.errors import InputError, UnknownNameError
from collsim.measure.sampling import How

__all__ = ["LIBRARY", "PATTERNS", "SHARED_NOTE", "Job"]

LIBRARY: Final = "library"
"""Where an algorithm is named: the library's own collective."""

PATTERNS: Final = ("ping_pong", "relay", "pairs", "exchange", "shift", "start", "self", "add")
"""What is measured beside collectives; see :mod:`collsim.measure.patterns`."""

SHARED_NOTE: Final = (
    "ranks share a GPU: its memory and its multiprocessors are divided among them, NVLS is "
    "off, and each rank has few CTAs, so these times are not those of a GPU per rank"
)
"""What to know of a job of several ranks per GPU."""


@dataclass(frozen=True)
class Job:
    """What to measure, and how.

    Parameters
    ----------
    backend : str
        Name of a file of ``measure/backends``.
    what : tuple of str
        Patterns and collectives, in the order in which they are measured.
    sizes : tuple of int
        Bytes, nccl-tests' ``size``.
    algorithms : tuple of str
        ``"library"``, or algorithms of the registry.
    forced : tuple of (str, str)
        Algorithm and protocol that NCCL is made to take, each in turn; empty strings for
        what it is free to choose.
    every_pair : bool
        Ping-pong between all pairs of ranks, not one per class of link.
    dtype, op : str
        Element type and reduction.
    root : int
        Root of rooted collectives.
    chunks : int
        Of pipelined algorithms.
    how : How
        Warm-ups and repetitions.
    timeout : float
        Seconds after which a call that hangs is ended.
    graph : int
        Calls that one CUDA graph captures; 0 for none.
    ranks_per_gpu : int
        Ranks that share each GPU.
    realtime : bool
        Whether the ranks run before everything else on their machine.
    path : str
        The file of measurements.
    resume : bool
        Whether to go on with that file.

    Examples
    --------
    >>> job = Job("gloo", ("AllReduce",), (8, 64))
    >>> job.what, Job.from_json(job.to_json()) == job
    (('all_reduce',), True)
    """

    backend: str
    what: tuple[str, ...]
    sizes: tuple[int, ...]
    algorithms: tuple[str, ...] = (LIBRARY,)
    forced: tuple[tuple[str, str], ...] = (("", ""),)
    every_pair: bool = False
    dtype: str = "float"
    op: str = "sum"
    root: int = 0
    chunks: int = 1
    how: How = field(default_factory=How)
    timeout: float = 60.0
    graph: int = 0
    ranks_per_gpu: int = 1
    realtime: bool = False
    path: str = "measurements.jsonl"
    resume: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "what", tuple(dict.fromkeys(map(_named, self.what))))
        if not self.what or not self.sizes:
            raise InputError("job: nothing to measure, expected a collective and a size")
        if self.op not in OPS:
            raise UnknownNameError("op", self.op, OPS)
        element_size(self.dtype)
        if not 0 < self.timeout < 1e6:
            raise InputError(f"timeout: got {self.timeout!r}, expected seconds above 0")

    def to_json(self) -> str:
        """Return the job as text."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> "Job":
        """Return the job that a text holds."""
        data: dict[str, Any] = json.loads(text)
        how = How(**_mapping(data.pop("how")))
        forced = tuple((str(a), str(p)) for a, p in data.pop("forced"))
        plain: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in data.items()
        }
        return Job(**plain, how=how, forced=forced)


def _named(what: str) -> str:
    if what in PATTERNS:
        return what
    try:
        return collective(what).name
    except UnknownNameError:
        known = (*COLLECTIVES, *PATTERNS)
        raise UnknownNameError("collective or pattern", what, known) from None


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"how: got {value!r}, expected a table")
    return value
