"""How stretches of sizes are parted, and what runs of a variant tell in between."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from collsim.choose.contest import Contest
from collsim.choose.envelope import Envelope
from collsim.choose.lines import Line, Stretch
from collsim.choose.policy import choose
from collsim.choose.seen import Seen, covered
from collsim.core.cluster import Cluster


@dataclass(eq=False)
class Made:
    """A variant whose time is the greatest of some lines, and what it is asked."""

    owner: int
    name: str
    lines: tuple[tuple[float, float], ...]
    low: int = 0
    chunks: int = 1
    channels: int = 1
    ran: list[int] = field(default_factory=list)

    @property
    def candidate(self) -> Made:
        """It is an algorithm of its own."""
        return self

    def bounds(self) -> list[list[tuple[float, float]]]:
        """Half of each line."""
        return [[(a / 2, b / 2) for a, b in self.lines]]

    def bound(self, nbytes: float) -> float:
        """Half of its time."""
        return self.seconds(nbytes) / 2

    def seconds(self, nbytes: float) -> float:
        """Its time."""
        self.ran.append(int(nbytes))
        return max(a + b * nbytes for a, b in self.lines)


def run(*made: Made, high: int = 2**33, shortest: float = 1e-4) -> list[tuple[int, int, str]]:
    """Return the ranges of a contest, neighbours of one name joined."""
    contest = Contest({m.owner: Seen(m) for m in made}, False, 1e-11, 1e-4, 1e-11)  # type: ignore[arg-type]
    names = {m.owner: m.name for m in made}
    found: list[tuple[int, int, str]] = []
    for part in contest.run(8, high):
        if found and found[-1][2] == names[part.owner]:
            found[-1] = (found[-1][0], part.high, found[-1][2])
        else:
            found.append((part.low, part.high, names[part.owner]))
    return found


def test_border_is_the_root_to_the_byte() -> None:
    """1 + n = 3 + n/2 at n = 4; of what is equal there the first name is taken."""
    a, b = Made(0, "a", ((1e6, 1.0),)), Made(1, "b", ((3e6, 0.5),))
    assert run(a, b) == [(8, 4_000_000, "a"), (4_000_001, 2**33, "b")]


def test_curve_that_is_lowest_only_in_between_is_found() -> None:
    """The third is lowest from 10 MB to 30 MB, between two that are lower at either end."""
    a, b = Made(0, "a", ((0.0, 1.0),)), Made(1, "b", ((27e6, 0.1),))
    c = Made(2, "c", ((5e6, 0.5),))
    assert [name for _, _, name in run(a, b, c)] == ["a", "c", "b"]
    assert run(a, b, c)[0][1] == 10_000_000


def test_what_is_twice_as_slow_everywhere_takes_few_runs() -> None:
    """Its runs at the ends of stretches rule it out, without the bound's help."""
    fast = Made(0, "fast", ((1e5, 0.0), (0.0, 1.0)))
    slow = Made(1, "slow", ((2e5, 0.0), (0.0, 2.0)))
    assert run(fast, slow) == [(8, 2**33, "fast")]
    assert len(slow.ran) < 40


def test_owner_of_a_smaller_number_stays_where_two_are_equal() -> None:
    """A tie goes to the first."""
    one, same = Made(0, "one", ((1.0, 1.0),)), Made(1, "same", ((1.0, 1.0),))
    assert run(one, same) == [(8, 2**33, "one")]


def test_variant_is_not_asked_below_its_smallest_size() -> None:
    """A chunk is a byte at least."""
    whole, cut = Made(0, "whole", ((4.0, 1.0),)), Made(1, "cut", ((1.0, 1.0),), low=64)
    assert run(whole, cut) == [(8, 63, "whole"), (64, 2**33, "cut")]
    assert min(cut.ran) >= 64


