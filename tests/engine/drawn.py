"""Random programs on random clusters, as the engine takes them and as the oracles do."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collsim.core.builder import Builder
from collsim.core.cluster import Cluster, Ports
from collsim.core.collective import collective
from collsim.core.in_switch import InSwitch
from collsim.core.link import LinkClass, Links
from collsim.core.schedule import COPY, REDUCE, Schedule
from collsim.engine.simulate import Job, Together

IntArray = NDArray[np.int64]
Number = Callable[[random.Random], float]


@dataclass(frozen=True)
class Routes:
    """Routes that were drawn at random, by ordered pair."""

    drawn: dict[tuple[int, int], list[int]]

    def __call__(self, src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray]:
        """Return the routes of some pairs."""
        routes = [self.drawn[pair] for pair in zip(src.tolist(), dst.tolist(), strict=True)]
        ptr = np.cumsum([0, *(len(route) for route in routes)], dtype=np.int64)
        return ptr, np.array([link for route in routes for link in route], dtype=np.int64)


@dataclass(frozen=True)
class Case:
    """One program on one cluster, as the engine takes it and as the oracles do."""

    schedule: Schedule
    cluster: Cluster
    nbytes: float
    messages: list[Any]


@dataclass(frozen=True)
class Several:
    """Jobs that run together, all their messages in order, and where each job's are."""

    jobs: list[Job]
    cluster: Cluster
    messages: list[Any]
    places: list[list[int]]


@dataclass(frozen=True)
class Listed:
    """A message as the author of a program lists it; a switch is the number after the ranks."""

    src: int
    dst: int
    reduces: bool
    read: list[int]
    written: list[int]
    round: int
    queue: int | None = None
    strict: bool = False


@dataclass(frozen=True)
class Program:
    """What was listed, the builder's schedule of it, and a piece's share of the buffer."""

    schedule: Schedule
    listed: list[Listed]
    share: Fraction


def quarters(rng: random.Random) -> float:
    """Return 0 to 2 in steps of a quarter: sums are exact, and ties are frequent and real."""
    return rng.randrange(9) / 4


def continuous(rng: random.Random) -> float:
    """Return 0, or a number that no other sum of such numbers equals."""
    return rng.choice((0.0, rng.uniform(0.1, 2), rng.uniform(0.1, 2)))


def draw_cluster(rng: random.Random, number: Number) -> Cluster:
    """Return random links, lanes, ports, routes, and switches that take part."""
    ranks, count = rng.randint(1, 5), rng.randint(1, 9)
    alpha = [number(rng) for _ in range(count)]
    kind = LinkClass("drawn", 1.0, 1.0)
    ports = [
        Ports(number(rng), rng.choice((1, 1, 2, 3))) if rng.random() < 0.6 else None
        for _ in range(2)
    ]
    drawn = {
        (s, d): rng.sample(range(count), rng.randint(1, min(4, count)))
        for s in range(ranks)
        for d in range(ranks)
        if s != d
    }
    late, memory, switches = (rng.random() < part for part in (0.3, 0.3, 0.3))
    node = [0] + [rng.randrange(2) if switches else 0 for _ in range(ranks - 1)]

    def some_links() -> IntArray:
        return np.array([rng.randrange(count) for _ in range(ranks)])

    def part() -> float:
        return 0.5 if number is quarters else rng.uniform(0.3, 0.9)

    return Cluster(
        name="drawn",
        ranks=ranks,
        links=Links(
            names=tuple(f"link{i}" for i in range(count)),
            classes=(kind,),
            kind=np.zeros(count, dtype=np.int64),
            alpha=np.array(alpha),
            beta=np.array([number(rng) for _ in range(count)]),
            busy=np.array([a * rng.choice((0.0, part(), 1.0)) for a in alpha]),
            lanes=np.array([rng.choice((0, 1, 1, 1, 2, 3)) for _ in range(count)]),
        ),
        router=Routes(drawn),
        least_alpha=0.0,
        least_busy=0.0,
        node=np.array(node, dtype=np.int64),
        egress=ports[0],
        ingress=ports[1],
        gamma=rng.choice((0.0, number(rng))),
        launch=rng.choice((0.0, number(rng))),
        delay=np.array([number(rng) for _ in range(ranks)]) if late else None,
        local=some_links() if memory else None,
        in_switch=InSwitch(some_links(), some_links(), rng.choice((1.0, part())))
        if switches
        else None,
    )


