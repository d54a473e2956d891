"""Numbers of a profile of NCCL in a cluster."""

from __future__ import annotations

import pytest

from collsim.algorithms import build
from collsim.calibrate.nccl_model import example_profile
from collsim.config.fitted import own_cluster, with_profile
from collsim.config.presets import preset_path
from collsim.config.profile import load
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.engine.bound import bound
from collsim.engine.simulate import simulate
from collsim.errors import InputError


def test_one_node_is_a_network_of_the_best_protocols() -> None:
    """The least alpha and the least beta of all protocols; launch without their extra."""
    cluster = Cluster.load("dgx-h100")
    profile = example_profile(cluster)
    fitted = with_profile(cluster, profile)
    alpha, beta, _ = profile.inside
    assert fitted.uniform == pytest.approx((alpha, beta))
    assert (fitted.launch, alpha) == pytest.approx((6.6e-6, 0.6e-6))
    assert fitted.in_switch is not None
    assert own_cluster(profile).in_switch is not None


def test_links_inside_and_between_have_their_own() -> None:
    """A message pays the fitted alpha of its route, and moves at the fitted rate."""
    cluster = Cluster.load("gh200-slingshot", nodes=2)
    profile = example_profile(cluster)
    fitted = with_profile(cluster, profile)

    def pays(src: int, dst: int) -> float:
        return float(fitted.links.alpha[list(fitted.route(src, dst))].sum())

    assert pays(0, 1) == pytest.approx(profile.value("inside.ll.alpha"))
    assert pays(0, 5) == pytest.approx(profile.value("between.ll.alpha"))
    far = float(fitted.links.beta[list(fitted.route(0, 5))].max())
    # Four cards of a node share what the node moves.
    assert far == pytest.approx(4 * profile.value("between.simple.beta"))
    schedule = build("all_gather", "bruck", 8, node=fitted.node)
    assert simulate(schedule, fitted, 2**20).makespan > 0


def test_a_pcie_tree_keeps_its_shape() -> None:
    """Links keep their share in a route."""
    cluster = Cluster.load("pcie-8")
    fitted = with_profile(cluster, example_profile(cluster))
    assert fitted.shape == cluster.shape
    assert fitted.launch == pytest.approx(6.6e-6)


def test_a_profile_of_one_node_is_not_for_several() -> None:
    """Nothing tells what joins them."""
    profile = example_profile(Cluster.load("dgx-h100"))
    with pytest.raises(InputError, match="was fitted to one node, but cluster dgx-h100 has 2"):
        with_profile(Cluster.load("dgx-h100", nodes=2), profile)


@pytest.mark.parametrize("name", ["all_reduce", "all_gather", "broadcast"])
def test_no_fitted_time_is_below_the_bound(name: str) -> None:
    """Cuts have the numbers of the profile too, and not those of the datasheets below it."""
    profile = load(str(preset_path("profiles", "h100-ndr")))
    fitted = with_profile(Cluster.load("dgx-h100", nodes=2), profile)
    least = bound(collective(name), fitted)
    algorithm = "mst" if name == "broadcast" else "recursive_doubling"
    schedule = build(name, algorithm, 16)
    for nbytes in (8, 2**16, 2**24):
        assert simulate(schedule, fitted, nbytes).makespan >= least.seconds(nbytes) * (1 - 1e-9)


def test_cables_between_switches_keep_their_part() -> None:
    """Of a 2:1 fat tree: they are no links inside nodes, and move what cards below them do."""
    tree = Cluster.load("dgx-h100-fat-tree-2to1", nodes=8)
    fitted = with_profile(tree, example_profile(tree))
    names = tree.links.names
    card, trunk, gpu = (names.index(name) for name in ("nic[0].up", "leaf[0].up", "gpu[0].up"))
    before, after = tree.links, fitted.links
    assert after.beta[trunk] / after.beta[card] == pytest.approx(
        before.beta[trunk] / before.beta[card]
    )
    assert after.beta[gpu] < after.beta[card]
    assert after.alpha[trunk] == before.alpha[trunk]
