"""Shapes of models: parameters as published, floating-point work as in the papers."""

from __future__ import annotations

import pytest

from collsim.core.transformer import Transformer
from collsim.errors import InputError

GPT = {"gated": False, "layer_norm": True, "bias": True, "tied": True}

# What the checkpoints hold, by their own metadata; shapes are those of their config.json.
PUBLISHED = {
    "openai-community/gpt2": (
        Transformer(12, 768, 12, 3072, 50257, positions=1024, **GPT),
        124_439_808,
    ),
    "facebook/opt-1.3b": (
        Transformer(24, 2048, 32, 8192, 50272, positions=2050, **GPT),
        1_315_758_080,
    ),
    "meta-llama/Meta-Llama-3-8B": (
        Transformer(32, 4096, 32, 14336, 128256, kv_heads=8),
        8_030_261_248,
    ),
    "meta-llama/Llama-2-70b": (
        Transformer(80, 8192, 64, 28672, 32000, kv_heads=8),
        68_976_648_192,
    ),
    "meta-llama/Meta-Llama-3-70B": (
        Transformer(80, 8192, 64, 28672, 128256, kv_heads=8),
        70_553_706_496,
    ),
    "mistralai/Mixtral-8x7B-v0.1": (
        Transformer(32, 4096, 32, 14336, 32000, kv_heads=8, experts=8, experts_per_token=2),
        46_702_792_704,
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameters_are_those_published(name: str) -> None:
    """To the last one."""
    shape, parameters = PUBLISHED[name]
    assert shape.parameters == parameters


def test_operations_are_those_of_megatron() -> None:
    """96 B s l h^2 (1 + s/6h + V/16lh) with recomputation (Narayanan et al. 2021, eq. 3)."""
    batch, s, layers, h, vocab = 3, 2048, 24, 2304, 51200
    shape = Transformer(layers, h, 24, 4 * h, vocab, gated=False)
    tokens = batch * s
    # Forward, forward again and a backward of twice as much; the head is not recomputed.
    found = 4 * layers * shape.layer_flops(tokens, s) + 3 * shape.head_flops(tokens)
    formula = 96 * batch * s * layers * h**2 * (1 + s / (6 * h) + vocab / (16 * layers * h))
    assert found == pytest.approx(formula, rel=1e-12)


def test_a_token_passes_its_experts_only() -> None:
    """Two of eight experts: twice the MLP of one, and the router."""
    one = Transformer(1, 64, 4, 256, 100)
    eight = Transformer(1, 64, 4, 256, 100, experts=8, experts_per_token=2)
    mlp, router = 2 * 3 * 64 * 256, 2 * 64 * 8
    assert eight.layer_flops(10, 16) - one.layer_flops(10, 16) == 10 * (mlp + router)


def test_what_ranks_hold_adds_up() -> None:
    """Over tensor- and expert-parallel ranks, but for what each has all of."""
    shape = PUBLISHED["mistralai/Mixtral-8x7B-v0.1"][0]
    whole = sum(t.elements for t in shape.layer)
    held = sum(t.held(4, 2) for t in shape.layer)
    copied = sum(t.elements for t in shape.layer if not t.split)
    experts = sum(t.elements for t in shape.layer if t.expert)
    assert held == (whole - copied - experts) / 4 + experts / 8 + copied


@pytest.mark.parametrize(
    ("shape", "word"),
    [
        ({"heads": 5}, "heads: got 5"),
        ({"kv_heads": 3}, "kv_heads: got 3"),
        ({"experts": 2, "experts_per_token": 3}, "experts_per_token: got 3"),
    ],
)
def test_shapes_that_cannot_be(shape: dict[str, int], word: str) -> None:
    """The message names the value and what it has to fit."""
    usual = {"layers": 1, "hidden": 64, "heads": 4, "ffn": 256, "vocab": 100}
    with pytest.raises(InputError, match=word):
        Transformer(**{**usual, **shape})
