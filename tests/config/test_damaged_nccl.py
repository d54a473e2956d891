"""Damaged profiles of NCCL's pieces are refused, with the file and the key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from collsim.config.profile import loads
from collsim.errors import ConfigError

SHIPPED = Path(__file__).resolve().parents[2] / "configs/profiles/h100-nvswitch-8.toml"


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("noise", "nan", "got nan, expected 0 or more"),
        ("noise", "-0.1", "got -0.1, expected 0 or more"),
        ("intra_bus", "inf", "got inf, expected a number above 0"),
        ("intra_bus", "9" * 400, "got 999"),
        ("channels", "0", "got 0, expected 1 or more"),
        ("gpus", "0", "got 0, expected 1 or more"),
        ("version", '"9.99"', "got '9.99', expected a release from 2.18 to 2.30.7"),
        ("version", '"2.3"', "NCCL version '2.3': the cost model is known from 2.18 on"),
        ("version", '"new"', "NCCL version 'new': expected one such as '2.30.7'"),
    ],
)
def test_no_such_system(key: str, value: str, expected: str) -> None:
    """In one line."""
    text, count = re.subn(rf"(?m)^{key} = .*$", f"{key} = {value}", SHIPPED.read_text("utf-8"))
    assert count == 1
    with pytest.raises(ConfigError) as caught:
        loads(text, "p.toml")
    assert str(caught.value).startswith(f"p.toml: nccl.{key}: {expected}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("version", ["2.30", "v2.29.3", "2.30.9", "2.27.5+cuda12.9"])
def test_releases_that_are_known(version: str) -> None:
    """Also patches that are newer than the newest known."""
    text = re.sub(
        r"(?m)^version = .*$", f'version = "{version}"', SHIPPED.read_text("utf-8"), count=1
    )
    assert loads(text, "p.toml").nccl["version"] == version
