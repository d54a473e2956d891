"""What an MSCCL file says: GPUs, their thread blocks, and the steps of these."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from collsim.errors import CollsimError

__all__ = [
    "COLLECTIVE_OF",
    "LOCAL",
    "READS_SOURCE",
    "RECEIVES",
    "REDUCES",
    "SENDS",
    "TYPES",
    "WRITES_TARGET",
    "Block",
    "Chunk",
    "Gpu",
    "OwnWordsError",
    "Program",
    "Step",
    "WrongScheduleError",
]

# What a step does: send, receive, reduce, copy, in the order of its letters.
TYPES: Final = ("s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re", "nop")
SENDS: Final = frozenset({"s", "rcs", "rrs", "rrcs"})
RECEIVES: Final = frozenset({"r", "rcs", "rrs", "rrc", "rrcs"})
REDUCES: Final = frozenset({"rrs", "rrc", "rrcs", "re"})
LOCAL: Final = frozenset({"cpy", "re"})
READS_SOURCE: Final = frozenset({"s", "rrs", "rrc", "rrcs", "cpy", "re"})
WRITES_TARGET: Final = frozenset({"r", "rcs", "rrc", "rrcs", "cpy", "re"})

# The runtime's names of collectives, and ours.
COLLECTIVE_OF: Final[Mapping[str, str]] = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "reduce": "reduce",
    "broadcast": "broadcast",
    "alltoall": "all_to_all",
    "reduce_scatter": "reduce_scatter",
}

Chunk = tuple[str, int]


class WrongScheduleError(CollsimError, ValueError):
    """A file that is well formed, but whose schedule hangs, races or mixes data up."""


class OwnWordsError(WrongScheduleError):
    """What collsim wrote for itself, `op` and its like, is not of this file any more."""


@dataclass(frozen=True)
class Step:
    """One step of a thread block.

    Parameters
    ----------
    type : str
        One of `TYPES`.
    source, target : (str, int)
        Buffer ``i``, ``o`` or ``s`` and first chunk, of its own GPU; what a step does not
        use may be anything.
    count : int
        Chunks.
    wait : (int, int) or None
        A thread block of the same GPU, and the step of it that must be done before.
    announces : bool
        Whether it tells other thread blocks that it is done.
    op, round, channel : int or None
        Which message of a schedule it is (a part of), its round and its channel; collsim
        writes them for itself, the runtime does not read them.
    adds : bool
        Whether a copy into an empty place stands for the first of several reductions there.
    turn : bool
        Whether what it waits for holds the message itself up, and not only its reduction.
    """

    type: str
    source: Chunk = ("i", -1)
    target: Chunk = ("o", -1)
    count: int = 1
    wait: tuple[int, int] | None = None
    announces: bool = False
    op: int | None = None
    round: int | None = None
    channel: int | None = None
    adds: bool = False
    turn: bool = False

    @property
    def reduces(self) -> bool:
        """Whether what comes in is combined with what is there."""
        return self.type in REDUCES or self.adds


@dataclass(frozen=True)
class Block:
    """A thread block: one peer to send to, one to receive from (-1 for none), one channel."""

    send: int
    recv: int
    channel: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Gpu:
    """A GPU: chunks of its buffers, its thread blocks, and what its scratch chunks stand for.

    `places` gives, of some scratch chunks, the place of collsim's schedule that they hold.
    """

    chunks: Mapping[str, int]
    blocks: tuple[Block, ...]
    places: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Program:
    """A whole file.

    Parameters
    ----------
    name, protocol : str
        Name of the algorithm; ``Simple``, ``LL`` or ``LL128``.
    collective : str
        By collsim's name.
    root : int
        Root of a rooted collective.
    in_place : bool
        Whether input and output are one buffer.
    chunks : int
        Chunks of the whole buffer (`nchunksperloop`).
    channels : int
        Channels that the file asks for.
    sizes : (int, int)
        The least size that it is for, and the first that it is too large for, in bytes.
    gpus : tuple of Gpu
        By rank.
    scratch : int
        Scratch places of collsim's schedule; 0 in other tools' files.
    apart_too : bool
        Whether a file for one buffer is for two buffers as well.
    ignored : tuple of str
        Attributes that nobody reads, with their elements.
    """

    name: str
    protocol: str
    collective: str
    root: int
    in_place: bool
    chunks: int
    channels: int
    sizes: tuple[int, int]
    gpus: tuple[Gpu, ...]
    scratch: int = 0
    apart_too: bool = False
    ignored: tuple[str, ...] = ()

    def where(self, rank: int, block: int, step: int) -> str:
        """Return how to call a step.

        Examples
        --------
        >>> block = Block(-1, -1, 0, (Step("cpy"),))
        >>> gpu = Gpu({"i": 1, "o": 1, "s": 0}, (block,))
        >>> one = Program("a", "LL", "all_reduce", 0, False, 1, 1, (0, 8), (gpu,))
        >>> one.where(0, 0, 0)
        'rank 0, thread block 0, step 0 (cpy)'
        """
        kind = self.gpus[rank].blocks[block].steps[step].type
        return f"rank {rank}, thread block {block}, step {step} ({kind})"

    def plain(self) -> "Program":
        """Return the program without what collsim adds for itself, as the runtime reads it."""

        def bare(step: Step) -> Step:
            return replace(step, op=None, round=None, channel=None, adds=False, turn=False)

        gpus = tuple(
            replace(
                gpu,
                places={},
                blocks=tuple(
                    replace(block, steps=tuple(map(bare, block.steps))) for block in gpu.blocks
                ),
            )
            for gpu in self.gpus
        )
        return replace(self, gpus=gpus, scratch=0)

    def blocks(self) -> Iterator[tuple[int, int, Block]]:
        """Iterate over rank, number and thread block of all."""
        for rank, gpu in enumerate(self.gpus):
            for number, block in enumerate(gpu.blocks):
                yield rank, number, block
