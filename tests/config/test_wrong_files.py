"""Every way in which a cluster file can be wrong, and the line that says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from collsim.config.cluster import load
from collsim.config.presets import preset_names
from collsim.errors import ConfigError, FileError

FIVE_LINES = """\
schema = "collsim/cluster/1"
name = "mine"
[node]
shape = "switch"
gpus = 4
link = "nvlink4"
"""
NODE = '[node]\nshape = "switch"\ngpus = 4\nlink = "nvlink4"\n'
EXAMPLE = """\
schema = "collsim/cluster/1"
name = "example"
[node]
shape = "switch"
gpus = 8
link = "nvlink4"
[network]
shape = "rails"
nodes = 4
nics = 8
link = "ndr400"
oversubscription = 1.0
"""
COUNT = "a whole number from 1 to 1048576"
TIME = 'a time from 0 up with its unit, such as "10us" or "1.5ms"'
RATES = "a bandwidth from 0.001B/s to 1e21GB/s"
RATE = 'a bandwidth above 0 with its unit, such as "450GB/s" or "400Gb/s"'
LINK = "the name of a link preset, or a table with alpha and bandwidth"
PRESETS = f"a link preset ({', '.join(preset_names('links'))}) or a table"
NODE_KEYS = "(known: shape, gpus, link, multicast, multicast_efficiency, local, source, kind)"
COST_KEYS = "(known: gamma, launch, source, kind)"
NODES = "full_mesh, hybrid_cube_mesh, ideal, pcie_tree, ring, switch, torus"
KINDS = "one of datasheet, fit, assumption"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder; return the path of ``my.toml`` in it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "my.toml"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("gpus = 4", "gpsu = 4", f"node.gpsu: unknown key; did you mean 'gpus'? {NODE_KEYS}"),
        (
            "[node]",
            "colour = 1\n[node]",
            (
                "colour: unknown key (known: schema, name, summary, sharing, node, network, "
                "cost, links, routes, nodes)"
            ),
        ),
        ("gpus = 4", 'gpus = "4"', f"node.gpus: got '4', expected {COUNT}"),
        ("gpus = 4", "gpus = 4.0", f"node.gpus: got 4.0, expected {COUNT}"),
        ("gpus = 4", "gpus = true", f"node.gpus: got true, expected {COUNT}"),
        ("gpus = 4", "gpus = 0", f"node.gpus: got 0, expected {COUNT}"),
        ("gpus = 4", "gpus = [4]", f"node.gpus: got a list, expected {COUNT}"),
        (
            "gpus = 4",
            f"gpus = 0x{'f' * 9000}",
            f"node.gpus: got a huge number, expected {COUNT}",
        ),
        ("gpus = 4", f"gpus = {'9' * 9000}", "broken TOML: an integer of thousands of digits"),
        ("gpus = 4", f"gpus = {'[' * 9000}", "broken TOML: nested too deeply"),
        ("gpus = 4", "gpus =", "line 5, column 7: broken TOML: Invalid value"),
        (
            'link = "nvlink4"\n',
            "link = [1,",
            "line 6, column 11, the end of the file: broken TOML: Invalid value",
        ),
        (
            "gpus = 4",
            "gpus = 4\ngpus = 5",
            "line 6, column 9: broken TOML: Cannot overwrite a value",
        ),
        ("gpus = 4\n", "", f"node.gpus: missing, expected {COUNT}"),
        ('"mine"', "3", "name: got 3, expected text"),
        ('name = "mine"\n', "", "name: missing, expected text"),
        (
            'schema = "collsim/cluster/1"\n',
            "",
            'schema: missing, expected schema = "collsim/cluster/1"',
        ),
        (
            "cluster/1",
            "cluster/2",
            (
                "schema: got 'collsim/cluster/2', expected 'collsim/cluster/1', "
                "the version that this collsim 0.1.0 reads"
            ),
        ),
        (
            "switch",
            "swich",
            f"node.shape: got 'swich', expected one of {NODES}; did you mean 'switch'?",
        ),
        ("switch", "rails", f"node.shape: got 'rails', expected one of {NODES}"),
        (
            "nvlink4",
            "nvlnk4",
            f"node.link: got 'nvlnk4', expected {PRESETS}; did you mean 'nvlink4'?",
        ),
        ('"nvlink4"', "4", f"node.link: got 4, expected {LINK}"),
        ('link = "nvlink4"\n', "", f"node.link: missing, expected {LINK}"),
        (
            'link = "nvlink4"\n',
            'link = "nvlink4"\nmulticast = 1\n',
            "node.multicast: got 1, expected true or false",
        ),
        (
            'link = "nvlink4"\n',
            'link = "nvlink4"\nmulticast_efficiency = 0\n',
            "node.multicast_efficiency: got 0, expected a number above 0 and at most 1",
        ),
        (
            'link = "nvlink4"\n',
            'link = "nvlink4"\nmulticast_efficiency = 1.01\n',
            "node.multicast_efficiency: got 1.01, expected a number above 0 and at most 1",
        ),
        (
            'link = "nvlink4"\n',
            'link = "nvlink4"\nkind = "guess"\n',
            f"node.kind: got 'guess', expected {KINDS}",
        ),
        (
            'link = "nvlink4"\n',
            'link = "nvlink4"\nnetwork = 3\n',
            f"node.network: unknown key {NODE_KEYS}",
        ),
        (NODE, "", "node: missing, expected a table with shape, gpus and link"),
        (NODE, "node = 3", "node: got 3, expected a table"),
    ],
)
def test_what_is_wrong_in_a_file(write: Path, old: str, new: str, message: str) -> None:
    """One line that names file, key, what was got and what was expected."""
    assert old in FIVE_LINES
    write.write_text(FIVE_LINES.replace(old, new))
    with pytest.raises(ConfigError) as error:
        load("my.toml")
    assert str(error.value) == f"my.toml: {message}"


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ('bandwidth = "1GB/s"', f"alpha: missing, expected {TIME}"),
        ('alpha = "1us"', f"bandwidth: missing, expected {RATE}"),
        ('alpha = 10, bandwidth = "1GB/s"', f"alpha: got 10, expected {TIME}"),
        ('alpha = "10", bandwidth = "1GB/s"', f"alpha: got '10', expected {TIME}"),
        ('alpha = "-1us", bandwidth = "1GB/s"', f"alpha: got '-1us', expected {TIME}"),
        ('alpha = nan, bandwidth = "1GB/s"', f"alpha: got nan, expected {TIME}"),
        ('alpha = "inf", bandwidth = "1GB/s"', f"alpha: got 'inf', expected {TIME}"),
        ('alpha = "1us", bandwidth = "0GB/s"', f"bandwidth: got '0GB/s', expected {RATE}"),
        ('alpha = "1us", bandwidth = "-1GB/s"', f"bandwidth: got '-1GB/s', expected {RATE}"),
        ('alpha = "1us", bandwidth = inf', f"bandwidth: got inf, expected {RATE}"),
        ('alpha = "1us", bandwidth = 450', f"bandwidth: got 450, expected {RATE}"),
        ('alpha = "1us", bandwidth = "450"', f"bandwidth: got '450', expected {RATE}"),
        ('alpha = "1us", bandwidth = "4GB"', f"bandwidth: got '4GB', expected {RATE}"),
        (
            'alpha = "1us", bandwidth = "1GB/s", alpha_busy = "2us"',
            "alpha_busy: got '2us', expected a time from 0 to alpha, 1us",
        ),
        (
            'alpha = {valeu = "1us"}, bandwidth = "1GB/s"',
            "alpha.valeu: unknown key; did you mean 'value'? (known: value, source, kind)",
        ),
        ('alpha = {}, bandwidth = "1GB/s"', f"alpha.value: missing, expected {TIME}"),
    ],
)
def test_what_is_wrong_in_a_link(write: Path, link: str, message: str) -> None:
    """Numbers need their units; bandwidth is above 0 and alpha from 0 up, both finite."""
    write.write_text(FIVE_LINES.replace('"nvlink4"', f"{{{link}}}"))
    with pytest.raises(ConfigError) as error:
        load("my.toml")
    assert str(error.value) == f"my.toml: node.link.{message}"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "nics = 8",
            "nics = 12",
            "network: nics: got 12, expected a multiple of the 8 GPUs, or fewer",
        ),
        (
            "= 1.0",
            "= 0",
            "network: oversubscription: got 0.0, expected more than 0",
        ),
        (
            "= 1.0",
            "= nan",
            "network.oversubscription: got nan, expected a finite number from 0 up",
        ),
        ("nodes = 4", "nodes = 0", f"network.nodes: got 0, expected {COUNT}"),
        (
            '"rails"',
            '"switch"',
            "network.shape: got 'switch', expected one of fat_tree, rails, star",
        ),
        (
            '"ndr400"',
            '{name = "nvlink4", alpha = "1us", bandwidth = "1GB/s"}',
            "network.link: a link of [node] is named 'nvlink4' too, expected another name",
        ),
        (
            '"switch"\ngpus = 8',
            '"ideal"',
            "network: a node of shape 'ideal' can't be joined to others",
        ),
        (
            "[network]",
            '[cost]\ngamma = "1ns"\n[network]',
            "cost.gamma: got '1ns', expected a time per byte from 0 up, such as \"0.001ns/B\"",
        ),
        (
            "[network]",
            '[cost]\nlaunhc = "1us"\n[network]',
            f"cost.launhc: unknown key; did you mean 'launch'? {COST_KEYS}",
        ),
        ("[network]", "[cost]\nlaunch = 5\n[network]", f"cost.launch: got 5, expected {TIME}"),
        (
            "[network]",
            '[cost]\nlaunch = "1e300s"\n[network]',
            "cost.launch: got '1e300s', expected a time of at most 1e9s",
        ),
        (
            "[network]",
            '[cost]\ngamma = "1e9s/B"\n[network]',
            "cost.gamma: got '1e9s/B', expected a time per byte of at most 1000s/B",
        ),
        (
            '"ndr400"',
            '{alpha = "1us", bandwidth = "1e299GB/s"}',
            f"network.link.bandwidth: got '1e299GB/s', expected {RATES}",
        ),
        (
            '"ndr400"',
            '{alpha = "1e300s", bandwidth = "1GB/s"}',
            "network.link.alpha: got '1e300s', expected a time of at most 1e9s",
        ),
        (
            '"ndr400"',
            '{alpha = "1s", bandwidth = "1GB/s", alpha_busy = {value = "1e-300s"}}',
            "network.link.alpha_busy.value: got '1e-300s', expected a time of at most 1e9s",
        ),
    ],
)
def test_what_is_wrong_between_nodes(write: Path, old: str, new: str, message: str) -> None:
    """The network and the costs are read as strictly."""
    assert old in EXAMPLE
    write.write_text(EXAMPLE.replace(old, new))
    with pytest.raises(ConfigError) as error:
        load("my.toml")
    assert str(error.value) == f"my.toml: {message}"


def test_files_that_cannot_be_read(write: Path) -> None:
    """Missing, a folder, or not UTF-8."""
    write.write_bytes(b'name = "\xff"\n')
    (write.parent / "folder.toml").mkdir()
    wrong = {
        "none.toml": "No such file or directory",
        "folder.toml": "Is a directory",
        "my.toml": "line 1 is not UTF-8 text (byte 0xff)",
    }
    for name, reason in wrong.items():
        with pytest.raises(FileError) as error:
            load(name)
        assert str(error.value) == f"{name}: {reason}"
