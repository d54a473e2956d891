"""What a model makes its ranks send: volumes as the papers count them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from collsim.core.transformer import Transformer
from collsim.core.workload import Batch, Compute, Given, Parallel, Types, Workload
from collsim.workload.derive import message, stages
from collsim.workload.layout import layout
from collsim.workload.parts import Call, Part

SMALL = Transformer(4, 64, 8, 256, 512)


def workload(
    parallel: Parallel | None = None,
    *,
    model: Transformer | None = SMALL,
    batch: Batch | None = None,
    compute: Compute | None = None,
    **more: Any,
) -> Workload:
    """Return a workload of a small model, computed at 1 Tflop/s."""
    return Workload(
        "small",
        compute or Compute(rate=1e12),
        parallel or Parallel(),
        batch or Batch(sequence=32, micro_batch=2),
        model,
        **more,
    )


def by_hand(*given: Given, layers: int = 4, forward: float = 1e-3) -> Workload:
    """Return a workload of given collectives; backward takes twice as long as forward."""
    compute = Compute(forward=forward, backward=2 * forward, layers=layers)
    return Workload("by hand", compute, given=given)


HALVES = Types("half", "half", "half")


def parts_of(work: Workload, ranks: int) -> tuple[tuple[Part, ...], ...]:
    """Return the parts of every stage."""
    return stages(work, layout(work.parallel, ranks))


def calls_of(work: Workload, ranks: int) -> Counter[Call]:
    """Return how often each call is there, over all stages."""
    found = (part for parts in parts_of(work, ranks) for part in parts)
    return Counter(use.call for part in found for use in part.uses())


def bytes_of(calls: Counter[Call], **wanted: Any) -> float:
    """Return the bytes of the calls with some attributes."""
    return sum(
        call.nbytes * count
        for call, count in calls.items()
        if all(getattr(call, key) == value for key, value in wanted.items())
    )


def test_gradients_of_plain_data_parallelism() -> None:
    """All of them are reduced once, in the type of gradients."""
    calls = calls_of(workload(), 4)
    assert {call.collective for call in calls} == {"all_reduce"}
    assert bytes_of(calls) == 4 * SMALL.parameters


def test_volume_of_zero_3_is_one_and_a_half_of_plain() -> None:
    """All_reduce moves 2 psi; two all_gather and a reduce_scatter 3 psi (Rajbhandari, 7.2).

    Of the embedding and head, which are kept, one all_gather: 2 psi.
    """
    plain = calls_of(workload(types=HALVES), 4)
    full = calls_of(workload(Parallel(sharding="full"), types=HALVES), 4)
    psi = 2 * SMALL.parameters
    kept = 2 * (2 * SMALL.vocab * SMALL.hidden + SMALL.hidden)
    assert 2 * bytes_of(plain, collective="all_reduce") == 2 * psi
    assert bytes_of(full, collective="reduce_scatter") == psi
    assert bytes_of(full, collective="all_gather") == 2 * psi - kept


def test_volume_of_zero_1_is_that_of_plain() -> None:
    """An all_reduce is a reduce_scatter and an all_gather (Rajbhandari et al. 2020, 7.2)."""
    calls = calls_of(workload(Parallel(sharding="optimizer"), types=HALVES), 4)
    assert bytes_of(calls, collective="reduce_scatter") == 2 * SMALL.parameters
    assert bytes_of(calls, collective="all_gather") == 2 * SMALL.parameters


def test_tensor_parallel_layers_reduce_twice_each_way() -> None:
    """2 all_reduce of b·s·h forward and 2 backward (Shoeybi et al. 2019, figure 4)."""
    calls = calls_of(workload(Parallel(tensor=4)), 4)
    whole = 64 * SMALL.hidden * 2
    # One more for the embedding, and one for the head.
    assert calls == {Call("tensor", "all_reduce", whole, "activations"): 4 * 4 + 2}


def test_a_split_sequence_moves_as_much() -> None:
    """All_gather and reduce_scatter for each all_reduce (Korthikanti et al. 2022, 4.2.2)."""
    calls = calls_of(workload(Parallel(tensor=4, sequence=True)), 4)
    whole = 64 * SMALL.hidden * 2
    assert calls == {
        Call("tensor", "all_gather", whole, "activations"): 4 * 4 + 2,
        Call("tensor", "reduce_scatter", whole, "activations"): 4 * 4 + 2,
    }


def test_recomputing_repeats_what_forward_sends() -> None:
    """Once more all of a layer's forward, in backward."""
    work = workload(Parallel(tensor=4))
    again = replace(work, compute=replace(work.compute, recompute=True))
    (count,) = calls_of(again, 4).values()
    assert count == 4 * 6 + 2


