"""Which shape of collsim a machine has, if it has exactly one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from collsim.config.links import Number
from collsim.errors import FileError
from collsim.interop.topology._machine import Cable, Machine, Wire, gpu, is_gpu
from collsim.interop.topology._routes import Routes
from collsim.topology.hybrid_cube_mesh import WIRING

__all__ = ["Shape", "charged", "recognise"]

_FREE: Final = Number(0.0, "a message pays once, where it leaves its GPU", "assumption")


@dataclass(frozen=True)
class Shape:
    """The table ``[node]`` of a cluster file, or none.

    Parameters
    ----------
    name : str
        Of a shape; ``"links"`` for a machine that is written link by link.
    keys : dict
        Keys that are counts or flags.
    links : dict of str to Wire
        Keys that are links.
    """

    name: str
    keys: Mapping[str, int | bool] = field(default_factory=dict)
    links: Mapping[str, Wire] = field(default_factory=dict)


def recognise(machine: Machine, routes: Routes) -> Shape:
    """Return the shape of a machine, judged by the cables that its routes cross."""
    if machine.gpus == 1:
        return _alone(machine)
    used = {cable.name: cable for route in routes.values() for cable in route}
    for judge in (_star, _full_mesh, _ring, _hybrid_cube_mesh, _pcie_tree):
        shape = judge(machine, used)
        if shape is not None:
            return shape
    return Shape("links")


def charged(cable: Cable) -> Wire:
    """Return a cable's wire for a list of links, where each charges what its class says.

    Those that a message crosses after the first, without an alpha of their own, are a
    class of their own.
    """
    if cable.pays:
        return cable.wire
    return _unpaid(cable.wire)._replace(name=f"{cable.wire.name}_onward")


def _unpaid(wire: Wire) -> Wire:
    return wire._replace(alpha=_FREE)


def _alone(machine: Machine) -> Shape:
    """Return a node of one GPU: what it hangs on."""
    mine = [c for c in machine.cables if c.src == gpu(0)]
    if not mine:
        raise FileError(machine.file, f"{machine.what} of one GPU without a link")
    best = min(mine, key=lambda cable: not cable.wire.name.startswith("nvlink"))
    if best.dst.startswith("switch"):
        flags = {"multicast": True} if machine.multicast else {}
        return Shape("switch", {"gpus": 1, **flags}, {"link": best.wire})
    return Shape("pcie_tree", {"gpus": 1}, {"link": best.wire})


def _wires(cables: list[Cable]) -> Wire | None:
    """Return the wire that all cables are of, or None."""
    first = cables[0].wire if cables else None
    return first if all(c.wire == first for c in cables) else None


def _star(machine: Machine, used: dict[str, Cable]) -> Shape | None:
    hubs = {c.dst for c in used.values() if is_gpu(c.src)}
    if len(hubs) != 1 or len(used) != 2 * machine.gpus:
        return None
    hub = hubs.pop()
    wire = _wires(list(used.values()))
    if is_gpu(hub) or wire is None:
        return None
    if hub.startswith(("switch", "memory")):
        flags = {"multicast": True} if machine.multicast else {}
        return Shape("switch", {"gpus": machine.gpus, **flags}, {"link": wire})
    return Shape("pcie_tree", {"gpus": machine.gpus}, {"link": wire})


def _full_mesh(machine: Machine, used: dict[str, Cable]) -> Shape | None:
    gpus = machine.gpus
    wire = _wires(list(used.values()))
    if wire is None or any(not (is_gpu(c.src) and is_gpu(c.dst)) for c in used.values()):
        return None
    if len(used) != gpus * (gpus - 1):
        return None
    return Shape("full_mesh", {"gpus": gpus}, {"link": wire})


def _ring(machine: Machine, used: dict[str, Cable]) -> Shape | None:
    gpus = machine.gpus
    wire = _wires(list(used.values()))
    steps = [(r, (r + step) % gpus) for r in range(gpus) for step in (1, -1)]
    beside = {f"{gpu(a)}>{gpu(b)}" for a, b in steps}
    # In collsim's ring a message may pass any number of GPUs.
    if wire is None or not machine.relays or used.keys() != beside:
        return None
    return Shape("ring", {"gpus": gpus}, {"link": wire})


def _hybrid_cube_mesh(machine: Machine, used: dict[str, Cable]) -> Shape | None:
    if machine.gpus != 8 or machine.relays:
        return None
    ends = {
        f"{gpu(a)}>{gpu(b)}": width
        for pair, width in WIRING.items()
        for a, b in (pair, pair[::-1])
    }
    if used.keys() != ends.keys():
        return None
    one = next(used[name].wire for name, width in ends.items() if width == 1)
    for name, width in ends.items():
        wire = used[name].wire
        if wire.alpha != one.alpha or wire.bandwidth.value != width * one.bandwidth.value:
            return None
    # The shape calls a pair of links by its name and x2.
    return Shape(
        "hybrid_cube_mesh",
        {"gpus": 8},
        {"link": one._replace(name=one.name.removesuffix("x1"))},
    )


def _pcie_tree(machine: Machine, used: dict[str, Cable]) -> Shape | None:
    """Return a tree of GPUs under switches under CPUs, all groups alike and in order."""
    kinds: dict[tuple[str, str], list[Cable]] = {}
    above: dict[str, set[str]] = {}
    for cable in used.values():
        kinds.setdefault((_part(cable.src), _part(cable.dst)), []).append(cable)
        above.setdefault(cable.src, set()).add(cable.dst)
    up, across = kinds.pop(("pcie", "cpu"), []), kinds.pop(("cpu", "cpu"), [])
    down = kinds.pop(("cpu", "pcie"), [])
    plugs = [c for pair, some in kinds.items() if "gpu" in pair for c in some]
    first = [above[gpu(r)].pop() for r in range(machine.gpus) if len(above[gpu(r)]) == 1]
    flat = not up
    roots = {c.src: c.dst for c in up}
    second = [vertex if flat else roots.get(vertex, "") for vertex in first]
    if len(kinds) != 2 or len(second) != machine.gpus or {_part(v) for v in second} != {"cpu"}:
        return None
    wires = (_wires(plugs), _wires(up + down), _wires(across))
    leaders = [first.index(name) for name in dict.fromkeys(first)]
    per_switch = 1 if flat else _even(first)
    per_socket = _even(second if flat else [second[r] for r in leaders])
    sockets = len(set(second))
    if wires[0] is None or not per_switch or not per_socket:
        return None
    if (up and wires[1] is None) or (across and wires[2] is None):
        return None
    if len(across) != sockets * (sockets - 1):
        return None
    links = {"link": wires[0]}
    if wires[1] is not None and wires[1] != wires[0]:
        links["uplink"] = _unpaid(wires[1])
    if wires[2] is not None:
        links["socket"] = _unpaid(wires[2])
    group = "bridges_per_socket" if sockets > 1 else "switches_per_bridge"
    keys = {"gpus": machine.gpus, "gpus_per_switch": per_switch, group: per_socket}
    return Shape("pcie_tree", keys, links)


def _part(vertex: str) -> str:
    return vertex.partition("[")[0]


def _even(groups: list[str]) -> int:
    """Return the size of groups that follow each other, 0 if they are not alike.

    The last may have fewer.

    Examples
    --------
    >>> _even(["a", "a", "b", "b", "c"]), _even(["a", "b", "b"]), _even(["a", "b", "a"])
    (2, 0, 0)
    """
    size = groups.count(groups[0])
    names = list(dict.fromkeys(groups))
    even = [name for name in names for _ in range(size)]
    return size if groups == even[: len(groups)] else 0
