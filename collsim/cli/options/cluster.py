"""Options that choose a cluster, change it, and say what is wrong with it."""

from typing import Final

import click

from collsim.cli.clusters.choice import ClusterChoice
from collsim.cli.options.group import Decorator, chained, gathered
from collsim.cli.options.types import BANDWIDTH, DELAY, GAMMA, LEFT, ORDER, TIME, Whole

__all__ = [
    "NETWORK_OPTIONS",
    "cluster_option",
    "cluster_options",
    "gpus_option",
    "what_if_options",
]

_WHAT_IF: Final[tuple[Decorator, ...]] = (
    click.option("--order", type=ORDER, help="The GPU of each rank.  [default: inside nodes]"),
    click.option(
        "--set",
        "changes",
        metavar="KEY=VALUE",
        multiple=True,
        help="Change the cluster's file: network.bandwidth=100GB/s; repeatable.",
    ),
    click.option(
        "--degrade",
        type=LEFT,
        multiple=True,
        help="So much bandwidth is left: nic[3]=0.25, or nic[1:3] of node 1; repeatable.",
    ),
    click.option(
        "--fail", metavar="PART", multiple=True, help="A broken part: nic[3]; repeatable."
    ),
    click.option(
        "--delay",
        type=DELAY,
        multiple=True,
        help="A rank enters late: rank[3]=500us; repeatable.",
    ),
)
_SHARING: Final = click.option(
    "--sharing",
    type=click.Choice(["fifo", "fair"]),
    help="How messages share a link.  [default: the cluster's]",
)
# For commands that name their cluster in another way.
what_if_options: Final = chained(_SHARING, *_WHAT_IF)

cluster_option: Final = click.option(
    "-c",
    "--cluster",
    metavar="NAME|FILE",
    help="A preset, or a file: .toml, or with a slash.  [default: textbook-h100, ideal and "
    "in round numbers: 900GB/s each way, twice what the NVLink of an H100 carries]",
)
gpus_option: Final = click.option(
    "--gpus-per-node", type=Whole(), help="So many GPUs in each node."
)
# What else a cluster is made by, whatever its size.
NETWORK_OPTIONS: Final[tuple[Decorator, ...]] = (
    click.option(
        "--alpha",
        type=TIME,
        help="Time to start a message; with --bandwidth, an ideal network of --ranks.",
    ),
    click.option(
        "--bandwidth", type=BANDWIDTH, help="Of each link of it, one direction, e.g. 50GB/s."
    ),
    click.option(
        "--alpha-busy",
        type=TIME,
        help="How long of its alpha a message holds ports, on all links but those whose "
        "alpha_busy --set gives; 0us: latency that overlaps.  [default: the cluster's]",
    ),
    click.option(
        "--gamma",
        type=GAMMA,
        help="Time per byte reduced, e.g. 0.01ns, or that rate; of any cluster.",
    ),
    click.option(
        "--launch",
        type=TIME,
        help="Time that every collective pays once, e.g. 5us; of any cluster.",
    ),
    click.option("--profile", metavar="NAME|FILE", help="Put in numbers from `calibrate fit`."),
    _SHARING,
    *_WHAT_IF,
)

cluster_options: Final = gathered(
    "cluster",
    ClusterChoice,
    cluster_option,
    click.option("--nodes", type=Whole(), help="So many nodes of it."),
    gpus_option,
    click.option(
        "--ranks", type=Whole(name="P"), help="So many GPUs of one node.  [default: all of it]"
    ),
    *NETWORK_OPTIONS,
)
