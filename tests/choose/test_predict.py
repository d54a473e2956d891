"""Rows of predicted times, worked by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from collsim.algorithms import algorithm_names, find
from collsim.choose.curve import Curve
from collsim.choose.predict import predict
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES
from collsim.core.schedule import Schedule
from collsim.errors import InputError, TooLargeError, UnknownNameError

# 10 us and 1 GB/s: 8 kB take 8 us.
FOUR = Cluster.ideal(4, alpha=10e-6, bandwidth=1e9, launch=2e-6, gamma=1e-10)


def test_row_of_a_ring_all_reduce() -> None:
    """6 alpha + 6/4 n beta + 3/4 n gamma + launch = 60 + 12 + 0.6 + 2 us at 8,000 bytes."""
    (row,) = predict("all_reduce", FOUR, 8000, "ring").rows
    assert row.time_us == pytest.approx(74.6)
    parts = (row.alpha_us, row.beta_us, row.gamma_us, row.launch_us, row.waiting_us)
    assert parts == pytest.approx((60, 12, 0.6, 2, 0))
    assert row.algbw == pytest.approx(8000 / 74.6e-6 / 1e9)
    assert row.busbw == pytest.approx(row.algbw * 6 / 4)
    assert (row.size, row.count, row.dtype, row.op, row.root) == (
        8000,
        2000,
        "float",
        "sum",
        None,
    )
    assert (row.algorithm, row.chunks, row.model, row.sharing) == ("ring", 1, "formula", "fifo")
    assert row.protocol is None


def test_row_of_an_mst_broadcast() -> None:
    """2 (alpha + n beta) + launch = 2 (10 + 8) + 2 us; the root is named, no op is."""
    (row,) = predict("broadcast", FOUR, [8000], "mst", root=3).rows
    assert row.time_us == pytest.approx(38)
    assert (row.op, row.root, row.count) == (None, 3, 2000)
    assert row.busbw == row.algbw == pytest.approx(8000 / 38e-6 / 1e9)


@pytest.mark.parametrize(
    ("collective", "count", "factor"),
    [
        ("broadcast", 2000, 1),
        ("reduce", 2000, 1),
        ("all_reduce", 2000, 6 / 4),
        ("scatter", 500, 3 / 4),
        ("gather", 500, 3 / 4),
        ("all_gather", 500, 3 / 4),
        ("reduce_scatter", 500, 3 / 4),
        ("all_to_all", 500, 3 / 4),
        ("sendrecv", 2000, 1),
    ],
)
def test_count_and_bus_factor_are_those_of_nccl_tests(
    collective: str, count: int, factor: float
) -> None:
    """Count is per rank where the buffer is shared out; bus bandwidth has its factor."""
    (row,) = predict(collective, FOUR, 8000).rows
    assert row.count == count
    assert row.busbw / row.algbw == pytest.approx(factor)


@pytest.mark.parametrize(("dtype", "count"), [("double", 250), ("half", 1000), ("int8", 2000)])
def test_count_is_in_elements(dtype: str, count: int) -> None:
    """8,000 bytes among 4 ranks, in elements of 8, 2 and 1 bytes."""
    assert predict("all_gather", FOUR, 8000, dtype=dtype).rows[0].count == count


def test_count_rounds_down() -> None:
    """A size that elements and ranks don't divide has the whole elements counted."""
    assert predict("all_gather", FOUR, 8015).rows[0].count == 500


def test_lower_bound_and_efficiency() -> None:
    """All_reduce moves 2 * 3/4 n at least: 12 us of 8 kB, 20 us of latency, launch on top."""
    (row,) = predict("all_reduce", FOUR, 8000, "ring").rows
    assert row.lower_bound_us == pytest.approx(2 + 20)
    assert row.efficiency == pytest.approx(22 / 74.6)
    (large,) = predict("all_reduce", FOUR, 8_000_000, "ring").rows
    assert large.lower_bound_us == pytest.approx(2 + 12_000)


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_efficiency_is_at_most_one(collective: str) -> None:
    """No algorithm is faster than the bound, at no size."""
    for row in predict(collective, FOUR, [0, 1, 1000, 10**9], "all").rows:
        assert row.efficiency is not None
        assert 0 < row.efficiency <= 1


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_one_rank_takes_the_launch_only(collective: str) -> None:
    """Bandwidths are 0, and with a launch of 0 the efficiency is no number."""
    one = Cluster.ideal(1, alpha=10e-6, bandwidth=1e9)
    (row,) = predict(collective, one, 8000).rows
    assert (row.time_us, row.algbw, row.busbw, row.efficiency) == (0, 0, 0, None)
    late = Cluster.ideal(1, alpha=10e-6, bandwidth=1e9, launch=2e-6)
    (row,) = predict(collective, late, 8000).rows
    assert (row.algbw, row.busbw, row.efficiency) == (0, 0, 1)
    assert row.time_us == pytest.approx(2)


