"""Profiles as TOML, read strictly and written whole."""

import re
from collections.abc import Mapping
from typing import Any

from collsim.algorithms import algorithm_names, canonical, find, unknown_algorithm
from collsim.config.toml import parse_toml
from collsim.config.values import one_line, outside, shown
from collsim.core.collective import COLLECTIVES
from collsim.core.profile import MAX_CHUNKS, NCCL_KEYS, ErrorSummary, Parameter, Profile
from collsim.core.schema import expected_schema
from collsim.errors import CollsimError, ConfigError
from collsim.files import read_text
from collsim.nccl import release
from collsim.units import MAX_SIZE

__all__ = ["dumps", "load", "loads"]

_SCHEMA = "collsim/profile/1"

# A number that no release has, for the newest that is known.
_NEWEST = "9999.0"
_TEXT, _COUNT, _NUMBER = "text", f"a whole number from 0 to {MAX_SIZE}", "a number"
_CHUNKS = f"'auto' or a whole number from 1 to {MAX_CHUNKS}"
_ALGORITHM = "the name of an algorithm"
_TEXTS, _COUNTS, _TABLE = "a list of texts", "a list of whole numbers", "a table"
_TOP = {
    "schema": _TEXT,
    "name": _TEXT,
    "model": _TEXT,
    "cluster": _TEXT,
    "algorithm": _ALGORITHM,
    "chunks": _CHUNKS,
    "collectives": _TEXTS,
    "ranks": _COUNTS,
    "nodes": _COUNTS,
    "min_bytes": _COUNT,
    "max_bytes": _COUNT,
    "notes": _TEXTS,
    "provenance": _TABLE,
    "nccl": _TABLE,
    "errors": _TABLE,
    "parameters": _TABLE,
}
_NEEDED = ("schema", "name", "parameters")
_PROVENANCE = {
    "library": _TEXT,
    "process_model": _TEXT,
    "clock": _TEXT,
    "device": _TEXT,
    "columns": _TEXT,
    "sources": _TEXTS,
}
_PARAMETER = {
    "value": _NUMBER,
    "low": _NUMBER,
    "high": _NUMBER,
    "unit": _TEXT,
    "kind": _TEXT,
    "source": _TEXT,
}
_FLAG = "true or false"
_KINDS = {str: _TEXT, int: _COUNT, float: _NUMBER, bool: _FLAG}
_NCCL = {key: _KINDS[kind] for key, kind in NCCL_KEYS.items()}
_ERRORS = {"in_sample": _TABLE, "held_out": _TABLE}
_SUMMARY = {"kind": _TEXT, "median": _NUMBER, "p90": _NUMBER, "n": _COUNT}


def dumps(profile: Profile) -> str:
    """Return a profile as TOML; `loads` gives the same profile back.

    Examples
    --------
    >>> ab = {"link.alpha": Parameter(1e-6, None, None, "s"),
    ...       "link.beta": Parameter(1e-11, 9e-12, 2e-11, "s/B")}
    >>> profile = Profile("mine", ab, ranks=(8,), notes=("launch is 0",))
    >>> loads(dumps(profile), "mine.toml") == profile
    True
    """
    import tomli_w

    document: dict[str, Any] = {"schema": _SCHEMA}
    for key in _TOP:
        if hasattr(profile, key) and key not in ("parameters", "errors", "nccl"):
            document[key] = _plain(getattr(profile, key))
    if profile.model == "line":
        # As it is by default, and as older releases read it.
        del document["model"]
    else:
        document["nccl"] = {key: profile.nccl[key] for key in _NCCL}
    document["provenance"] = {
        key: _plain(getattr(profile, key))
        for key in _PROVENANCE
        if getattr(profile, key) is not None
    }
    document["errors"] = {
        ("in_sample" if error.kind == "in_sample" else "held_out"): {
            key: getattr(error, key)
            for key in _SUMMARY
            if key != "kind" or error.kind != "in_sample"
        }
        for error in profile.errors
    }
    document["parameters"] = {
        key: {
            name: getattr(parameter, name)
            for name in _PARAMETER
            if getattr(parameter, name) is not None
        }
        for key, parameter in profile.parameters.items()
    }
    return tomli_w.dumps(document, multiline_strings=False)


def load(path: str) -> Profile:
    """Read a profile file.

    Raises
    ------
    FileError
        If it cannot be read.
    ConfigError
        If it is no profile; names the file, the key, what was got and expected.
    """
    return loads(read_text(path), path)


