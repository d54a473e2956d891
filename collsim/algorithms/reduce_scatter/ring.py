"""Around the ring: partial sums of a share travel until they reach its owner."""

from collsim.algorithms._rings import ring_order
from collsim.algorithms.all_gather import ring as all_gather
from collsim.algorithms.compose import Recording, over_channels, part, play, reverse
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]


def build(b: Builder) -> None:
    """List the operations: rings of the all_gather the other way, backwards.

    So they go around the way that those of the all_gather go.
    """

    def ring(channel: int) -> Recording:
        order = ring_order(b.setting, channel, b.channels)[::-1]
        share = b.share(channel)[order]
        gather = part(b, "all_gather", all_gather.around, ranks=order, pieces=share)
        return reverse(gather, adds=True)

    play(b, over_channels(b.channels, ring))


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost: each step waits for the reduction of the one before."""
    share = (ranks - 1) / ranks
    return Terms(ranks - 1, share, share)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)α + (P-1)/P·n(β + γ)",
    summary="every rank adds its own to the partial sum that it received last and passes it on",
    channeled=True,
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 4 (bucket reduce_scatter)",
)
