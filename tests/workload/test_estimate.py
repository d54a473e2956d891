"""Laws of a step: what it takes at least, what is exposed, and what faster links do."""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import collsim
from collsim.config.workload import load
from collsim.core.transformer import Transformer
from collsim.core.workload import (
    GROUPS,
    OVERLAPS,
    PHASES,
    SHARDING,
    Batch,
    Compute,
    Given,
    Parallel,
    Workload,
)
from collsim.errors import InputError, TooLargeError
from collsim.workload.derive import stages
from collsim.workload.layout import layout
from collsim.workload.result import Estimate
from collsim.workload.steps import count

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "workloads"
RANKS = 8
MODEL = Transformer(4, 64, 8, 256, 512, experts=4, experts_per_token=2)


def network(bandwidth: str = "10GB/s", alpha: str = "5us") -> collsim.Cluster:
    """Return eight ranks on an ideal network."""
    return collsim.Cluster.ideal(RANKS, alpha, bandwidth)


FREE = collsim.Cluster.ideal(RANKS, 0.0, 1e29)

GIVEN = st.builds(
    Given,
    name=st.just("g"),
    collective=st.sampled_from(["all_reduce", "all_gather", "reduce_scatter", "all_to_all"]),
    nbytes=st.sampled_from([0.0, 1e3, 1e6, 4e6]),
    group=st.sampled_from(GROUPS),
    count=st.integers(1, 5),
    phase=st.sampled_from(PHASES),
    overlap=st.sampled_from(OVERLAPS),
)


@st.composite
def works(draw: st.DrawFn) -> Workload:
    """Draw a workload for eight ranks, of a model or by hand."""
    tensor = draw(st.sampled_from([1, 2, 4]))
    pipeline = draw(st.sampled_from([1, 2]))
    data = RANKS // tensor // pipeline
    parallel = Parallel(
        tensor=tensor,
        pipeline=pipeline,
        expert=draw(st.sampled_from([e for e in (1, 2, 4) if data % e == 0])),
        sequence=tensor > 1 and draw(st.booleans()),
        sharding=draw(st.sampled_from(SHARDING)),
        bucket=draw(st.sampled_from([1e4, 1e6])),
        prefetch=draw(st.integers(0, 2)),
    )
    times = Compute(
        forward=draw(st.sampled_from([0.0, 1e-5, 1e-3])),
        backward=draw(st.sampled_from([0.0, 2e-3])),
        optimizer=draw(st.sampled_from([0.0, 1e-3])),
        recompute=draw(st.booleans()),
        layers=4,
    )
    batch = Batch(32, 2, draw(st.integers(1, 3)))
    extra = tuple(draw(st.lists(GIVEN, max_size=2)))
    algorithms = draw(st.sampled_from([{}, dict.fromkeys(GROUPS, "ring")]))
    return Workload("w", times, parallel, batch, MODEL, given=extra, algorithms=algorithms)


@settings(max_examples=25)
@given(work=works())
def test_laws(work: Workload) -> None:
    """The parts add up; no stream is longer than the step; nothing is exposed twice."""
    found = collsim.estimate(work, network())
    parts = found.compute_us + found.bubble_us + found.exposed_us
    assert found.step_us == pytest.approx(parts, rel=1e-9)
    assert min(found.compute_us, found.bubble_us, found.exposed_us, found.hidden_us) >= 0
    busy: dict[tuple[int, str], float] = defaultdict(float)
    for event in found.events:
        busy[event.stage, event.stream] += event.end_us - event.start_us
    assert max(busy.values()) <= found.step_us * (1 + 1e-9)
    assert found.exposed_us == pytest.approx(sum(row.exposed_us for row in found.rows))
    for row in found.rows:
        assert 0 <= row.exposed_us <= row.total_us * (1 + 1e-9)
        assert row.exposed_us + row.hidden_us == pytest.approx(row.total_us)
        assert row.total_us >= row.count * row.time_us * (1 - 1e-9)
        assert row.time_us >= row.alone_us * (1 - 1e-9)
    if work.parallel.pipeline == 1:
        assert found.bubble_us == 0


@settings(max_examples=8)
@given(work=works())
def test_free_messages_leave_computing_and_bubble(work: Workload) -> None:
    """With no latency and no end of bandwidth."""
    found = collsim.estimate(work, FREE)
    assert found.exposed_us == pytest.approx(0, abs=1e-6)
    assert found.step_us == pytest.approx(found.compute_us + found.bubble_us, abs=1e-6)


@settings(max_examples=8)
@given(work=works())
def test_without_computing_all_time_is_exposed(work: Workload) -> None:
    """Of this stage or, as a bubble, of another one."""
    idle = dataclasses.replace(work, compute=Compute(forward=0.0, backward=0.0, layers=4))
    found = collsim.estimate(idle, network())
    assert found.compute_us == 0
    assert found.step_us == pytest.approx(found.exposed_us + found.bubble_us)


