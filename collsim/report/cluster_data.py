"""What is told of a cluster: the keys of ``show cluster --json``, and what stands in each."""

from typing import NotRequired, TypedDict

from collsim.report.inventory import LinkValues

__all__ = [
    "ClusterData",
    "CutRow",
    "FaultRow",
    "LinkRow",
    "PortRow",
    "PortRows",
    "ProfileRow",
    "RouteLink",
    "RouteRow",
]


class LinkRow(LinkValues):
    """A class of links and how many there are.

    `lanes` is None where they limit nothing, or one entry stands for a link of every pair.
    """

    links: int
    lanes: int | None


class PortRow(TypedDict):
    """The limit of what a GPU sends or receives: GB/s, and messages at a time."""

    bandwidth: float
    lanes: int


class PortRows(TypedDict):
    """Both limits; None where there is none."""

    egress: PortRow | None
    ingress: PortRow | None


class FaultRow(TypedDict):
    """A link, and the part of its bandwidth that is left: 0 for one that failed."""

    name: str
    left: float


# One of its keys is a word of Python.
CutRow = TypedDict(
    "CutRow",
    {
        "cut": str,
        "groups": int,
        "out": float,
        "in": float,
        "least_out": NotRequired[float],
        "least_in": NotRequired[float],
    },
)
"""A cut: GB/s of its strongest group, and of its weakest where links are hurt."""


class ProfileRow(TypedDict):
    """A profile that ships, and what it was fitted to."""

    profile: str
    collectives: list[str]
    ranks: list[int]
    nodes: list[int]
    library: str | None


class RouteLink(TypedDict):
    """A link of a route: microseconds and GB/s."""

    name: str
    link: str
    alpha_us: float
    alpha_busy_us: float
    bandwidth: float


class RouteRow(TypedDict):
    """A route: of no link from a rank to itself."""

    src: int
    dst: int
    alpha_us: float
    bandwidth: float | None
    links: list[RouteLink]


class ClusterData(TypedDict):
    """All that :func:`collsim.report.cluster_view.cluster_data` tells."""

    cluster: str
    shape: str
    ranks: int
    nodes: list[list[int]]
    multicast: bool
    multicast_efficiency: float | None
    sharing: str
    gamma_ns_per_byte: float
    launch_us: float
    rows: list[LinkRow]
    ports: PortRows
    cuts: list[CutRow]
    faults: list[FaultRow]
    profiles: list[ProfileRow]
    routes: list[RouteRow]
