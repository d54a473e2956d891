"""Network cards as the table ``[network]`` of a cluster file."""

from typing import NamedTuple

from collsim.interop.topology._known import NET_ALPHA
from collsim.interop.topology._machine import Machine, Wire

__all__ = ["Network", "network_of"]


class Network(NamedTuple):
    """The table ``[network]``, or why there is none.

    Parameters
    ----------
    wire : Wire or None
        From a card to its switch.
    nics : int
        Cards of a node.
    reason : str
        Why there is no table, empty otherwise.
    """

    wire: Wire | None
    nics: int
    reason: str


def network_of(machine: Machine, joinable: bool = True) -> Network:
    """Return what the network cards of a machine make.

    Parameters
    ----------
    machine : Machine
        With its cards.
    joinable : bool
        Whether copies of it can be joined: a cluster file can't say that of a machine
        that it lists link by link.

    Examples
    --------
    >>> network_of(Machine("a.txt", "text", ("GPU0",), ())).reason
    'a network, as the file names no network card'
    """
    cards = machine.nics
    many = f"{len(cards)} network card{'s' * (len(cards) != 1)}"
    if not cards:
        return Network(None, 0, "a network, as the file names no network card")
    speeds = [card.bandwidth for card in cards if card.bandwidth is not None]
    if len(speeds) < len(cards):
        return Network(None, 0, f"{many}, whose speed the file does not say")
    if len({speed.value for speed in speeds}) > 1:
        return Network(None, 0, f"{many} of different speeds")
    if len(cards) > machine.gpus and len(cards) % machine.gpus:
        return Network(None, 0, f"{many}, which are not the same number for every GPU")
    if not joinable:
        return Network(None, 0, f"{many}: a node that is listed link by link joins no other")
    weakest = next((speed for speed in speeds if speed.kind == "assumption"), speeds[0])
    name = f"net{weakest.value * 8 / 1e9:g}".replace(".", "_").replace("+", "")
    return Network(Wire(name, weakest, NET_ALPHA), len(cards), "")
