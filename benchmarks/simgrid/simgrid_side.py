"""Run flows on SimGrid: reads cases as JSON from stdin, writes completion times to stdout.

Needs Debian's `python3-simgrid` and nothing of collsim, so that any Python that has the
one need not have the other.

SimGrid's TCP model is switched off where it is more than max-min sharing: no latency in
its links (a flow's alpha is slept by the actor that sends it, which uses no bandwidth), no
factors, no window, no weights. Messages go from host to host by `Comm.sendto`: no mailbox
that could match the wrong ones, no size that is sent eagerly. Every route has two hosts of
its own, and every link is one-way and SHARED.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import simgrid

SETTINGS = (
    "network/model:CM02",
    "network/TCP-gamma:0",
    "network/crosstraffic:0",
    "network/weight-S:0",
    "network/bandwidth-factor:1",
    "network/latency-factor:1",
    "surf/precision:1e-12",
    "maxmin/precision:1e-12",
)


def ends_key(case: dict[str, Any], index: int) -> tuple[int, ...]:
    """Return what names the hosts of a flow: its route, with its index if it has a limit.

    A flow that one lane limits, and no link as a whole, gets a link of its own of that rate:
    `Comm.set_rate` comes too late, as `sendto` starts the message.
    """
    flow = case["flows"][index]
    limited = flow["rate"] < (1 - 1e-9) * min(case["links"][i] for i in flow["links"])
    return (*flow["links"], *([len(case["links"]) + index] if limited else []))


def run(case: dict[str, Any]) -> list[float]:
    """Return the completion time of every flow; in a process of its own."""
    arguments = ["side", "--log=root.thresh:error", *(f"--cfg={one}" for one in SETTINGS)]
    engine = simgrid.Engine(arguments)
    zone = simgrid.NetZone.create_full_zone("zone")
    # SHARED is how links are made: one budget for all flows, here of one direction.
    links = [zone.create_link(f"link{i}", rate).seal() for i, rate in enumerate(case["links"])]
    ends = {}
    for index, flow in enumerate(case["flows"]):
        route = [simgrid.LinkInRoute(links[i]) for i in flow["links"]]
        key = ends_key(case, index)
        if key in ends:
            continue
        if len(key) > len(flow["links"]):
            own = zone.create_link(f"lane{index}", flow["rate"]).seal()
            route.append(simgrid.LinkInRoute(own))
        name = "-".join(map(str, key))
        pair = [zone.create_host(f"{end}{name}", 1e9).seal() for end in ("from", "to")]
        zone.add_route(pair[0].netpoint, pair[1].netpoint, None, None, route, False)
        ends[key] = pair
    zone.seal()
    actors: list[Any] = []
    finish = [0.0] * len(case["flows"])

    def send(index: int) -> None:
        flow = case["flows"][index]
        for other in flow["waits"]:
            actors[other].join()
        if flow["alpha"] > 0:
            simgrid.this_actor.sleep_for(flow["alpha"])
        simgrid.Comm.sendto_async(*ends[ends_key(case, index)], flow["bytes"]).wait()
        finish[index] = simgrid.Engine.clock

    for index in range(len(finish)):
        host = ends[ends_key(case, index)][0]
        actors.append(simgrid.Actor.create(f"flow{index}", host, send, index))
    engine.run()
    return finish


def main() -> None:
    """Run all cases."""
    given = json.load(sys.stdin)
    # SimGrid's engine is one to a process.
    times = []
    for case in given:
        with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
            times.append(pool.submit(run, case).result())
    version = simgrid.simgrid_version
    json.dump({"simgrid": version, "settings": SETTINGS, "times": times}, sys.stdout)


if __name__ == "__main__":
    main()
