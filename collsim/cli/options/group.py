"""Several options as one decorator, and as one value."""

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Decorator", "chained", "gathered"]

Function = Callable[..., object]
Decorator = Callable[[Function], Function]


def chained(*options: Decorator) -> Decorator:
    """Return one decorator that adds several options, the first one on top of the help."""

    def decorate(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def gathered(keyword: str, kind: "type[DataclassInstance]", *options: Decorator) -> Decorator:
    """Return a decorator that adds options and passes them on as one `kind`."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def wrapper(**given: Any) -> object:
            own = {field.name: given.pop(field.name) for field in fields(kind)}
            return function(**given, **{keyword: kind(**own)})

        return chained(*options)(wrapper)

    return decorate
