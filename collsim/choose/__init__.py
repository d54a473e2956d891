"""Decide: times of algorithms at sizes, the fastest, and where two swap.

The room has the name of what it is for, so it is also the function: ``collsim.choose(...)``
is :func:`collsim.choose.policy.choose`.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collsim.choose.ranges import Policy


class _Choose(ModuleType):
    """The room as a function; see :func:`collsim.choose.policy.choose`."""

    def __call__(self, *args: Any, **options: Any) -> "Policy":
        from collsim.choose.policy import choose

        return choose(*args, **options)


# Python's own way to give a module a method.
sys.modules[__name__].__class__ = _Choose
