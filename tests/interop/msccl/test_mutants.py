"""Damaged files: the verdict is what a run on memory gives, and nothing ends in a traceback."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from collections import Counter
from typing import Any

import pytest

from collsim.algorithms import build
from collsim.errors import CollsimError

ORIGINALS = (
    ("all_reduce", "ring", 3),
    ("all_reduce", "recursive_doubling", 4),
    ("all_to_all", "bruck", 3),
    ("reduce", "mst", 5),
    ("all_gather", "bruck", 5),
    ("all_reduce", "one_shot", 3),
)
OTHER = {"r": "rrc", "rrc": "r", "cpy": "re", "re": "cpy"}


@pytest.fixture
def originals(plain: Any) -> list[str]:
    """Return files that are right."""
    return [plain(build(kind, name, ranks)) for kind, name, ranks in ORIGINALS]


def mutant(text: str, draw: random.Random) -> str:
    """Return a file with one thing changed."""
    algo = ET.fromstring(text)
    blocks = [tb for tb in algo.iter("tb") if len(tb)]
    block = draw.choice(blocks)
    step = draw.choice(list(block))
    waiting = [s for s in algo.iter("step") if s.get("depid") != "-1" != s.get("type")]
    what = draw.randrange(7)
    if what == 0 and waiting:
        draw.choice([s for s in waiting if s.get("type") != "nop"]).attrib.update(
            {"depid": "-1", "deps": "-1"}
        )
    elif what == 1 and len(block) > 1:
        i = draw.randrange(len(block) - 1)
        moved = block[i]
        block.remove(moved)
        block.insert(i + 1, moved)
    elif what == 2:
        key = draw.choice(["srcoff", "dstoff"])
        step.set(key, str(max(0, int(step.get(key, 0)) + draw.choice([-1, 1]))))
    elif what == 3:
        step.set("type", OTHER.get(step.get("type", ""), "s"))
    elif what == 4:
        step.set("hasdep", "0")
    elif what == 5:
        block.remove(step)
    else:
        block.set("chan", "1")
    for tb in algo.iter("tb"):
        for place, child in enumerate(tb):
            child.set("s", str(place))
    return ET.tostring(algo, encoding="unicode")


def test_verdicts_are_those_of_memory(read: Any, outcomes: Any, originals: list[str]) -> None:
    """Right means right in every order tried; what hangs hangs; wrong data are never right."""
    draw = random.Random(7)
    met: Counter[str] = Counter()
    for _ in range(160):
        text = mutant(draw.choice(originals), draw)
        try:
            verdict = read(text).verdict
        except CollsimError as error:
            message = str(error)
            assert "\n" not in message
            met["refused"] += 1
            continue
        found = outcomes(text, 4)
        if verdict.ok:
            assert found == {"right"}, text
            met["right"] += 1
        elif "waits for ever" in verdict.reason or "never receives" in verdict.reason:
            assert found == {"hangs"}, (verdict.reason, text)
            met["hangs"] += 1
        elif "in no fixed order" in verdict.reason:
            met["races"] += 1
        else:
            assert "right" not in found, (verdict.reason, text)
            met["wrong"] += 1
    assert min(met[what] for what in ("refused", "right", "hangs", "races", "wrong")) >= 5, met


def test_damaged_bytes_are_refused_in_one_line(read: Any, originals: list[str]) -> None:
    """Cut off, doubled, or with a letter changed: read, or refused, in one line."""
    draw = random.Random(11)
    refused = 0
    for _ in range(300):
        text = draw.choice(originals)
        i, j = sorted(draw.randrange(len(text)) for _ in range(2))
        damaged = draw.choice(
            (
                text[:i],
                text[:i] + text[j:],
                text[:i] + draw.choice("<>&\"'/=-019aZé\x01 ") + text[i + 1 :],
                text[:j] + text[i:],
            )
        )
        try:
            read(damaged)
        except CollsimError as error:
            message = str(error)
            assert "\n" not in message
            refused += 1
    assert 150 < refused < 300
