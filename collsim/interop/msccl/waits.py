"""For which messages a step must wait, beyond those whose data it touches.

A thread block does one step after the other, so what a step had to wait for, those after it
have to wait for as well. What this leaves out, because it costs no time in a queue:

- a message may be sent before the one sent before it has arrived, but not before it was ready;
- messages of one connection arrive in their order, so the latest stands for all before it;
- a message is under way while its receiver still waits for something else;
- what was sent from a place has been read when the step is done, long before it arrives.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from collsim.interop.msccl.flow import Connection

__all__ = ["Waits", "merged"]


@dataclass(frozen=True)
class Waits:
    """Messages that are done when a thread block comes to a step.

    Parameters
    ----------
    latest : dict of Connection to (int, int)
        Of a connection: place in its queue, and number, of the latest message received.
    others : frozenset of int
        Local ones.
    """

    latest: dict[Connection, tuple[int, int]] = field(default_factory=dict)
    others: frozenset[int] = frozenset()

    def messages(self) -> set[int]:
        """Return the numbers of all."""
        return {message for _, message in self.latest.values()} | self.others

    def received(self, connection: Connection, place: int, message: int) -> "Waits":
        """Return these and one more that was received."""
        return merged((self, Waits({connection: (place, message)})))


def merged(several: Iterable[Waits]) -> Waits:
    """Return all of several; of a connection the latest.

    Examples
    --------
    >>> a, b = Waits({(0, 1, 0): (0, 5)}), Waits({(0, 1, 0): (1, 7)}, frozenset({3}))
    >>> sorted(merged([a, b]).messages())
    [3, 7]
    """
    latest: dict[Connection, tuple[int, int]] = {}
    others: frozenset[int] = frozenset()
    for waits in several:
        others |= waits.others
        for connection, found in waits.latest.items():
            if connection not in latest or latest[connection] < found:
                latest[connection] = found
    return Waits(latest, others)
