"""Read an MSCCL file, strictly: every attribute is checked, as the runtime would and more."""

from typing import Final

from collsim.core.collective import collective as collective_named
from collsim.errors import FileError, InputError, nearest
from collsim.interop._size import MOST_RANKS, too_many_chunks
from collsim.interop.msccl.layout import declared, parts_of
from collsim.interop.msccl.program import (
    COLLECTIVE_OF,
    READS_SOURCE,
    RECEIVES,
    SENDS,
    TYPES,
    WRITES_TARGET,
    Block,
    Gpu,
    Program,
    Step,
)
from collsim.xml_file import Element, parse_xml

__all__ = ["read_program"]

_MOST: Final = 1_000_000
_MOST_STEPS: Final = 60_000
_READ: Final = {
    "algo": "name proto nchannels nchunksperloop ngpus coll inplace outofplace minBytes "
    "maxBytes nthreads root collective scratch",
    "gpu": "id i_chunks o_chunks s_chunks",
    "scratch": "chunk place cnt",
    "tb": "id send recv chan",
    "step": "s type srcbuf srcoff dstbuf dstoff cnt depid deps hasdep op round channel adds "
    "turn",
}
_MOST_BYTES: Final = 2**62
_PROTOCOLS: Final = ("Simple", "LL", "LL128")
# What the runtime takes for the largest size where a file says none.
_LARGEST: Final = 2**27
_WARP: Final = 32


def read_program(
    file: str, data: bytes, collective: str | None = None, root: int | None = None
) -> Program:
    """Return what a file says.

    Parameters
    ----------
    file : str
        Its path, for errors.
    data : bytes
        What it holds.
    collective : str, optional
        What a file of ``coll="custom"`` is meant to do; elsewhere it must agree.
    root : int, optional
        The root, which the format has no word for; by default what collsim wrote, or 0.

    Raises
    ------
    FileError
        If it is no such file, or an attribute is missing, unknown to the format's readers,
        or out of range. Names the line.
    """
    algo = parse_xml(file, data)
    if algo.tag != "algo":
        raise algo.wrong("expected an algo element, as MSCCL's files have")
    steps = sum(element.tag == "step" for element in algo.walk())
    if steps > _MOST_STEPS:
        raise algo.wrong(f"has {steps:,} steps, expected at most {_MOST_STEPS:,}")
    ranks = _whole(algo, "ngpus", 1, MOST_RANKS)
    chunks = _whole(algo, "nchunksperloop", 1, _MOST)
    kind = _collective(algo, collective)
    try:
        reason = too_many_chunks(kind, ranks, parts_of(kind, ranks, chunks))
    except InputError as error:
        raise algo.wrong(f"nchunksperloop: {error}") from None
    if reason is not None:
        raise algo.wrong(reason)
    rooted = collective_named(kind).rooted
    given = algo.whole("root", 0, ranks - 1, 0) or 0
    if root is not None and not 0 <= root < ranks:
        raise algo.wrong(f"root {root}, expected a rank from 0 to {ranks - 1}")
    in_place = _flag(algo, "inplace")
    apart = _flag(algo, "outofplace") if "outofplace" in algo.attributes else not in_place
    if not in_place and not apart:
        raise algo.wrong("inplace and outofplace are both 0, expected one of them")
    threads = algo.whole("nthreads", 0, 1024, 0) or 0
    if threads % _WARP:
        raise algo.refuse("nthreads", f"a multiple of {_WARP}")
    low = algo.whole("minBytes", 0, _MOST_BYTES, 0) or 0
    high = algo.whole("maxBytes", 0, _MOST_BYTES, _LARGEST) or 0
    if low > high:
        raise algo.wrong(f"minBytes is {low}, expected at most maxBytes, {high}")
    protocol = _one_of(algo, "proto", _PROTOCOLS)
    return Program(
        name=_text(algo, "name")[:63],
        protocol=protocol,
        collective=kind,
        root=(given if root is None else root) if rooted else 0,
        in_place=in_place,
        chunks=chunks,
        channels=_whole(algo, "nchannels", 1, 65536),
        sizes=(low, high),
        gpus=_gpus(algo, kind, ranks, chunks),
        scratch=algo.whole("scratch", 0, _MOST, 0) or 0,
        apart_too=in_place and apart,
        ignored=_ignored(algo),
    )


def _ignored(algo: Element) -> tuple[str, ...]:
    """Return attributes that nobody reads."""
    known = {tag: set(names.split()) for tag, names in _READ.items()}
    found = {
        f"{name} of {element.tag}": None
        for element in algo.walk()
        for name in element.attributes
        if name not in known.get(element.tag, ())
    }
    return tuple(found)


