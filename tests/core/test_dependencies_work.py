"""Deriving dependencies takes no more work than it did: entries touched, not seconds."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from collsim.algorithms import build
from collsim.core import dependencies, dependencies_kernel
from collsim.core.builder import Builder
from collsim.core.collective import collective
from collsim.core.schedule import Schedule


class Counted(list[int]):
    """A list that counts how often an entry is read or written, and how many there are."""

    touched = 0
    room = 0

    def __getitem__(self, key: int) -> int:  # type: ignore[override]
        Counted.touched += 1
        return super().__getitem__(key)

    def __setitem__(self, key: int, value: int) -> None:  # type: ignore[override]
        Counted.touched += 1
        super().__setitem__(key, value)


@pytest.fixture
def touched(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Schedule]], int]:
    """Return what counts the entries that are touched while a schedule is made."""

    def counting(*given: object) -> int:
        lists = [Counted(one) if isinstance(one, list) else one for one in given]
        Counted.room = sum(len(one) for one in lists if isinstance(one, list))
        total = dependencies_kernel.derive(*lists)
        for one, counted in zip(given, lists, strict=True):
            if isinstance(one, list):
                one[:] = list(counted)  # type: ignore[call-overload]
        return total

    monkeypatch.setattr(dependencies, "derive", counting)
    monkeypatch.setattr(dependencies, "_LOADED_FROM", 10**9)

    def count(make: Callable[[], Schedule]) -> int:
        Counted.touched = 0
        make()
        return Counted.touched

    return count


@pytest.mark.parametrize(
    ("name", "algorithm", "ranks", "chunks", "most"),
    [
        # One wait for each: nothing is walked.
        ("all_reduce", "ring", 8, 1, 5641),
        ("all_to_all", "bruck", 13, 1, 7177),
        # Several, which chains and short walks tell apart.
        ("all_reduce", "swing", 16, 1, 34918),
        ("all_reduce", "recursive_doubling", 13, 1, 5911),
        ("reduce_scatter", "linear", 6, 1, 1706),
        # Long ways back, for which answers are kept.
        ("all_reduce", "double_binary_tree", 16, 16, 397725),
        ("broadcast", "double_binary_tree", 13, 32, 80753),
    ],
)
def test_of_algorithms(
    name: str,
    algorithm: str,
    ranks: int,
    chunks: int,
    most: int,
    touched: Callable[[Callable[[], Schedule]], int],
) -> None:
    """At most what it took when this was written: less is welcome."""
    found = touched(lambda: build(name, algorithm, ranks, 0, chunks))
    assert most // 2 < found <= most


def crossing(seed: int) -> Schedule:
    """Return many messages among few places, where chains cross much."""
    rng = random.Random(seed)
    b = Builder(collective("all_reduce"), 6, parts=3)
    for _ in range(150):
        pieces = rng.sample(range(3), rng.randint(1, 2))
        send = b.reduce if rng.random() < 0.5 else b.copy
        send(rng.randrange(6), rng.randrange(6), pieces)
    return b.finish()


@pytest.mark.parametrize(
    ("steps", "kept", "most"),
    [(32, 2**22, 158614), (0, 2**22, 180661), (0, 16, 200091)],
)
def test_of_crossing_chains(
    steps: int,
    kept: int,
    most: int,
    touched: Callable[[Callable[[], Schedule]], int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By short walks; by answers that are kept; by so few that they drive each other out."""
    if not steps:
        monkeypatch.setattr(dependencies_kernel, "_STEPS", 0)
        monkeypatch.setattr(dependencies_kernel, "_EACH", 0)
        monkeypatch.setattr(dependencies, "_KEPT", kept)
    found = sum(touched(lambda seed=seed: crossing(seed)) for seed in range(5))  # type: ignore[misc]
    assert most // 2 < found <= most


@pytest.mark.parametrize(
    ("ranks", "parts", "messages", "room"),
    [(6, 3, 150, 6730), (200, 9, 20, 1104), (40, 60, 500, 27106)],
)
def test_memory_goes_with_messages_not_with_places(
    ranks: int,
    parts: int,
    messages: int,
    room: int,
    touched: Callable[[Callable[[], Schedule]], int],
) -> None:
    """Entries of all arrays together; of many places only those are numbered that are used."""

    def make() -> Schedule:
        b = Builder(collective("all_reduce"), ranks, parts=parts)
        for i in range(messages):
            turn = i % 4 if i % 3 else None
            b.copy(i % ranks, (i + 1) % ranks, [i % parts], turn=turn, strict=i % 2 == 0)
        return b.finish()

    assert touched(make) > 0
    assert room // 2 < Counted.room <= room