def draw_program(
    rng: random.Random, ranks: int, node: list[int] | None, exact: bool
) -> Program:
    """Return a random program; with the `node` of each rank it may use the switches too."""
    # Shares of the buffer are binary fractions where times are to be exact.
    kinds = ["all_reduce"] * 3
    if not exact or ranks in (1, 2, 4):
        kinds += ["all_gather", "reduce_scatter", "all_to_all"]
    kind = collective(rng.choice(kinds))
    parts = rng.choice((1, 2, 4))
    b = Builder(kind, ranks, parts=parts, node=node, multicast=node is not None)
    places = [*range(b.pieces.size), *b.scratch(rng.randint(0, 2)).tolist()]
    share = Fraction(1, parts * (1 if kind.split == 0 else ranks))
    queues = rng.random() < 0.3
    listed: list[Listed] = []
    left, round_ = rng.randint(0, 25), -1
    while left > 0:
        if rng.random() < 0.8:
            b.next_round()
            round_ += 1
        many = min(left, rng.choice((1, 1, 1, 2, 3)))
        left -= many
        ends = [_ends(rng, ranks, node) for _ in range(many)]
        reduces = rng.random() < 0.5
        if rng.random() < 0.1:
            # Two rounds of these messages at once, one piece each, which keeps its place.
            rows = [[rng.randrange(b.pieces.size) for _ in ends] for _ in range(2)]
            b.block(
                REDUCE if reduces else COPY,
                [[[src for src, _ in ends]]],
                [[[dst for _, dst in ends]]],
                [[row] for row in rows],
            )
            listed += [
                Listed(src, dst, reduces, [piece], [piece], round_ + 1 + i)
                for i, row in enumerate(rows)
                for (src, dst), piece in zip(ends, row, strict=True)
            ]
            round_ += 2
            continue
        # Messages listed before the first round is begun are of the first one.
        round_ = max(round_, 0)
        width = rng.randint(1, min(len(places), 6)) if rng.random() < 0.95 else 0
        read = [rng.sample(places, width) for _ in ends]
        written = read if rng.random() < 0.3 else [rng.sample(places, width) for _ in ends]
        turn = [rng.randrange(2) for _ in ends] if queues and rng.random() < 0.6 else None
        strict = turn is not None and rng.random() < 0.5
        (b.reduce if reduces else b.copy)(
            [src for src, _ in ends],
            [dst for _, dst in ends],
            np.array(read, dtype=np.int64),
            into=None if written is read else np.array(written, dtype=np.int64),
            channel=rng.randrange(3),
            turn=turn,
            strict=strict,
        )
        for i, (src, dst) in enumerate(ends):
            queue = None if turn is None else turn[i]
            listed.append(Listed(src, dst, reduces, read[i], written[i], round_, queue, strict))
    return Program(b.finish(), listed, share)


def listed(schedule: Schedule) -> Program:
    """Return a schedule as a program; what its author said of turns is not known any more."""
    ends = zip(schedule.src.tolist(), schedule.dst.tolist(), strict=True)
    found = [
        Listed(
            src,
            dst,
            bool(schedule.kind[o] == REDUCE),
            schedule.carried(o).tolist(),
            schedule.written(o).tolist(),
            int(schedule.round[o]),
        )
        for o, (src, dst) in enumerate(ends)
    ]
    return Program(schedule, found, Fraction(schedule.piece_share))


def _ends(rng: random.Random, ranks: int, node: list[int] | None) -> tuple[int, int]:
    """Return sender and receiver: two ranks, one of them twice, or a rank and its switch."""
    src, dst = rng.randrange(ranks), rng.randrange(ranks)
    if node is not None and rng.random() < 0.5:
        dst = ranks + node[src]
        return (dst, src) if rng.random() < 0.5 else (src, dst)
    return src, dst


def ways(oracle: ModuleType, cluster: Cluster, src: int, dst: int) -> tuple[Any, ...]:
    """Return what a message holds, read off the cluster link by link."""
    links, inside = cluster.links, cluster.in_switch
    if inside is not None and dst >= cluster.ranks:
        route = [int(inside.up[src])]
    elif inside is not None and src >= cluster.ranks:
        route = [int(inside.down[dst])]
    elif src != dst:
        route = cluster.router(np.array([src]), np.array([dst]))[1].tolist()
    else:
        route = [] if cluster.local is None else [int(cluster.local[src])]
    found = [
        oracle.Way(
            ("link", i),
            *(Fraction(float(column[i])) for column in (links.alpha, links.busy, links.beta)),
            int(links.lanes[i]),
        )
        for i in route
    ]
    if src == dst:
        return tuple(found)
    for name, port, rank in (("out", cluster.egress, src), ("in", cluster.ingress, dst)):
        if port is not None and rank < cluster.ranks:
            zero = Fraction(0)
            found.append(oracle.Way((name, rank), zero, zero, Fraction(port.beta), port.lanes))
    return tuple(found)


