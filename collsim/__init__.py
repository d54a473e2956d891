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

# As of typing, which takes longer to load than all of this; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Final

    from collsim import nccl, plot
    from collsim.algorithms import algorithm_names, build
    from collsim.calibrate.check import check
    from collsim.calibrate.fit import fit
    from collsim.calibrate.importers import read_logs
    from collsim.calibrate.nccl_model import fitted_times
    from collsim.choose.crossover import crossover
    from collsim.choose.explain import explain
    from collsim.choose.policy import choose
    from collsim.choose.predict import predict
    from collsim.choose.verify import verify
    from collsim.config.fitted import own_cluster, with_profile
    from collsim.config.presets import preset_names
    from collsim.config.profile_file import load_profile, save_profile
    from collsim.core.builder import Builder
    from collsim.core.cluster import Cluster
    from collsim.core.collective import COLLECTIVES, collective
    from collsim.core.profile import Profile
    from collsim.core.schedule import Schedule
    from collsim.engine.bound import lower_bound
    from collsim.engine.simulate import Job, simulate
    from collsim.engine.verdict import verify_schedule
    from collsim.errors import CollsimError
    from collsim.interop.chrome_trace.write import write_trace
    from collsim.interop.schedule_file import load_schedule, save_schedule
    from collsim.interop.step_trace import write_step_trace
    from collsim.interop.topology_file import import_topology
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
    "CollsimError",
    "Job",
    "Profile",
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
    "fitted_times",
    "groups",
    "import_topology",
    "load_profile",
    "load_schedule",
    "lower_bound",
    "nccl",
    "own_cluster",
    "plot",
    "plot_crossover",
    "predict",
    "preset_names",
    "read_logs",
    "reorder",
    "save_profile",
    "save_schedule",
    "simulate",
    "sweep",
    "verify",
    "verify_schedule",
    "with_profile",
    "write_report",
    "write_step_trace",
    "write_trace",
]

_HOME: "Final" = {
    "COLLECTIVES": "core.collective",
    "Builder": "core.builder",
    "Cluster": "core.cluster",
    "CollsimError": "errors",
    "Job": "engine.simulate",
    "Profile": "core.profile",
    "Schedule": "core.schedule",
    "__version__": "version",
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
    "fitted_times": "calibrate.nccl_model",
    "groups": "topology",
    "import_topology": "interop.topology_file",
    "load_profile": "config.profile_file",
    "load_schedule": "interop.schedule_file",
    "lower_bound": "engine.bound",
    "own_cluster": "config.fitted",
    "plot_crossover": "plot.crossover",
    "predict": "choose.predict",
    "preset_names": "config.presets",
    "read_logs": "calibrate.importers",
    "reorder": "topology",
    "save_profile": "config.profile_file",
    "save_schedule": "interop.schedule_file",
    "simulate": "engine.simulate",
    "sweep": "sweeps.sweep",
    "verify": "choose.verify",
    "verify_schedule": "engine.verdict",
    "with_profile": "config.fitted",
    "write_report": "report.page.write",
    "write_step_trace": "interop.step_trace",
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
