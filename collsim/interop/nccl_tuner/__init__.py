"""Hand a policy to NCCL: the CSV of its example tuner plugin, or variables of the environment.

Only algorithms that NCCL has are candidates; what it would choose itself is repeated wherever
another one gains too little.
"""

from collsim.interop.nccl_tuner.against import against, least_gain
from collsim.interop.nccl_tuner.csvfile import to_csv
from collsim.interop.nccl_tuner.env import Setting, allowed, to_env
from collsim.interop.nccl_tuner.fitted import against_fitted, unseen
from collsim.interop.nccl_tuner.releases import reads_no_csv, taken_for
from collsim.interop.nccl_tuner.rules import rules

__all__ = [
    "Setting",
    "against",
    "against_fitted",
    "allowed",
    "least_gain",
    "reads_no_csv",
    "rules",
    "taken_for",
    "to_csv",
    "to_env",
    "unseen",
]
