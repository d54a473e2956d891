"""What a communication library says when it fails, in one line for a reader."""

import re

from collsim.errors import one_line

__all__ = ["said_by"]

_PLACE = re.compile(r"\[?(/|\w+/)\S+\.(cc|cpp|cu|h|hpp):\d+\]?:?\s*")
_LATE = re.compile(r"timed? ?out", re.IGNORECASE)
_LONGEST = 200


def said_by(error: BaseException) -> str:
    """Return the first line of an error without the places in somebody's source.

    Which rank noticed says nothing of which was late, so that is said too.

    Examples
    --------
    >>> said_by(RuntimeError("[/build/gloo/tcp/pair.cc:547] Connection closed by peer [::1]:9"))
    'Connection closed by peer [::1]:9'
    >>> said_by(RuntimeError("[/build/gloo/tcp/buffer.cc:78] Timed out waiting 3000ms"))
    'another rank did not come: Timed out waiting 3000ms'
    >>> said_by(TimeoutError())
    'TimeoutError'
    """
    lines = str(error).strip().splitlines()
    text = one_line(_PLACE.sub("", lines[0]))[:_LONGEST].strip() if lines else ""
    text = text or type(error).__name__
    late = _LATE.search(text) is not None and bool(lines)
    return f"another rank did not come: {text}" if late else text
