"""Nouns are frozen: who is handed one can't change it under those who share it."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil

import pytest

# Rooms of nouns and of answers, and what is filled there step by step.
ROOMS = ("core", "algorithms", "engine", "topology", "choose", "calibrate", "nccl", "workload")
CHANGED = {
    "choose.contest.Contest", "choose.envelope.Envelope", "nccl.log._table._Open",
    "nccl.log.rows.Found",
}  # fmt: skip


def loaded(room: str) -> list[type]:
    """Return every data class of a room."""
    found: dict[str, type] = {}
    names = [f"collsim.{room}"]
    package = importlib.import_module(names[0])
    names += [one.name for one in pkgutil.walk_packages(package.__path__, f"{names[0]}.")]
    for name in names:
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, type) and dataclasses.is_dataclass(value):
                found[f"{value.__module__}.{value.__qualname__}"] = value
    return [value for key, value in sorted(found.items()) if key.startswith(names[0])]


@pytest.mark.parametrize("room", ROOMS)
def test_data_classes_are_frozen(room: str) -> None:
    """All but those that are listed."""
    classes = loaded(room)
    assert classes
    changed = {
        f"{one.__module__.removeprefix('collsim.')}.{one.__qualname__}"
        for one in classes
        if not one.__dataclass_params__.frozen  # type: ignore[attr-defined]
    }
    assert changed == {name for name in CHANGED if name.startswith(f"{room}.")}
