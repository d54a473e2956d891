"""Decide: times of algorithms at sizes, the fastest, and where two swap.

The room has the name of what it is for, so it is also the function: ``collsim.choose(...)``
is :func:`collsim.choose.policy.choose`.
"""

import inspect
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collsim.choose.ranges import Policy


class _Choose(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> "Policy":
        from collsim.choose.policy import choose

        return choose(*args, **options)

    @property
    def __signature__(self) -> inspect.Signature:
        """That of the function, for `help` and editors."""
        from collsim.choose.policy import choose

        return inspect.signature(choose)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """What the function says of itself, below its signature."""
        from collsim.choose.policy import choose

        first, _, rest = (inspect.getdoc(choose) or "").partition("\n")
        return f"{first}\n\nchoose{inspect.signature(choose)}\n{rest}"


# Python's own way to give a module a method.
sys.modules[__name__].__class__ = _Choose
