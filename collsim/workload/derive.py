"""What a workload makes every stage compute and send, from the shape of its model.

Sources, by what they say: Shoeybi et al. 2019 and Narayanan et al. 2021 (tensor parallelism:
two all_reduce of the activations a layer, forward and again backward), Korthikanti et al.
2022 (all_gather and reduce_scatter in their place), Rajbhandari et al. 2020 and Zhao et al.
2023 (sharded data parallelism: parameters gathered forward and again backward, gradients
reduced and scattered), Lepikhin et al. 2021 (experts: tokens sent out and back).
"""

from collections.abc import Iterable, Sequence
from itertools import chain

from collsim.core.dtype import element_size
from collsim.core.transformer import Tensor, Transformer
from collsim.core.workload import Given, Workload
from collsim.workload.buckets import buckets
from collsim.workload.layout import Layout
from collsim.workload.parts import Call, Part, Use

__all__ = ["message", "stages"]


def stages(work: Workload, found: Layout) -> tuple[tuple[Part, ...], ...]:
    """Return the parts of every pipeline stage, in forward order.

    Calls in groups of one rank are left out.
    """
    each = work.layers // found.pipeline
    made = []
    for stage in range(found.pipeline):
        first, last = stage == 0, stage == found.pipeline - 1
        names = [f"layer {stage * each + i}" for i in range(each)]
        if work.model is None:
            parts = [_timed(work, name) for name in names]
        else:
            parts = _modelled(work, work.model, found, names, first=first, last=last)
        made.append(parts)
    layers = [
        (stage, place)
        for stage, parts in enumerate(made)
        for place, part in enumerate(parts)
        if part.name.startswith("layer")
    ]
    for given in work.given:
        if found.size(given.group) > 1:
            _spread(given, made, layers)
    return tuple(map(tuple, made))


def message(work: Workload, found: Layout) -> float:
    """Return the bytes that a rank sends to the next stage for one micro-batch."""
    if work.model is None:
        return 0.0
    share = found.tensor if work.parallel.sequence else 1
    return _activations(work, work.model) / share


def _activations(work: Workload, model: Transformer) -> float:
    """Return the bytes of the activations between two layers, of one micro-batch."""
    return work.batch.tokens * model.hidden * element_size(work.types.activations)


def _timed(work: Workload, name: str) -> Part:
    return Part(name, work.compute.forward or 0.0, work.compute.backward or 0.0)


def _modelled(
    work: Workload, model: Transformer, found: Layout, names: list[str], *,
    first: bool, last: bool,
) -> list[Part]:  # fmt: skip
    """Return the parts of one stage and all of their calls."""
    parts = [_layer(work, model, found, name) for name in names]
    tensors: list[Sequence[Tensor]] = [model.layer for _ in names]
    if first:
        parts.insert(0, _embedding(work, model, found))
        tensors.insert(0, model.embedding)
    if last:
        parts.append(_head(work, model, found))
        tensors.append(model.head)
    if work.parallel.sharding == "full":
        return _sharded(work, found, parts, tensors)
    return _bucketed(work, found, parts, tensors)


def _layer(work: Workload, model: Transformer, found: Layout, name: str) -> Part:
    compute, whole = work.compute, _activations(work, model)
    forward, backward = compute.forward, compute.backward
    if forward is None or backward is None:
        flops = model.layer_flops(work.batch.tokens, work.batch.sequence) / found.tensor
        forward = flops / compute.rate
        backward = (3 if compute.recompute else 2) * forward
    block = _tensor(work, found, whole, "all_gather", "reduce_scatter")
    tokens = whole * model.experts_per_token
    if work.parallel.sequence:
        tokens /= found.tensor
    out: tuple[Use, ...] = ()
    if found.size("expert") > 1:
        out = (Use(Call("expert", "all_to_all", tokens, "tokens")),)
    path = (*block, *out, *block, *out)
    return Part(
        name,
        forward,
        backward,
        in_forward=path,
        in_backward=(*path, *path) if compute.recompute else path,
    )


def _tensor(work: Workload, found: Layout, whole: float, *split: str) -> tuple[Use, ...]:
    """Return an all_reduce of activations, or what stands for it with a split sequence."""
    if found.tensor == 1:
        return ()
    names = split if work.parallel.sequence else ("all_reduce",)
    return tuple(Use(Call("tensor", name, whole, "activations")) for name in names)


