"""What a public function was given, where it is not what the function takes."""

import functools
import inspect
import numbers
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from collsim.errors import CollsimError, InputError

__all__ = ["checked"]

Public = TypeVar("Public", bound=Callable[..., Any])

_SHOWN: Final = 60
# Of what is not made by its name: which call gives one.
_MADE_BY: Final = {
    "Cluster": 'collsim.Cluster.load("dgx-h100")',
    "Collective": 'collsim.collective("all_reduce")',
    "Communicator": 'collsim.nccl.communicator(collsim.Cluster.load("dgx-h100"))',
    "Estimate": 'collsim.estimate("step.toml")',
    "FitResult": 'collsim.fit("log.txt")',
    "FittedTimes": 'collsim.fitted_times("h100-nvswitch-8")',
    "Measurements": 'collsim.read_logs("log.txt")',
    "Profile": 'collsim.load_profile("h100-nvswitch-8")',
    "Schedule": 'collsim.build("all_reduce", "ring", 8)',
    "Timeline": "collsim.simulate(schedule, cluster, 1024)",
    "Together": "collsim.simulate(jobs, cluster)",
    "Tuning": "collsim.nccl.tuning(communicator)",
}
# Of what holds anything, which is what is changed of a cluster's file.
_CHANGES: Final = '{"network.bandwidth": "100GB/s"}'
_WORDS: Final[Mapping[Any, str]] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    type(None): "None",
}
# A number of numpy is one, too; True is none to a reader, but has always been 1 to Python.
_KINDS: Final[Mapping[Any, type]] = {float: numbers.Real, int: numbers.Integral}


def checked(public: Public) -> Public:
    """Return a public function, or class, that tells in one line what of a wrong type it got.

    Arguments are looked at once something fails, so that a right call costs nothing more and
    whatever works keeps working; an exception that no argument explains stays as it is.

    Parameters
    ----------
    public : function or class
        Its annotations say what it takes.

    Examples
    --------
    >>> @checked
    ... def half(ranks: int) -> int:
    ...     return ranks // 2
    >>> half(8)
    4
    >>> half("8")
    Traceback (most recent call last):
    collsim.errors.InputError: ranks: got '8', expected a whole number
    """
    if inspect.isclass(public):
        # What a class is made with is what its __init__ takes.
        setattr(public, "__init__", checked(public.__init__))  # noqa: B010 - for mypy
        return public

    @functools.wraps(public)
    def call(*given: Any, **named: Any) -> Any:
        try:
            return public(*given, **named)
        except CollsimError:
            raise
        except Exception:
            wrong = _wrong(public, given, named)
            if wrong is None:
                raise
            raise InputError(wrong) from None

    return typing.cast("Public", call)


def _wrong(
    function: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any]
) -> str | None:
    """Return what is wrong with the first argument of a wrong type, or None without one."""
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*given, **named)
    except TypeError:
        # Too few or too many of them is a mistake in the program, which Python explains.
        return None
    for name, value in bound.arguments.items():
        hint = _hint(function, signature.parameters[name].annotation)
        many = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        for one in value if many else (value,):
            if not _fits(one, hint):
                return f"{name}: got {_shown(one)}, expected {_words(hint)}"
    return None


def _hint(function: Callable[..., Any], annotation: Any) -> Any:
    """Return the types of an annotation, which may be written as text."""
    if not isinstance(annotation, str):
        return Any if annotation is inspect.Parameter.empty else annotation
    return typing.get_type_hints(
        types.SimpleNamespace(__annotations__={"it": annotation}),
        getattr(inspect.unwrap(function), "__globals__", {}),
    )["it"]


def _fits(value: Any, hint: Any) -> bool:  # noqa: PLR0911 - a line for each kind of hint
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is None or hint is type(None):
        return value is None
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is typing.Literal:
        return isinstance(value, tuple({type(one) for one in inner}))
    kind = _KINDS.get(hint, hint) if origin is None else origin
    if not isinstance(kind, type):
        return True
    if not _is_a(value, kind):
        return False
    if origin is None or issubclass(kind, Mapping) or not inner:
        return True
    # A text is a sequence of texts, and bytes are one of numbers, which nobody means by it.
    if isinstance(value, str | bytes):
        return False
    if isinstance(value, list | tuple):
        return all(any(_fits(one, each) for each in inner if each is not ...) for one in value)
    return True


def _is_a(value: Any, kind: type) -> bool:
    if typing.is_typeddict(kind):
        return isinstance(value, Mapping)
    try:
        return isinstance(value, kind)
    except TypeError:
        # A protocol: what has all that is asked of it.
        return all(hasattr(value, name) for name in vars(kind) if not name.startswith("_"))


def _words(hint: Any) -> str:  # noqa: PLR0911 - a line for each kind of hint
    """Return what is expected, in words."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(_words(one) for one in inner if one is not type(None)))
    if origin is typing.Literal:
        return " or ".join(map(repr, inner))
    if hint in _WORDS:
        return _WORDS[hint]
    name = getattr(origin or hint, "__name__", str(hint))
    if name == "PathLike":
        return "a path"
    article = "an" if name[0] in "AEIOUaeio" else "a"
    if name in _MADE_BY:
        return f"{article} {name}, as {_MADE_BY[name]} gives"
    if origin is not None and issubclass(origin, Mapping) and inner[-1] is object:
        return f"a dict, such as {_CHANGES}"
    if inner and origin is not None and issubclass(origin, Iterable):
        whole = "a dict" if issubclass(origin, Mapping) else "several"
        each = inner[-1] if issubclass(origin, Mapping) else inner[0]
        return f"{whole} of {_words(each)}"
    return f"{article} {name}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
