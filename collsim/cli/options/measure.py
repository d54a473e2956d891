"""Options of the commands that time real ranks."""

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Unpack

import click

from collsim.cli.options import (
    SizeChoice,
    chained,
    gathered,
    root_option,
    type_options,
)
from collsim.cli.options.asked import AskedElement
from collsim.cli.options.group import Decorator
from collsim.cli.options.sizes import FIRST, chosen_sizes
from collsim.cli.options.types import SIZE, STEP, TIME, Whole
from collsim.errors import UsageError
from collsim.registry import names

if TYPE_CHECKING:
    from collsim.measure.job import Job

__all__ = ["MeasureChoice", "measure_options"]

_P2P: Final = ("ping_pong", "relay", "pairs", "exchange", "shift", "start", "self", "add")
_LAST: Final = {"gloo": 16 * 2**20}  # of a sweep that nobody asked for otherwise
_LAST_ON_GPU: Final = 2**30
_FACTOR: Final = 4  # each point takes seconds
_GPUS: Final = "/proc/driver/nvidia/gpus"


@dataclass(frozen=True)
class MeasureChoice:
    """The options that say what is measured and how, as parsed."""

    what: tuple[str, ...]
    backend: str | None
    ranks: int | None
    ranks_per_gpu: int
    algorithm: tuple[str, ...]
    force: tuple[str, ...]
    all_pairs: bool
    chunks: int
    iterations: int | None
    warmups: int
    graph: int
    target: float
    budget: float
    timeout: float
    realtime: bool

    def with_p2p(self) -> "MeasureChoice":
        """Return the choice with the messages between pairs in it, first."""
        if not self.what:
            return replace(self, what=("p2p",))
        return replace(self, what=("p2p", *(w for w in self.what if w != "p2p")))

    @property
    def own_ranks(self) -> int:
        """Return how many ranks to start where nobody else has."""
        return self.ranks or max(2, _gpus() * self.ranks_per_gpu)

    def job(
        self, sizes: SizeChoice, file: str, resume: bool, **more: Unpack[AskedElement]
    ) -> "Job":
        """Return the job that the options describe."""
        from collsim.measure.job import LIBRARY, Job
        from collsim.measure.sampling import How

        backend = self.backend or ("nccl" if _gpus() else "gloo")
        if self.graph and backend == "gloo":
            raise UsageError("-G: Gloo runs on CPUs, expected --backend nccl with it")
        if self.ranks_per_gpu > 1 and backend == "gloo":
            raise UsageError("--ranks-per-gpu: Gloo runs on CPUs, expected --backend nccl")
        if self.force and backend != "nccl":
            raise UsageError("--force: only --backend nccl can be told what to take")
        what = self.what or ("p2p", "all_reduce")
        return Job(
            backend=backend,
            what=tuple(part for w in what for part in (_P2P if w == "p2p" else (w,))),
            sizes=_sizes(sizes, backend),
            algorithms=self.algorithm or (LIBRARY,),
            forced=tuple(map(_forced, self.force)) or (("", ""),),
            every_pair=self.all_pairs,
            chunks=self.chunks,
            how=How(self.warmups, self.iterations, self.target, self.budget),
            timeout=self.timeout,
            graph=self.graph,
            ranks_per_gpu=self.ranks_per_gpu,
            realtime=self.realtime,
            path=file,
            resume=resume,
            **more,
        )


def _gpus() -> int:
    try:
        return len(os.listdir(_GPUS))
    except OSError:
        return 0


def _sizes(given: SizeChoice, backend: str) -> tuple[int, ...]:
    if given.size:
        return given.sizes()
    last, factor = given.last, given.factor
    if last is None:
        last = max(_LAST.get(backend, _LAST_ON_GPU), given.first or FIRST)
    if factor is None and given.step is None:
        factor = _FACTOR
    return chosen_sizes((), given.first, last, factor, given.step)


def _forced(text: str) -> tuple[str, str]:
    """Return algorithm and protocol of ``ring/ll128``, ``ring`` or ``/simple``."""
    algorithm, _, protocol = text.partition("/")
    if not text or "/" in protocol:
        raise UsageError(f"--force {text!r}: expected ALGORITHM/PROTOCOL such as ring/ll128")
    return algorithm, protocol


_size_options: Final = gathered(
    "sizes",
    SizeChoice,
    click.option("-s", "--size", type=SIZE, multiple=True, help="A size n; repeatable."),
    click.option("-b", "first", type=SIZE, help="Sweep from this size.  [default: 8]"),
    click.option(
        "-e",
        "last",
        type=SIZE,
        help="Sweep to this size.  [default: 16MiB with Gloo, else 1GiB]",
    ),
    click.option(
        "-f",
        "factor",
        type=Whole(2),
        help="Sweep by a factor.  [default: 4]",
    ),
    click.option("-i", "step", type=STEP, help="Sweep by a step."),
)

measure_options: Final[Decorator] = chained(
    gathered(
        "choice",
        MeasureChoice,
        click.argument("what", metavar="[WHAT]...", nargs=-1),
        click.option(
            "--backend",
            type=click.Choice(names("collsim.measure.backends")),
            help="What moves the data.  [default: nccl where there is a GPU, else gloo]",
        ),
        click.option(
            "--ranks",
            type=Whole(name="P"),
            help="Start so many ranks on this machine.  [default: one per GPU, at least 2]",
        ),
        click.option(
            "--ranks-per-gpu",
            type=Whole(name="K"),
            default=1,
            help="So many ranks share each GPU (NCCL 2.30.3 and newer): they divide its "
            "memory bandwidth and multiprocessors, and NVLS is off.",
        ),
        click.option(
            "--algorithm",
            metavar="NAME",
            multiple=True,
            help="`library`, or one of ours; repeatable.  [default: library]",
        ),
        click.option(
            "--force",
            metavar="ALGO/PROTO",
            multiple=True,
            help="Make NCCL take ring/ll128 or tree/simple; repeatable.",
        ),
        click.option("--all-pairs", is_flag=True, help="Ping-pong between every two ranks."),
        click.option("--chunks", type=Whole(), default=1, help="Of our pipelined algorithms."),
        click.option("-n", "iterations", type=Whole(), help="Exactly so many repetitions."),
        click.option(
            "-w", "warmups", type=Whole(0), default=3, help="Calls before.  [default: 3]"
        ),
        click.option(
            "-G",
            "--graph",
            type=Whole(0),
            default=0,
            help="Capture calls in a CUDA graph and replay it so often: times without the "
            "host's launches.",
        ),
        click.option(
            "--target",
            type=click.FloatRange(0, 1, min_open=True),
            default=0.02,
            show_default=True,
            help="Stop when the median is known to this relative standard error, but not "
            "before a fifth of --budget or 0.2s,",
        ),
        click.option(
            "--budget",
            type=TIME,
            default=1.0,
            help="or when a point took so long.  [default: 1s]",
        ),
        click.option(
            "--timeout",
            type=TIME,
            default=60.0,
            help="End a call that hangs, and say which.  [default: 60s]",
        ),
        click.option(
            "--realtime",
            is_flag=True,
            help="Run the ranks before everything else: steady times on a machine that others "
            "use. Needs root.",
        ),
    ),
    _size_options,
    type_options,
    root_option,
)
