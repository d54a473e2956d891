"""Options of the commands that time real ranks, and what they have in common."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import click

from collsim.cli.options import (
    SizeChoice,
    chained,
    gathered,
    root_option,
    type_options,
)
from collsim.cli.output import Output, note
from collsim.cli.sizes import FIRST, chosen_sizes
from collsim.cli.types import SIZE, STEP, TIME, Whole
from collsim.errors import UsageError
from collsim.registry import names

if TYPE_CHECKING:
    from collsim.measure.job import Job

__all__ = ["MeasureChoice", "measure_options", "measured", "tell_measured"]

_P2P: Final = ("ping_pong", "relay", "pairs", "exchange", "shift", "start", "self", "add")
_LAST: Final = {"gloo": 16 * 2**20}  # of a sweep that nobody asked for otherwise
_LAST_ON_GPU: Final = 2**30
_FACTOR: Final = 4  # each point takes seconds
_SHOWN_KEYS: Final = {
    "pattern",
    "low",
    "high",
    "repetitions",
    "dtype",
    "count",
    "library",
    "clock",
}
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

    def job(self, sizes: SizeChoice, file: str, resume: bool, **more: Any) -> "Job":
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

measure_options: Final[Callable[..., Any]] = chained(
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
            help="Stop when the median is known to this relative standard error,",
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


def measured(
    file: str, resume: bool, choice: MeasureChoice, sizes: SizeChoice, **more: Any
) -> bool:
    """Measure; return whether this process is the one that tells what came out."""
    job = choice.job(sizes, file, resume, **more)
    from collsim.core.measurements_file import RowFile, check_target
    from collsim.measure.cases import check_job
    from collsim.measure.launch import check_installed, check_own_ranks, own_ranks
    from collsim.measure.place import from_environment
    from collsim.measure.threads import in_threads
    from collsim.measure.worker import on_this_rank

    place = from_environment()
    if place is not None and place.ranks == 1 and choice.ranks is not None:
        place = None  # a launcher of one task, such as `srun --pty`, is only a shell
    check_installed(job.backend)
    # Every rank looks, so that none waits for one that has left.
    check_target(file, resume)
    if choice.ranks_per_gpu > 1 and (place is None or place.rank == 0):
        from collsim.measure.backends._gpu import SHARED_NOTE

        note(SHARED_NOTE)
    if place is not None:
        if choice.ranks is not None:
            raise UsageError(
                f"--ranks: {place.launcher} has started {place.ranks} ranks, expected one of "
                "them, not both"
            )
        check_job(job, place.ranks, place.local_ranks)
        on_this_rank(job, place, _hung)
        return place.rank == 0
    ranks = choice.ranks or _default_ranks(choice.ranks_per_gpu)
    if job.backend == "nccl4py":
        RowFile(file, resume).close()
        with _interruptible(file), _none_empty(file):
            in_threads(job, choice.ranks, _hung)
        return True
    check_own_ranks(ranks)
    check_job(job, ranks, ranks)
    RowFile(file, resume).close()
    with _interruptible(file), _none_empty(file):
        own_ranks(job, ranks)
    return True


@contextlib.contextmanager
def _interruptible(file: str) -> Iterator[None]:
    """Let a request to end be like Ctrl-C, and say what is kept."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    own = threading.current_thread() is threading.main_thread()
    asked = [signal.SIGTERM, signal.SIGHUP] if own else []
    before = [(one, signal.getsignal(one)) for one in asked]
    # What `nohup` ignores stays ignored.
    changed = [(one, was) for one, was in before if was != signal.SIG_IGN]
    for one, _ in changed:
        signal.signal(one, stop)
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted: {_kept(file)}") from None
    finally:
        for one, was in changed:
            signal.signal(one, was)


@contextlib.contextmanager
def _none_empty(file: str) -> Iterator[None]:
    """Remove a file that was made here if rank 0 was ended before its first row."""
    made = not os.path.lexists(file)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if made and os.stat(file).st_size == 0:
                os.unlink(file)


def _kept(file: str) -> str:
    from collsim.core.measurements_file import read_rows

    rows = len(read_rows(file)) if os.path.exists(file) else 0
    if not rows:
        return "no row was finished"
    return f"{_rows(rows)} in {file}; --resume goes on"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _default_ranks(ranks_per_gpu: int) -> int:
    return max(2, _gpus() * ranks_per_gpu)


def _hung(text: str) -> None:
    print(f"Error: {text}", file=sys.stderr, flush=True)


def tell_measured(file: str, output: Output, words: str) -> None:
    """Print what a file holds: nccl-tests' tables, JSON or CSV."""
    from collsim.core.measurements_file import read_rows
    from collsim.report.measured_table import KEYS, measured_rows, measured_text

    every = read_rows(file)
    # Others may write such files too, and know less of a row than is shown here.
    rows = [row for row in every if row.keys() >= _SHOWN_KEYS]
    if len(rows) < len(every):
        note(f"{_rows(len(every) - len(rows))} of {file} not by `calibrate measure`")
    note(f"{_rows(len(every))} in {file}")
    shown = measured_rows(rows)
    kinds = {row["collective"] for row in shown}
    output.emit(
        words,
        shown,
        KEYS,
        lambda: measured_text(rows),
        collective=kinds.pop() if len(kinds) == 1 else None,
        ranks=max((row["world"] for row in rows if "world" in row), default=None),
        file=file,
    )
