"""Pictures of results: PNG, SVG and PDF, readable in grey; loaded when they are first used.

Every picture has a function that draws it. What is drawn is told by functions of their own,
where something is chosen, predicted or counted for it: `winners_map`, `scaling_curves`,
`time_breakdown`, `timeline_lanes` and `link_map`. docs/plots.md shows all pictures.

Examples
--------
>>> import collsim
>>> cluster = collsim.Cluster.ideal(8, "10us", "900GB/s")
>>> timeline = collsim.simulate(collsim.build("all_reduce", "ring", 8), cluster, 2**20)
>>> collsim.plot.plot_timeline(timeline, cluster, algorithm="ring").axes[0].get_xlabel()
'time (µs)'
"""

import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collsim.plot.breakdown import Breakdowns, plot_breakdown, time_breakdown
    from collsim.plot.cluster import plot_cluster
    from collsim.plot.crossover import plot_crossover
    from collsim.plot.fit import plot_fit
    from collsim.plot.lanes import Bars, Cells, timeline_lanes
    from collsim.plot.link_use import LinkMap, link_map
    from collsim.plot.links import plot_links
    from collsim.plot.measured import plot_measured
    from collsim.plot.scaled import Scaling, scaling_curves
    from collsim.plot.scaling import plot_scaling
    from collsim.plot.timeline import plot_timeline
    from collsim.plot.winners import Winners, plot_winners, winners_map

__all__ = [
    "Bars",
    "Breakdowns",
    "Cells",
    "LinkMap",
    "Scaling",
    "Winners",
    "link_map",
    "plot_breakdown",
    "plot_cluster",
    "plot_crossover",
    "plot_fit",
    "plot_links",
    "plot_measured",
    "plot_scaling",
    "plot_timeline",
    "plot_winners",
    "scaling_curves",
    "time_breakdown",
    "timeline_lanes",
    "winners_map",
]

_HOME: Final = {
    "Bars": "lanes",
    "Breakdowns": "breakdown",
    "Cells": "lanes",
    "LinkMap": "link_use",
    "Scaling": "scaled",
    "Winners": "winners",
    "link_map": "link_use",
    "plot_breakdown": "breakdown",
    "plot_cluster": "cluster",
    "plot_crossover": "crossover",
    "plot_fit": "fit",
    "plot_links": "links",
    "plot_measured": "measured",
    "plot_scaling": "scaling",
    "plot_timeline": "timeline",
    "plot_winners": "winners",
    "scaling_curves": "scaled",
    "time_breakdown": "breakdown",
    "timeline_lanes": "lanes",
    "winners_map": "winners",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'collsim.plot' has no attribute {name!r}")
    return getattr(importlib.import_module(f"collsim.plot.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
