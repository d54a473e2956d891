"""One rank: join the others, measure, leave; and say what went wrong."""

import ctypes
import json
import os
import signal
from collections.abc import Callable
from typing import Final

from collsim.errors import CollsimError, MeasureError
from collsim.measure.job import Job
from collsim.measure.library_errors import said_by
from collsim.measure.place import Place
from collsim.measure.run import measure
from collsim.measure.watch import EXIT_HUNG, Watch
from collsim.registry import member

__all__ = ["child", "on_this_rank"]

_PR_SET_PDEATHSIG: Final = 1
_SLOWER: Final = 1.5  # the watchdog's patience, of that of the library, which says more


def on_this_rank(job: Job, place: Place, hung: Callable[[str], None]) -> int:
    """Measure a job as one rank of several; return how many rows were added.

    Parameters
    ----------
    job : Job
        The same on all ranks.
    place : Place
        Which rank this is.
    hung : callable
        Gets the watchdog's message, after which the process ends.

    Raises
    ------
    MeasureError
        If the others can't be reached, one left, or data came out wrong.
    """
    watch = Watch(job.timeout * _SLOWER, hung, lambda: os._exit(EXIT_HUNG))
    watch.at(f"start, rank {place.rank}{_meeting(place)}")
    try:
        if job.realtime:
            _before_others()
        connect = member("collsim.measure.backends", job.backend, "connect", "backend")
        try:
            transport = connect(place, job.timeout, bool(job.graph), job.ranks_per_gpu)  # type: ignore[operator]
        except CollsimError:
            raise
        except (RuntimeError, OSError, ValueError) as error:
            raise MeasureError(f"{watch.label}: {said_by(error)}") from error
        try:
            added = measure(job, transport, place.local_ranks, watch)
            watch.at(f"end, rank {place.rank}")
            transport.barrier()
            transport.close()
        except CollsimError:
            raise
        except (RuntimeError, OSError) as error:
            # What is said between points fails too when a rank is gone.
            raise MeasureError(f"{watch.label}: {said_by(error)}") from error
        return added
    finally:
        watch.stop()


def _meeting(place: Place) -> str:
    """Say where the ranks look for each other, if whoever started them knows of it."""
    if not place.meeting.startswith("tcp://"):
        return ""
    where = place.meeting.removeprefix("tcp://")
    return f" of {place.ranks}, which meet at {where} (MASTER_ADDR, MASTER_PORT)"


def _before_others() -> None:
    """Let this process, and the threads that it starts, run before all that is ordinary."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except (OSError, AttributeError) as error:
        raise MeasureError(
            "realtime: this user may not ask for it; expected root, or CAP_SYS_NICE"
        ) from error


def child(folder: str, rank: int, ranks: int, parent: int) -> int:
    """Be one of the ranks that :func:`collsim.measure.launch.own_ranks` started.

    Returns the exit code; what went wrong is in the folder before.
    """
    _die_with(parent)
    # The parent asks to end by SIGTERM; there is nothing here worth a farewell.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with open(os.path.join(folder, "job.json"), encoding="utf-8") as file:
        job = Job.from_json(file.read())
    meeting = f"file://{os.path.join(folder, 'meeting')}"
    place = Place(rank, ranks, rank, ranks, meeting, "collsim")

    def say(kind: str, message: str, at: str = "") -> None:
        path = os.path.join(folder, f"rank-{rank}.json")
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            json.dump({"kind": kind, "message": message, "at": at}, file)
        os.replace(f"{path}.new", path)

    try:
        on_this_rank(job, place, lambda text: say("hung", text, text.rsplit(", rank", 1)[0]))
    except MeasureError as error:
        text = str(error)
        kind = "data" if "came out wrong" in text else "peer"
        say("hung" if "imed out" in text else kind, text, text.partition(", rank")[0])
        return 1
    except CollsimError as error:
        say("other", str(error))
        return 1
    return 0


def _die_with(parent: int) -> None:
    """Let the system end this process when its parent ends, however that happens."""
    try:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):  # no Linux
        return
    if os.getppid() != parent:
        os._exit(1)