def loads(text: str, file: str) -> Profile:
    """Return the profile that TOML text spells; `file` is named in errors."""
    document: dict[str, Any] = {**parse_toml(file, text)}
    schema = document.get("schema")
    if schema != _SCHEMA:
        if schema is None:
            raise ConfigError.missing_key(file, "schema", f"{_SCHEMA!r}")
        raise ConfigError(file, "schema", _repeated(schema), expected_schema(_SCHEMA, schema))
    _check(file, "", document, _TOP, _NEEDED)
    _check_algorithm(file, document.get("algorithm"))
    if "nccl" in document:
        _check(file, "nccl.", document["nccl"], _NCCL, tuple(_NCCL))
        _check_version(file, document["nccl"]["version"])
    provenance = document.get("provenance", {})
    _check(file, "provenance.", provenance, _PROVENANCE)
    apart = (*_NEEDED, "provenance", "errors")
    fields: dict[str, Any] = {k: v for k, v in document.items() if k not in apart}
    fields.update(provenance)
    try:
        return Profile(
            name=document["name"],
            parameters=_parameters(file, document["parameters"]),
            errors=_errors(file, document.get("errors", {})),
            **fields,
        )
    except ConfigError:
        raise
    except CollsimError as error:
        raise ConfigError.broken(file, str(error)) from error


def _parameters(file: str, table: Mapping[str, Any]) -> dict[str, Parameter]:
    found = {}
    for key, entry in table.items():
        where = f'parameters."{key}"'
        if not isinstance(entry, dict):
            raise ConfigError(file, where, _repeated(entry), "a table with value and unit")
        _check(file, f"{where}.", entry, _PARAMETER, ("value", "unit"))
        try:
            found[key] = Parameter(**{"low": None, "high": None, **entry})
        except CollsimError as error:
            raise ConfigError.broken(file, f"{where}: {error}") from error
        expected = outside(found[key].value, found[key].unit)
        if expected is not None:
            raise ConfigError(file, f"{where}.value", entry["value"], expected)
    return found


def _errors(file: str, table: Mapping[str, Any]) -> tuple[ErrorSummary, ...]:
    _check(file, "errors.", table, _ERRORS)
    found = []
    for key in _ERRORS:
        if key in table:
            needed = ("median", "p90", "n") + (("kind",) if key == "held_out" else ())
            _check(file, f"errors.{key}.", table[key], _SUMMARY, needed)
            try:
                found.append(ErrorSummary(**{"kind": "in_sample", **table[key]}))
            except CollsimError as error:
                raise ConfigError.broken(file, f"errors.{key}: {error}") from error
    return tuple(found)


def _check(
    file: str,
    prefix: str,
    table: Mapping[str, Any],
    known: Mapping[str, str],
    needed: tuple[str, ...] = (),
) -> None:
    for key, value in table.items():
        if key not in known:
            raise ConfigError.unknown_key(file, prefix + key, known)
        if not _fits(value, known[key]):
            raise ConfigError(file, prefix + key, _repeated(value), known[key])
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str) and not one_line(text):
                expected = "text of one line, without control characters"
                raise ConfigError(file, prefix + key, text, expected)
    for key in needed:
        if key not in table:
            raise ConfigError.missing_key(file, prefix + key, known[key])


def _fits(value: object, expected: str) -> bool:
    if expected in (_TEXTS, _COUNTS):
        inner = _TEXT if expected == _TEXTS else _COUNT
        return isinstance(value, list) and all(_fits(item, inner) for item in value)
    if isinstance(value, bool) or expected == _FLAG:
        return isinstance(value, bool) and expected == _FLAG
    if expected == _CHUNKS:
        return value == "auto" or (isinstance(value, int) and 1 <= value <= MAX_CHUNKS)
    if expected == _COUNT:
        return isinstance(value, int) and 0 <= value <= MAX_SIZE
    if expected == _NUMBER:
        return isinstance(value, int | float)
    return isinstance(value, str if expected in (_TEXT, _ALGORITHM) else dict)


def _check_algorithm(file: str, name: str | None) -> None:
    """Refuse the name of an algorithm that no collective has."""
    known = tuple(dict.fromkeys(n for kind in COLLECTIVES for n in algorithm_names(kind)))
    if name is None:
        return
    base = name.partition(":")[0]
    if base not in known:
        raise ConfigError.broken(file, str(unknown_algorithm("algorithm", base, known)))
    having = [kind for kind in COLLECTIVES if base in algorithm_names(kind)]
    try:
        canonical(next((k for k in having if find(k, base).options), having[0]), name)
    except CollsimError as error:
        raise ConfigError.broken(file, str(error)) from None


def _check_version(file: str, version: str) -> None:
    """Refuse a release of NCCL whose tables are not known, as those of the future."""
    newest = release(_NEWEST)
    try:
        known = release(version)
    except CollsimError as error:
        raise ConfigError.broken(file, f"nccl.version: {error}") from error
    number = tuple(map(int, re.findall(r"\d+", version)[:2]))
    if known is newest and number > newest.number[:2]:
        expected = f"a release from 2.18 to {newest.name}"
        raise ConfigError(file, "nccl.version", version, expected)


def _repeated(value: object) -> object:
    """Return what a message can repeat of a value, even of one with a huge number in it."""
    try:
        repr(value)
    except ValueError:
        return shown(value)
    return value


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
