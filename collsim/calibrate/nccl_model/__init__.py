"""Fit what NCCL's collectives cost on a system, and predict what was not measured.

Two things are kept apart. *Which* algorithm and protocol run at a size is NCCL's own decision,
by its own table (`collsim.nccl`): it is not fitted, except for the bandwidth that NCCL believes
in, of which a few are tried. *How long* they take is fitted: counts of steps and bytes, times
parameters of links and protocols. Times jump up where NCCL changes its mind too late or too
early, which no lower envelope of fitted lines can show.
"""

from collsim.calibrate.nccl_model.batch import Case
from collsim.calibrate.nccl_model.devices import preset_named, system_named
from collsim.calibrate.nccl_model.fitted import COVERED, Fitted
from collsim.calibrate.nccl_model.ladder import fit_nccl
from collsim.calibrate.nccl_model.outliers import outliers
from collsim.calibrate.nccl_model.profile import (
    example_profile,
    facts_of,
    fitted_of,
    fitted_times,
    parameters_of,
)
from collsim.calibrate.nccl_model.system import Selector, System, system_of

__all__ = [
    "COVERED",
    "Case",
    "Fitted",
    "Selector",
    "System",
    "example_profile",
    "facts_of",
    "fit_nccl",
    "fitted_of",
    "fitted_times",
    "outliers",
    "parameters_of",
    "preset_named",
    "system_named",
    "system_of",
]