def test_size_zero_pays_its_alphas() -> None:
    """No bytes: 6 messages in a row and the launch; no bandwidth."""
    (row,) = predict("all_reduce", FOUR, 0, "ring").rows
    assert row.time_us == pytest.approx(62)
    assert (row.count, row.algbw, row.busbw) == (0, 0, 0)


def test_no_time_at_all_has_no_efficiency() -> None:
    """Alpha 0 and no bytes: 0/0."""
    free = Cluster.ideal(4, alpha=0, bandwidth=1e9)
    (row,) = predict("all_reduce", free, 0).rows
    assert (row.time_us, row.algbw, row.efficiency) == (0, 0, None)


def test_auto_is_the_fastest_at_each_size() -> None:
    """The row names it, and it is the least of all rows."""
    sizes = [1, 10**3, 10**5, 10**7]
    rows = predict("all_reduce", FOUR, sizes).rows
    every = predict("all_reduce", FOUR, sizes, "all").rows
    for row in rows:
        others = [other for other in every if other.size == row.size]
        assert row.time_us == min(other.time_us for other in others)
    # Both ways around at once, and each owner reduces while the next message comes.
    assert [row.algorithm for row in rows][::3] == ["recursive_doubling", "bidirectional_ring"]


@pytest.mark.parametrize("size", [0, 1, 10**6])
def test_of_equals_the_first_is_named(size: int) -> None:
    """On two ranks all algorithms are the same message; MST comes first."""
    two = Cluster.ideal(2, alpha=10e-6, bandwidth=1e9)
    assert predict("gather", two, size).rows[0].algorithm == "mst"


def test_equal_but_for_rounding_is_equal() -> None:
    """Where reductions take no time, ring and its composition cost the same sum."""
    cluster = Cluster.ideal(7, alpha=10e-6, bandwidth=0.9e9)
    rows = predict("all_reduce", cluster, [10**9 + 1], "all", model="event").rows
    by_name = {row.algorithm: row.time_us for row in rows}
    composed = by_name["reduce_scatter_all_gather"]
    assert composed == pytest.approx(by_name["ring"], rel=1e-12)
    (best,) = predict("all_reduce", cluster, 10**9 + 1, model="event").rows
    assert best.algorithm == "ring"


def test_all_has_a_row_per_size_and_algorithm() -> None:
    """By size, then in the order of the algorithms' names."""
    rows = predict("gather", FOUR, [8, 16], "all").rows
    names = [n for n in algorithm_names("gather") if n != "hierarchical"]
    assert [(row.size, row.algorithm) for row in rows] == [
        (size, name) for size in (8, 16) for name in names
    ]


def test_chunks_go_to_those_that_take_them() -> None:
    """Asked for 4 chunks, `all` still has the algorithms that send messages whole."""
    answer = predict("broadcast", FOUR, 8000, "all", chunks=4)
    chunks = {row.algorithm: row.chunks for row in answer.rows}
    assert chunks == {
        name: 4 if find("broadcast", name).chunked else 1
        for name in algorithm_names("broadcast")
        if name not in ("hierarchical", "multicast")
    }
    assert (chunks["mst"], chunks["ring"]) == (1, 4)
    assert set(answer.left_out) == {"hierarchical", "multicast"}


def test_what_does_not_apply_is_left_out_with_its_reason() -> None:
    """Here: a formula is asked for, and that of the linear reduce is only a bound."""
    answer = predict("reduce", FOUR, 8000, "all", model="formula")
    assert {"linear", "hierarchical"} <= set(answer.left_out)
    assert "one node" in answer.left_out["hierarchical"]
    assert "bound" in answer.left_out["linear"]
    assert {"mst", "ring"} <= {row.algorithm for row in answer.rows}


def test_a_formula_where_none_is_exact_is_an_error() -> None:
    """Said once, not for every algorithm."""
    crowd = Cluster.load("dgx-h100", nodes=2)
    with pytest.raises(InputError, match=r"^model: no formula is exact on cluster 'dgx-h100'"):
        predict("all_reduce", crowd, 8, model="formula")


