"""What-ifs on the command line: --degrade --fail --set --delay --order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from collsim.cli.clusters.what_if import tell_large
from collsim.core.cluster import Cluster

Run = Callable[..., Result]
Answer = Callable[..., dict[str, Any]]
Fails = Callable[..., str]

TWO = "-c dgx-h100 --nodes 2 --gpus-per-node 2"


def test_degraded_beside_healthy(answer: Answer) -> None:
    """A quarter of the NIC: the β part of the ring grows by four, and so nearly the time."""
    found = answer(f"predict all_reduce {TWO} --algorithm ring -s 1G --degrade nic[1]=0.25")
    (row,) = found["rows"]
    (healthy,) = answer(f"predict all_reduce {TWO} --algorithm ring -s 1G")["rows"]
    assert row["healthy_us"] == healthy["time_us"]
    assert row["change"] == pytest.approx(row["time_us"] / row["healthy_us"])
    assert row["change"] == pytest.approx(4, rel=1e-2)
    assert list(row)[:-3] == list(healthy)


def test_without_what_if_there_is_nothing_to_compare(answer: Answer) -> None:
    """An order is a placement, not a fault."""
    (row,) = answer(f"predict all_reduce {TWO} -s 1K --order across")["rows"]
    assert "change" not in row


def test_the_table_has_the_change(run: Run) -> None:
    """Two more columns, on every line; in CSV, too."""
    lines = run(f"predict all_reduce {TWO} -s 1K -s 1G --fail nic[1]").stdout.splitlines()
    assert lines[2].split()[-2:] == ["healthy", "change"]
    assert all(line.split()[-1].startswith("x") for line in lines[4:])
    csv = run(f"predict all_reduce {TWO} -s 1K --fail nic[1] --csv").stdout.splitlines()
    assert csv[0].endswith(",healthy_us,change")


def test_auto_is_compared_with_the_fastest_of_the_healthy(answer: Answer) -> None:
    """Which may be another algorithm."""
    (row,) = answer(f"predict all_reduce {TWO} -s 8M --degrade nic[1]=0.01")["rows"]
    (healthy,) = answer(f"predict all_reduce {TWO} -s 8M")["rows"]
    assert row["healthy_us"] == healthy["time_us"]
    assert row["change"] > 1


def test_all_compares_each_algorithm_with_itself(answer: Answer) -> None:
    """Row by row."""
    rows = answer(f"predict all_reduce {TWO} -s 1G --algorithm all --fail nic[1]")["rows"]
    healthy = answer(f"predict all_reduce {TWO} -s 1G --algorithm all")["rows"]
    times = {row["algorithm"]: row["time_us"] for row in healthy}
    assert {row["algorithm"]: row["healthy_us"] for row in rows} == times


def test_set_changes_the_file(answer: Answer) -> None:
    """Twice the bandwidth of the network halves a large ring; sizes hold."""
    line = f"predict all_reduce {TWO} --algorithm ring -s 8G --set network.bandwidth=100GB/s"
    (row,) = answer(line)["rows"]
    assert row["change"] == pytest.approx(0.5, rel=1e-2)
    found = answer("predict all_reduce -c dgx-h100 -s 1K --set node.gpus=4")
    assert found["ranks"] == 4


def test_a_change_of_size_may_leave_nothing_to_compare(answer: Answer) -> None:
    """Root 12 is a rank of two nodes, not of one."""
    line = "predict broadcast -c dgx-h100 -s 1K -r 12 --set network.nodes=2"
    (row,) = answer(line)["rows"]
    assert (row["healthy_us"], row["change"]) == (None, None)


def test_a_late_rank(answer: Answer) -> None:
    """500 us of waiting; simulate says for whom."""
    found = answer(f"simulate all_reduce {TWO} --algorithm ring -s 1K --delay rank[1:1]=500us")
    (row,) = found["rows"]
    assert row["waiting_us"] == pytest.approx(500)
    assert row["critical_path"][0]["why"] == "late rank"
    assert 3 in {row["critical_path"][0][end] for end in ("src", "dst")}
    assert "change" not in row


def test_order_by_name_and_by_list(answer: Answer) -> None:
    """The same, and slower than inside the nodes first."""
    overlap = "--set network.alpha_busy=0 --set node.alpha_busy=0"
    line = f"predict scatter {TWO} --algorithm ring -s 1K {overlap}"
    times = [
        answer(f"{line} {order}".strip())["rows"][0]["time_us"]
        for order in ("", "--order inside", "--order across", "--order 0,2,1,3")
    ]
    assert times[0] == times[1] < times[2] == times[3]


def test_repeatable(answer: Answer) -> None:
    """Several of each kind at once."""
    several = (
        "--degrade nic[0]=0.5 --degrade nic[0]=0.5 --fail nic[1] --fail nic[3] --order 3-3,0-2"
    )
    (row,) = answer(f"predict all_reduce {TWO} -s 1G --algorithm ring {several}")["rows"]
    assert row["change"] > 3


def test_an_ideal_network_can_have_late_ranks(answer: Answer) -> None:
    """Formulas no longer hold: it is simulated."""
    line = "predict broadcast --alpha 1us --bandwidth 1GB/s --ranks 4 -s 0 --algorithm mst"
    (row,) = answer(f"{line} --delay rank[3]=5us")["rows"]
    assert row["model"] == "event"
    assert row["time_us"] == pytest.approx(6)
    assert row["healthy_us"] == pytest.approx(2)


def test_every_command_that_takes_a_cluster(run: Run, log: str) -> None:
    """Crossover, explain, check and show cluster, too."""
    for line in (
        f"crossover all_reduce mst ring {TWO} --fail nic[1]",
        f"explain all_reduce {TWO} --degrade nic[1]=0.5 -s 1K",
        "show cluster dgx-h100 --nodes 2 --fail nic[3] --routes 3 11",
        f"check {log} -c dgx-h100 --set node.bandwidth=300GB/s",
    ):
        result = run(line)
        assert result.exit_code in {0, 1}
        assert "Traceback" not in result.output
        assert "No such option" not in result.output
    shown = run("show cluster dgx-h100 --nodes 2 --fail nic[3] --routes 3 11").stdout
    assert "nic[0].up" in shown
    assert "nic[3].up: failed" in shown
    assert "nic[3].up: alpha" not in shown


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("--degrade nci[3]=0.2", 1, "did you mean 'nic[3]'"),
        ("--degrade nic[3]", 2, "expected a part and what is left of it, as in nic[3]=0.25"),
        ("--degrade nic[3]=4", 2, "above 0 and at most 1"),
        ("--degrade nic[3]=x", 2, "--degrade"),
        ("--degrade nic[3]=101%", 2, "above 0 and at most 1"),
        ("--fail nic[9]", 1, "no 'nic[9]' in cluster 'dgx-h100'"),
        ("--fail nic3", 1, "did you mean 'nic[3]'?"),
        ("--fail nic[0] --fail nic[1]", 1, "rank 0 can no longer reach rank 2"),
        ("--delay rank[4]=5us", 1, "unknown rank 'rank[4]'"),
        ("--delay rank[3]=5", 2, "--delay"),
        ("--set network.bandwith=1GB/s", 1, "did you mean 'bandwidth'"),
        ("--set network", 1, "expected KEY=VALUE"),
        ("--order 0,1", 1, "order: got 2 ranks"),
        ("--order 0,1,1,3", 1, "rank 1 is there twice"),
        ("--order acros", 1, "did you mean 'across'"),
        ("--order 0;1", 2, "expected ranks such as 0,8,1,9"),
    ],
)
def test_errors(fails: Callable[..., str], words: str, code: int, message: str) -> None:
    """One line that names the option, or the part and the nearest there is."""
    assert message in fails(f"predict all_reduce {TWO} -s 1K {words}", code=code)


def test_one_node_has_no_network(fails: Callable[..., str]) -> None:
    """A NIC comes with more nodes, and the message says how."""
    line = "predict all_reduce -c dgx-h100 -s 1K --degrade nic[3]=0.25"
    assert "as with nodes=2, --nodes 2" in fails(line, code=1)


def test_what_failed_is_said_link_by_link(run: Run) -> None:
    """A part may be less, or more, than its name suggests."""
    line = f"predict all_reduce {TWO} --algorithm ring -s 1K --fail"
    assert "note: failed with gpu[1]: gpu[1].up, gpu[1].down" in run(f"{line} gpu[1]").stderr
    assert "failed with" not in run(f"{line} nic[1].up").stderr
    many = run("show cluster dgx-h100 --nodes 2 --degrade nic[0]=0.5 --fail nic[1]").stderr
    assert many.splitlines()[0] == "note: failed with nic[1]: nic[1].up, nic[1].down"


def test_a_part_that_no_message_crosses(run: Run) -> None:
    """The root sends to the other node through its own NIC."""
    line = f"broadcast {TWO} -s 1K"
    said = "note: no message of linear crosses nic[1].up"
    for command in ("predict", "simulate", "explain"):
        words = f"{command} {line} --algorithm linear --degrade"
        assert said in run(f"{words} nic[1].up=0.5").stderr.splitlines()
        assert "no message" not in run(f"{words} nic[0].up=50%").stderr
    both = run(f"crossover broadcast ring linear {TWO} --fail nic[1].up -b 1K -e 2K").stderr
    assert said in both.splitlines()


def test_another_algorithm_on_the_healthy_cluster(run: Run, answer: Answer) -> None:
    """A key names it, and a note where it is another one."""
    line = f"predict all_reduce {TWO} -s 8M -s 1K --degrade nic[1]=0.01"
    rows = answer(line)["rows"]
    healthy = answer(f"predict all_reduce {TWO} -s 8M -s 1K")["rows"]
    assert [r["healthy_algorithm"] for r in rows] == [r["algorithm"] for r in healthy]
    others = [r for r in rows if r["healthy_algorithm"] != r["algorithm"]]
    assert others
    said = f"({others[0]['healthy_algorithm']}, not {others[0]['algorithm']})"
    assert said in run(line).stderr
    alike = run(f"predict all_reduce {TWO} -s 8M --algorithm ring --degrade nic[1]=0.01").stderr
    assert "healthy time is of another" not in alike


def test_changes_are_listed(answer: Answer, run: Run) -> None:
    """In the words of the options, in every command that takes a cluster; [] for none."""
    what = (
        "--order across --sharing fair --set network.bandwidth=100GB/s --degrade nic[3]=25% "
        "--fail nic[2] --delay 3=500us"
    )
    said = [
        "set network.bandwidth=100GB/s",
        "sharing fair",
        "order across",
        "degrade nic[3]=0.25",
        "fail nic[2]",
        "delay rank[3]=500us",
    ]
    for line in (
        f"predict all_gather {TWO} -s 1K",
        f"simulate all_gather {TWO} -s 1K",
        f"explain all_gather {TWO} -s 1K",
        f"crossover all_gather ring mst {TWO} -b 1K -e 2K",
        "show cluster dgx-h100 --nodes 2 --gpus-per-node 2",
    ):
        assert answer(f"{line} {what}")["changes"] == said
        assert answer(line)["changes"] == []
    title = run(f"crossover all_gather ring mst {TWO} -b 1K -e 2K --degrade nic[3]=0.25").stdout
    assert "(degrade nic[3]=0.25), sharing fifo: ring and mst" in title


def test_changes_that_change_nothing(run: Run) -> None:
    """One node has no network."""
    line = "predict all_reduce -c dgx-h100 -s 1K --set network.bandwidth=100GB/s"
    said = "on one node nothing changes with network.bandwidth: take more with --nodes"
    assert said in run(line).stderr
    assert "nothing changes" not in run(f"{line} --nodes 2").stderr


def test_every_header_names_the_sharing(run: Run) -> None:
    """And where it is fair a note says, once, what becomes of alpha."""
    for line in (
        f"predict all_gather {TWO} -s 1K",
        f"simulate all_gather {TWO} -s 1K",
        f"explain all_gather {TWO} -s 1K",
        f"crossover all_gather ring mst {TWO} -b 1K -e 2K",
        "show cluster dgx-h100 --nodes 2 --gpus-per-node 2",
    ):
        plain, fair = run(line), run(f"{line} --sharing fair")
        assert "sharing fifo" in " ".join(plain.stdout.split())
        assert "fairly" not in plain.stderr
        assert "sharing fair" in " ".join(fair.stdout.split())
        assert fair.stderr.count("links are shared fairly: start-ups overlap") == 1
        assert "fair by default" not in fair.stderr
    default = run("predict all_gather -c dgx1-v100 --nodes 2 -s 1K").stderr
    assert "alpha_busy counts as 0" in default
    assert "dgx1-v100 is fair by default" in default
    assert "fair by default" not in run("show cluster dgx1-v100 --set sharing=fair").stderr


def test_a_profile_keeps_the_sharing_that_is_set(run: Run, log: str, tmp_path: Path) -> None:
    """Its numbers make the cluster anew."""
    path = str(tmp_path / "mine.toml")
    assert run(f"calibrate fit {log} -o", path).exit_code == 0
    line = "predict all_reduce -c dgx-h100 -s 1K --set sharing=fair --profile"
    assert "sharing fair" in run(line, path).stdout.splitlines()[0]


def test_contradictions(fails: Callable[..., str]) -> None:
    """A file to change is no ideal network by numbers, and a profile has its own."""
    ideal = "predict all_reduce --alpha 1us --bandwidth 1GB/s -s 1K"
    assert "--set" in fails(f"{ideal} --set node.gpus=4", code=2)


def test_an_order_for_the_size_that_a_change_makes(run: Run) -> None:
    """The healthy cluster, of another size, is then in its own order."""
    line = "predict all_reduce -c dgx-h100 --nodes 2 -s 1M --algorithm ring"
    found = run(f"{line} --set node.gpus=2 --order 3,2,1,0")
    assert found.exit_code == 0
    assert "healthy" in found.stdout


def test_what_takes_minutes_is_said_first(run: Run) -> None:
    """Fair shares with reductions, whose ends are moments of their own; not without."""
    line = "predict all_reduce -c p4d-efa --nodes 2 -s 1K --algorithm mst"
    assert "reductions take time, too: up to minutes" in run(f"{line} --gamma 0.01ns").stderr
    assert "minutes" not in run(line).stderr
    assert "minutes" not in run(f"{line} --gamma 0.01ns --sharing fifo").stderr


def test_a_profile_of_another_machine_is_refused_with_a_fault_too(fails: Fails) -> None:
    """Whatever cannot be loaded healthy either is an error, and no search without an end."""
    line = "check examples/nccl_tests_all_reduce_8gpu.txt --profile h100-nvswitch-8"
    message = fails(f"{line} -c dgx-a100 --fail nic[0]", code=1)
    assert message.startswith("profile h100-nvswitch-8: fitted on dgx-h100")


def test_alpha_busy_of_a_cluster(answer: Answer) -> None:
    """The same as to set it of each link; beside the cluster as it is, and among changes."""
    line = f"predict all_reduce {TWO} --algorithm ring -s 2M"
    found = answer(f"{line} --alpha-busy 0us")
    each = answer(f"{line} --set node.alpha_busy=0us --set network.alpha_busy=0us")
    assert found["rows"] == each["rows"]
    assert found["changes"] == ["alpha-busy 0s"]
    assert found["rows"][0]["change"] < 1


def test_what_alpha_that_holds_links_costs(run: Run) -> None:
    """Said once, of the largest size that alpha rules; not where somebody has asked for it."""
    line = f"predict all_reduce {TWO} --algorithm ring -s 1K -s 64K -s 1G"
    notes = [text for text in run(line).stderr.splitlines() if "alpha" in text]
    assert len(notes) == 1
    assert "of ring's time at 64KiB is alpha, which holds links here" in notes[0]
    overlapping = run(f"{line} --alpha-busy 0us")
    row = next(
        text for text in overlapping.stdout.splitlines() if text.startswith("       65536")
    )
    assert f"(--alpha-busy 0us) it takes {row.split()[5]} us" in notes[0]
    assert "alpha" not in overlapping.stderr
    assert "alpha" not in run(f"{line} --set network.alpha_busy=0us").stderr
    assert "alpha" not in run("predict all_reduce --algorithm ring -s 1K").stderr
    chosen = run(f"choose all_reduce {TWO} -b 1K -e 2K --algorithm ring").stderr
    assert "rules small sizes on several nodes; --alpha-busy 0us" in chosen


def test_the_way_around_what_failed_is_said(run: Run) -> None:
    """Who passes on what; a GPU's link is not its rank."""
    said = run("predict all_gather -c dgx-h100 --nodes 2 -s 1K --algorithm ring --fail gpu[3]")
    assert "gpu[3].up, gpu[3].down; its rank goes on over what is left" in said.stderr
    assert "from rank 2 to 3 over nic[2].up, nic[3].down" in said.stderr
    said = run("predict all_gather -c dgx-h100 --nodes 2 -s 1K --algorithm ring --fail nic[3]")
    assert (
        "from rank 3 to 11 over gpu[3].up, gpu[0].down, nic[0].up, nic[11].down" in said.stderr
    )


