"""Hold a machine against a model: what its rows should be, and what a shortfall looks like."""

from collsim.calibrate.check.run import CheckResult, CheckRow, check

__all__ = ["CheckResult", "CheckRow", "check"]