def test_tokens_go_out_and_back_to_experts() -> None:
    """b·s·k·h, twice each way in every layer."""
    model = Transformer(4, 64, 8, 256, 512, experts=4, experts_per_token=2)
    calls = calls_of(workload(Parallel(expert=2), model=model), 4)
    tokens = 64 * 2 * 64 * 2
    assert calls[Call("expert", "all_to_all", tokens, "tokens")] == 4 * 4


def test_gradients_of_experts_are_reduced_among_their_replicas() -> None:
    """A rank has half of the experts, and they are on half of the ranks."""
    model = Transformer(4, 64, 8, 256, 512, experts=4, experts_per_token=2)
    calls = calls_of(workload(Parallel(expert=2), model=model), 4)
    experts = 4 * 4 * 3 * 64 * 256
    assert bytes_of(calls, kind="expert_data") == 4 * experts / 2
    assert bytes_of(calls, kind="data") == 4 * (model.parameters - experts)
    # With as many experts' ranks as data-parallel ones there is nobody to reduce with.
    calls = calls_of(workload(Parallel(expert=4), model=model), 4)
    assert bytes_of(calls, kind="expert_data") == 0


def test_stages_share_out_layers_and_ends() -> None:
    """The embedding is in the first one and the head in the last."""
    found = parts_of(workload(Parallel(pipeline=2)), 2)
    assert [[part.name for part in parts] for parts in found] == [
        ["embedding", "layer 0", "layer 1"],
        ["layer 2", "layer 3", "head"],
    ]


def test_messages_between_stages() -> None:
    """b·s·h; each rank its share where the sequence is split."""
    whole = workload(Parallel(tensor=2, pipeline=2))
    split = workload(Parallel(tensor=2, pipeline=2, sequence=True))
    assert message(whole, layout(whole.parallel, 4)) == 64 * 64 * 2
    assert message(split, layout(split.parallel, 4)) == 64 * 64 * 2 / 2


def test_time_of_layers_follows_from_their_operations() -> None:
    """Shared out over tensor-parallel ranks; backward takes two of forward."""
    (parts,) = parts_of(workload(Parallel(tensor=2)), 2)
    flops = SMALL.layer_flops(64, 32)
    assert parts[1].forward == flops / 2 / 1e12
    assert parts[1].backward == flops / 1e12
    assert parts[-1].forward == SMALL.head_flops(64) / 2 / 1e12


def test_buckets_are_called_where_they_are_full() -> None:
    """In the order of backward; the bytes of a bucket are at its cap or above."""
    model = Transformer(6, 512, 8, 2048, 512)
    (parts,) = parts_of(workload(Parallel(bucket=4 * 2**20), model=model, batch=Batch(8)), 2)
    sizes = [use.call.nbytes for part in reversed(parts) for use in part.after_backward]
    assert all(size >= 2**20 for size in sizes[:1])
    assert all(size >= 4 * 2**20 for size in sizes[1:-1])
    assert sum(sizes) == 4 * model.parameters


@pytest.mark.parametrize("count", [1, 3, 4, 9])
@pytest.mark.parametrize("phase", ["forward", "backward"])
def test_given_calls_are_spread_evenly(count: int, phase: str) -> None:
    """Every layer has the same number of them but for one, and the last has its share."""
    given = Given("g", "all_reduce", 8.0, "data", count, phase, "after")
    (parts,) = parts_of(by_hand(given), 2)
    order = parts if phase == "forward" else parts[::-1]
    here = [len(getattr(part, f"after_{phase}")) for part in order]
    assert sum(here) == count
    assert max(here) - min(here) <= 1
    assert here[-1] >= 1


def test_groups_of_one_rank_call_nothing() -> None:
    """One GPU only computes."""
    given = Given("g", "all_reduce", 8.0, "tensor", 4, "forward", "none")
    assert calls_of(workload(Parallel(sharding="full")), 1) == {}
    assert calls_of(by_hand(given), 2) == {}
