"""Shapes of clusters: one file each, giving links, routes and cuts."""

from collsim.topology._compose import first_ranks
from collsim.topology._faults import degrade, delay, fail
from collsim.topology._listed import listed
from collsim.topology._node import with_local
from collsim.topology._order import groups, reorder
from collsim.topology._shape import REQUIRED, Key, NetworkShape, NodeShape

__all__ = [
    "REQUIRED",
    "Key",
    "NetworkShape",
    "NodeShape",
    "degrade",
    "delay",
    "fail",
    "first_ranks",
    "groups",
    "listed",
    "reorder",
    "with_local",
]
