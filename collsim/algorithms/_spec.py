"""An algorithm as text, with its options: `bruck:radix=8`."""

from collections.abc import Iterable
from itertools import product

from collsim.core.algorithm import Algorithm
from collsim.core.option import Options, Value
from collsim.core.setting import Setting
from collsim.errors import InputError, UnknownNameError

__all__ = ["bound", "read_options", "split", "text_of", "tried"]


def split(spec: str) -> tuple[str, str | None]:
    """Return the name and, if there are any, the options of an algorithm.

    Examples
    --------
    >>> split("bruck:radix=8"), split("ring")
    (('bruck', 'radix=8'), ('ring', None))
    """
    name, colon, options = spec.partition(":")
    return name, options if colon else None


def read_options(where: str, algorithm: Algorithm, text: str) -> dict[str, Value]:
    """Return the value of every option, in the order in which they are declared.

    Parameters
    ----------
    where : str
        For the message: ``"all_to_all/bruck"``.
    algorithm : Algorithm
        Has the options.
    text : str
        What follows the colon: ``"radix=8"``.

    Raises
    ------
    UnknownNameError
        If there is no such option.
    InputError
        If a value is none, or an option comes twice.
    """
    values = {key: option.default for key, option in algorithm.options.items()}
    if not algorithm.options:
        raise InputError(f"{where}: takes no options, got {text!r}")
    given: set[str] = set()
    for part in text.split(","):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals:
            raise InputError(f"{where}: got {part!r}, expected options as KEY=VALUE,KEY=VALUE")
        if key not in values:
            raise UnknownNameError(f"option of {where}", key, tuple(values))
        if key in given:
            raise InputError(f"{where}: option {key} comes twice")
        given.add(key)
        try:
            values[key] = algorithm.options[key].read(value)
        except UnknownNameError:
            raise
        except InputError as error:
            raise InputError(f"{where}: {key}: {error}") from None
    return values


def text_of(name: str, algorithm: Algorithm, values: Options) -> str:
    """Return an algorithm as text: only options that differ from the default."""
    changed = [
        f"{key}={values[key]}"
        for key, option in algorithm.options.items()
        if values[key] != option.default
    ]
    return f"{name}:{','.join(changed)}" if changed else name


def bound(algorithm: Algorithm, values: Options) -> Algorithm:
    """Return an algorithm with its options set."""
    return algorithm if algorithm.vary is None else algorithm.vary(values)


def tried(name: str, algorithm: Algorithm, setting: Setting) -> Iterable[str]:
    """Yield an algorithm as text in each combination of values that may be faster there."""
    choices = [
        dict.fromkeys((option.default, *option.tried(setting)))
        for option in algorithm.options.values()
    ]
    for values in product(*choices):
        yield text_of(name, algorithm, dict(zip(algorithm.options, values, strict=True)))
