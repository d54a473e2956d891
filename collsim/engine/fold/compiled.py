"""The walk along the critical path compiled with numba."""

from collsim.engine.fold import walk as source
from collsim.engine.jit import jit, jitable

__all__ = ["walk"]

jitable(source.meet)

walk = jit(source.walk)
