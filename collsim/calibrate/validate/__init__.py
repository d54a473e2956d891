"""How far off the fitted model is on rows that it did not see, beside others on the same rows.

`validate` reads the logs of the `BENCHES` that a folder holds, fits each of their `Trial`s
without the rows held out, and returns the errors there of every contender.
"""

from collsim.calibrate.validate.pool import met, pooled
from collsim.calibrate.validate.result import PREDICTORS, Result, Validation
from collsim.calibrate.validate.run import validate
from collsim.calibrate.validate.systems import BENCHES, LINES, ROLES

__all__ = [
    "BENCHES",
    "LINES",
    "PREDICTORS",
    "ROLES",
    "Result",
    "Validation",
    "met",
    "pooled",
    "validate",
]
