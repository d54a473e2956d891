"""What the runtime can't load or run of a program that is right otherwise."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from collsim.interop.msccl.flow import follow, slots_of
from collsim.interop.msccl.program import WRITES_TARGET, Block, Program, WrongScheduleError

__all__ = ["input_lost", "limits_broken"]

# From src/include/msccl.h, devcomm.h and src/graph/xml.h of the runtime.
_CHANNELS: Final = 32
_STEPS: Final = 256
_BLOCKS: Final = 216
_BLOCKS_A_CHANNEL: Final = 32
_COUNT: Final = 72
_FUSED: Final = 16
_NODES: Final = 4096
_CHILDREN: Final = 1024
# Thread blocks to wait for are kept in 8 bits with a sign, offsets of chunks in 16.
_AWAITED: Final = 128
_OFFSET: Final = 2**15
_SHOWN: Final = 3


def limits_broken(program: Program) -> list[str]:
    """Return a sentence for every limit of the runtime that a program breaks.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> from collsim.interop.msccl.blocks import to_program
    >>> limits_broken(to_program(build("all_reduce", "ring", 4), "ring"))
    []
    """
    return [
        *_whole(program),
        *_gathered(text for rank in range(len(program.gpus)) for text in _gpu(program, rank)),
        *_gathered(_unmet(program)),
        *_queues(program),
    ]


def input_lost(program: Program) -> str | None:
    """Return which steps write what a call out of place must leave as it is, or None."""
    if program.in_place and not program.apart_too:
        return None
    places = (
        ("", f"gpu {rank} thread block {number} step {place}")
        for rank, number, block in program.blocks()
        for place, step in enumerate(block.steps)
        if step.type in WRITES_TARGET and step.target[0] == "i"
    )
    found = next(_gathered(places), None)
    return None if found is None else found.removeprefix(": ")


def _gathered(found: Iterator[tuple[str, str]]) -> Iterator[str]:
    """Yield each limit once, with the first places at which it is broken."""
    where: dict[str, list[str]] = {}
    for limit, place in found:
        where.setdefault(limit, []).append(place)
    for limit, places in where.items():
        more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        yield f"{limit}: {', '.join(places[:_SHOWN])}{more}"


def _whole(program: Program) -> Iterator[str]:
    used = max((block.channel + 1 for _, _, block in program.blocks()), default=0)
    if used > program.channels:
        yield f"nchannels is {program.channels}, but channel {used - 1} is used"
    if max(used, program.channels) > _CHANNELS:
        yield (
            f"channels: {max(used, program.channels)}, and the runtime has at most {_CHANNELS}"
        )
    nothing = [rank for rank, gpu in enumerate(program.gpus) if not gpu.blocks]
    if nothing and len(program.gpus) > 1:
        yield f"thread blocks: gpu {nothing[0]} has none, and the runtime starts at least one"


def _gpu(program: Program, rank: int) -> Iterator[tuple[str, str]]:
    blocks = program.gpus[rank].blocks
    if len(blocks) > _BLOCKS:
        yield f"thread blocks, at most {_BLOCKS} a GPU", f"gpu {rank} has {len(blocks)}"
    nodes = len(program.gpus) + 1 + len(blocks) + sum(len(block.steps) for block in blocks)
    if nodes > _NODES:
        yield f"elements, at most {_NODES} for a GPU", f"gpu {rank} has {nodes}"
    if len(blocks) > _CHILDREN:
        yield f"thread blocks, at most {_CHILDREN} inside of a gpu", f"gpu {rank}"
    for end, word in (("send", "send to"), ("recv", "receive from")):
        peers = Counter(
            (block.channel, getattr(block, end)) for block in blocks if getattr(block, end) >= 0
        )
        for (channel, peer), times in peers.items():
            if times > 1:
                yield (
                    "duplicate connections (a peer, a direction and a channel)",
                    f"gpu {rank} has {times} that {word} gpu {peer} on channel {channel}",
                )
        for channel, count in Counter(channel for channel, _ in peers.elements()).items():
            if count > _BLOCKS_A_CHANNEL:
                yield (
                    f"connections, at most {_BLOCKS_A_CHANNEL} a channel and direction",
                    f"gpu {rank} has {count} that {word} another on channel {channel}",
                )
    for number, block in enumerate(blocks):
        yield from _block(f"gpu {rank} thread block {number}", block)


def _block(name: str, block: Block) -> Iterator[tuple[str, str]]:
    if len(block.steps) > _STEPS:
        yield f"steps, at most {_STEPS} a thread block", f"{name} has {len(block.steps)}"
    if block.channel < 0:
        yield "channels, from 0 up", f"{name} has chan {block.channel}"
    for place, step in enumerate(block.steps):
        if step.count >= _COUNT:
            yield (
                f"chunks, less than {_COUNT} a step (cnt)",
                f"{name} step {place} has {step.count}",
            )
        if step.wait is not None and step.wait[0] >= _AWAITED:
            yield (
                f"depid, below {_AWAITED} as it is kept in 8 bits",
                f"{name} step {place} has {step.wait[0]}",
            )
        if step.type != "nop" and max(step.source[1], step.target[1]) >= _OFFSET:
            yield f"chunks, below {_OFFSET:,} in a buffer", f"{name} step {place}"
    yield from _chains(name, block)


def _chains(name: str, block: Block) -> Iterator[tuple[str, str]]:
    """Yield reductions that the runtime joins to one although they are many, or differ.

    It counts the reductions of the whole thread block, and ends a chain with that of number 16
    alone; one that begins later grows on.
    """
    steps = block.steps
    many, length = 0, 0
    for place, step in enumerate(steps):
        if step.type != "re":
            continue
        before = steps[place - 1] if place else step
        joined = (
            place > 0
            and before.type == "re"
            and before.target == step.target
            and before.source[0] == step.source[0]
            and step.wait is None
            and not before.announces
            and many != _FUSED
        )
        many, length = many + 1, length + 1 if joined else 1
        if joined and before.count != step.count:
            yield (
                "reductions into one chunk, one after the other, are run as one, of one length",
                f"{name} steps {place - 1}, {place} have cnt {before.count} and {step.count}",
            )
        if length == _FUSED + 1:
            limit = (
                f"reductions run as one, at most {_FUSED}; they are parted only at number "
                f"{_FUSED} of a thread block"
            )
            yield limit, f"{name} from step {place - _FUSED} on"


def _unmet(program: Program) -> Iterator[tuple[str, str]]:
    """Yield connections that one end alone has, which waits for the other for ever."""
    ends = {
        (rank, block.send, block.channel, "send")
        for rank, _, block in program.blocks()
        if block.send >= 0
    } | {
        (block.recv, rank, block.channel, "receive")
        for rank, _, block in program.blocks()
        if block.recv >= 0
    }
    for source, target, channel, end in sorted(ends):
        other = "receive" if end == "send" else "send"
        if (source, target, channel, other) not in ends:
            here, there = (source, target) if end == "send" else (target, source)
            way = f"{end}s {'to' if end == 'send' else 'from'} gpu {there}"
            yield (
                "connections that the other end does not have",
                f"gpu {here} {way} on channel {channel}",
            )


def _queues(program: Program) -> Iterator[str]:
    slots = slots_of(program)
    try:
        follow(program, slots, by_chunk=True)
    except WrongScheduleError as error:
        yield (
            f"messages under way: a connection of protocol {program.protocol} holds {slots}, "
            f"at large sizes of one chunk each, and with no more of them {error}"
        )
