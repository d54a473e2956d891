"""What public functions say of an argument of a wrong type: one line, whatever it is."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from test_public import MODULES, called

import collsim
import collsim.nccl
import collsim.plot
from collsim.core.arguments import checked
from collsim.errors import CollsimError, InputError

ROOT = Path(__file__).resolve().parents[2]
LOG = str(ROOT / "examples" / "nccl_tests_all_reduce_8gpu.txt")
STEP = str(ROOT / "examples" / "workloads" / "by_hand.toml")
GRID = {
    "schema": "collsim/grid/1", "collectives": "gather", "sizes": ["1KiB"],
    "algorithms": "mst", "clusters": [{"alpha": "1us", "bandwidth": "1GB/s", "ranks": 2}],
}  # fmt: skip
WRONG: Final = (None, 3.5, "x", [], {}, object(), [None], b"x", 10**400)


def _two() -> Any:
    return collsim.Cluster.ideal(2, "1us", "1GB/s")


def _mst() -> Any:
    return collsim.build("gather", "mst", 2)


def _timeline() -> Any:
    return collsim.simulate(_mst(), _two(), 8)


@functools.cache
def _comm() -> Any:
    return collsim.nccl.communicator(collsim.Cluster.load("dgx-h100"))


@functools.cache
def _fit() -> Any:
    return collsim.fit(LOG)


# Of a parameter by its name, what makes sense; of all others the default is taken.
GOOD: Final[Mapping[str, Callable[[], Any]]] = {
    "collective_name": lambda: "gather", "collective": lambda: "gather", "a": lambda: "mst",
    "b": lambda: "linear", "cluster": _two, "sizes": lambda: [8], "size": lambda: 8,
    "nbytes": lambda: 8, "schedule": _mst, "ranks": lambda: 2, "alpha": lambda: "1us",
    "bandwidth": lambda: "1GB/s", "component": lambda: "rank[0].out",
    "components": lambda: "rank[0].out", "left": lambda: 0.5, "rank": lambda: 0,
    "seconds": lambda: 1e-6, "order": lambda: [1, 0], "kind": lambda: "node",
    "logs": lambda: LOG, "paths": lambda: LOG, "model": _two, "workload": lambda: STEP,
    "grid": lambda: GRID, "outcome": _timeline, "timeline": _timeline,
    "profile": lambda: "h100-nvswitch-8", "name_or_path": lambda: "dgx-h100",
    "clusters": lambda: [_two()], "rows": list, "found": lambda: 0, "comm": _comm,
    "version": lambda: "2.30", "text": lambda: "", "file": lambda: "a.txt",
    "data": lambda: b"<system/>", "table": lambda: 0, "log": lambda: 0,
    "capability": lambda: 90, "ranges": list, "room": lambda: "links",
    "max_bytes": lambda: 64, "min_bytes": lambda: 8,
    "pieces": lambda: [0], "src": lambda: 0, "dst": lambda: 1, "channel": lambda: 0,
    "places": lambda: 1,
}  # fmt: skip
# Where it is another than elsewhere.
OWN: Final[Mapping[tuple[str, str], Callable[[], Any]]] = {
    ("build", "name"): lambda: "mst", ("collective", "name"): lambda: "gather",
    ("algorithm_names", "collective_name"): lambda: "gather",
    ("Job", "ranks"): lambda: [0, 1], ("verify", "ranks"): lambda: [2],
    ("verify", "algorithm"): lambda: "mst", ("save_profile", "profile"): lambda: _fit().profile,
    ("load_profile", "name_or_path"): lambda: "h100-nvswitch-8",
    ("explain", "sizes"): lambda: [8.0], ("write_step_trace", "found"):
        lambda: collsim.estimate(STEP), ("plot.plot_fit", "found"): _fit,
    ("plot.scaling_curves", "clusters"): lambda: [_two(), collsim.Cluster.ideal(4, 0, 1e9)],
    ("nccl.communicator", "cluster"): lambda: collsim.Cluster.load("dgx-h100"),
    ("plot.plot_winners", "found"): lambda: collsim.plot.winners_map("gather", [_two()]),
    ("load_schedule", "path"): lambda: str(ROOT / "examples" / "schedule_broadcast_4.txt"),
    ("write_trace", "path"): lambda: "out.json", ("write_step_trace", "path"):
        lambda: "out.json", ("save_schedule", "path"): lambda: "out.txt",
    ("save_profile", "path"): lambda: "out.toml", ("write_report", "path"):
        lambda: "out.html", ("write_report", "profile"): lambda: None,
    ("fit", "model"): lambda: "auto", ("fit", "cluster"): lambda: "ideal",
    ("plot.plot_breakdown", "found"): lambda: collsim.plot.time_breakdown("gather", _two(), 8),
    ("sweep", "output"): lambda: None, ("build", "node"): lambda: None,
    ("Builder.block", "src"): lambda: [[[0]]], ("Builder.block", "dst"): lambda: [[[1]]],
    ("Builder.block", "pieces"): lambda: [[[0]]], ("Builder.block", "kind"): lambda: 0,
    ("Builder", "node"): lambda: None, ("Builder.expect", "pieces"): lambda: 1,
    ("Builder", "root"): lambda: 0, ("nccl.read_log", "path"): lambda: "no.log",
    ("nccl.read_graphs", "path"): lambda: "no.xml", ("import_topology", "path"): lambda: "no",
}  # fmt: skip
# Plain records of what functions return, which take whatever they are given.
RECORDS: Final = {
    "Cluster", "Schedule", "nccl.Choice", "nccl.ChoiceRange", "nccl.Communicator",
    "nccl.Graph", "nccl.Log", "nccl.Release", "nccl.Tuning",
}  # fmt: skip


def _good(name: str, parameter: inspect.Parameter) -> Any:
    own = (name, parameter.name)
    if own in OWN:
        return OWN[own]()
    optional = parameter.default is not inspect.Parameter.empty
    # Ranges of sizes, which make the search for the fastest short.
    if parameter.name in GOOD and (not optional or parameter.name.endswith("_bytes")):
        return GOOD[parameter.name]()
    return parameter.default


def _functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield all that a user may call: functions, classes, and methods that make or list."""
    for name, value in (one for module in MODULES for one in called(module)):
        own = name.removeprefix("collsim.")
        base, _, method = own.rpartition(".")
        if not callable(value) or own in RECORDS or own == "CollsimError":
            continue
        if base in {"Schedule", "Profile", "Cluster"} | RECORDS and own not in (
            "Cluster.ideal",
            "Cluster.load",
        ):
            continue
        yield own, getattr(collsim.Cluster, method) if base == "Cluster" else value
    yield "choose", collsim.choose


