"""Hand a policy to NCCL: the CSV of its example tuner plugin, or variables of the environment.

Only algorithms that NCCL has are candidates; what it would choose itself is repeated wherever
another one gains too little.
"""

from collsim.interop.nccl_tuner.against import MIN_GAIN, NO_PROFILE, against, least_gain
from collsim.interop.nccl_tuner.csvfile import to_csv
from collsim.interop.nccl_tuner.env import Setting, allowed, to_env
from collsim.interop.nccl_tuner.fitted import against_fitted, unseen
from collsim.interop.nccl_tuner.names import FUNCTIONS, NCCL_OF, OUR_NAME, available
from collsim.interop.nccl_tuner.releases import reads_no_csv, taken_for
from collsim.interop.nccl_tuner.rules import ALL_SIZES, Rule, rules

__all__ = [
    "ALL_SIZES",
    "FUNCTIONS",
    "MIN_GAIN",
    "NCCL_OF",
    "NO_PROFILE",
    "OUR_NAME",
    "Rule",
    "Setting",
    "against",
    "against_fitted",
    "allowed",
    "available",
    "least_gain",
    "reads_no_csv",
    "rules",
    "taken_for",
    "to_csv",
    "to_env",
    "unseen",
]
