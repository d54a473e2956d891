"""collsim: how long a collective takes on your GPUs, and why.

The public names are loaded when they are first used, so that ``import collsim`` costs
nothing and a command loads only what it needs.

Examples
--------
>>> import collsim
>>> cluster = collsim.Cluster.ideal(ranks=8, alpha="10us", bandwidth="900GB/s")
>>> row = collsim.predict("all_reduce", cluster, 2**30).rows[0]
>>> row.algorithm, round(row.time_us, 1)
('halving_doubling', 2147.8)
"""

import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collsim import nccl, plot
    from collsim.algorithms import algorithm_names, build
    from collsim.calibrate.check import check
    from collsim.calibrate.fit import fit
    from collsim.choose.crossover import crossover
    from collsim.choose.explain import explain
    from collsim.choose.policy import choose
    from collsim.choose.predict import predict
    from collsim.choose.verify import verify
    from collsim.core.builder import Builder
    from collsim.core.cluster import Cluster
    from collsim.core.collective import COLLECTIVES, collective
    from collsim.core.schedule import Schedule
    from collsim.engine.simulate import Job, simulate
    from collsim.engine.verdict import verify_schedule
    from collsim.interop.chrome_trace.write import write_trace
    from collsim.interop.schedule_file import load_schedule, save_schedule
    from collsim.plot.crossover import plot_crossover
    from collsim.report.page.write import write_report
    from collsim.sweeps.sweep import sweep
    from collsim.topology import degrade, delay, fail, groups, reorder
    from collsim.version import __version__
    from collsim.workload.estimate import estimate

__all__ = [
    "COLLECTIVES",
    "Builder",
    "Cluster",
    "Job",
    "Schedule",
    "__version__",
    "algorithm_names",
    "build",
    "check",
    "choose",
    "collective",
    "crossover",
    "degrade",
    "delay",
    "estimate",
    "explain",
    "fail",
    "fit",
    "groups",
    "load_schedule",
    "nccl",
    "plot",
    "plot_crossover",
    "predict",
    "reorder",
    "save_schedule",
    "simulate",
    "sweep",
    "verify",
    "verify_schedule",
    "write_report",
    "write_trace",
]

_HOME: Final = {
    "__version__": "version",
    "COLLECTIVES": "core.collective",
    "Builder": "core.builder",
    "Cluster": "core.cluster",
    "Job": "engine.simulate",
    "Schedule": "core.schedule",
    "algorithm_names": "algorithms",
    "build": "algorithms",
    "check": "calibrate.check",
    "collective": "core.collective",
    "crossover": "choose.crossover",
    "degrade": "topology",
    "delay": "topology",
    "estimate": "workload.estimate",
    "explain": "choose.explain",
    "fail": "topology",
    "fit": "calibrate.fit",
    "groups": "topology",
    "load_schedule": "interop.schedule_file",
    "plot_crossover": "plot.crossover",
    "predict": "choose.predict",
    "reorder": "topology",
    "save_schedule": "interop.schedule_file",
    "simulate": "engine.simulate",
    "sweep": "sweeps.sweep",
    "verify": "choose.verify",
    "verify_schedule": "engine.verdict",
    "write_report": "report.page.write",
    "write_trace": "interop.chrome_trace.write",
}


def __getattr__(name: str) -> object:
    if name in ("choose", "nccl", "plot"):
        # Rooms of those names; that of choose can be called, see there.
        return importlib.import_module(f"collsim.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'collsim' has no attribute {name!r}")
    return getattr(importlib.import_module(f"collsim.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