def test_sizes_may_be_text() -> None:
    """One, or several, as on the command line."""
    cluster = Cluster.ideal(4, 1e-6, 1e9)
    assert predict("all_reduce", cluster, "1KiB") == predict("all_reduce", cluster, 1024)
    assert predict("gather", cluster, ["1K", 8]) == predict("gather", cluster, [1024, 8])


def test_a_name_is_no_cluster() -> None:
    """The error names what makes one."""
    with pytest.raises(InputError, match=r"^cluster: got 'dgx-h100', expected a Cluster, as"):
        predict("all_reduce", "dgx-h100", 8)  # type: ignore[arg-type]


def test_named_algorithm_that_does_not_apply_is_an_error() -> None:
    """It is not left out silently."""
    with pytest.raises(InputError, match="sends each message whole"):
        predict("broadcast", FOUR, 8000, "mst", chunks=4)


def test_unknown_names_are_refused_with_the_nearest() -> None:
    """Collective, algorithm, element type and reduction."""
    with pytest.raises(UnknownNameError, match="did you mean 'broadcast'"):
        predict("broadcasd", FOUR, 8)
    with pytest.raises(UnknownNameError, match=r"did you mean 'ring'.*auto, nccl, all"):
        predict("broadcast", FOUR, 8, "rng")
    with pytest.raises(UnknownNameError, match="did you mean 'float'"):
        predict("broadcast", FOUR, 8, dtype="flaot")
    with pytest.raises(UnknownNameError, match="did you mean 'sum'"):
        predict("all_reduce", FOUR, 8, op="summ")


@pytest.mark.parametrize("spelling", ["AllReduce", "all-reduce", "allreduce", "ALL_REDUCE"])
def test_spellings_of_a_collective(spelling: str) -> None:
    """The answer has the canonical name."""
    assert predict(spelling, FOUR, 8).collective == "all_reduce"


def test_size_may_be_any_real_number() -> None:
    """Simulated shares are exact; a whole number stays an integer."""
    half, whole = predict("all_reduce", FOUR, [0.5, 8.0], "mst").rows
    assert (half.size, half.count) == (0.5, 0)
    assert isinstance(whole.size, int)
    assert half.time_us == pytest.approx(42 + 4 * 0.5e-3 + 2 * 0.5e-4)


def test_what_is_too_large_is_left_out_unless_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With room for 100 pieces: MST on 16 ranks carries 30, the ring 480."""
    monkeypatch.setattr("collsim.core.builder.MAX_CARRIED", 100)
    pair = Cluster.load("dgx-h100", nodes=2)
    answer = predict("all_reduce", pair, 2**30, chunks=1)
    assert answer.rows[0].algorithm != "ring"
    assert "sends more than 100 pieces" in answer.left_out["ring"]
    with pytest.raises(TooLargeError, match="sends more than 100 pieces"):
        predict("all_reduce", pair, 2**30, "ring")


@pytest.mark.parametrize("kind", ["all_reduce", "broadcast", "reduce", "all_gather"])
@pytest.mark.parametrize(
    "cluster",
    [
        Cluster.load("dgx-h100", nodes=2, gpus_per_node=3),
        Cluster.load("pcie-8"),
        Cluster.ideal(6, "3us", "10GB/s", gamma=2e-11, launch="5us", alpha_busy="1us"),
    ],
    ids=["rails", "fair", "ideal"],
)
def test_what_auto_skips_is_not_the_fastest(kind: str, cluster: Cluster) -> None:
    """Pipelined algorithms are passed over only where a bound rules out every chunk count."""
    sizes = [0, 1, 2**10, 2**17, 2**24, 2**31]
    every = predict(kind, cluster, sizes, "all").rows
    for row in predict(kind, cluster, sizes).rows:
        best = min(other.time_us for other in every if other.size == row.size)
        assert row.time_us <= best * (1 + 1e-11)


def test_pipelines_that_cannot_win_are_simulated_in_few_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On 72 GPUs, 1 GiB: 16 chunks of in-switch reduction are best; a bound excludes 64."""
    built: dict[str, set[int]] = {}
    make = Curve._build

    def building(self: Curve, chunks: int, channels: int) -> Schedule:
        built.setdefault(self.name, set()).add(chunks)
        return make(self, chunks, channels)

    monkeypatch.setattr(Curve, "_build", building)
    assert predict("all_reduce", Cluster.load("gb200-nvl72"), 2**30).rows[0].algorithm == "nvls"
    assert {name: max(counts) for name, counts in built.items()} == {
        "nvls": 32,
        "double_binary_tree": 1,
        "reduce_broadcast": 1,
    }


