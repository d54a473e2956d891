"""A step of training as a list of tasks: streams, and who waits for whom.

Every stage has a stream that computes and one for each kind of group; a stream runs its
tasks one after the other, in the order in which they were issued, as CUDA streams do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from collsim.workload.parts import Call, Part, Use

__all__ = ["COMPUTE", "Task", "count", "order_1f1b", "tasks"]

COMPUTE: Final = "compute"


@dataclass(frozen=True)
class Task:
    """Something that a stream does.

    Parameters
    ----------
    stage : int
        Pipeline stage.
    stream : str
        ``"compute"``, a kind of group, or one of two for messages between stages.
    name : str
        For the reader.
    call : Call, optional
        The collective; None for computing.
    seconds : float
        Seconds of computing.
    after : tuple of int
        Tasks that must be done, by their number in the list; all are earlier in it.
    """

    stage: int
    stream: str
    name: str
    call: Call | None
    seconds: float
    after: tuple[int, ...]


def order_1f1b(stages: int, micro_batches: int, stage: int) -> list[tuple[str, int]]:
    """Return the passes of a stage: forward ones ahead, then one each in turn, then the rest.

    Narayanan et al. 2021, section 2.2 (PipeDream-Flush).

    Examples
    --------
    >>> [f"{phase[0]}{i}" for phase, i in order_1f1b(2, 3, 0)]
    ['f0', 'f1', 'b0', 'f2', 'b1', 'b2']
    """
    ahead = min(stages - stage - 1, micro_batches)
    order = [("forward", i) for i in range(ahead)]
    for i in range(micro_batches - ahead):
        order += [("forward", ahead + i), ("backward", i)]
    return order + [("backward", i) for i in range(micro_batches - ahead, micro_batches)]


def count(stages: Sequence[Sequence[Part]], micro_batches: int) -> int:
    """Return how many tasks :func:`tasks` makes of these.

    Examples
    --------
    Two stages of one layer, three passes: computing there and back, messages, optimizers:

    >>> count([[Part("layer 0")], [Part("layer 1")]], 3)
    20
    """
    uses = [use.when == "each" for parts in stages for part in parts for use in part.uses()]
    visits = 2 * sum(map(len, stages)) + sum(uses) + 2 * (len(stages) - 1)
    return visits * micro_batches + len(uses) - sum(uses) + len(stages)


def tasks(
    stages: Sequence[Sequence[Part]],
    *,
    micro_batches: int,
    prefetch: int,
    message: float,
    optimizer: float,
) -> list[Task]:
    """Return the tasks of a step, in an order in which they can be issued.

    Parameters
    ----------
    stages : sequence of sequence of Part
        Parts of every stage, in forward order.
    micro_batches : int
        Passes.
    prefetch : int
        Parts for which what they wait for is started ahead.
    message : float
        Bytes between neighbouring stages.
    optimizer : float
        Seconds of computing at the end of the step.
    """
    last = len(stages) - 1
    made: list[Task] = []
    issuers = [
        _Issuer(stage, parts, order_1f1b(len(stages), micro_batches, stage), prefetch, made)
        for stage, parts in enumerate(stages)
    ]
    # The task that brings each pass of each stage what it works on.
    received: dict[tuple[int, str, int], int] = {}
    while any(one.passes for one in issuers):
        for stage, one in enumerate(issuers):
            while one.passes:
                phase, batch = one.passes[0]
                before, to = (
                    (stage - 1, stage + 1) if phase == "forward" else (stage + 1, stage - 1)
                )
                came = received.get((stage, phase, batch))
                if came is None and 0 <= before <= last:
                    break
                end = one.issue(came)
                if 0 <= to <= last:
                    call = Call("pipeline", "sendrecv", message, "activations", min(stage, to))
                    made.append(Task(to, f"pipeline {phase}", "send", call, 0.0, (end,)))
                    received[to, phase, batch] = len(made) - 1
                    issuers[to].tails[f"pipeline {phase}"] = len(made) - 1
    for one in issuers:
        one.finish(optimizer)
    return made


class _Issuer:
    """Issues the tasks of one stage."""

    def __init__(
        self, stage: int, parts: Sequence[Part], passes: list[tuple[str, int]],
        prefetch: int, made: list[Task],
    ) -> None:  # fmt: skip
        self.stage, self.prefetch, self.made = stage, prefetch, made
        self.passes, self.parts = passes, len(parts)
        turn = {"forward": list(parts), "backward": list(parts)[::-1]}
        last = max((batch for _, batch in passes), default=0)
        # All visits of parts in a row, so that what is started ahead reaches over passes.
        self.visits = [
            (phase, part, batch == 0, batch == last)
            for phase, batch in passes
            for part in turn[phase]
        ]
        self.at = self.ahead = 0
        self.ends: list[int] = []
        self.gathers: dict[int, list[int]] = {}
        self.tails: dict[str, int] = {}
        for number in range(len(self.visits)):
            self._gather(number, early=True)

    def _add(self, stream: str, name: str, call: Call | None, seconds: float,
             after: Sequence[int]) -> int:  # fmt: skip
        self.made.append(Task(self.stage, stream, name, call, seconds, tuple(after)))
        self.tails[stream] = len(self.made) - 1
        return len(self.made) - 1

    def _call(self, use: Use, after: Sequence[int]) -> int:
        return self._add(use.call.kind, use.call.what, use.call, 0.0, after)

    def _gather(self, number: int, *, early: bool) -> None:
        phase, part, first, last = self.visits[number]
        free = number - 1 - self.prefetch
        after = [] if early or free < 0 else [self.ends[free]]
        for use in getattr(part, f"before_{phase}"):
            if use.early == early and _now(use, first, last):
                self.gathers.setdefault(number, []).append(self._call(use, after))

    def issue(self, came: int | None) -> int:
        """Issue the next pass; return the task with which it ends."""
        phase, _ = self.passes.pop(0)
        end = came
        for number in range(self.at, self.at + self.parts):
            _, part, first, last = self.visits[number]
            while self.ahead <= min(number + self.prefetch, len(self.visits) - 1):
                self._gather(self.ahead, early=False)
                self.ahead += 1
            after = self.gathers.pop(number, [])
            # What computes waits for the calls before it as they were issued, whichever
            # micro-batch they are of.
            waits = {*after, *self.ends[-1:], *([] if end is None else [end])}
            name, seconds = f"{phase} {part.name}", getattr(part, phase)
            done = end = self._add(COMPUTE, name, None, seconds, sorted(waits))
            for use in getattr(part, f"in_{phase}"):
                if _now(use, first, last):
                    end = self._call(use, [end])
            self.ends.append(end)
            for use in getattr(part, f"after_{phase}"):
                if _now(use, first, last):
                    self._call(use, [done])
        self.at += self.parts
        return self.ends[-1]

    def finish(self, seconds: float) -> None:
        """Issue what follows when all is done."""
        self._add(COMPUTE, "optimizer", None, seconds, sorted(self.tails.values()))


def _now(use: Use, first: bool, last: bool) -> bool:
    return use.when == "each" or (first if use.when == "first" else last)