@settings(max_examples=8)
@given(work=works())
def test_faster_links_never_slow_a_step_down(work: Workload) -> None:
    """From 1 to 100 GB/s."""
    steps = [
        collsim.estimate(work, network(f"{rate}GB/s")).step_us for rate in (1, 3, 10, 30, 100)
    ]
    assert all(b <= a * (1 + 1e-9) for a, b in pairwise(steps))


def one(overlap: str, phase: str = "backward", count: int = 4) -> Workload:
    """Return four layers of 1 ms and 2 ms, with all_reduces of 10 MB."""
    call = Given("g", "all_reduce", 1e7, "data", count, phase, overlap)
    return Workload(
        "one", Compute(forward=1e-3, backward=2e-3, layers=4), given=(call,),
        algorithms={"data": "ring"},
    )  # fmt: skip


def test_worked_by_hand() -> None:
    """A ring of 8 on 10 MB at 10 GB/s: 2·7/8·1 ms = 1.75 ms each."""
    cluster = network(alpha="0")
    behind = collsim.estimate(one("after"), cluster)
    # 4 + 8 ms of computing; the last layer's gradients have nothing to hide behind.
    assert (behind.compute_us, behind.step_us) == (pytest.approx(12000), pytest.approx(13750))
    (row,) = behind.rows
    assert row.busbw == pytest.approx(10)
    assert (row.exposed_us, row.hidden_us) == (pytest.approx(1750), pytest.approx(5250))
    in_path = collsim.estimate(one("none"), cluster)
    assert in_path.step_us == pytest.approx(12000 + 4 * 1750)
    # Gathered one layer ahead: the first one from 3 ms on, when forward's last layer starts,
    # so that backward starts at 4.75 ms; the others hide behind layers of 2 ms.
    ahead = collsim.estimate(one("before"), cluster)
    assert ahead.step_us == pytest.approx(12750)


def test_groups_that_share_a_link_are_slower_together() -> None:
    """Four pairs, all over the one link between the two halves of a PCIe machine."""
    cluster = collsim.Cluster.load("pcie-8", ranks=8)
    work = dataclasses.replace(one("after"), parallel=Parallel(tensor=4))
    (row,) = collsim.estimate(work, cluster).rows
    assert (row.group, row.groups) == (2, 4)
    assert row.time_us > 1.5 * row.alone_us


def test_a_slow_part_is_found_in_whichever_group() -> None:
    """NIC 3 is in the fourth of eight groups."""
    cluster = collsim.Cluster.load("dgx-h100", nodes=2)
    work = dataclasses.replace(one("after"), parallel=Parallel(tensor=8))
    (well,) = collsim.estimate(work, cluster).rows
    (ill,) = collsim.estimate(work, collsim.degrade(cluster, "nic[3]", 0.25)).rows
    assert ill.alone_us > 3 * well.alone_us
    assert ill.time_us == pytest.approx(ill.alone_us)


def test_an_algorithm_can_be_named() -> None:
    """Auto takes the fastest; a name that can't be is refused."""
    small = Given("g", "all_reduce", 8.0, "data", 1, "backward", "none")
    work = dataclasses.replace(one("none"), given=(small,))
    ring = collsim.estimate(work, network()).rows[0]
    auto = collsim.estimate(dataclasses.replace(work, algorithms={}), network()).rows[0]
    assert ring.algorithm == "ring"
    assert auto.time_us < ring.time_us
    both = {"data": "ring", "data.all_reduce": "mst"}
    mst = collsim.estimate(dataclasses.replace(work, algorithms=both), network()).rows[0]
    assert mst.algorithm == "mst"
    wrong = dataclasses.replace(work, algorithms={"data": "rng"})
    with pytest.raises(LookupError, match="did you mean 'ring'"):
        collsim.estimate(wrong, network())


def test_what_nccl_has_can_be_asked_for() -> None:
    """The fastest of that, which is slower here than the fastest of all."""
    small = Given("g", "all_reduce", 8.0, "data", 1, "backward", "none")
    work = dataclasses.replace(one("none"), given=(small,))
    theirs = dataclasses.replace(work, algorithms={"data": "nccl"})
    nccl = collsim.estimate(theirs, network()).rows[0]
    auto = collsim.estimate(dataclasses.replace(work, algorithms={}), network()).rows[0]
    asked = collsim.predict("all_reduce", network(), 8, "nccl").rows[0]
    assert (nccl.algorithm, auto.algorithm) == (asked.algorithm, "recursive_doubling")
    assert nccl.time_us == pytest.approx(asked.time_us)
    assert auto.time_us < nccl.time_us