@pytest.mark.parametrize("name", ["dgx-h100", "dgx-b200", "gb200-nvl72"])
@pytest.mark.parametrize(
    ("kind", "algorithm"),
    [
        ("all_reduce", "nvls"),
        ("all_gather", "nvls"),
        ("reduce_scatter", "nvls"),
        ("broadcast", "multicast"),
        ("reduce", "nvls"),
    ],
)
def test_switches_take_part_where_they_can(name: str, kind: str, algorithm: str) -> None:
    """Fastest while latency rules: one message up and one down, whatever the rank count."""
    (row,) = predict(kind, Cluster.load(name), 1024).rows
    assert row.algorithm == algorithm
    assert row.alpha_us == pytest.approx((2 if kind == "all_reduce" else 1) * 3.4)


def test_where_switches_cannot_take_part_the_reason_is_given() -> None:
    """Ampere's can't; across nodes nvls is not modelled, and nvls_tree is there."""
    left_out = predict("all_reduce", Cluster.load("dgx-a100"), 1024).left_out
    assert "needs switches that add up and multicast" in left_out["nvls"]
    two = predict("all_reduce", Cluster.load("dgx-h100", nodes=2), 2**30, "nvls_tree")
    assert two.rows[0].algorithm == "nvls_tree"
    with pytest.raises(InputError, match="across nodes is not modelled"):
        predict("all_reduce", Cluster.load("dgx-h100", nodes=2), 1024, "nvls")


def test_nvls_by_its_formula_is_nvls_simulated() -> None:
    """In one chunk its claim is exact, at the efficiency of the switch."""
    node = Cluster.load("dgx-h100", ranks=5)
    rows = [
        predict("all_reduce", node, 1e6, "nvls", chunks=1, model=model).rows[0]
        for model in ("auto", "event")
    ]
    assert [row.model for row in rows] == ["formula", "event"]
    assert rows[0].time_us == pytest.approx(rows[1].time_us, rel=1e-9)
    assert rows[0].beta_us == pytest.approx(12 / 5 * 1e6 / (0.85 * 450e9) * 1e6, rel=1e-9)


def test_beside_a_healthy_cluster() -> None:
    """The same algorithm there, and how much longer it takes; auto is beside the fastest."""
    slow = Cluster.ideal(4, "2us", "1GB/s")
    (row,) = predict("broadcast", slow, 0, "mst", healthy=FOUR).rows
    assert (row.healthy_algorithm, row.change) == (
        "mst",
        pytest.approx(row.time_us / row.healthy_us),
    )
    (row,) = predict("broadcast", slow, 0, healthy=FOUR).rows
    assert row.healthy_us == predict("broadcast", FOUR, 0).rows[0].time_us


def test_a_healthy_cluster_without_that_root_says_nothing() -> None:
    """A change of the number of ranks may leave a root without a place."""
    two = Cluster.ideal(2, "1us", "1GB/s")
    (row,) = predict("broadcast", FOUR, 8, "mst", root=3, healthy=two).rows
    assert (row.healthy_us, row.change) == (None, None)


@pytest.mark.parametrize("names", ["ring,mst", ["ring", "mst"], ("ring", "mst")])
def test_several_algorithms_have_a_row_each(names: str | Sequence[str]) -> None:
    """At every size, in the order of the names; an iterator of sizes is read once."""
    cluster = Cluster.ideal(8, "10us", "900GB/s")
    rows = predict("all_reduce", cluster, iter([1024, 2**20]), names).rows
    found = [(row.size, row.algorithm) for row in rows]
    assert found == [(1024, "ring"), (1024, "mst"), (2**20, "ring"), (2**20, "mst")]


def test_of_several_algorithms_those_that_cannot_run_are_left_out() -> None:
    """With the reason; if none runs, that is an error with all reasons."""
    cluster = Cluster.ideal(6, "10us", "900GB/s")
    found = predict("all_reduce", cluster, 1024, ["nvls", "ring"])
    assert [row.algorithm for row in found.rows] == ["ring"]
    assert list(found.left_out) == ["nvls"]
    with pytest.raises(InputError, match=r"/nvls: .*; .*/nvls_tree: "):
        predict("all_reduce", cluster, 1024, ["nvls", "nvls_tree"])