def entered(cluster: Cluster, *ranks: int) -> Fraction:
    """Return when the last of some ranks has entered, from the launch on; no switch is late."""
    if cluster.delay is None:
        return Fraction(0)
    late = [Fraction(float(cluster.delay[rank])) for rank in ranks if rank < cluster.ranks]
    return max(late, default=Fraction(0))


def messages_of(
    oracle: ModuleType,
    program: Program,
    cluster: Cluster,
    nbytes: float,
    parties: Sequence[int],
    job: int = 0,
    start: float = 0.0,
) -> list[Any]:
    """Return a program as the oracles take it, on the ranks and switches of a cluster."""
    inside = cluster.in_switch
    found = []
    for one in program.listed:
        src, dst = parties[one.src], parties[one.dst]
        size = Fraction(nbytes) * program.share * len(one.read)
        switch = inside is not None and max(src, dst) >= cluster.ranks
        found.append(
            oracle.Message(
                src=src,
                dst=dst,
                size=size,
                passing=size / Fraction(inside.efficiency) if switch else size,
                reduces=one.reduces,
                adds=one.reduces and dst < cluster.ranks,
                reads=frozenset((src, (job, place)) for place in one.read),
                writes=frozenset((dst, (job, place)) for place in one.written),
                ways=ways(oracle, cluster, src, dst),
                entered=Fraction(start) + entered(cluster, src, dst),
                queue=None if one.queue is None else (job, one.queue),
                strict=one.strict,
            )
        )
    return found


def draw(oracle: ModuleType, seed: int, number: Number) -> Case:
    """Return a random program on a random cluster."""
    rng = random.Random(seed)
    cluster = draw_cluster(rng, number)
    nbytes = 4 * number(rng) if rng.random() < 0.9 else 0.0
    node = cluster.node.tolist() if cluster.in_switch is not None else None
    program = draw_program(rng, cluster.ranks, node, number is quarters)
    parties = range(cluster.ranks + cluster.nodes)
    messages = messages_of(oracle, program, cluster, nbytes, parties)
    return Case(program.schedule, cluster, nbytes, messages)


def draw_several(oracle: ModuleType, seed: int, number: Number) -> Several:
    """Return two or three random jobs on some ranks each of a random cluster."""
    rng = random.Random(seed)
    cluster = draw_cluster(rng, number)
    jobs, listed = [], []
    for job in range(rng.randint(2, 3)):
        ranks = rng.sample(range(cluster.ranks), rng.randint(1, cluster.ranks))
        parties, node = ranks, None
        if cluster.in_switch is not None:
            # Nodes of a job are numbered from 0, in the order of those of the cluster.
            there = sorted({int(cluster.node[rank]) for rank in ranks})
            node = [there.index(int(cluster.node[rank])) for rank in ranks]
            parties = [*ranks, *(cluster.ranks + one for one in there)]
        program = draw_program(rng, len(ranks), node, number is quarters)
        nbytes, start = 4 * number(rng), rng.choice((0.0, 2 * number(rng)))
        jobs.append(Job(program.schedule, ranks, nbytes, start))
        own = messages_of(oracle, program, cluster, nbytes, parties, job, start)
        rounds = [one.round for one in program.listed]
        listed += [(rounds[i], job, i, message) for i, message in enumerate(own)]
    # At equal times the first rounds of all jobs go before the second ones.
    listed.sort(key=lambda one: one[:3])
    places = [
        [at for at, (_, of, *_) in enumerate(listed) if of == job] for job in range(len(jobs))
    ]
    return Several(jobs, cluster, [message for *_, message in listed], places)


def on_one_clock(several: Several, together: Together) -> list[list[float]]:
    """Return start and finish of all messages of several jobs, as the engine found them."""
    found = [[0.0] * len(several.messages) for _ in range(2)]
    for job, timeline, places in zip(
        several.jobs, together.timelines, several.places, strict=True
    ):
        for column, times in zip(found, (timeline.start, timeline.finish), strict=True):
            for at, time in zip(places, times.tolist(), strict=True):
                column[at] = job.start + time
    return found
