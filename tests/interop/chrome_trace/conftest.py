"""Traces of all kinds, and the schema that all of them must keep."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import fastjsonschema
import pytest

from collsim.algorithms import build
from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.engine.simulate import Job, Together, simulate
from collsim.interop.chrome_trace.write import write_trace
from collsim.topology import delay

Outcome = tuple[Timeline | Together, Cluster]

_COUNT = {"type": "integer", "minimum": 0}
_TIME = {"type": "number", "minimum": 0}
_TEXT = {"type": "string", "minLength": 1}


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the schema of an object that has these members, and no others."""
    return {
        "type": "object",
        "properties": required | (optional or {}),
        "required": list(required),
        "additionalProperties": False,
    }


_WHERE = {"pid": {"type": "integer", "minimum": 1}, "tid": {"type": "integer", "minimum": 1}}
_MESSAGE = _object(
    {"operation": _COUNT, "round": {"type": "integer", "minimum": 1}, "from": _COUNT,
     "to": _COUNT, "bytes": _TIME, "chunks": _TEXT, "alpha_us": _TIME, "beta_us": _TIME},
    {"job": _COUNT, "into": _TEXT, "channel": _COUNT, "gamma_us": _TIME, "waiting_us": _TIME,
     "critical": {"const": True}},
)  # fmt: skip


def _slice(cat: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    fields = {"ph": {"const": "X"}, "name": _TEXT, "cat": cat, "ts": _TIME, "dur": _TIME}
    return _object(fields | _WHERE | more)


def _end(more: dict[str, Any]) -> dict[str, Any]:
    return _object(
        {"name": {"const": "message"}, "cat": {"const": "flow"}, "id": _COUNT, "ts": _TIME}
        | _WHERE
        | more
    )


def _name(kind: str, where: tuple[str, ...], key: str, value: dict[str, Any]) -> dict[str, Any]:
    return _object(
        {"ph": {"const": "M"}, "name": {"const": kind}, "args": _object({key: value})}
        | {one: _WHERE[one] for one in where}
    )


_PROCESS, _THREAD = ("pid",), ("pid", "tid")
_KINDS = ["copy", "reduce", "copy,critical", "reduce,critical"]
SCHEMA = _object(
    {
        "displayTimeUnit": {"const": "ns"},
        "otherData": {"type": "object", "additionalProperties": {"type": "string"}},
        "traceEvents": {
            "type": "array",
            "items": {
                "oneOf": [
                    _slice({"enum": _KINDS}, {"args": _MESSAGE}),
                    _slice({"const": "alpha"}, {}),
                    _slice({"const": "call"}, {}),
                    _slice({"enum": ["call", "critical"]}, {"args": {"type": "object"}}),
                    _end({"ph": {"const": "s"}}),
                    _end({"ph": {"const": "f"}, "bp": {"const": "e"}}),
                    _object(
                        {"ph": {"const": "C"}, "name": _TEXT, "pid": _WHERE["pid"], "ts": _TIME,
                         "args": _object({"GB/s": _TIME})}
                    ),
                    _name("process_name", _PROCESS, "name", _TEXT),
                    _name("process_sort_index", _PROCESS, "sort_index", _COUNT),
                    _name("thread_name", _THREAD, "name", _TEXT),
                    _name("thread_sort_index", _THREAD, "sort_index", _COUNT),
                ]
            },
        },
    }
)  # fmt: skip
_DRAFT = {"$schema": "http://json-schema.org/draft-07/schema#"}
_check = fastjsonschema.compile(_DRAFT | SCHEMA)


def strict(text: str | bytes) -> dict[str, Any]:
    """Return what a trace holds, if it keeps the schema and is JSON to the letter."""

    def no_constant(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    found: dict[str, Any] = json.loads(text, parse_constant=no_constant)
    _check(found)
    return found


@pytest.fixture(scope="session")
def read(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, Any]]:
    """Return a function that writes a trace and reads it strictly."""

    def write_and_read(outcome: Timeline | Together, cluster: Cluster) -> dict[str, Any]:
        path = tmp_path_factory.mktemp("trace") / "run.json.gz"
        write_trace(outcome, cluster, path)
        return strict(gzip.decompress(path.read_bytes()))

    return write_and_read


def _one(
    name: str, algorithm: str, cluster: Cluster, nbytes: float, chunks: int = 1
) -> Outcome:
    setting = cluster.setting
    schedule = build(
        name, algorithm, cluster.ranks, chunks=chunks, node=cluster.node,
        multicast=setting.multicast,
    )  # fmt: skip
    return simulate(schedule, cluster, nbytes), cluster


def _together(sharing: str) -> Outcome:
    cluster = replace(Cluster.load("dgx-h100", nodes=2), sharing=sharing)
    ring, tree = build("all_gather", "ring", 8), build("broadcast", "mst", 4)
    jobs = [
        Job(ring, range(8), 2**20),
        Job(tree, [0, 4, 8, 12], "8MiB", start=3e-6),
        Job(ring, range(8, 16), 2**20),
    ]
    return simulate(jobs, cluster), cluster


CASES: dict[str, Callable[[], Outcome]] = {
    "ideal": lambda: _one("broadcast", "mst", Cluster.ideal(5, "10us", "900GB/s"), 1e6),
    "chunks": lambda: _one("broadcast", "ring", Cluster.ideal(4, "1us", "1GB/s"), 4000, 4),
    "reduces": lambda: _one(
        "all_reduce", "ring", Cluster.ideal(4, "1us", "1GB/s", gamma="1ns", launch="5us"), 4000
    ),
    "overlaps": lambda: _one(
        "all_to_all", "pairwise", Cluster.ideal(4, "5us", "1GB/s", alpha_busy="1us"), 4000
    ),
    "nodes": lambda: _one(
        "all_reduce", "hierarchical", Cluster.load("dgx-h100", nodes=2), 2**24
    ),
    "switch": lambda: _one("all_reduce", "nvls", Cluster.load("dgx-h100"), 2**24, 4),
    "fair": lambda: _one("all_to_all", "direct", Cluster.load("pcie-8"), 2**24),
    "late": lambda: _one(
        "all_gather", "bruck", delay(Cluster.load("dgx-h100"), "rank[3]", 5e-5), 2**20
    ),
    "nothing": lambda: _one("all_reduce", "ring", Cluster.ideal(4, "1us", "1GB/s"), 0),
    "alone": lambda: _one("all_reduce", "ring", Cluster.ideal(1, "1us", "1GB/s"), 8),
    "together": lambda: _together("fifo"),
    "together, fair": lambda: _together("fair"),
}


@pytest.fixture(params=list(CASES), scope="session")
def traced(
    request: pytest.FixtureRequest, read: Callable[..., dict[str, Any]]
) -> tuple[Timeline | Together, Cluster, dict[str, Any]]:
    """Return what one of many kinds of simulations came to, where, and its trace."""
    outcome, cluster = CASES[request.param]()
    return outcome, cluster, read(outcome, cluster)