def _embedding(work: Workload, model: Transformer, found: Layout) -> Part:
    whole = _activations(work, model)
    sequence = work.parallel.sequence
    return Part(
        "embedding",
        in_forward=_tensor(work, found, whole, "reduce_scatter"),
        in_backward=_tensor(work, found, whole, "all_gather") if sequence else (),
    )


def _head(work: Workload, model: Transformer, found: Layout) -> Part:
    whole, rate = _activations(work, model), work.compute.rate
    sequence = work.parallel.sequence
    forward = model.head_flops(work.batch.tokens) / found.tensor / rate if rate else 0.0
    return Part(
        "head",
        forward,
        2 * forward,
        in_forward=_tensor(work, found, whole, "all_gather") if sequence else (),
        in_backward=_tensor(work, found, whole, "reduce_scatter"),
    )


def _held(found: Layout, tensors: Iterable[Tensor], expert: bool) -> float:
    """Return the elements of one rank, of experts or of all else."""
    return sum(
        tensor.held(found.tensor, found.expert)
        for tensor in tensors
        if _apart(found, tensor) == expert
    )


def _apart(found: Layout, tensor: Tensor) -> bool:
    """Return whether a tensor has replicas on fewer ranks, as experts are shared out."""
    return tensor.expert and found.expert > 1


def _kinds(found: Layout) -> list[tuple[bool, str]]:
    kinds = [(False, "data"), (True, "expert_data")]
    return [(expert, kind) for expert, kind in kinds if found.size(kind) > 1]


def _sharded(
    work: Workload, found: Layout, parts: list[Part], tensors: list[Sequence[Tensor]]
) -> list[Part]:
    """Return parts whose parameters are gathered before use, as FSDP does.

    What is no layer is one unit of its own, gathered with the first of its parts and kept
    until its gradients are scattered.
    """
    types = work.types
    outside = [i for i, part in enumerate(parts) if not part.name.startswith("layer")]
    root = list(chain.from_iterable(tensors[i] for i in outside))
    for i, part in enumerate(parts):
        own = tensors[i] if i not in outside else root if i == outside[0] else ()
        made = part
        for expert, kind in _kinds(found):
            held = _held(found, own, expert)
            if held == 0:
                continue
            size = held * element_size(types.parameters)
            gather = Use(Call(kind, "all_gather", size, "parameters"))
            made = made.adding("before_forward", gather)
            if i not in outside:
                made = made.adding("before_backward", gather)
            grads = held * element_size(types.gradients)
            scatter = Use(Call(kind, "reduce_scatter", grads, "gradients"))
            made = made.adding("after_backward", scatter)
        parts[i] = made
    return parts


def _bucketed(
    work: Workload, found: Layout, parts: list[Part], tensors: list[Sequence[Tensor]]
) -> list[Part]:
    """Return parts whose gradients go in buckets, once a step.

    Each bucket is called where the last of its gradients is computed; where the optimizer's
    state is shared out, the parameters of that bucket are gathered at the start of the step.
    """
    sharded = work.parallel.sharding == "optimizer"
    grad, param = (element_size(t) for t in (work.types.gradients, work.types.parameters))
    for expert, kind in _kinds(found):
        sizes = [
            [
                t.held(found.tensor, found.expert) * grad
                for t in own
                if _apart(found, t) == expert
            ]
            for own in tensors
        ]
        for i, size in buckets(sizes, work.parallel.bucket):
            name = "reduce_scatter" if sharded else "all_reduce"
            reduce = Use(Call(kind, name, size, "gradients"), when="last")
            parts[i] = parts[i].adding("after_backward", reduce)
            if sharded:
                call = Call(kind, "all_gather", size / grad * param, "parameters")
                gather = Use(call, when="first", early=True)
                parts[i] = parts[i].adding("before_forward", gather)
    return parts


def _spread(given: Given, made: list[list[Part]], layers: list[tuple[int, int]]) -> None:
    """Put calls that the file gives into the layers, evenly in the order of their phase."""
    places = {"none": "in", "before": "before", "after": "after"}
    place = f"{places[given.overlap]}_{given.phase}"
    call = Call(given.group, given.collective, given.nbytes, given.name)
    order = layers if given.phase == "forward" else layers[::-1]
    for i, (stage, at) in enumerate(order):
        here = given.count * (i + 1) // len(order) - given.count * i // len(order)
        made[stage][at] = made[stage][at].adding(place, *[Use(call)] * here)
