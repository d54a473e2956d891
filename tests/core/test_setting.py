"""Who is near whom: nodes, their members, and whether they are alike."""

from __future__ import annotations

import pytest

from collsim.core.setting import Setting
from collsim.errors import InputError


def test_without_nodes_all_are_on_one() -> None:
    """Five neighbours."""
    setting = Setting(5)
    assert (setting.nodes, setting.fewest, setting.even) == (1, 5, True)
    assert setting.members[0].tolist() == [0, 1, 2, 3, 4]


def test_members_follow_the_nodes_and_not_the_ranks() -> None:
    """Ranks dealt out over three nodes, of which the last has one less."""
    setting = Setting(5, [0, 1, 2, 0, 1])
    assert [ranks.tolist() for ranks in setting.members] == [[0, 3], [1, 4], [2]]
    assert (setting.nodes, setting.fewest, setting.even) == (3, 1, False)


def test_a_node_without_ranks_is_none() -> None:
    """What is asked for may be a part of a cluster."""
    setting = Setting(4, [7, 7, 3, 3])
    assert [ranks.tolist() for ranks in setting.members] == [[2, 3], [0, 1]]
    assert setting.even


@pytest.mark.parametrize(
    ("node", "message"), [([0, 1], "node: has 2 entries, expected 3"), ([0.5] * 3, "whole")]
)
def test_wrong_nodes_are_named(node: list[float], message: str) -> None:
    """One line each."""
    with pytest.raises(InputError, match=message):
        Setting(3, node)
