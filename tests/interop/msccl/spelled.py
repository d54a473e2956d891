"""MSCCL files from a few words, for tests.

A step is ``type chunk [chunk] [xCOUNT] [<BLOCK.STEP] [!]``: ``rrc i0 x2 <1.0 !`` receives two
chunks, adds them to i[0] and i[1] once thread block 1 has done step 0, and announces it.
"""

from __future__ import annotations

from collections.abc import Sequence

Block = tuple[int, int, int, Sequence[str]]


def spelled(
    coll: str,
    gpus: Sequence[Sequence[Block]],
    *,
    chunks: int = 1,
    scratch: int = 0,
    in_place: bool = True,
    **more: object,
) -> str:
    """Return the XML of GPUs, each of thread blocks (send, recv, channel, steps)."""
    ranks = len(gpus)
    head = {
        "name": "spelled", "proto": "LL", "nchannels": 4, "nchunksperloop": chunks,
        "ngpus": ranks, "coll": coll, "inplace": int(in_place), **more,
    }  # fmt: skip
    inputs = chunks // ranks if coll == "allgather" else chunks
    outputs = chunks // ranks if coll == "reduce_scatter" else chunks
    lines = [f"<algo {' '.join(f'{k}={str(v)!r}' for k, v in head.items())}>"]
    for rank, blocks in enumerate(gpus):
        lines.append(
            f"<gpu id='{rank}' i_chunks='{inputs}' o_chunks='{outputs}' s_chunks='{scratch}'>"
        )
        for number, (send, recv, channel, steps) in enumerate(blocks):
            lines.append(f"<tb id='{number}' send='{send}' recv='{recv}' chan='{channel}'>")
            lines += [_step(place, words) for place, words in enumerate(steps)]
            lines.append("</tb>")
        lines.append("</gpu>")
    # The runtime's parser knows double quotes alone.
    return "\n".join([*lines, "</algo>"]).replace("'", '"')


def _step(place: int, words: str) -> str:
    kind, *rest = words.split()
    found = {"cnt": "1", "depid": "-1", "deps": "-1", "hasdep": "0"}
    chunks = []
    for word in rest:
        if word == "!":
            found["hasdep"] = "1"
        elif word.startswith("x"):
            found["cnt"] = word[1:]
        elif word.startswith("<"):
            found["depid"], found["deps"] = word[1:].split(".")
        else:
            chunks.append((word[0], word[1:]))
    source, target = (*chunks, *chunks)[:2] if chunks else (("i", "-1"), ("o", "-1"))
    ends = {"srcbuf": source[0], "srcoff": source[1], "dstbuf": target[0], "dstoff": target[1]}
    text = " ".join(f"{k}='{v}'" for k, v in {**ends, **found}.items())
    return f"<step s='{place}' type='{kind}' {text}/>"
