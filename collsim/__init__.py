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
    from collsim.calibrate.check import CheckResult, CheckRow, check
    from collsim.calibrate.fit import FitResult, fit
    from collsim.calibrate.fit.result import FitErrors
    from collsim.calibrate.importers import read_logs
    from collsim.calibrate.nccl_model import Fitted, fitted_times
    from collsim.choose.crossover import Crossover, Swap, crossover
    from collsim.choose.explain import explain
    from collsim.choose.explanation import Explanation
    from collsim.choose.policy import choose
    from collsim.choose.predict import predict
    from collsim.choose.ranges import Policy, Range
    from collsim.choose.rows import Prediction, Row
    from collsim.choose.verify import Verification, verify
    from collsim.config.fitted import own_cluster, with_profile
    from collsim.config.presets import preset_names
    from collsim.config.profile_file import load_profile, save_profile
    from collsim.core.builder import Builder
    from collsim.core.cluster import Cluster
    from collsim.core.collective import COLLECTIVES, Collective, collective
    from collsim.core.error_summary import ErrorSummary
    from collsim.core.measurements import Measurement, Measurements
    from collsim.core.parameter import Parameter
    from collsim.core.profile import Profile
    from collsim.core.schedule import Schedule
    from collsim.core.timeline import Timeline
    from collsim.engine.bound import lower_bound
    from collsim.engine.simulate import Job, simulate
    from collsim.engine.together import Together
    from collsim.engine.verdict import Verdict, verify_schedule
    from collsim.errors import CollsimError
    from collsim.interop.chrome_trace.write import write_trace
    from collsim.interop.schedule_file import load_schedule, save_schedule
    from collsim.interop.step_trace import write_step_trace
    from collsim.interop.topology_file import TopologyFile, import_topology
    from collsim.plot.crossover import plot_crossover
    from collsim.report.page.write import write_report
    from collsim.sweeps.sweep import Swept, sweep
    from collsim.topology import degrade, delay, fail, groups, reorder
    from collsim.version import __version__
    from collsim.workload.estimate import estimate
    from collsim.workload.result import Estimate, EstimateRow

__all__ = [
    "COLLECTIVES",
    "Builder",
    "CheckResult",
    "CheckRow",
    "Cluster",
    "Collective",
    "CollsimError",
    "Crossover",
    "ErrorSummary",
    "Estimate",
    "EstimateRow",
    "Explanation",
    "FitErrors",
    "FitResult",
    "Fitted",
    "Job",
    "Measurement",
    "Measurements",
    "Parameter",
    "Policy",
    "Prediction",
    "Profile",
    "Range",
    "Row",
    "Schedule",
    "Swap",
    "Swept",
    "Timeline",
    "Together",
    "TopologyFile",
    "Verdict",
    "Verification",
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
    "CheckResult": "calibrate.check",
    "CheckRow": "calibrate.check",
    "Cluster": "core.cluster",
    "Collective": "core.collective",
    "CollsimError": "errors",
    "Crossover": "choose.crossover",
    "ErrorSummary": "core.error_summary",
    "Estimate": "workload.result",
    "EstimateRow": "workload.result",
    "Explanation": "choose.explanation",
    "FitErrors": "calibrate.fit.result",
    "FitResult": "calibrate.fit",
    "Fitted": "calibrate.nccl_model",
    "Job": "engine.simulate",
    "Measurement": "core.measurements",
    "Measurements": "core.measurements",
    "Parameter": "core.parameter",
    "Policy": "choose.ranges",
    "Prediction": "choose.rows",
    "Profile": "core.profile",
    "Range": "choose.ranges",
    "Row": "choose.rows",
    "Schedule": "core.schedule",
    "Swap": "choose.crossover",
    "Swept": "sweeps.sweep",
    "Timeline": "core.timeline",
    "Together": "engine.together",
    "TopologyFile": "interop.topology_file",
    "Verdict": "engine.verdict",
    "Verification": "choose.verify",
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