def _collective(algo: Element, given: str | None) -> str:
    name = _text(algo, "coll")
    asked = None if given is None else collective_named(given).name
    if name == "custom":
        own = algo.text("collective")
        if not own and asked is None:
            raise algo.wrong(
                "coll is 'custom', which does not say what must end where; name the collective"
            )
        try:
            found = collective_named(own or given or "").name
        except LookupError as error:
            raise algo.wrong(f"collective: {error}") from None
    elif name in COLLECTIVE_OF:
        found = COLLECTIVE_OF[name]
    else:
        raise algo.refuse("coll", f"one of {', '.join((*COLLECTIVE_OF, 'custom'))}")
    if asked is not None and asked != found:
        raise FileError(algo.file, f"is a schedule of {found}, expected one of {asked}")
    return found


def _gpus(algo: Element, kind: str, ranks: int, chunks: int) -> tuple[Gpu, ...]:
    found: dict[int, Gpu] = {}
    placed = 0
    for node in algo.children:
        if node.tag != "gpu":
            raise node.wrong("expected gpu elements inside of algo")
        rank = _whole(node, "id", 0, ranks - 1)
        if rank in found:
            raise node.wrong(f"id is {rank}, which another gpu has too")
        found[rank] = _gpu(node, kind, rank, ranks, chunks)
        placed += len(found[rank].places)
        if placed > _MOST:
            raise node.wrong(f"expected at most {_MOST:,} scratch chunks with places in all")
    missing = next((rank for rank in range(ranks) if rank not in found), None)
    if missing is not None:
        raise algo.wrong(f"has no gpu {missing}, expected {ranks} of them")
    return tuple(found[rank] for rank in range(ranks))


def _gpu(node: Element, kind: str, rank: int, ranks: int, chunks: int) -> Gpu:
    sizes = {b: _whole(node, f"{b}_chunks", 0, _MOST) for b in "ios"}
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
            first = _whole(child, "chunk", 0, _MOST)
            place = _whole(child, "place", 0, 2**31 - 1)
            count = _whole(child, "cnt", 1, _MOST)
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
        number = _whole(child, "id", 0, _MOST)
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
    send, recv = (_whole(node, peer, -1, ranks - 1) for peer in ("send", "recv"))
    if rank in (send, recv):
        raise node.wrong(f"a peer of gpu {rank} is {rank}, expected another one or -1")
    channel = _whole(node, "chan", -1 if send == recv == -1 else 0, _MOST)
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
    if _whole(node, "s", 0, _MOST) != place:
        raise node.refuse("s", f"{place}, as steps are numbered in their order")
    kind = _text(node, "type")
    if kind == "ra":
        raise node.wrong("type is 'ra', which the runtime reads but can't run")
    if kind not in TYPES:
        raise node.refuse("type", f"one of {', '.join(TYPES)}")
    source, target = (
        (_one_of(node, f"{end}buf", ("i", "o", "s")), _whole(node, f"{end}off", -1, _MOST))
        for end in ("src", "dst")
    )
    count = _whole(node, "cnt", 0 if kind == "nop" else 1, _MOST)
    for types, (buffer, offset), verb in (
        (READS_SOURCE, source, "reads"),
        (WRITES_TARGET, target, "writes"),
    ):
        if kind in types and (offset < 0 or offset + count > sizes[buffer]):
            raise node.wrong(
                f"{verb} {buffer}[{offset}] to {buffer}[{offset + count - 1}], "
                f"but {buffer} has {sizes[buffer]} chunks"
            )
    block, step = _whole(node, "depid", -1, _MOST), _whole(node, "deps", -1, _MOST)
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
        announces=_flag(node, "hasdep"),
        op=node.whole("op", 0, 2**31 - 1),
        round=node.whole("round", 0, 2**31 - 1),
        channel=node.whole("channel", 0, 2**15 - 1),
        adds="adds" in node.attributes and kind in ("r", "cpy") and _flag(node, "adds"),
        turn="turn" in node.attributes and _flag(node, "turn"),
    )


def _check_waits(node: Element, blocks: dict[int, Block]) -> None:
    for child in node.children:
        block = child.whole("depid", -1, _MOST, -1) or 0
        if block < 0:
            continue
        if block not in blocks:
            raise child.refuse("depid", f"a thread block from 0 to {len(blocks) - 1}, or -1")
        step = child.whole("deps", -1, _MOST, -1) or 0
        if step >= len(blocks[block].steps):
            raise child.refuse(
                "deps", f"a step of thread block {block}, which has {len(blocks[block].steps)}"
            )


def _text(node: Element, name: str) -> str:
    if name not in node.attributes:
        close = nearest(name, node.attributes)
        hint = f"; did you mean {close!r} by it?" if close else ""
        raise node.wrong(f"has no {name}, expected one{hint}")
    return node.text(name)


def _whole(node: Element, name: str, low: int, high: int) -> int:
    _text(node, name)
    value = node.whole(name, low, high)
    if value is None:
        raise node.refuse(name, f"a whole number from {low} to {high}")
    return value


def _flag(node: Element, name: str) -> bool:
    return _whole(node, name, 0, 1) == 1


def _one_of(node: Element, name: str, known: tuple[str, ...]) -> str:
    value = _text(node, name)
    if value not in known:
        raise node.refuse(name, f"one of {', '.join(known)}")
    return value
