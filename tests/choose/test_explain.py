"""Explanations as data: rounds, costs, turns, and the example on four ranks."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace

import pytest

from collsim.choose.curve import Curve
from collsim.choose.example import example
from collsim.choose.explain import explain
from collsim.choose.explanation import Explanation
from collsim.choose.rounds import rounds_of, turn_of
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES, collective
from collsim.errors import InputError, UnknownNameError

ALPHA, BETA = 10e-6, 1 / 900e9


def textbook(ranks: int) -> Cluster:
    """Return the ideal network of 10 us and 900 GB/s."""
    return Cluster.ideal(ranks, alpha=ALPHA, bandwidth=900e9)


def pairs(answer: Explanation, algorithm: str) -> list[list[tuple[int, int]]]:
    """Return who sends to whom, round by round."""
    (story,) = (s for s in answer.algorithms if s.name == algorithm)
    return [[(send.src, send.dst) for send in one.sends] for one in story.shown]


def test_broadcast_on_six_ranks() -> None:
    """MST takes three rounds, the ring five, and this is who sends to whom."""
    answer = explain("broadcast", textbook(6), chunks=1)
    assert [(s.name, s.rounds, s.messages) for s in answer.algorithms] == [
        ("mst", 3, 5),
        ("ring", 5, 5),
    ]
    assert pairs(answer, "mst") == [[(0, 3)], [(0, 2), (3, 5)], [(0, 1), (3, 4)]]
    assert pairs(answer, "ring") == [[(0, 1)], [(1, 2)], [(2, 3)], [(3, 4)], [(4, 5)]]
    assert answer.root == 0


def test_one_message_of_the_textbook() -> None:
    """1 KiB pays 10 us against 1.1 ns, 1 GB 10 us against 1.1 ms; equal at 9 MB."""
    (message,) = explain("broadcast", Cluster.load("textbook-h100", ranks=6)).messages
    assert message.alpha_us == pytest.approx(10)
    assert message.beta_us == pytest.approx((1024 / 900e9 * 1e6, 1e9 / 900e9 * 1e6))
    assert message.equal_bytes == pytest.approx(9e6)
    assert message.bandwidth == 900


def test_costs_are_rounds_times_alpha_and_bytes_times_beta() -> None:
    """Ring all_reduce on 8: 14 alphas, 7/4 n beta, equal at 8 * 9 MB."""
    answer = explain("all_reduce", textbook(8), algorithms=["ring"])
    small, large = answer.algorithms[0].costs
    assert (small.alphas, small.betas, small.model) == (14, 1.75, "formula")
    assert small.alpha_us == pytest.approx(140)
    assert large.beta_us == pytest.approx(1.75e9 / 900e9 * 1e6)
    assert large.time_us == pytest.approx(large.alpha_us + large.beta_us)
    assert small.equal_bytes == pytest.approx(72e6)
    assert (small.rules, large.rules) == ("alpha", "beta")


def test_where_both_are_equal_neither_rules() -> None:
    """At the very size at which the two parts are equal."""
    answer = explain("all_reduce", textbook(8), sizes=[72e6], algorithms=["ring"])
    assert answer.algorithms[0].costs[0].rules == "neither"


def test_fastest_and_where_it_turns() -> None:
    """MST below 8 / (6 - 7/4) * 9 MB = 16.9 MB, the ring above."""
    answer = explain("all_reduce", textbook(8))
    assert answer.fastest == ("mst", "ring")
    assert answer.turns is not None
    (turn,) = answer.turns
    assert turn.size == pytest.approx(8 / (6 - 7 / 4) * 9e6)
    assert (turn.below, turn.above) == ("mst", "ring")


def test_swap_of_two_that_a_third_beats_is_no_turn() -> None:
    """Linear and ring swap nowhere that matters: MST is faster below, ring above."""
    names = ["mst", "ring", "linear", "reduce_broadcast"]
    answer = explain("all_reduce", textbook(8), algorithms=names, chunks=1)
    assert answer.turns is not None
    assert [(turn.below, turn.above) for turn in answer.turns] == [("mst", "ring")]


def test_no_turn() -> None:
    """A scatter moves as many bytes either way, and MST has fewer messages."""
    answer = explain("scatter", textbook(8))
    assert (answer.turns, answer.best) == ((), "mst")


def test_best_where_small_sizes_tie() -> None:
    """On 3 ranks both broadcasts take 2 rounds, but the ring can cut large messages."""
    answer = explain("broadcast", textbook(3), sizes=[1024])
    assert (answer.fastest, answer.turns, answer.best) == (("mst",), (), "ring")


def test_best_of_three_of_which_two_swap() -> None:
    """Linear and ring tie above MST, which stays the fastest; with a turn there is none."""
    names = ["linear", "ring", "mst"]
    assert explain("gather", textbook(8), algorithms=names).best == "mst"
    assert explain("all_reduce", textbook(8), algorithms=names).best is None


@pytest.mark.parametrize(
    ("name", "cluster", "claim"),
    [
        ("all_reduce", textbook(6), "exact"),
        ("all_reduce", Cluster.load("dgx-h100", nodes=2), "none"),
        ("reduce_scatter", Cluster.ideal(6, ALPHA, 900e9, gamma=1e-12), "overlap"),
    ],
)
def test_why_times_are_simulated(name: str, cluster: Cluster, claim: str) -> None:
    """Not at all, because the network is not ideal, or because reductions overlap."""
    assert explain(name, cluster, algorithms=["mst"]).algorithms[0].claim == claim


def test_claim_that_is_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Broadcast reduces nothing: what its author claims is a bound."""
    true_terms = Curve.terms
    monkeypatch.setattr(
        Curve, "terms", lambda self, chunks: replace(true_terms(self, chunks), exact=False)
    )
    (story,) = explain("broadcast", textbook(6), algorithms=["mst"]).algorithms
    assert story.claim == "bound"
    assert {cost.model for cost in story.costs} == {"event"}