def test_steps_too_long_to_put_together_are_refused() -> None:
    """Before a layer is made."""
    long = dataclasses.replace(one("none"), batch=Batch(1, 1, 2**20))
    with pytest.raises(TooLargeError, match="12,582,912 layers and collectives in a step"):
        collsim.estimate(long, network())


def test_calls_of_a_model_count_as_well() -> None:
    """Four layers in 50,000 passes alone are fewer than what is put together."""
    work = Workload(
        "w", Compute(forward=1e-3, backward=1e-3), Parallel(tensor=2), Batch(32, 2, 50_000),
        MODEL,
    )  # fmt: skip
    # Four layers, embedding and head, there and back; 2 all_reduce of a layer, and one of
    # the embedding and of the head; three gradients' buckets and the optimizer, once.
    passes = 2 * 6 + 2 * 2 * 4 + 2
    with pytest.raises(TooLargeError, match=rf"w: {passes * 50_000 // 1000:,},\d\d\d layers"):
        collsim.estimate(work, network())


@settings(max_examples=20)
@given(works())
def test_tasks_are_counted_before_they_are_made(work: Workload) -> None:
    """With the calls of every pass, those of one pass, and the messages between stages."""
    found = layout(work.parallel, RANKS)
    parts = stages(work, found)
    step = collsim.estimate(work, network())
    assert count(parts, work.batch.micro_batches) == len(step.events)


def test_late_ranks_are_refused() -> None:
    """A delay would count in each of many collectives."""
    late = collsim.delay(network(), "rank[0]", "1ms")
    with pytest.raises(InputError, match="enters late"):
        collsim.estimate(one("none"), late)


def test_tokens_are_those_of_all_replicas() -> None:
    """Two replicas of 3 x 2 x 32 tokens."""
    work = Workload(
        "w", Compute(forward=1e-3, backward=1e-3, layers=4), Parallel(tensor=4),
        Batch(32, 2, 3), MODEL,
    )  # fmt: skip
    found = collsim.estimate(work, network())
    assert found.tokens_per_second is not None
    assert found.tokens_per_second * found.step_us * 1e-6 == pytest.approx(2 * 3 * 2 * 32)


def test_a_step_of_nothing() -> None:
    """One GPU that computes in no time."""
    work = Workload("w", Compute(forward=0.0, backward=0.0, layers=1), model=MODEL)
    found = collsim.estimate(work, collsim.Cluster.ideal(1, "1us", "1GB/s"))
    assert (found.step_us, found.share, found.rows) == (0, None, ())


def small(name: str, nodes: int) -> Estimate:
    """Return an example on fewer nodes, which is quicker."""
    work = load(EXAMPLES / f"{name}.toml")
    return collsim.estimate(work, collsim.Cluster.load("dgx-h100", nodes=nodes))


def test_sharded_with_tensor_parallel() -> None:
    """Gathers hide behind layers of 17 ms; tensor parallelism does not hide."""
    found = small("llama_70b_fsdp_tp", 2)
    rows = {(row.kind, row.collective): row for row in found.rows if row.count > 1}
    assert set(rows) == {
        ("tensor", "all_gather"), ("tensor", "reduce_scatter"),
        ("data", "all_gather"), ("data", "reduce_scatter"),
    }  # fmt: skip
    assert rows["tensor", "all_gather"].hidden_us < 0.01 * rows["tensor", "all_gather"].total_us
    gather = rows["data", "all_gather"]
    assert gather.exposed_us < 0.05 * gather.total_us
    assert gather.count == 160
    # A layer's share of a tensor-parallel rank, in bfloat16.
    work = load(EXAMPLES / "llama_70b_fsdp_tp.toml")
    assert work.model is not None
    held = sum(tensor.held(8, 1) for tensor in work.model.layer)
    assert gather.size == 2 * held
    assert found.data == 2


def test_mixture_of_experts() -> None:
    """Tokens go out and back in each of 32 layers, both ways, in 4 micro-batches."""
    found = small("mixtral_8x7b_ep", 2)
    (row,) = [row for row in found.rows if row.kind == "expert"]
    assert (row.group, row.groups, row.count) == (8, 2, 32 * 4 * 4)
    assert row.size == 4096 * 2 * 4096 * 2
    assert row.exposed_us == pytest.approx(row.total_us)
    assert {row.kind for row in found.rows} == {"expert", "expert_data", "data"}


def test_plain_data_parallelism() -> None:
    """Buckets hide but for the last ones; all gradients go once."""
    found = small("gpt_1b_ddp", 1)
    assert {row.collective for row in found.rows} == {"all_reduce"}
    assert sum(row.size * row.count for row in found.rows) == 4 * 1_315_758_080
    assert 0 < found.exposed_us < found.hidden_us
    assert math.isclose(found.step_us, found.compute_us + found.exposed_us)
