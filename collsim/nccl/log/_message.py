"""Lines of NCCL's debug log, told from what surrounds them.

A line is `host:pid:tid [device] NCCL INFO message`, after a time stamp, a launcher's mark or
the left half of someone else's row; the message may be followed by the rest of such a row.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["Message", "messages"]

# A host begins where its word does, so that a long word is looked at once.
_PREFIX: Final = re.compile(
    r"(?:(?<![\w.-])(?P<host>[\w.-]+):(?P<pid>\d+):(?P<tid>\d+) )?\[(?P<device>-?\d+)\] "
    r"(?:\S+ )??NCCL (?P<level>INFO|WARN|TRACE) ?"
)


@dataclass(frozen=True)
class Message:
    """A message of NCCL.

    Parameters
    ----------
    line : int
        Line of the file, from 1.
    source : str
        Host, process and thread, as far as they are there.
    text : str
        The message.
    bare : bool
        Whether it is a line without NCCL's prefix, which may continue a message.
    """

    line: int
    source: str
    text: str
    bare: bool = False


def messages(text: str) -> Iterator[Message]:
    """Yield every message, and the lines between them as bare ones.

    Examples
    --------
    >>> said = "[1,0]<stdout>:n-0:12:34 [0] NCCL INFO Using network IB"
    >>> next(messages(said))
    Message(line=1, source='n-0:12:34', text='Using network IB', bare=False)
    """
    for number, line in enumerate(text.splitlines(), start=1):
        found = list(_PREFIX.finditer(line))
        if not found:
            yield Message(number, "", line, bare=True)
            continue
        # Two ranks may write onto one line.
        ends = [*(match.start() for match in found[1:]), len(line)]
        for match, end in zip(found, ends, strict=True):
            host, process, thread = match["host"], match["pid"], match["tid"]
            source = f"{host}:{process}:{thread}" if host else f"[{match['device']}]"
            yield Message(number, source, line[match.end() : end].rstrip())
