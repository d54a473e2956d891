"""The lines that say what NCCL chose. NCCL src/enqueue.cc and src/scheduler, 2.20 to 2.32."""

import re
from typing import Final

from collsim.errors import CollsimError
from collsim.nccl.log._message import Message
from collsim.nccl.log.rows import Chosen, Found
from collsim.nccl.names import ALGORITHMS, PROTOCOLS, algorithm_name, protocol_name

__all__ = ["chosen_line", "read_chosen"]

_ARROW: Final = re.compile(r"\bBytes -> ")
# Words and numbers begin where they do, so that a long line is looked at once.
_HEAD: Final = re.compile(
    r"(?:(?<![A-Za-z])(?P<what>[A-Za-z]+)(?: \[(?P<kind>[^][]*)\])?: )?"
    r"(?<![\w.-])(?P<bytes>\d{1,19}) Bytes -> "
)
_NAMED: Final = re.compile(
    r"Algo (?P<algo>\w+) proto (?P<proto>\w+) "
    r"channel\{Lo\.\.Hi\}=\{(?P<low>\d{1,9})\.\.(?P<high>\d{1,9})\}"
)
_NUMBERED: Final = re.compile(
    r"Algo (?P<algo>\d{1,9}) proto (?P<proto>\d{1,9}) time (?P<time>\d+\.\d+)"
)
_KERNEL: Final = re.compile(r"Kernel (?P<kernel>\S+) nchannels (?P<count>\d{1,9}) nthreads \d")
_COPY: Final = re.compile(r"(?P<kernel>cudaMemcpy\w*|(?:Rail \S+ )?RMA proxy \+ CE)")
_KINDS: Final = {
    "Symmetric": "symmetric",
    "Copy Engine": "copy_engine",
    "Hierarchical CE": "hierarchical_copy_engine",
}
_WORDS: Final = {
    "broadcast": "broadcast",
    "reduce": "reduce",
    "allgather": "all_gather",
    "reducescatter": "reduce_scatter",
    "allreduce": "all_reduce",
    "alltoall": "all_to_all",
    "gather": "gather",
    "scatter": "scatter",
    "sendrecv": "sendrecv",
}
_GATHERS: Final = ("all_gather", "reduce_scatter")


def chosen_line(text: str) -> Chosen | None:
    """Return the choice that one line of a log tells, or None; file and line are unknown.

    Examples
    --------
    >>> found = chosen_line("node-a:7:7 [0] NCCL INFO AllGather: 512 Bytes -> Algo RING "
    ...     "proto LL channel{Lo..Hi}={0..3}")
    >>> found.collective, found.nbytes, found.algorithm, found.protocol, found.channels
    ('all_gather', 512, 'ring', 'll', (0, 3))
    """
    head = _HEAD.search(text) if " Bytes -> " in text else None
    if head is None:
        return None
    try:
        return _row("", Message(0, "", text), head)
    except CollsimError:
        return None


def read_chosen(found: Found, message: Message) -> bool:
    """Read such a line; return whether it is one, broken or not."""
    if not _ARROW.search(message.text):
        return False
    head = _HEAD.search(message.text)
    try:
        row = _row(found.file, message, head) if head else None
    except CollsimError as error:
        found.problem(message.line, str(error))
        return True
    if row is None:
        found.problem(
            message.line, f"not one of NCCL's lines of its choice: {message.text[:80]}"
        )
    else:
        found.chosen.append(row)
    return True


def _row(file: str, message: Message, head: re.Match[str]) -> Chosen | None:
    word, rest = head["what"], message.text[head.end() :]
    name = None if word is None else _WORDS.get(word.lower(), word.lower())
    place = {"file": file, "line": message.line, "source": message.source}
    common = {**place, "collective": name, "nbytes": int(head["bytes"])}
    if head["kind"] is not None:
        return _other(common, head["kind"], rest, name)
    if match := _NAMED.match(rest):
        return Chosen(
            **common,  # type: ignore[arg-type]
            kind="algorithm",
            per_rank=name in _GATHERS,
            algorithm=algorithm_name(match["algo"]),
            protocol=protocol_name(match["proto"]),
            channels=(int(match["low"]), int(match["high"])),
        )
    match = _NUMBERED.match(rest)
    if match and int(match["algo"]) < len(ALGORITHMS) and int(match["proto"]) < len(PROTOCOLS):
        return Chosen(
            **common,  # type: ignore[arg-type]
            kind="algorithm",
            per_rank=False,
            algorithm=ALGORITHMS[int(match["algo"])],
            protocol=PROTOCOLS[int(match["proto"])],
            time_us=float(match["time"]),
        )
    return None


def _other(common: dict[str, object], kind: str, rest: str, name: str | None) -> Chosen | None:
    """Read a line of a kernel on registered windows, or of copies."""
    if kind not in _KINDS:
        return None
    symmetric = kind == "Symmetric"
    match = (_KERNEL if symmetric else _COPY).match(rest)
    if not match:
        return None
    return Chosen(
        **common,  # type: ignore[arg-type]
        kind=_KINDS[kind],
        per_rank=name in _GATHERS,
        channels=(0, int(match["count"]) - 1) if symmetric else None,
        kernel=match["kernel"],
    )