def test_chunks_are_the_best_for_each_size() -> None:
    """The rounds are drawn for one chunk, the costs are those of the best count."""
    answer = explain("broadcast", textbook(8))
    ring = answer.algorithms[1]
    assert (ring.chunks, ring.rounds) == (1, 7)
    assert ring.costs[0].chunks == 1
    assert ring.costs[1].chunks > 1
    assert ring.costs[1].alphas == 6 + ring.costs[1].chunks


def test_chunks_that_are_given_are_drawn() -> None:
    """Four chunks on 6 ranks: 8 rounds of at most 4 messages, n/4 each."""
    answer = explain("broadcast", textbook(6), chunks=4)
    ring = answer.algorithms[1]
    assert (ring.chunks, ring.rounds, ring.messages) == (4, 8, 20)
    assert max(one.messages for one in ring.shown) == 4
    assert {send.fraction for one in ring.shown for send in one.sends} == {0.25}
    assert answer.algorithms[0].chunks == 1


def test_what_a_message_carries() -> None:
    """MST scatter on 6 ranks from rank 0: half of the shares, then one each."""
    mst = explain("scatter", textbook(6)).algorithms[0]
    first, second, third = mst.shown
    assert [(s.blocks, s.fraction) for s in first.sends] == [((3, 4, 5), pytest.approx(0.5))]
    assert [s.blocks for s in second.sends] == [(2,), (5,)]
    assert [s.blocks for s in third.sends] == [(1,), (4,)]
    assert not any(s.reduces for one in mst.shown for s in one.sends)
    assert explain("reduce", textbook(6)).algorithms[0].shown[0].sends[0].reduces


def test_network_that_is_not_ideal_is_simulated() -> None:
    """There are two kinds of message, and the costs are those of the critical path."""
    answer = explain("all_reduce", Cluster.load("dgx-h100", nodes=2))
    assert not answer.ideal
    assert [(m.src, m.dst) for m in answer.messages] == [(0, 1), (0, 8)]
    assert answer.messages[0].alpha_us < answer.messages[1].alpha_us
    for story in answer.algorithms:
        for cost in story.costs:
            assert (cost.model, cost.alphas, cost.betas, cost.equal_bytes) == (
                "event", None, None, None,
            )  # fmt: skip
            parts = (
                cost.alpha_us + cost.beta_us + cost.gamma_us + cost.launch_us + cost.waiting_us
            )
            assert parts == pytest.approx(cost.time_us)
    assert answer.turns


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
@pytest.mark.parametrize("name", COLLECTIVES)
def test_every_collective_becomes_json(name: str, ranks: int) -> None:
    """Without a number that JSON has not."""
    answer = explain(name, textbook(ranks), sizes=[0, 1, 1e6])
    text = json.dumps(dataclasses.asdict(answer), allow_nan=False)
    assert json.loads(text)["collective"] == name


def test_no_alpha_or_no_ranks_divide_by_nothing() -> None:
    """Alpha 0 makes the bytes rule at once; one rank has no message at all."""
    free = explain("all_reduce", Cluster.ideal(4, alpha=0, bandwidth=1e9))
    assert free.messages[0].equal_bytes == 0
    assert {cost.rules for story in free.algorithms for cost in story.costs} == {"beta"}
    alone = explain("all_reduce", textbook(1))
    assert (alone.messages, alone.turns) == ((), ())
    assert {cost.rules for story in alone.algorithms for cost in story.costs} == {"neither"}


