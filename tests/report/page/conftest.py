"""A report of a cluster whose names try to break out of the page, and a browser on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from collsim.cli.main import main

EVIL = (
    "</script><script>alert('x')</script><img src=//example.org/x><!-- <script x &\"b'<b>bold"
)
CLUSTER = f"""
schema = "collsim/cluster/1"
name = '''{EVIL}'''
[node]
shape = "switch"
gpus = 2
link = {{name = "wire", alpha = "5us", bandwidth = "100GB/s", source = '''a {EVIL}'''}}
source = '''b {EVIL}'''
kind = "datasheet"
[network]
shape = "rails"
nodes = 2
nics = 2
link = "ndr400"
"""
ASKED = "all_reduce -b 1K -e 256M --set network.bandwidth=25GB/s -c"

Run = Callable[..., str]


@pytest.fixture(scope="session")
def run() -> Run:
    """Return a function that runs a command which has to succeed and returns its stdout."""

    def invoke(*words: str) -> str:
        done = CliRunner().invoke(main, list(words))
        assert done.exit_code == 0, done.output
        return done.stdout

    return invoke


@pytest.fixture(scope="session")
def cluster_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of the cluster."""
    path = tmp_path_factory.mktemp("cluster") / "evil.toml"
    path.write_text(CLUSTER, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def report(cluster_file: Path, run: Run) -> Path:
    """Return the path of its report."""
    path = cluster_file.with_name("report.html")
    assert run("report", *ASKED.split(), str(cluster_file), "-o", str(path)) == ""
    return path


@pytest.fixture(scope="session")
def chosen(cluster_file: Path, run: Run) -> dict[str, Any]:
    """Return what `choose --json` answers to the same question."""
    found: dict[str, Any] = json.loads(
        run("choose", *ASKED.split(), str(cluster_file), "--json")
    )
    return found


@pytest.fixture(scope="session")
def opened(browser: Any, report: Path) -> Iterator[Any]:
    """Return the report in a browser, drawn."""
    page = browser.open(f"file://{report}")
    page.wait("document.body && document.body.dataset.ready === 'yes'")
    yield page
    # Whatever the tests have done on it, it has said nothing and asked for nothing.
    assert page.complaints() == []
    assert page.seen("Page.javascriptDialogOpening") == []
    assert page.requests() == [f"file://{report}"]
