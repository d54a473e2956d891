"""Read an MSCCL file, strictly: every attribute is checked, as the runtime would and more."""

from typing import Final

from collsim.core.collective import collective as collective_named
from collsim.errors import FileError, InputError
from collsim.interop._size import MOST_RANKS, too_many_chunks
from collsim.interop.msccl.attributes import flag_of, one_of, text_of, whole_of
from collsim.interop.msccl.gpu_reader import MOST, read_gpu
from collsim.interop.msccl.layout import parts_of
from collsim.interop.msccl.program import COLLECTIVE_OF, Gpu, Program
from collsim.xml_file import Element, parse_xml

__all__ = ["read_program"]

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
    ranks = whole_of(algo, "ngpus", 1, MOST_RANKS)
    chunks = whole_of(algo, "nchunksperloop", 1, MOST)
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
    in_place = flag_of(algo, "inplace")
    apart = flag_of(algo, "outofplace") if "outofplace" in algo.attributes else not in_place
    if not in_place and not apart:
        raise algo.wrong("inplace and outofplace are both 0, expected one of them")
    threads = algo.whole("nthreads", 0, 1024, 0) or 0
    if threads % _WARP:
        raise algo.refuse("nthreads", f"a multiple of {_WARP}")
    low = algo.whole("minBytes", 0, _MOST_BYTES, 0) or 0
    high = algo.whole("maxBytes", 0, _MOST_BYTES, _LARGEST) or 0
    if low > high:
        raise algo.wrong(f"minBytes is {low}, expected at most maxBytes, {high}")
    protocol = one_of(algo, "proto", _PROTOCOLS)
    return Program(
        name=text_of(algo, "name")[:63],
        protocol=protocol,
        collective=kind,
        root=(given if root is None else root) if rooted else 0,
        in_place=in_place,
        chunks=chunks,
        channels=whole_of(algo, "nchannels", 1, 65536),
        sizes=(low, high),
        gpus=_gpus(algo, kind, ranks, chunks),
        scratch=algo.whole("scratch", 0, MOST, 0) or 0,
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
    name = text_of(algo, "coll")
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
        rank = whole_of(node, "id", 0, ranks - 1)
        if rank in found:
            raise node.wrong(f"id is {rank}, which another gpu has too")
        found[rank] = read_gpu(node, kind, rank, ranks, chunks)
        placed += len(found[rank].places)
        if placed > MOST:
            raise node.wrong(f"expected at most {MOST:,} scratch chunks with places in all")
    missing = next((rank for rank in range(ranks) if rank not in found), None)
    if missing is not None:
        raise algo.wrong(f"has no gpu {missing}, expected {ranks} of them")
    return tuple(found[rank] for rank in range(ranks))
