"""Fit a profile to the rows of collectives, and say what they cannot tell."""

from collsim.calibrate.fit.result import FitResult
from collsim.calibrate.fit.run import fit

__all__ = ["FitResult", "fit"]
