"""A machine as the text of a cluster file."""

from collections.abc import Iterable, Iterator

from collsim.config.links import Number
from collsim.errors import FileError, one_line
from collsim.interop.topology._machine import Cable, Machine, Notes, Wire, is_gpu
from collsim.interop.topology._network import Network
from collsim.interop.topology._routes import Routes
from collsim.interop.topology._shapes import Shape, charged
from collsim.units import format_bandwidth, format_time

__all__ = ["to_toml"]

_MOST_LISTED = 128


def to_toml(
    machine: Machine, name: str, shape: Shape, routes: Routes, network: Network, notes: Notes
) -> str:
    """Return the text of a cluster file.

    Parameters
    ----------
    machine : Machine
        What was found.
    name : str
        Name of the cluster.
    shape : Shape
        Its shape.
    routes : Routes
        For a machine that is written link by link.
    network : Network
        How nodes are joined.
    notes : Notes
        What was read, assumed and left out.

    Raises
    ------
    FileError
        For a machine of more than 128 GPUs that has no shape.
    """
    gpus = f"{machine.gpus} GPU{'s' * (machine.gpus != 1)}"
    lines = [
        'schema = "collsim/cluster/1"',
        f"name = {_text(name)}",
        f"summary = {_text(f'{gpus}, from {machine.what}')}",
        "",
    ]
    for title, sentences in (
        ("read", notes.read),
        ("assumed", (*notes.assumed, *notes.pcie)),
        ("left out", notes.left_out),
    ):
        lines += [f"# {title}: {one_line(sentence)}" for sentence in sentences]
    lines.append(f"# ranks: {_ranks(machine.labels)}")
    if shape.name == "links":
        lines += _link_by_link(machine, routes)
    else:
        lines += ["", *_node(machine, shape)]
    if network.wire is not None:
        lines += ["", *_network(machine, network, network.wire)]
    return "\n".join(lines) + "\n"


def _ranks(labels: tuple[str, ...]) -> str:
    shown = ", ".join(f"{rank} is {label}" for rank, label in enumerate(labels[:16]))
    return one_line(shown + ", ..." * (len(labels) > 16))


def _node(machine: Machine, shape: Shape) -> Iterator[str]:
    yield "[node]"
    yield f'shape = "{shape.name}"'
    for key, value in shape.keys.items():
        yield f"{key} = {str(value).lower()}"
    yield f"source = {_text(f'{machine.what}: GPUs are wired like this and no other way')}"
    for key, wire in shape.links.items():
        yield from _wire(f"node.{key}", wire)


def _network(machine: Machine, network: Network, wire: Wire) -> Iterator[str]:
    yield "[network]"
    yield 'shape = "rails"'
    yield "nodes = 1           # a default: --nodes sets it"
    yield f"nics = {network.nics}"
    yield 'kind = "assumption"'
    source = f"{machine.what} describes one node; that its cards are on rails is assumed"
    yield f"source = {_text(source)}"
    yield from _wire("network.link", wire)


def _wire(table: str, wire: Wire) -> Iterator[str]:
    yield ""
    yield f"[{table}]"
    yield f"name = {_text(wire.name)}"
    yield from _costs(wire)


def _costs(wire: Wire) -> Iterator[str]:
    rate = format_bandwidth(wire.bandwidth.value)
    yield f"bandwidth = {_number(rate, wire.bandwidth)}"
    yield f"alpha = {_number(format_time(wire.alpha.value, None), wire.alpha)}"


def _number(value: str, number: Number) -> str:
    source, kind = _text(number.source), _text(number.kind)
    return f"{{ value = {_text(value)}, kind = {kind}, source = {source} }}"


def _link_by_link(machine: Machine, routes: Routes) -> Iterator[str]:
    if machine.gpus > _MOST_LISTED:
        raise FileError(
            machine.file,
            f"{machine.gpus} GPUs in no shape that collsim has, expected at most "
            f"{_MOST_LISTED} to be written link by link",
        )
    used = {cable.name: cable for route in routes.values() for cable in route}
    for cable in sorted(used.values(), key=_order):
        yield from _listed(cable)
    for (src, dst), route in routes.items():
        yield ""
        yield "[[routes]]"
        yield f"src = {src}"
        yield f"dst = {dst}"
        yield f"links = [{', '.join(_text(cable.name) for cable in route)}]"


def _order(cable: Cable) -> tuple[object, ...]:
    ends = [end.rstrip("]").partition("[") for end in (cable.src, cable.dst)]
    return tuple(part for word, _, number in ends for part in (word, int(number)))


def _listed(cable: Cable) -> Iterable[str]:
    wire = charged(cable)
    yield ""
    yield "[[links]]"
    yield f"name = {_text(cable.name)}"
    yield f"src = {_end(cable.src)}"
    yield f"dst = {_end(cable.dst)}"
    yield f"class = {_text(wire.name)}"
    yield from _costs(wire)


def _end(vertex: str) -> str:
    """Return a rank as its number, and a device by its name."""
    return vertex[len("gpu[") : -1] if is_gpu(vertex) else _text(vertex)


def _text(text: str) -> str:
    """Return a TOML string; what can't be printed has become an escape already."""
    plain = one_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'
