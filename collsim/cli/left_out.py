"""Which algorithms were left out and why, a line for each kind of reason."""

import re
from collections.abc import Mapping
from typing import Final

from collsim.cli.output import note

__all__ = ["tell_left_out"]

# As `choose` says how far one is from the fastest at its best.
_SLOW: Final = re.compile(r"(too slow at every size): (at least) (\S+) (times as long .*)")


def _left_out_lines(left_out: Mapping[str, str]) -> list[str]:
    """Return a line for every kind of reason, in the order in which they come first.

    Examples
    --------
    >>> slow = "too slow at every size: at least {} times as long as the fastest"
    >>> _left_out_lines({"mst": slow.format(1.28), "two_shot": "a bound", "swing": "a bound",
    ...                 "ring": slow.format(4)})
    ['as too slow at every size (at least so many times as long as the fastest): mst 1.28,
    ring 4', 'two_shot, swing: a bound']
    """
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for name, reason in left_out.items():
        slow = _SLOW.fullmatch(reason)
        # What an algorithm refuses begins with its own name.
        bare = re.sub(rf"^\w+/{re.escape(name)}: ", "", reason)
        kind, times = (
            (f"{slow[1]} ({slow[2]} so many {slow[4]})", slow[3]) if slow else (bare, "")
        )
        groups.setdefault(kind, []).append((name, times, reason))
    lines = []
    for kind, found in groups.items():
        if len(found) == 1:
            lines.append(f"{found[0][0]}: {found[0][2]}")
        elif found[0][1]:
            lines.append(
                f"as {kind}: {', '.join(f'{name} {times}' for name, times, _ in found)}"
            )
        else:
            lines.append(f"{', '.join(name for name, _, _ in found)}: {kind}")
    return lines


def tell_left_out(left_out: Mapping[str, str], where: str = "") -> None:
    """Say what was left out; `where` comes first."""
    for line in _left_out_lines(left_out):
        note(f"{where}left out {line}")
