"""How long each collective of a step takes: in its group alone, and in all groups at once."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms import build
from collsim.choose.predict import predict
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.core.schedule import Schedule
from collsim.core.workload import GROUPS, Workload
from collsim.engine.lower import check_agents, routes_of
from collsim.engine.simulate import Job, simulate
from collsim.errors import InputError
from collsim.nccl.families import FAMILIES
from collsim.topology import subset
from collsim.workload.clock import Cost
from collsim.workload.layout import Groups, Layout
from collsim.workload.parts import Call

__all__ = ["Timed", "Timer", "of_nccl"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Timed:
    """A collective, timed.

    Parameters
    ----------
    call : Call
        What.
    group, groups : int
        Ranks of a group, and groups that run it at once.
    algorithm : str
        What runs it.
    chunks, channels : int
        How.
    alone : float
        Seconds in the slowest group with the cluster to itself.
    cost : Cost
        Seconds until the last group is done, all at once, and the load of links and ports.
    busbw : float
        Bytes per second, as nccl-tests counts them, at that time.
    """

    call: Call
    group: int
    groups: int
    algorithm: str
    chunks: int
    channels: int
    alone: float
    cost: Cost
    busbw: float


def of_nccl(work: Workload) -> Workload:
    """Return a workload whose ``"auto"``, also where none is named, is ``"nccl"``.

    Examples
    --------
    >>> from collsim.config.workload import load
    >>> work = of_nccl(load("examples/workloads/gpt_1b_ddp.toml"))
    >>> work.algorithms["data"]
    'nccl'
    """
    usual = dict.fromkeys((*GROUPS, "pipeline"), "nccl")
    named = {k: "nccl" if name == "auto" else name for k, name in work.algorithms.items()}
    return replace(work, algorithms=usual | named)


@dataclass(frozen=True)
class _How:
    algorithm: str
    chunks: int
    channels: int


class Timer:
    """Times collectives on one cluster, each once.

    Parameters
    ----------
    cluster : Cluster
        Where.
    layout : Layout
        Its groups.
    algorithms : dict of str
        Algorithm per kind of group, or of one collective of it, as in
        ``"data.all_gather"``; ``"auto"`` and ``"nccl"`` choose for each size, in the first
        group and as though it were alone.
    calls : iterable of Call
        What will be timed.
    """

    def __init__(
        self,
        cluster: Cluster,
        layout: Layout,
        algorithms: dict[str, str],
        calls: Iterable[Call],
    ) -> None:
        self.cluster, self.layout, self.algorithms = cluster, layout, algorithms
        self._timed: dict[tuple[str, str, int, float], Timed] = {}
        # All sizes of a collective in a group are asked for at once: what is built for one
        # of them serves all.
        sizes: dict[tuple[str, str, int], dict[float, None]] = {}
        for call in calls:
            sizes.setdefault(_place(call), {})[call.nbytes] = None
        self._sizes = {place: list(found) for place, found in sizes.items()}
        self._chosen: dict[tuple[str, str, int], dict[float, _How]] = {}

    def __call__(self, call: Call) -> Timed:
        """Return a collective, timed."""
        key = *_place(call), call.nbytes
        if key not in self._timed:
            self._timed[key] = self._time(call)
        return self._timed[key]

    def _first(self, call: Call, part: Cluster, algorithm: str) -> _How:
        """Return how a collective is run in the first group."""
        place = _place(call)
        if place not in self._chosen:
            asked = self._sizes.get(place, [])
            self._chosen[place] = dict(
                zip(asked, _hows(call, part, asked, algorithm), strict=True)
            )
        found = self._chosen[place]
        if call.nbytes not in found:
            found[call.nbytes] = _hows(call, part, [call.nbytes], algorithm)[0]
        return found[call.nbytes]

    def _groups(self, call: Call) -> Groups:
        if call.kind == "pipeline":
            return self.layout.sends[call.border]
        return self.layout.groups[call.kind]

    def _time(self, call: Call) -> Timed:
        groups = self._groups(call)
        usual = self.algorithms.get(call.kind, "auto")
        name = self.algorithms.get(f"{call.kind}.{call.collective}", usual)
        how, schedules = self._schedules(call, groups, name)
        jobs = [
            Job(schedule, group, call.nbytes)
            for schedule, group in zip(schedules, groups, strict=True)
        ]
        together = simulate(jobs, self.cluster)
        slowest = int(np.argmax(together.ends))
        alone = simulate([jobs[slowest]], self.cluster).makespan
        seconds = together.makespan
        if math.isclose(alone, seconds, rel_tol=1e-9):
            alone = seconds
        load = self._load(jobs) / seconds if seconds > 0 else self._load(jobs) * 0.0
        kind, size = collective(call.collective), len(groups[0])
        return Timed(
            call=call,
            group=size,
            groups=len(groups),
            algorithm=how.algorithm,
            chunks=how.chunks,
            channels=how.channels,
            alone=alone,
            cost=Cost(seconds, load),
            busbw=call.nbytes / seconds * kind.bus_factor(size) if seconds > 0 else 0.0,
        )

    def _schedules(
        self, call: Call, groups: Groups, algorithm: str
    ) -> tuple[_How, list[Schedule]]:
        """Return how a collective is run, and its schedule in every group.

        Groups that lie alike on nodes share one; where the first group's algorithm can't
        run in another one, that one has its own.
        """
        hows: dict[tuple[int, ...], _How] = {}
        made: dict[tuple[int, ...], Schedule] = {}
        found = []
        for group in groups:
            node = self.cluster.node[list(group)]
            alike = tuple(np.unique(node, return_inverse=True)[1].tolist())
            if alike not in made:
                part = subset(self.cluster, group)
                usual = next(iter(hows.values()), None)
                hows[alike], made[alike] = self._made(call, part, algorithm, usual)
            found.append(made[alike])
        return next(iter(hows.values())), found

    def _made(
        self, call: Call, part: Cluster, algorithm: str, usual: _How | None
    ) -> tuple[_How, Schedule]:
        if usual is None:
            how = self._first(call, part, algorithm)
            return how, _built(call, part, how)
        try:
            return usual, _built(call, part, usual)
        except InputError:
            if algorithm not in FAMILIES:
                raise
        (how,) = _hows(call, part, [call.nbytes], algorithm)
        return how, _built(call, part, how)

    def _load(self, jobs: list[Job]) -> FloatArray:
        """Return the seconds for which each link, then each port out and in, is filled."""
        cluster, links = self.cluster, self.cluster.links
        base, ranks = len(links), cluster.ranks
        load = np.zeros(base + 2 * ranks)
        for job in jobs:
            place = np.asarray(job.ranks)
            agents = check_agents(job.schedule, cluster, place)
            party = np.concatenate([place, ranks + agents])
            src, dst = party[job.schedule.src], party[job.schedule.dst]
            nbytes = job.schedule.fraction * float(job.nbytes)
            ptr, link = routes_of(cluster, src, dst)
            crossing = np.repeat(nbytes, np.diff(ptr))
            lanes = links.lanes[link]
            free = lanes == 0
            seconds = np.where(free, 0.0, crossing * links.beta[link] / np.maximum(lanes, 1))
            np.add.at(load, link, seconds)
            away = src != dst
            for port, end, first in (
                (cluster.egress, src, base), (cluster.ingress, dst, base + ranks)
            ):  # fmt: skip
                if port is not None:
                    some = away & (end < ranks)
                    each = nbytes[some] * port.beta / max(port.lanes, 1)
                    np.add.at(load, first + end[some], each)
        return load


def _built(call: Call, part: Cluster, how: _How) -> Schedule:
    return build(
        call.collective, how.algorithm, part.ranks, 0, how.chunks, node=part.node,
        channels=how.channels, multicast=part.setting.multicast, rings=part.setting.rings,
    )  # fmt: skip


def _place(call: Call) -> tuple[str, str, int]:
    return call.kind, call.collective, call.border


def _hows(call: Call, part: Cluster, sizes: list[float], algorithm: str) -> list[_How]:
    """Return how a collective of some sizes is run on a cluster."""
    rows = predict(call.collective, part, sizes, algorithm).rows
    return [_How(row.algorithm, row.chunks, row.channels) for row in rows]
