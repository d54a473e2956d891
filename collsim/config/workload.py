"""Workloads from files: the shape of a model, how ranks share it, and what they compute."""

import os
from typing import Any, Final

from collsim.config.document import Table, read_table
from collsim.config.workload_calls import algorithms, given_calls, word
from collsim.core.dtype import DTYPES
from collsim.core.transformer import Transformer
from collsim.core.workload import (
    AXES,
    SHARDING,
    Batch,
    Compute,
    Home,
    Parallel,
    Types,
    Workload,
)
from collsim.errors import ConfigError, InputError

__all__ = ["load"]

_SCHEMA: Final = "collsim/workload/1"

_FASTEST: Final = 1e30
_TOP: Final = (
    "schema", "name", "source", "cluster", "model", "batch", "types", "parallel", "compute",
    "algorithms", "collective",
)  # fmt: skip
_SIZES: Final = ("layers", "hidden", "heads", "ffn", "vocab")
_COUNTS: Final = ("kv_heads", "head_size", "positions")
_MLPS: Final = ("plain", "gated")
_NORMS: Final = ("layernorm", "rmsnorm")
_WORDS: Final = ("bias", "tied", "mlp", "norm", "experts", "experts_per_token", "source")


def load(path: str | os.PathLike[str]) -> Workload:
    """Return the workload of a file.

    Parameters
    ----------
    path : str or path
        A TOML file with ``schema = "collsim/workload/1"``; docs/workloads.md has the format.

    Raises
    ------
    FileError
        If it can't be read.
    ConfigError
        If it is no TOML, has a key that nobody knows, lacks one, or a value can't be.
    """
    file = os.fspath(path)
    top = read_table(file, _SCHEMA)
    top.only(_TOP)
    model = _model(top) if "model" in top else None
    parallel, batch = _parallel(top.table("parallel")), _batch(top, model is not None)
    given = given_calls(top)
    if model is None and not given:
        raise ConfigError.missing_key(
            file, "model", "the shape of a model, or a [[collective]] or more"
        )
    compute = _compute(top, model is not None)
    _fit(top, parallel, model, compute.layers if model is None else model.layers)
    return Workload(
        name=top.take("name", "text", os.path.splitext(os.path.basename(file))[0]),
        compute=compute,
        parallel=parallel,
        batch=batch,
        model=model,
        types=_types(top.table("types")),
        given=given,
        algorithms=algorithms(top.table("algorithms")),
        home=_home(top.table("cluster")),
    )


def _model(top: Table) -> Transformer:
    table = top.table("model")
    table.only((*_SIZES, *_COUNTS, *_WORDS))
    table.take("source", "text", "")
    sizes: dict[str, Any] = {key: table.take(key, "count") for key in _SIZES}
    sizes |= {key: table.take(key, "count", 0) for key in _COUNTS}
    experts = table.take("experts", "count", 1)
    if experts == 1 and "experts_per_token" in table:
        raise table.refuse("experts_per_token", "no such key without experts")
    try:
        return Transformer(
            **sizes,
            gated=word(table, "mlp", _MLPS, "gated") == "gated",
            layer_norm=word(table, "norm", _NORMS, "rmsnorm") == "layernorm",
            bias=table.take("bias", "flag", False),
            tied=table.take("tied", "flag", False),
            experts=experts,
            experts_per_token=table.take("experts_per_token", "count") if experts > 1 else 1,
        )
    except InputError as error:
        raise ConfigError.broken(top.file, f"model.{error}") from None


def _batch(top: Table, needed: bool) -> Batch:
    table = top.table("batch")
    table.only(("sequence", "micro_batch", "micro_batches"))
    default: dict[str, Any] = {} if needed else {"default": 1}
    return Batch(
        sequence=table.take("sequence", "count", **default),
        micro_batch=table.take("micro_batch", "count", 1),
        micro_batches=table.take("micro_batches", "count", 1),
    )


