"""What TOML says, or where it is broken."""

import re
import tomllib
from typing import Final

from collsim.errors import ConfigError

__all__ = ["parse_toml"]

_MOST_MEMORY: Final = 256 << 20
_TABLE: Final = 800  # bytes
_FEW: Final = 100  # dots that are not worth a second look
_FRACTION: Final = re.compile(r"(?<![\w.])[+-]?\d[\d_]*\.\d[\w+-]*(?![\w.])")
_WHERE: Final = re.compile(
    r"(.*?)\s*\(at (?:(line \d+, column \d+)|end of document)\)", re.DOTALL
)


def parse_toml(file: str, text: str) -> dict[str, object]:
    r"""Return what TOML says.

    Raises
    ------
    ConfigError
        If it is no TOML, with line and column, or made to take all memory.

    Examples
    --------
    >>> parse_toml("my.toml", "[node]\ngpus = 8")
    {'node': {'gpus': 8}}
    >>> parse_toml("my.toml", "gpus =")
    Traceback (most recent call last):
    collsim.errors.ConfigError: my.toml: line 1, column 7, the end of the file: broken TOML: ...
    """
    if _memory(text) > _MOST_MEMORY:
        room = f"{_MOST_MEMORY >> 20} MiB of memory"
        raise ConfigError.broken(file, f"would take more than {room}, expected fewer keys")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError.broken(file, "broken TOML: nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError.broken(file, _say(error, text)) from None
    except ValueError:
        reason = "broken TOML: an integer of thousands of digits"
        raise ConfigError.broken(file, reason) from None


def _memory(text: str) -> int:
    """Return about how many bytes the parser will take, beside the text itself.

    A dotted key costs it the square of its parts, so that 200 KB of text could take 40 GB.
    """
    dots = text.count(".")
    most = 64 * text.count("[") + 240 * text.count("{")
    if most + _TABLE * text.count("\n[") + 200 * dots + 4 * dots**2 <= _MOST_MEMORY:
        return most
    for line in text.split("\n"):
        most += _TABLE * line.lstrip(" \t").startswith("[")
        dots = line.count(".")
        if dots > _FEW:
            dots = _FRACTION.sub("", line).count(".")
        most += 200 * dots + 4 * dots**2
    return most


def _say(error: ValueError, text: str) -> str:
    """Return the message of a TOML error, with the place first."""
    found = _WHERE.fullmatch(str(error))
    if found is None:
        return f"broken TOML: {error}"
    lines = text.split("\n")
    end = f"line {len(lines)}, column {len(lines[-1]) + 1}, the end of the file"
    return f"{found[2] or end}: broken TOML: {found[1]}"
