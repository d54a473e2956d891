"""Several options as one decorator, and as one value."""

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any

__all__ = ["Decorator", "chained", "gathered"]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def chained(*options: Decorator) -> Decorator:
    """Return one decorator that adds several options, the first one on top of the help."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def gathered(keyword: str, kind: type[Any], *options: Decorator) -> Decorator:
    """Return a decorator that adds options and passes them on as one `kind`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def wrapper(**given: Any) -> Any:
            own = {field.name: given.pop(field.name) for field in fields(kind)}
            return function(**given, **{keyword: kind(**own)})

        return chained(*options)(wrapper)

    return decorate