@pytest.mark.parametrize(
    ("lines", "is_above"),
    [
        ([(2.0, 2.0)], True),
        ([(2.0, 0.0)], False),
        ([(3.0, 0.0), (0.0, 3.0)], True),
        ([(1.5, 0.0), (0.0, 1.5)], False),
        ([], False),
    ],
)
def test_two_lines_cover_a_third_only_together(
    lines: list[tuple[float, float]], is_above: bool
) -> None:
    """Both fall below it at one end; where they meet decides: 1.5 and 0.75 against 1."""
    assert covered(lines, 1.0, 1.0) is is_above


def test_runs_beside_a_stretch_keep_it_above() -> None:
    """A time rises with the size, and no faster than it."""
    seen = Seen(Made(0, "a", ((10.0, 0.0),)))  # type: ignore[arg-type]
    seen.at(100), seen.at(110)
    assert seen.above(Line(100, 110, 8.0, 8.0), 100, 110, tie=0.0)
    assert not seen.above(Line(100, 110, 11.0, 11.0), 100, 110, tie=0.0)


def test_a_range_of_nothing_is_one_row() -> None:
    """From 0 bytes to 0 bytes the start-ups alone decide."""
    policy = choose("broadcast", Cluster.ideal(8, "1us", "1GB/s"), min_bytes=0, max_bytes=0)
    assert [(row.min_bytes, row.max_bytes) for row in policy.rows] == [(0, 0)]


@dataclass(eq=False)
class Jumping(Made):
    """A variant whose time jumps at some sizes, as where another number of chunks is best."""

    jumps: tuple[tuple[int, float], ...] = ()

    def seconds(self, nbytes: float) -> float:
        """Return its line times the factor of the last jump."""
        factor = [1.0, *(by for size, by in self.jumps if size <= nbytes)][-1]
        return super().seconds(nbytes) * factor


LINE = ((100.0, 1.0),)


def test_a_jump_is_found_to_the_byte() -> None:
    """The stretch around it is never straight, however short."""
    jumps = Jumping(1, "jumps", LINE, jumps=((1, 0.95), (1000, 1.05)))
    assert run(Made(0, "line", LINE), jumps) == [(8, 999, "jumps"), (1000, 2**33, "line")]


def test_a_jump_that_nobody_profits_by_parts_nothing() -> None:
    """Both jump, one after the other: the first stays the first."""
    one = Jumping(1, "one", LINE, jumps=((1, 0.95), (1000, 0.96)))
    assert run(Made(0, "line", LINE), one) == [(8, 2**33, "one")]


def flat(low: int, high: int, seconds: float, owner: int) -> Stretch:
    """Return a stretch of one time."""
    return Stretch(low, high, Line(low, high, seconds, seconds), owner)


def test_a_curve_that_is_not_everywhere_lowers_what_it_covers() -> None:
    """Before, between and after its stretches the first one stays, and where it is less."""
    envelope = Envelope(10, 100)
    envelope.lower([flat(10, 100, 5.0, 0)])
    envelope.lower([flat(1, 9, 1.0, 1), flat(20, 29, 3.0, 1), flat(60, 69, 7.0, 1)])
    found = [(part.low, part.high, part.owner) for part in envelope.stretches]
    assert found == [(10, 19, 0), (20, 29, 1), (30, 100, 0)]


def test_what_is_equal_everywhere_is_not_run_at_ever_more_sizes() -> None:
    """Eight equal lines from 8 bytes to 8 GiB: the first has all, after some hundred runs."""
    made = [Made(i, name, ((1e6, 1.0),)) for i, name in enumerate("abcdefgh")]
    assert run(*made) == [(8, 2**33, "a")]
    assert max(len(m.ran) for m in made) <= 300


def test_rounding_alone_is_no_reason_for_another_name() -> None:
    """What is below by less than equal times may differ leaves all to the first."""
    a, b = Made(0, "a", ((1e6, 1.0),)), Made(1, "b", ((1e6, 1.0 - 5e-12),))
    assert run(a, b) == [(8, 2**33, "a")]
