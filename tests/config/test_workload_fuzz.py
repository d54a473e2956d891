"""Damaged workload files give an estimate or one clear line, and never a traceback."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import collsim
from collsim.config.workload import load
from collsim.errors import CollsimError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "workloads"
TEXTS = [path.read_text("utf-8") for path in sorted(EXAMPLES.glob("*.toml"))]
VALUES = [
    *("", "0", "1", "2", "-1", "3", "1e400", "nan", "inf", "true", '""', '"x"', "[]", "{}"),
    *("2024-01-01", "0x" + "f" * 5000, "9" * 5000, "[" * 2000, '"\\u0000"', '"1e999us"'),
    *('"full"', '"optimizer"', '"data"', '"before"', '"after"', "1048576", "0.5", "'''"),
]
MACHINE = collsim.Cluster.ideal(8, "1us", "100GB/s")

settings_ = settings(
    max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@settings_
@given(data=st.data())
def test_characters_changed(tmp_path: Path, data: st.DataObject) -> None:
    """Some characters deleted, doubled, replaced or inserted."""
    text = data.draw(st.sampled_from(TEXTS))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 3))
        new = data.draw(st.text(max_size=3) | st.sampled_from(list('"[]{}=.#\n\\,-')))
        text = text[:at] + new + text[at + cut :]
    answer(tmp_path / "x.toml", text, whole=False)


@settings_
@given(data=st.data())
def test_values_and_keys_changed(tmp_path: Path, data: st.DataObject) -> None:
    """One value or one key is another, or a line is gone or twice; what loads is estimated."""
    lines = data.draw(st.sampled_from(TEXTS)).splitlines()
    at = data.draw(st.sampled_from([i for i, line in enumerate(lines) if "=" in line]))
    key, _, value = lines[at].partition("=")
    other = data.draw(st.sampled_from(VALUES))
    changed = [f"{key}= {other}", f"{key}x ={value}", f"{lines[at]}\n{lines[at]}", ""]
    lines[at] = data.draw(st.sampled_from(changed))
    answer(tmp_path / "x.toml", "\n".join(lines), whole=True)


def answer(file: Path, text: str, *, whole: bool) -> None:
    """Load a text and, if asked, estimate what it says."""
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    said = "a step"
    try:
        work = load(file)
        if whole:
            assert collsim.estimate(work, MACHINE).step_us >= 0
    except CollsimError as error:
        said = str(error)
    assert len(said.splitlines()) == 1
