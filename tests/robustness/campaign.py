"""Draw cases by the thousand, judge them, and count what came of them."""

from __future__ import annotations

import functools
import hashlib
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from robustness import api, commands, documents
from robustness.verdict import Case, Outcome, judged

Maker = Callable[[random.Random, Sequence[Any]], Case]
Makers = Sequence[Maker]
ROUND = 500
ODD = st.text(max_size=8) | st.integers() | st.floats() | st.none() | st.binary(max_size=4)
Judge = Callable[[Case, Path], Outcome]


@dataclass
class Tally:
    """What came of some cases."""

    ended: Counter[tuple[str, str]] = field(default_factory=Counter)
    distinct: set[bytes] = field(default_factory=set)
    failures: list[tuple[Case, Outcome]] = field(default_factory=list)
    slowest: float = 0.0
    slowest_words: str = ""
    seconds: float = 0.0
    most_memory: int = 0

    def add(self, case: Case, outcome: Outcome) -> None:
        """Count a case."""
        self.ended[case.kind, outcome.ended] += 1
        self.distinct.add(digest(case))
        self.seconds += outcome.seconds
        if outcome.seconds > self.slowest:
            self.slowest, self.slowest_words = outcome.seconds, " ".join(case.words)[:200]
        self.most_memory = max(self.most_memory, outcome.memory)
        if outcome.why:
            self.failures.append((case, outcome))

    @property
    def cases(self) -> int:
        """Return how many there were."""
        return sum(self.ended.values())


def digest(case: Case) -> bytes:
    """Return a few bytes that tell a case from others."""
    said = repr((case.kind, case.words, sorted(case.files.items()), case.environment))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()[:8]


def odd_values(number: int, cases: int) -> list[list[Any]]:
    """Return for each case values that hypothesis finds odd, the same for the same number."""
    found: list[list[Any]] = []

    @seed(number)
    @settings(
        max_examples=cases,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(values=st.lists(ODD, min_size=4, max_size=4))
    def collect(values: list[Any]) -> None:
        found.append(values)

    collect()
    # Hypothesis ends early where it has tried all that there is.
    return [found[i % len(found)] for i in range(cases)]


def makers(more: Sequence[Path] = ()) -> Makers:
    """Return what makes cases, and how often; `more` are further files to damage.

    Of 77 cases 65 are damaged files, 5 of each kind, 6 command lines, 6 calls of Python.
    """
    kinds = documents.kinds(more)
    files = [functools.partial(_file, kind, kinds) for kind in kinds]
    others = [commands.line, api.call]
    return tuple([*files, *others] * 5 + others)


def _file(
    kind: documents.Kind,
    kinds: Sequence[documents.Kind],
    rng: random.Random,
    _odd: Sequence[Any],
) -> Case:
    return kind.case(rng, kinds)


def cases_of(makers: Makers, number: int, cases: int) -> Iterator[Case]:
    """Yield cases of several makers in turn, the same for the same number."""
    odd = odd_values(number, cases)
    for i in range(cases):
        maker = makers[(number * cases + i) % len(makers)]
        yield maker(random.Random(f"{number} {i}"), odd[i])


def run(cases: Iterator[Case] | Sequence[Case], tally: Tally, judge: Judge = judged) -> None:
    """Judge cases, each in a fresh folder."""
    with tempfile.TemporaryDirectory() as top:
        for number, case in enumerate(cases):
            folder = Path(top) / str(number)
            folder.mkdir()
            tally.add(case, judge(case, folder))
