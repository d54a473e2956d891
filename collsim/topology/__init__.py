"""Shapes of clusters: one file each, giving links, routes and cuts."""

from collsim.topology._components import find_links
from collsim.topology._compose import first_ranks
from collsim.topology._faults import degrade, delay, fail, hurt
from collsim.topology._limits import cut_rates
from collsim.topology._listed import listed
from collsim.topology._node import with_local
from collsim.topology._order import groups, reorder
from collsim.topology._shape import REQUIRED, Key, NetworkShape, NodeShape
from collsim.topology._subset import subset

__all__ = [
    "REQUIRED",
    "Key",
    "NetworkShape",
    "NodeShape",
    "cut_rates",
    "degrade",
    "delay",
    "fail",
    "find_links",
    "first_ranks",
    "groups",
    "hurt",
    "listed",
    "reorder",
    "subset",
    "with_local",
]
