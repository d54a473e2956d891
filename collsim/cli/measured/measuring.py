"""What the commands that time real ranks have in common."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Unpack

from collsim.cli.options import SizeChoice
from collsim.cli.options.asked import AskedElement
from collsim.cli.options.measure import MeasureChoice
from collsim.cli.program.output import Output, note
from collsim.core.dtype import element_size
from collsim.errors import UsageError

if TYPE_CHECKING:
    from collsim.measure.job import Job

__all__ = ["measured", "tell_measured"]

_SHOWN: Final = {
    "pattern", "low", "high", "repetitions", "dtype", "count", "library", "clock",
}  # fmt: skip
"""What the tables need of a row."""


def measured(
    file: str,
    resume: bool,
    choice: MeasureChoice,
    sizes: SizeChoice,
    fitted: bool = False,
    **more: Unpack[AskedElement],
) -> bool:
    """Measure; return whether this process is the one that tells what came out.

    Parameters
    ----------
    file : str
        Where the rows go.
    resume : bool
        Whether to go on with it.
    choice : MeasureChoice
        What to measure, and how.
    sizes : SizeChoice
        At which sizes.
    fitted : bool
        Whether a line is to be fitted to the rows, which takes two ranks and two sizes.
    **more
        Further fields of the job.
    """
    if file in ("", "-"):
        raise UsageError(f"-o {file!r}: rows are kept, expected the name of a file for them")
    job = choice.job(sizes, file, resume, **more)
    from collsim.core.measurements_file import RowFile, check_target
    from collsim.measure.cases import check_job
    from collsim.measure.job import SHARED_NOTE
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
        note(SHARED_NOTE)
    if place is not None:
        if choice.ranks is not None:
            raise UsageError(
                f"--ranks: {place.launcher} has started {place.ranks} ranks, expected one of "
                "them, not both"
            )
        check_job(job, place.ranks, place.local_ranks)
        if fitted:
            _check_fitted(job, place.ranks)
        on_this_rank(job, place, _hung)
        return place.rank == 0
    ranks = choice.own_ranks
    if fitted:
        _check_fitted(job, ranks)
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


def _check_fitted(job: "Job", ranks: int) -> None:
    """Refuse, before anything is measured, what alpha and beta can't be told from."""
    if ranks < 2:
        raise UsageError(f"--ranks {ranks}: messages go between ranks, expected 2 or more")
    element = element_size(job.dtype)
    counts = {size // element for size in job.sizes} - {0}
    if len(counts) < 2 and not job.resume:
        raise UsageError(
            "one size can't tell alpha from beta, expected several, such as -b 8 -e 1M; "
            "`calibrate measure` measures one"
        )


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


def _hung(text: str) -> None:
    # Python has none if the descriptor was closed before it began.
    if sys.stderr is not None:
        print(f"Error: {text}", file=sys.stderr, flush=True)


def tell_measured(file: str, output: Output, words: str) -> None:
    """Print what a file holds: nccl-tests' tables, JSON or CSV."""
    from collsim.calibrate.neighbours import slow_points
    from collsim.core.measurements_file import read_rows
    from collsim.report.measured_table import KEYS, measured_rows, measured_text

    every = read_rows(file)
    # Others may write such files too, and know less of a row than is shown here.
    rows = [row for row in every if row.keys() >= _SHOWN]
    if len(rows) < len(every):
        note(f"{_rows(len(every) - len(rows))} of {file} not by `calibrate measure`")
    note(f"{_rows(len(every))} in {file}")
    for text in slow_points(rows):
        note(text)
    shown = measured_rows(rows)
    kinds = {row["collective"] for row in rows}
    output.emit(
        words,
        shown,
        KEYS,
        lambda: measured_text(rows),
        collective=kinds.pop() if len(kinds) == 1 else None,
        ranks=max((row["world"] for row in rows if "world" in row), default=None),
        file=file,
    )
