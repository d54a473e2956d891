"""Write a program as MSCCL's XML, in the one way that the runtime's own parser takes.

It knows no XML declaration and no tabs, wants one blank between attributes, and steps without
anything inside. What collsim adds for itself (`op`, `round`, `channel`, `adds`, `turn`,
`root`, `collective`, `scratch`) it skips.
"""

from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import quoteattr

from collsim.interop.msccl.program import COLLECTIVE_OF, Gpu, Program, Step

__all__ = ["to_xml"]

_NAME_OF: Final = {ours: theirs for theirs, ours in COLLECTIVE_OF.items()}


def to_xml(program: Program) -> str:
    """Return the text of the file.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> from collsim.interop.msccl.blocks import to_program
    >>> text = to_xml(to_program(build("broadcast", "mst", 2), "mst"))
    >>> print(text.splitlines()[3].strip()[:60])
    <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff
    """
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Program) -> Iterator[str]:
    kind = program.collective
    head: dict[str, object] = {
        "name": program.name[:63],
        "proto": program.protocol,
        "nchannels": program.channels,
        "nchunksperloop": program.chunks,
        "ngpus": len(program.gpus),
        "coll": _NAME_OF.get(kind, "custom"),
        "inplace": int(program.in_place),
        "outofplace": int(not program.in_place),
        "minBytes": program.sizes[0],
        "maxBytes": program.sizes[1],
    }
    if kind not in _NAME_OF:
        head["collective"] = kind
    if program.root:
        head["root"] = program.root
    if program.scratch:
        head["scratch"] = program.scratch
    yield f"<algo{_attributes(head)}>"
    for rank, gpu in enumerate(program.gpus):
        sizes = {f"{buffer}_chunks": gpu.chunks[buffer] for buffer in "ios"}
        yield f"  <gpu{_attributes({'id': rank, **sizes})}>"
        for chunk, place, cnt in _stretches(gpu):
            yield f"    <scratch{_attributes({'chunk': chunk, 'place': place, 'cnt': cnt})}/>"
        for number, block in enumerate(gpu.blocks):
            ends = {"send": block.send, "recv": block.recv, "chan": block.channel}
            yield f"    <tb{_attributes({'id': number, **ends})}>"
            for place, step in enumerate(block.steps):
                yield f"      <step{_attributes(_step(place, step))}/>"
            yield "    </tb>"
        yield "  </gpu>"
    yield "</algo>"


def _step(place: int, step: Step) -> dict[str, object]:
    block, index = step.wait or (-1, -1)
    found: dict[str, object] = {
        "s": place,
        "type": step.type,
        "srcbuf": step.source[0],
        "srcoff": step.source[1],
        "dstbuf": step.target[0],
        "dstoff": step.target[1],
        "cnt": step.count,
        "depid": block,
        "deps": index,
        "hasdep": int(step.announces),
    }
    if step.op is not None:
        found.update({"op": step.op, "round": step.round})
    if step.channel:
        found["channel"] = step.channel
    if step.adds:
        found["adds"] = 1
    if step.turn:
        found["turn"] = 1
    return found


def _stretches(gpu: Gpu) -> Iterator[tuple[int, int, int]]:
    """Yield runs of scratch chunks whose places follow each other."""
    first: tuple[int, int, int] | None = None
    for chunk, place in sorted(gpu.places.items()):
        if first is not None and (chunk, place) == (first[0] + first[2], first[1] + first[2]):
            first = (first[0], first[1], first[2] + 1)
            continue
        if first is not None:
            yield first
        first = (chunk, place, 1)
    if first is not None:
        yield first


def _attributes(values: dict[str, object]) -> str:
    return "".join(f" {name}={quoteattr(str(value))}" for name, value in values.items())
