"""Read one GPU of an MSCCL file: thread blocks, steps, and what these wait for."""

from typing import Final

from collsim.interop.msccl.attributes import flag_of, one_of, text_of, whole_of
from collsim.interop.msccl.layout import declared
from collsim.interop.msccl.program import (
    READS_SOURCE,
    RECEIVES,
    SENDS,
    TYPES,
    WRITES_TARGET,
    Block,
    Gpu,
    Step,
)
from collsim.xml_file import Element

__all__ = ["MOST", "read_gpu"]

MOST: Final = 1_000_000
"""Chunks, thread blocks and whatever else a file may count."""


def read_gpu(node: Element, kind: str, rank: int, ranks: int, chunks: int) -> Gpu:
    """Return one GPU of a file: its thread blocks and their steps."""
    sizes = {b: whole_of(node, f"{b}_chunks", 0, MOST) for b in "ios"}
    for buffer, expected in zip("io", declared(kind, ranks, chunks), strict=True):
        if sizes[buffer] not in (0, expected):
            raise node.refuse(
                f"{buffer}_chunks",
                f"0 or {expected}, as nchunksperloop is {chunks} for {kind} on {ranks} ranks",
            )
    blocks: dict[int, Block] = {}
    places: dict[int, int] = {}
    nodes = [child for child in node.children if child.tag == "tb"]
    for child in node.children:
        if child.tag == "scratch":
            first = whole_of(child, "chunk", 0, MOST)
            place = whole_of(child, "place", 0, 2**31 - 1)
            count = whole_of(child, "cnt", 1, MOST)
            mine = range(first, first + count)
            if mine.stop > sizes["s"] or not places.keys().isdisjoint(mine):
                raise child.wrong(
                    f"chunks {first} to {mine.stop - 1}, expected some of the {sizes['s']} of "
                    "s_chunks, each of them once"
                )
            places.update(zip(mine, range(place, place + count), strict=True))
        elif child.tag != "tb":
            raise child.wrong("expected tb elements inside of gpu")
    for child in nodes:
        number = whole_of(child, "id", 0, MOST)
        if number in blocks:
            raise child.wrong(f"id is {number}, which another tb of gpu {rank} has too")
        if number >= len(nodes):
            raise child.wrong(
                f"id is {number}, expected 0 to {len(nodes) - 1}, each of them once"
            )
        blocks[number] = _block(child, rank, ranks, sizes)
    for child in nodes:
        _check_waits(child, blocks)
    return Gpu(sizes, tuple(blocks[i] for i in range(len(nodes))), places)


def _block(node: Element, rank: int, ranks: int, sizes: dict[str, int]) -> Block:
    send, recv = (whole_of(node, peer, -1, ranks - 1) for peer in ("send", "recv"))
    if rank in (send, recv):
        raise node.wrong(f"a peer of gpu {rank} is {rank}, expected another one or -1")
    channel = whole_of(node, "chan", -1 if send == recv == -1 else 0, MOST)
    steps = []
    waiting = False
    for place, child in enumerate(node.children):
        if child.tag != "step":
            known = "a step" if child.tag != "op" else "a step (op: the newer format)"
            raise child.wrong(f"got {child.tag} inside of tb, expected {known}")
        step = _step(child, place, sizes)
        for types, peer, name in ((SENDS, send, "send"), (RECEIVES, recv, "recv")):
            if step.type in types and peer < 0:
                raise child.wrong(f"type is {step.type!r}, but the tb has no {name} peer")
        if step.type != "nop" and waiting and step.wait is None:
            raise child.wrong("follows a nop, so the runtime expects it to wait (depid) too")
        waiting = step.type == "nop"
        steps.append(step)
    return Block(send, recv, channel, tuple(steps))


def _step(node: Element, place: int, sizes: dict[str, int]) -> Step:
    if node.children:
        raise node.wrong("has elements inside, expected none")
    if whole_of(node, "s", 0, MOST) != place:
        raise node.refuse("s", f"{place}, as steps are numbered in their order")
    kind = text_of(node, "type")
    if kind == "ra":
        raise node.wrong("type is 'ra', which the runtime reads but can't run")
    if kind not in TYPES:
        raise node.refuse("type", f"one of {', '.join(TYPES)}")
    source, target = (
        (one_of(node, f"{end}buf", ("i", "o", "s")), whole_of(node, f"{end}off", -1, MOST))
        for end in ("src", "dst")
    )
    count = whole_of(node, "cnt", 0 if kind == "nop" else 1, MOST)
    for types, (buffer, offset), verb in (
        (READS_SOURCE, source, "reads"),
        (WRITES_TARGET, target, "writes"),
    ):
        if kind in types and (offset < 0 or offset + count > sizes[buffer]):
            raise node.wrong(
                f"{verb} {buffer}[{offset}] to {buffer}[{offset + count - 1}], "
                f"but {buffer} has {sizes[buffer]} chunks"
            )
    block, step = whole_of(node, "depid", -1, MOST), whole_of(node, "deps", -1, MOST)
    if block >= 0 > step:
        raise node.refuse("deps", "a step, as depid names a thread block")
    if kind == "nop" and block < 0:
        raise node.wrong("is a nop that waits for nothing, which the runtime does not count")
    return Step(
        type=kind,
        source=source,
        target=target,
        count=count,
        wait=(block, step) if block >= 0 else None,
        announces=flag_of(node, "hasdep"),
        op=node.whole("op", 0, 2**31 - 1),
        round=node.whole("round", 0, 2**31 - 1),
        channel=node.whole("channel", 0, 2**15 - 1),
        adds="adds" in node.attributes and kind in ("r", "cpy") and flag_of(node, "adds"),
        turn="turn" in node.attributes and flag_of(node, "turn"),
    )


def _check_waits(node: Element, blocks: dict[int, Block]) -> None:
    for child in node.children:
        block = child.whole("depid", -1, MOST, -1) or 0
        if block < 0:
            continue
        if block not in blocks:
            raise child.refuse("depid", f"a thread block from 0 to {len(blocks) - 1}, or -1")
        step = child.whole("deps", -1, MOST, -1) or 0
        if step >= len(blocks[block].steps):
            raise child.refuse(
                "deps", f"a step of thread block {block}, which has {len(blocks[block].steps)}"
            )