def test_large_schedule_is_shown_in_part() -> None:
    """All counts are there, and a few rounds with a few messages."""
    answer = explain("all_reduce", textbook(64), algorithms=["ring"])
    story = answer.algorithms[0]
    assert (story.rounds, story.messages) == (126, 126 * 64)
    assert [one.number for one in story.shown] == [1, 2, 3, 4, 5, 63, 64, 126]
    assert [one.does for one in story.shown[-3:]] == ["reduces", "copies", "copies"]
    assert all(one.messages == 64 and len(one.sends) < 20 for one in story.shown)
    assert len(json.dumps(dataclasses.asdict(answer))) < 50_000


def test_search_that_would_take_minutes_is_left_out() -> None:
    """On many nodes every size is a simulation of many messages; it is said so."""
    answer = explain("all_to_all", Cluster.load("dgx-h100", nodes=32), sizes=[1024.0])
    assert answer.turns is None
    assert answer.fastest == ("mst",)


def test_default_algorithms_are_the_two_ends() -> None:
    """Where there are none, as for sendrecv, all."""
    assert [s.name for s in explain("gather", textbook(4)).algorithms] == ["mst", "ring"]
    assert [s.name for s in explain("sendrecv", textbook(4)).algorithms] == ["direct"]


def test_bad_arguments_are_refused() -> None:
    """Names with the nearest, a root beyond the ranks, a size below 0."""
    with pytest.raises(UnknownNameError, match="did you mean 'ring'"):
        explain("broadcast", textbook(4), algorithms=["rinng"])
    with pytest.raises(InputError, match="root: got 4"):
        explain("broadcast", textbook(4), root=4)
    with pytest.raises(InputError, match="size: got -1"):
        explain("broadcast", textbook(4), sizes=[-1])


def test_rounds_of_an_empty_schedule() -> None:
    """One rank has no rounds."""
    from collsim.algorithms import build

    assert rounds_of(build("broadcast", "mst", 1)) == ()


def test_rounds_that_reduce_and_rounds_that_copy() -> None:
    """An all_reduce by a ring of 4 adds up for 3 rounds, then copies for 3."""
    from collsim.algorithms import build

    does = [one.does for one in rounds_of(build("all_reduce", "ring", 4))]
    assert does == ["reduces"] * 3 + ["copies"] * 3
    assert turn_of(does) == 3
    assert turn_of(["both", "copies"]) is None


# What torch.distributed gives for four ranks that hold [0 1 2 3], [1 2 3 4], ...
@pytest.mark.parametrize(
    ("name", "after"),
    [
        ("broadcast", [(0, 1, 2, 3)] * 4),
        ("reduce", [(6, 10, 14, 18), (), (), ()]),
        ("scatter", [(0,), (1,), (2,), (3,)]),
        ("gather", [(0, 1, 2, 3), (), (), ()]),
        ("all_gather", [(6, 10, 14, 18)] * 4),
        ("reduce_scatter", [(6,), (10,), (14,), (18,)]),
        ("all_reduce", [(6, 10, 14, 18)] * 4),
        ("all_to_all", [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)]),
        ("sendrecv", [(3,), (0,), (1,), (2,)]),
    ],
)
def test_example_in_numbers(name: str, after: list[tuple[int, ...]]) -> None:
    """Every rank's result."""
    assert [h.after_values for h in example(collective(name)).ranks] == after


def test_all_gather_says_where_its_numbers_are_from() -> None:
    """They are the results of reduce_scatter's example; others need no note."""
    assert "reduce_scatter" in example(collective("all_gather")).note
    left = [h.after_values for h in example(collective("reduce_scatter")).ranks]
    assert left == [h.before_values for h in example(collective("all_gather")).ranks]
    assert example(collective("gather")).note == ""


def test_example_in_letters() -> None:
    """Rank 0 brings a0 to a3, and so on; sums name every rank once."""
    first = example(collective("all_reduce")).ranks[1]
    assert first.before == ("b0", "b1", "b2", "b3")
    assert first.after[2] == "a2+b2+c2+d2"
    assert example(collective("all_to_all")).ranks[3].after == ("a3", "b3", "c3", "d3")
    assert example(collective("gather")).ranks[2].before == ("c",)


@pytest.mark.parametrize(("root", "shown"), [(2, 2), (5, 0)])
def test_example_has_the_root_if_it_is_one_of_the_four(root: int, shown: int) -> None:
    """Rank 5 is none of the four ranks; then the root is 0."""
    answer = explain("reduce", textbook(6), root=root)
    assert answer.root == root
    assert answer.example.root == shown
    assert [bool(h.after) for h in answer.example.ranks].index(True) == shown