def _calls(name: str, function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Yield a call for each parameter and wrong value: what it is, and how it ended."""
    parameters = [
        one for one in inspect.signature(function).parameters.values() if one.name != "self"
    ]
    for wrong in parameters:
        for value in WRONG:
            positional: list[Any] = []
            named = {}
            for one in parameters:
                given = value if one is wrong else _good(name, one)
                needed = one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD
                if needed or one.kind is one.VAR_POSITIONAL:
                    positional.append(given)
                else:
                    named[one.name] = given
            if name.startswith("Builder."):
                positional.insert(0, collsim.Builder("gather", 2))
            try:
                function(*positional, **named)
            except CollsimError as error:
                ended: Any = error
            except Exception as error:  # noqa: BLE001 - any other is what is looked for
                ended = error
            else:
                continue
            yield f"{name}({wrong.name}={value!r:.40})", ended


@pytest.mark.parametrize(("name", "function"), list(_functions()))
def test_every_public_function(
    name: str,
    function: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A value of any type in the place of any argument is taken, or refused in one line."""
    monkeypatch.chdir(tmp_path)
    ends = list(_calls(name, function))
    assert [
        f"{call}: {type(end).__name__}: {end}"
        for call, end in ends
        if not isinstance(end, CollsimError) or "\n" in str(end) or not str(end)
    ] == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: collsim.simulate(_mst(), "dgx-h100", 8),
            (
                "cluster: got 'dgx-h100', expected a Cluster, as "
                'collsim.Cluster.load("dgx-h100") gives'
            ),
        ),
        (
            lambda: collsim.verify_schedule("x"),
            (
                "schedule: got 'x', expected a Schedule, as "
                'collsim.build("all_reduce", "ring", 8) gives'
            ),
        ),
        (
            lambda: collsim.plot.plot_timeline(_mst(), _two()),
            (
                f"timeline: got {_mst()!r}, expected a "
                "Timeline, as collsim.simulate(schedule, cluster, 1024) gives"
            ),
        ),
        (
            lambda: collsim.predict("gather", _two(), 8, algorithm=["mst", 5]),  # type: ignore[list-item]
            "algorithm: got ['mst', 5], expected names of some, as in ['ring', 'mst']",
        ),
        (
            lambda: collsim.Cluster.load("dgx-h100", changes=["nic[3]"]),
            (
                "changes: got ['nic[3]'], expected a dict, such as "
                '{"network.bandwidth": "100GB/s"}'
            ),
        ),
        (
            lambda: collsim.predict("gather", _two(), _mst()),
            (
                f"sizes: got {_mst()!r}, expected a "
                "number or text or several of a number or text"
            ),
        ),
        (
            lambda: collsim.simulate([_mst()], _two()),
            (f"jobs[0]: got {_mst()!r}, expected a Job, or a Schedule alone"),
        ),
        (lambda: collsim.read_logs("nope.txt"), "nope.txt: No such file or directory"),
        (
            lambda: collsim.simulate(_mst(), _two(), [8]),
            "size: got [8], expected bytes, or text such as '64MiB'",
        ),
    ],
)
def test_what_is_said(call: Callable[[], object], message: str) -> None:
    """The argument, what was got, what was expected and what makes one."""
    with pytest.raises(CollsimError) as caught:
        call()
    assert str(caught.value) == message


def test_names_and_texts_are_taken() -> None:
    """Where sister functions take a name, a text or one of several, all do."""
    kind = collsim.collective("gather")
    assert collsim.lower_bound("gather", _two(), "1K") == collsim.lower_bound(
        kind, _two(), 1024
    )
    assert collsim.simulate(_mst(), _two(), "1K").nbytes == 1024
    assert collsim.Job(_mst(), [0, 1], "1K").nbytes == 1024
    assert collsim.Builder("gather", 2).collective is kind
    assert collsim.predict(kind, _two(), "1K").rows == (  # type: ignore[arg-type]
        collsim.predict("gather", _two(), 1024).rows
    )
    found = collsim.crossover("broadcast", "mst", "ring", _two(), max_bytes="1M")
    assert found.max_bytes == 2**20
    assert len(collsim.read_logs(LOG).rows) == len(collsim.read_logs([LOG]).rows)


def test_other_exceptions_stay() -> None:
    """What no argument explains is a mistake of ours, and is told whole."""

    @checked
    def broken(ranks: int) -> int:
        return ranks + None  # type: ignore[operator]

    with pytest.raises(TypeError, match="NoneType"):
        broken(1)
    with pytest.raises(InputError, match="ranks: got 'x', expected a whole number"):
        broken("x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        broken()  # type: ignore[call-arg]
