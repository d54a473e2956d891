"""The shape of a transformer: its parameters, tensor by tensor, and its floating-point work."""

from dataclasses import dataclass
from functools import cached_property

from collsim.errors import InputError

__all__ = ["Tensor", "Transformer"]


@dataclass(frozen=True)
class Tensor:
    """A tensor of parameters.

    Parameters
    ----------
    name : str
        What it is.
    elements : int
        How many numbers it has, over all experts where it is one of each.
    split : bool
        Whether tensor parallelism shares it out; otherwise each rank has all of it.
    expert : bool
        Whether expert parallelism shares it out.
    """

    name: str
    elements: int
    split: bool = True
    expert: bool = False

    def held(self, tensor: int, expert: int) -> float:
        """Return the elements that one of so many tensor- and expert-parallel ranks has."""
        share = self.elements / tensor if self.split else float(self.elements)
        return share / expert if self.expert else share


@dataclass(frozen=True)
class Transformer:
    """A decoder of equal layers between an embedding and a head.

    Parameters
    ----------
    layers, hidden, heads, ffn, vocab : int
        Layers; width; attention heads; inner width of the MLP; entries of the vocabulary.
    kv_heads : int
        Heads of keys and values (grouped-query attention); 0 means as many as `heads`.
    head_size : int
        Width of a head; 0 means hidden / heads.
    gated : bool
        Whether the MLP has a gate, hence three matrices (SwiGLU) rather than two.
    layer_norm : bool
        Whether norms have a bias beside their weight (LayerNorm), or none (RMSNorm).
    bias : bool
        Whether linear layers have a bias; the head never has one.
    tied : bool
        Whether the head is the transposed embedding.
    positions : int
        Learned position embeddings; 0 for rotary ones, which have no parameters.
    experts, experts_per_token : int
        MLPs of each layer, and how many of them a token passes.

    Raises
    ------
    InputError
        If heads can't be shared out, or a token passes more experts than there are.

    Examples
    --------
    GPT-2 small, as published:

    >>> gpt2 = Transformer(12, 768, 12, 3072, 50257, gated=False, layer_norm=True, bias=True,
    ...                    tied=True, positions=1024)
    >>> f"{gpt2.parameters:,}"
    '124,439,808'
    """

    layers: int
    hidden: int
    heads: int
    ffn: int
    vocab: int
    kv_heads: int = 0
    head_size: int = 0
    gated: bool = True
    layer_norm: bool = False
    bias: bool = False
    tied: bool = False
    positions: int = 0
    experts: int = 1
    experts_per_token: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "kv_heads", self.kv_heads or self.heads)
        if self.head_size == 0:
            if self.hidden % self.heads:
                raise InputError(
                    f"heads: got {self.heads}, expected a divisor of hidden = {self.hidden}"
                )
            object.__setattr__(self, "head_size", self.hidden // self.heads)
        if self.heads % self.kv_heads:
            raise InputError(
                f"kv_heads: got {self.kv_heads}, expected a divisor of heads = {self.heads}"
            )
        if self.experts_per_token > self.experts:
            raise InputError(
                f"experts_per_token: got {self.experts_per_token}, "
                f"but there are {self.experts} experts"
            )

    def _norm(self, name: str) -> list[Tensor]:
        weight = Tensor(f"{name}.weight", self.hidden, split=False)
        return (
            [weight, Tensor(f"{name}.bias", self.hidden, split=False)]
            if self.layer_norm
            else [weight]
        )

    def _linear(
        self, name: str, inner: int, outer: int, *, by_row: bool = False, expert: bool = False
    ) -> list[Tensor]:
        """Return weight and bias; the bias of a matrix split by its rows is not split."""
        copies = self.experts if expert else 1
        found = [Tensor(f"{name}.weight", copies * inner * outer, expert=expert)]
        if self.bias:
            found.append(
                Tensor(f"{name}.bias", copies * outer, split=not by_row, expert=expert)
            )
        return found

    @cached_property
    def layer(self) -> tuple[Tensor, ...]:
        """Tensors of one layer, in the order in which modules register them."""
        wide, narrow = self.heads * self.head_size, self.kv_heads * self.head_size
        expert = self.experts > 1
        found = self._norm("attention.norm")
        found += self._linear("attention.query", self.hidden, wide)
        found += self._linear("attention.key", self.hidden, narrow)
        found += self._linear("attention.value", self.hidden, narrow)
        found += self._linear("attention.out", wide, self.hidden, by_row=True)
        found += self._norm("mlp.norm")
        if expert:
            found.append(Tensor("mlp.router.weight", self.hidden * self.experts, split=False))
        if self.gated:
            found += self._linear("mlp.gate", self.hidden, self.ffn, expert=expert)
        found += self._linear("mlp.up", self.hidden, self.ffn, expert=expert)
        found += self._linear("mlp.down", self.ffn, self.hidden, by_row=True, expert=expert)
        return tuple(found)

    @cached_property
    def embedding(self) -> tuple[Tensor, ...]:
        """Tensors of the embedding."""
        found = [Tensor("embedding.weight", self.vocab * self.hidden)]
        if self.positions:
            found.append(Tensor("positions.weight", self.positions * self.hidden, split=False))
        return tuple(found)

    @cached_property
    def head(self) -> tuple[Tensor, ...]:
        """Tensors of the last norm and the head; a tied one has none of its own."""
        found = self._norm("norm")
        if not self.tied:
            found.append(Tensor("head.weight", self.vocab * self.hidden))
        return tuple(found)

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        parts = self.embedding, self.head
        rest = sum(tensor.elements for part in parts for tensor in part)
        return rest + self.layers * sum(tensor.elements for tensor in self.layer)

    def layer_flops(self, tokens: int, sequence: int) -> float:
        """Return the floating-point operations of one layer, forward.

        Two per weight and token for the matrices that a token passes, and
        4·sequence·heads·head_size per token for scores and weighted values, counted in
        full as though attention were not causal (Narayanan et al. 2021, appendix; Chowdhery
        et al. 2022, appendix B). Backward takes twice as many.

        Examples
        --------
        >>> f"{Transformer(1, 64, 4, 256, 100, gated=False).layer_flops(8, 8):,.0f}"
        '802,816'
        """
        wide, narrow = self.heads * self.head_size, self.kv_heads * self.head_size
        attention = 2 * self.hidden * (wide + narrow)
        mlp = (3 if self.gated else 2) * self.hidden * self.ffn * self.experts_per_token
        router = self.hidden * self.experts if self.experts > 1 else 0
        return float(tokens) * (2 * (attention + mlp + router) + 4 * sequence * wide)

    def head_flops(self, tokens: int) -> float:
        """Return the floating-point operations of the head, forward: two per weight."""
        return 2.0 * tokens * self.hidden * self.vocab
