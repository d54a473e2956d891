"""Who sends to whom, round by round, as text; and how numbers read in a sentence."""

import textwrap
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final

from collsim.choose.explanation import AlgorithmStory
from collsim.choose.rounds import Does, Round, Send, turn_of
from collsim.units import format_size

__all__ = ["WIDTH", "in_lines", "legend", "multiple", "round_lines", "size_text"]

WIDTH: Final = 100
# In a larger schedule a reader has seen the pattern after a few. All that are common on one
# node of eight GPUs are shown whole.
_ROUNDS: Final = 16
_MESSAGES: Final = 128
_SENDS: Final = 16
_FIRST: Final = 3


def in_lines(text: str, indent: int = 0) -> list[str]:
    """Wrap a sentence; what follows the first line is indented by two more."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 2),
        break_on_hyphens=False,
    )


def size_text(nbytes: float) -> str:
    """Spell a size that was asked for: in binary steps, or where exact in decimal ones.

    Examples
    --------
    >>> size_text(1024), size_text(1e9), size_text(16941176.47), size_text(12)
    ('1KiB', '1GB', '16.16MiB', '12B')
    >>> size_text(2**26), size_text(900000 * 1024), size_text(9000000.000001)
    ('64MiB', '921.6MB', '9MB')
    """
    binary = format_size(nbytes)
    if nbytes < 1000:
        return binary
    unit, step = next((u, s) for u, s in _STEPS if nbytes >= s)
    digits = f"{nbytes / step:.4g}"
    if abs(float(digits) * step - nbytes) <= 1e-9 * nbytes:
        decimal = f"{digits}{unit}"
        short = len(binary) <= len(decimal) and nbytes == int(nbytes)
        return binary if short else decimal
    return binary if len(binary) <= _EXACT else format_size(nbytes, 4)


# Characters within which an odd number of bytes is spelled out.
_EXACT: Final = 8
_STEPS: Final = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def multiple(value: float | None) -> str:
    """Spell a factor as a whole number or a fraction, if it is a simple one.

    Examples
    --------
    >>> multiple(3.0), multiple(5 / 6), multiple(1.0625), multiple(3.14159)
    ('3', '5/6', '17/16', '3.142')
    """
    if value is None:
        return "?"
    near = Fraction(value).limit_denominator(64)
    return str(near) if abs(float(near) - value) <= 1e-12 * abs(value) else f"{value:.4g}"


def round_lines(collective: str, ranks: int, story: AlgorithmStory) -> list[str]:
    """Return the lines that tell who sends to whom.

    Parameters
    ----------
    collective : str
        Canonical name.
    ranks : int
        Rank count P.
    story : AlgorithmStory
        Of one algorithm.
    """
    shown: Sequence[Round] = story.shown
    if story.rounds > _ROUNDS or story.messages > _MESSAGES:
        turn = turn_of([one.does for one in shown])
        around = () if turn is None else shown[turn - 1 : turn + 1]
        wanted = {one.number for one in (*shown[:_FIRST], *around, *shown[-1:])}
        shown = [one for one in shown if one.number in wanted]
    lines: list[str] = []
    last = 0
    for one, head in zip(shown, _heads(collective, shown), strict=True):
        if one.number > last + 1:
            more = one.number - last - 1
            lines.append(f"    ... {more} more round{'s' if more > 1 else ''} ...")
        lines += _round(collective, ranks, story, one, head)
        last = one.number
    return lines


def _heads(collective: str, shown: Sequence[Round]) -> list[str]:
    """Return how each round's line begins: its number, and whether it adds up or copies."""
    width = max((len(str(one.number)) for one in shown), default=1)
    verbs = [f" {_VERBS[one.does]}:" if collective in _REDUCING else ":" for one in shown]
    room = max(map(len, verbs), default=1)
    return [
        f"    round {one.number:>{width}}{verb:<{room}} "
        for one, verb in zip(shown, verbs, strict=True)
    ]


_REDUCING: Final = {"reduce", "reduce_scatter", "all_reduce"}
_VERBS: Final[dict[Does, str]] = {
    "reduces": "adds",
    "copies": "copies",
    "both": "adds (+) and copies",
}


def _round(
    collective: str, ranks: int, story: AlgorithmStory, one: Round, head: str
) -> list[str]:
    sends = one.sends
    if one.messages > _SENDS:
        sends = sends[:_FIRST]
    whole = _whole(one)
    items = [
        f"{_end(ranks, story, send.src)} -> {_end(ranks, story, send.dst)}"
        + ("" if whole else f" {_cargo(collective, ranks, story, send)}")
        + (" (+)" if one.does == "both" and send.reduces else "")
        for send in sends
    ]
    if len(items) < one.messages:
        items.append(f"and {one.messages - len(items)} more")
    same = len({send.fraction for send in one.sends}) == 1
    tail = ""
    if not whole:
        amount = f"{_share(one.fraction)}"
        tail = f"  ({'each ' if one.messages > 1 else ''}{'' if same else 'at most '}{amount})"
    return _wrapped(head, items, tail)


def _end(ranks: int, story: AlgorithmStory, index: int) -> str:
    """Name a sender or receiver: a rank by its number, or a switch, and of which node."""
    if index < ranks:
        return str(index)
    return "switch" if story.switches == 1 else f"switch of node {index - ranks}"


def _wrapped(head: str, items: Sequence[str], tail: str) -> list[str]:
    """Join items by commas, breaking lines only between them."""
    lines, line = [], head
    for i, item in enumerate(items):
        text = item + ("," if i + 1 < len(items) else tail)
        if len(line) + len(text) > WIDTH and line != head:
            lines.append(line.rstrip())
            line = " " * len(head)
        line += f"{text} "
    return [*lines, line.rstrip()]


def _share(fraction: float) -> str:
    if fraction == 1.0:
        return "n"
    parts = round(1 / fraction) if fraction else 0
    return f"n/{parts}" if parts and parts * fraction == 1.0 else f"{multiple(fraction)} n"


def _whole(one: Round) -> bool:
    """Whether every message of a round carries all n bytes, so that there is no more to say."""
    return all(send.fraction == 1.0 for send in one.sends)


def legend(collective: str, story: AlgorithmStory) -> str:
    """Return what the brackets after a message mean, or nothing where there are none."""
    partial = [send for one in story.shown if not _whole(one) for send in one.sends]
    if not partial:
        return ""
    if collective == "all_to_all":
        return "; [0>3] is what rank 0 has for rank 3"
    if _in_parts(collective, partial[0]):
        return ""
    return "; [3] is the share of rank 3"


def _in_parts(collective: str, send: Send) -> bool:
    one_block = collective in {"broadcast", "reduce", "all_reduce"}
    return one_block or (len(send.blocks) == 1 and send.pieces != send.blocks)


def _cargo(collective: str, ranks: int, story: AlgorithmStory, send: Send) -> str:
    """Name what a message carries."""
    if collective == "all_to_all":
        pairs = [f"{block // ranks}>{block % ranks}" for block in send.blocks]
        return f"[{_some(pairs)}]"
    if _in_parts(collective, send):
        word = "chunk" if story.chunks > 1 else "part"
        return f"[{word} {_ranges(send.pieces)}]"
    return f"[{_ranges(send.blocks)}]"


def _some(texts: Sequence[str]) -> str:
    return " ".join(texts) if len(texts) <= 8 else f"{' '.join(texts[:3])} ..."


def _ranges(numbers: Iterable[int]) -> str:
    """Spell whole numbers, neighbours as a range."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return _some([f"{a}" if a == b else f"{a}-{b}" for a, b in runs])
