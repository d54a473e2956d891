"""The walk along the critical path compiled with numba."""

from collsim.engine.fold import walk as source
from collsim.engine.jit import jit

__all__ = ["walk"]

walk = jit(source.walk)