def test_own_cards_that_gpus_share(run: Run, tmp_path: Path) -> None:
    """A file that does not say how; the default stays."""
    path = tmp_path / "own.toml"
    path.write_text(
        'schema = "collsim/cluster/1"\nname = "own"\n'
        '[node]\nshape = "switch"\ngpus = 2\nlink = "pcie4"\n'
        '[network]\nshape = "star"\nnics = 1\nlink = "roce100"\n'
    )
    line = "predict all_reduce --nodes 2 -s 1K -c"
    found = run(line, str(path))
    assert "GPUs share NICs, and one message goes after the other (fifo" in found.stderr
    assert "sharing fifo" in found.stdout
    assert "share NICs" not in run(line, str(path), "--sharing", "fifo").stderr
    assert "share NICs" not in run(line, str(path), "--set", "network.nics=2").stderr


def test_more_gpus_in_a_node_than_the_preset_has(run: Run) -> None:
    """It is a machine of its own, and no second node."""
    line = "predict all_reduce -c dgx-h100 -s 1K --gpus-per-node"
    assert "not those of dgx-h100, which have 8 GPUs" in run(f"{line} 16").stderr
    assert "not those of" not in run(f"{line} 4").stderr


def test_a_root_that_has_no_effect(run: Run) -> None:
    """All_reduce has none; broadcast has."""
    assert "--root 3 changes nothing" in run("predict all_reduce -s 1K --root 3").stderr
    assert "--root 3 changes nothing" in run("choose all_reduce -b 1K -e 2K --root 3").stderr
    assert "nothing" not in run("predict broadcast -s 1K --root 3").stderr


def test_a_table_of_thousands_of_sizes_is_announced(capsys: pytest.CaptureFixture[str]) -> None:
    """Before it begins, with what is shorter; a table of doublings says nothing."""
    cluster = Cluster.load("dgx-a100", nodes=33)
    tell_large(cluster, sizes=31)
    assert capsys.readouterr().err == ""
    tell_large(cluster, sizes=8192)
    said = capsys.readouterr().err
    assert said.startswith("note: simulating 8192 sizes one by one on 264 ranks")
    assert "-f 2" in said