def _types(table: Table) -> Types:
    usual = {key: getattr(Types(), key) for key in ("parameters", "gradients", "activations")}
    table.only(usual)
    return Types(**{key: word(table, key, tuple(DTYPES), usual[key]) for key in usual})


def _parallel(table: Table) -> Parallel:
    usual = Parallel()
    table.only(
        ("tensor", "pipeline", "expert", "data", "order", "sequence", "sharding", "bucket",
         "prefetch")
    )  # fmt: skip
    order = table.data.get("order", list(AXES))
    if not isinstance(order, list) or sorted(map(str, order)) != sorted(AXES):
        raise table.refuse("order", f"{', '.join(AXES)} in any order, the fastest first")
    bucket = table.take("bucket", "size", usual.bucket)
    if bucket == 0:
        raise table.refuse("bucket", "a size above 0")
    none = table.data.get("prefetch")
    prefetch = 0
    if none != 0 or isinstance(none, bool):
        prefetch = table.take("prefetch", "count", usual.prefetch)
    return Parallel(
        tensor=table.take("tensor", "count", 1),
        pipeline=table.take("pipeline", "count", 1),
        expert=table.take("expert", "count", 1),
        data=table.take("data", "count", 0),
        order=tuple(order),
        sequence=table.take("sequence", "flag", False),
        sharding=word(table, "sharding", SHARDING, usual.sharding),
        bucket=bucket,
        prefetch=prefetch,
    )


def _compute(top: Table, derived: bool) -> Compute:
    """Return the times of layers, given or from the operations of the model."""
    table = top.table("compute")
    flops, times = ("peak", "efficiency"), ("forward", "backward")
    layers = () if derived else ("layers",)
    table.only((*(flops if derived else ()), *times, *layers, "recompute", "optimizer",
                "source"))  # fmt: skip
    found: dict[str, Any] = {
        "recompute": table.take("recompute", "flag", False),
        "optimizer": table.take("optimizer", "time", 0.0),
        "source": table.take("source", "text", ""),
        "layers": 0 if derived else table.take("layers", "count"),
    }
    if not derived or any(key in table for key in times):
        both = next((key for key in flops if key in table), None)
        if both is not None:
            raise table.refuse(both, "either peak and efficiency, or forward and backward")
        forward, backward = (table.take(key, "time") for key in times)
        return Compute(forward=forward, backward=backward, **found)
    peak = table.data.get("peak", 1)
    if isinstance(peak, bool) or not isinstance(peak, int | float) or not 1 <= peak <= _FASTEST:
        raise table.refuse("peak", "operations per second, 1 to 1e30, such as 989.4e12")
    rate = table.take("peak", "number") * table.take("efficiency", "part")
    return Compute(rate=rate, **found)


def _home(table: Table) -> Home:
    table.only(("name", "nodes", "gpus_per_node"))
    if table.data and "name" not in table:
        raise ConfigError.missing_key(table.file, table.key("name"), "a cluster")
    return Home(
        cluster=table.take("name", "text", None),
        nodes=table.take("nodes", "count", None),
        gpus_per_node=table.take("gpus_per_node", "count", None),
    )


def _fit(top: Table, parallel: Parallel, model: Transformer | None, layers: int) -> None:
    """Refuse a model that can't be shared out like this."""
    table = top.table("parallel")
    if layers % parallel.pipeline:
        raise table.refuse("pipeline", f"a divisor of the {layers} layers")
    if parallel.data % parallel.expert:
        raise table.refuse("data", f"a multiple of expert = {parallel.expert}")
    if parallel.sequence and parallel.tensor == 1:
        raise table.refuse("sequence", "false where tensor is 1")
    if model is None:
        if parallel.pipeline > 1:
            raise table.refuse("pipeline", "1 without a [model], which says what stages send")
        return
    if model.heads % parallel.tensor:
        raise table.refuse("tensor", f"a divisor of the {model.heads} heads")
    if model.experts % parallel.expert:
        raise table.refuse("expert", f"a divisor of the {model.experts} experts")
