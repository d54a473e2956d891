"""Recursive halving reduce_scatter, then recursive doubling all_gather."""

from collsim.algorithms._arrange import log2_up
from collsim.algorithms._fold import fold, in_step, unfold
from collsim.algorithms.compose import in_turns, part, play, reverse, then
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder
from collsim.core.setting import Setting
from collsim.core.symmetry import Axes, Symmetry

__all__ = ["ALGORITHM"]


def _power_below(ranks: int, chunks: int = 1) -> int:
    """Cut the array into one part for every rank of the largest power of two."""
    return 1 << ranks.bit_length() - 1


def build(b: Builder) -> None:
    """List the operations: the farthest partners exchange first, and half of the array."""
    core = fold(b)
    parts = b.pieces.reshape(core.size, -1)
    gather = part(b, "all_gather", "recursive_doubling", ranks=core, pieces=parts)
    both = then(reverse(gather, adds=True), gather)
    play(b, in_turns(both, strict=True) if in_step(b) else both)
    unfold(b)


def _a_part_per_rank(setting: Setting, _chunks: int, _channels: int) -> Axes:
    return ((setting.ranks, 1),)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: ranks beyond a power of two hand in, and wait."""
    extra = log2_up(ranks) - (ranks.bit_length() - 1)
    share = extra + 1 - 1 / _power_below(ranks)
    return Terms(2 * log2_up(ranks), 2 * share, share)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="2⌈log P⌉α + (⌈log P⌉-⌊log P⌋+1-1/2^⌊log P⌋)n(2β + γ)",
    summary="partners at half the distance each time add up halves, then hand them back",
    paper="Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005, section 4.5",
    parts=_power_below,
    symmetry=Symmetry("xor", _a_part_per_rank),
)
