"""One node on a switch."""

from __future__ import annotations

from collsim.core.link import LinkClass
from collsim.topology.switch import switch

WIRE = LinkClass("wire", 2.0, 4.0)


def test_routes_go_up_and_down() -> None:
    """From the sender's cable to the receiver's."""
    cluster = switch(3, WIRE, "three")
    assert [cluster.links.names[i] for i in cluster.route(0, 2)] == [
        "gpu[0].up",
        "gpu[2].down",
    ]


def test_a_message_pays_one_alpha() -> None:
    """That of the whole way through the switch."""
    cluster = switch(3, WIRE, "three")
    assert sum(cluster.links.alpha[i] for i in cluster.route(2, 1)) == 2.0
    assert (cluster.least_alpha, cluster.least_busy) == (2.0, 2.0)


def test_formulas_hold_where_alpha_holds_the_cable() -> None:
    """Cables are the ports of the one-port model."""
    assert switch(3, WIRE, "three").uniform == (2.0, 0.25)
    assert switch(3, LinkClass("wire", 2.0, 4.0, 1.0), "three").uniform is None


def test_every_rank_is_a_cut_of_one_cable() -> None:
    """Up and down alike."""
    (cut,) = switch(3, WIRE, "three").cuts
    assert (cut.group.tolist(), cut.out_rate, cut.in_rate) == ([0, 1, 2], 4.0, 4.0)
