"""Two nodes joined by a link of a known rate: what is fitted, and what it predicts."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from collsim.calibrate.point_to_point.against import compare
from collsim.calibrate.point_to_point.fit import fit_point_to_point
from collsim.calibrate.point_to_point.nodes import of_rows
from collsim.calibrate.point_to_point.nodes_cluster import cluster_of
from collsim.core.measurements_file import read_rows

Rows = list[dict[str, Any]]

RATE = 400e6 / 8  # bytes per second
# Of Ethernet, IP and TCP, per packet; the rest of a packet of 9,000 bytes carries data.
OVERHEAD = 1 - (14 + 20 + 32) / 9014


def ip(*words: str) -> None:
    """Run a program that changes the network, or skip where that is not allowed."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=20)
    if done.returncode:
        pytest.skip(
            f"needs network namespaces and tc: {' '.join(words)}: {done.stderr.strip()}"
        )


@pytest.fixture
def spaces() -> Iterator[tuple[str, str]]:
    """Return two network namespaces with a rate-limited link between them."""
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("tc"):
        pytest.skip("needs network namespaces and tc: root, iproute2")
    tag = secrets.token_hex(3)
    names = (f"cs{tag}a", f"cs{tag}b")
    with ExitStack() as stack:
        for name in names:
            ip("ip", "netns", "add", name)
            stack.callback(
                subprocess.run, ["ip", "netns", "del", name], check=False, timeout=20
            )
        ip("ip", "link", "add", f"v{tag}a", "mtu", "9000", "netns", names[0], "type", "veth",
           "peer", "name", f"v{tag}b", "mtu", "9000", "netns", names[1])  # fmt: skip
        for number, name in enumerate(names, 1):
            link = f"v{tag}{'ab'[number - 1]}"
            ip("ip", "-n", name, "addr", "add", f"10.77.3.{number}/24", "dev", link)
            ip("ip", "-n", name, "link", "set", link, "up")
            ip("ip", "-n", name, "link", "set", "lo", "up")
            ip("tc", "-n", name, "qdisc", "add", "dev", link, "root", "tbf",
               "rate", "400mbit", "burst", "16kb", "latency", "400ms")  # fmt: skip
        yield names


def measured(spaces: tuple[str, str], path: Path, local: int, *words: str) -> Rows:
    """Measure on two nodes, whose ranks are started one by one as launchers do."""
    command = [sys.executable, "-m", "collsim", "calibrate", "measure", *words, "--timeout",
        "30s", "-o", str(path)]  # fmt: skip
    ranks = []
    try:
        for rank in range(2 * local):
            space = spaces[rank // local]
            environment = os.environ | {
                "RANK": str(rank), "WORLD_SIZE": str(2 * local),
                "LOCAL_RANK": str(rank % local), "LOCAL_WORLD_SIZE": str(local),
                "MASTER_ADDR": "10.77.3.1", "MASTER_PORT": "29520",
                "GLOO_SOCKET_IFNAME": f"v{space[2:]}",
            }  # fmt: skip
            ranks.append(
                subprocess.Popen(
                    ["ip", "netns", "exec", space, *command], env=environment,
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                )
            )  # fmt: skip
        said = [rank.communicate(timeout=90)[1] for rank in ranks]
    finally:
        for rank in ranks:
            if rank.poll() is None:
                rank.kill()
                rank.communicate()
    assert [rank.returncode for rank in ranks] == [0] * len(ranks), said
    return read_rows(path)


@pytest.mark.slow
def test_the_fitted_rate_is_that_of_the_link(
    torch: None, spaces: tuple[str, str], tmp_path: Path
) -> None:
    """Beta of two nodes of one rank is within 5 % of the set rate."""
    sweep = ("ping_pong", "-b", "1M", "-e", "4M", "-f", "2", "-n", "3", "-w", "1")
    rows = measured(spaces, tmp_path / "m.jsonl", 1, *sweep)
    assert [row["nodes"] for row in rows] == [2] * 3
    found = fit_point_to_point(rows)
    assert 1 / found.beta.value == pytest.approx(RATE * OVERHEAD, rel=0.05)
    assert 1 / found.beta.value == pytest.approx(RATE, rel=0.05)


@pytest.mark.slow
def test_schedules_over_nodes_are_predicted_from_messages(
    torch: None, spaces: tuple[str, str], tmp_path: Path
) -> None:
    """Two nodes of two ranks, whose messages meet on the link; where its bytes rule.

    One retry: the ranks share their cores with whatever else the machine does.
    """
    sweep = ("-b", "64K", "-e", "1M", "-f", "4", "-n", "5", "-w", "1")
    words = ("ping_pong", "exchange", "shift", "all_reduce", "broadcast", "--algorithm", "ring",
        "--algorithm", "hierarchical", "--algorithm", "mst", "--realtime", *sweep)  # fmt: skip
    for attempt in range(2):
        rows = measured(spaces, tmp_path / f"{attempt}.jsonl", 2, *words)
        found, nodes = of_rows(rows)
        assert nodes is not None
        assert (nodes.nodes, nodes.ranks_per_node) == (2, 2)
        pairs = compare(rows, cluster_of(found, nodes, 4, "two nodes"))
        ratios = {(p.row["collective"], p.row["algorithm"]): p.ratio for p in pairs
            if p.row["size"] == 2**20}  # fmt: skip
        assert len(ratios) == 6
        if nodes.nics == 1 and all(0.75 < ratio < 1.33 for ratio in ratios.values()):
            return
    assert (nodes.nics, ratios) == (1, "from 0.75 to 1.33")
