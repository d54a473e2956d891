"""The law of every algorithm: on an ideal network it takes the time that it claims."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from collsim.algorithms import algorithm_names, build, find, refusal
from collsim.core.algorithm import Terms
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES, collective
from collsim.core.link import LinkClass
from collsim.core.schedule import Schedule
from collsim.core.timeline import Timeline
from collsim.engine.bound import lower_bound
from collsim.engine.simulate import Simulation
from collsim.topology.switch import switch

RANKS = (*range(1, 18), 32, 33, 64, 128)
CHUNKS = (1, 2, 7)
ALGORITHMS = [(name, algorithm) for name in COLLECTIVES for algorithm in algorithm_names(name)]
IDS = [f"{name}/{algorithm}" for name, algorithm in ALGORITHMS]
RADICES = (2, 3, 5, 8, 16, 40)
VARIANTS = [("all_to_all", f"bruck:radix={radix}") for radix in RADICES]
# Nothing, one byte, odd, a real number where neither alpha nor bytes rule, and large.
SIZES = (0.0, 1.0, 4097.0, 123456.789, 2.0**30)
ALPHA, BETA, GAMMA, LAUNCH = 1.5e-6, 1 / 30e9, 1 / 7e9, 4e-6
TOLERANCE = 1e-9


def roots_of(name: str, ranks: int) -> list[int]:
    """Return the first, a middle and the last rank where the collective has a root."""
    return sorted({0, ranks // 2, ranks - 1}) if collective(name).rooted else [0]


def applies(name: str, algorithm: str, ranks: int) -> bool:
    """Return whether an algorithm runs on so many ranks of one node, or on its switch."""
    return refusal(name, algorithm, ranks, multicast=find(name, algorithm).in_switch) is None


def schedule_of(
    name: str, algorithm: str, ranks: int, root: int = 0, chunks: int = 1
) -> Schedule:
    """Return a schedule on one node, whose switch takes part if the algorithm is about that."""
    inside = find(name, algorithm).in_switch
    return build(name, algorithm, ranks, root, chunks, multicast=inside)


def network(
    name: str, algorithm: str, ranks: int, gamma: float = 0.0, launch: float = 0.0
) -> Cluster:
    """Return where the claim is to hold: an ideal network, or one switch that takes part."""
    if not find(name, algorithm).in_switch:
        return Cluster.ideal(ranks, ALPHA, 1 / BETA, gamma=gamma, launch=launch)
    link = LinkClass("link", ALPHA, 1 / BETA)
    return switch(ranks, link, "switch", gamma=gamma, launch=launch, multicast=True)


def simulations(name: str, algorithm: str, ranks: int) -> list[tuple[Terms | None, Simulation]]:
    """Return every chunk count, with gamma and without, for roots that take turns."""
    claim = find(name, algorithm)
    roots = roots_of(name, ranks)
    cases = []
    for turn, (chunks, gamma) in enumerate(
        product(CHUNKS if claim.chunked else CHUNKS[:1], (0.0, GAMMA))
    ):
        cluster = network(name, algorithm, ranks, gamma, LAUNCH if gamma else 0.0)
        for root in roots if ranks <= 9 else roots[turn % len(roots) :][:1]:
            schedule = schedule_of(name, algorithm, ranks, root, chunks)
            cases.append((claim.terms(ranks, chunks), Simulation(schedule, cluster)))
    return cases


def check_time(terms: Terms | None, simulation: Simulation, timeline: Timeline) -> None:
    """Assert the claim, the lower bound, and that the parts are the whole."""
    cluster, schedule = simulation.cluster, simulation.schedule
    time = timeline.makespan
    if terms is not None:
        claimed = cluster.launch + terms.seconds(timeline.nbytes, ALPHA, BETA, cluster.gamma)
        if terms.holds(cluster.gamma):
            assert time == pytest.approx(claimed, rel=TOLERANCE, abs=0)
        else:
            assert time <= claimed * (1 + TOLERANCE)
    least = lower_bound(schedule.collective, cluster, timeline.nbytes)
    assert time >= least * (1 - TOLERANCE)
    parts = timeline.breakdown
    total = parts.alpha + parts.beta + parts.gamma + parts.launch + parts.waiting
    assert total == pytest.approx(time, rel=TOLERANCE, abs=0)
    assert parts.launch == cluster.launch
    # Nobody else is ever on one's private link.
    assert parts.waiting == 0.0
    assert min(parts.alpha, parts.beta, parts.gamma) >= 0.0


@pytest.mark.parametrize("counts", [RANKS[:6], RANKS[6:]], ids=["few", "many"])
@pytest.mark.parametrize(
    ("name", "algorithm"), ALGORITHMS + VARIANTS, ids=IDS + [name for _, name in VARIANTS]
)
def test_simulated_time_is_the_claimed_time(
    name: str, algorithm: str, counts: tuple[int, ...]
) -> None:
    """Equal to the formula where it is claimed to be exact, at most that elsewhere."""
    for ranks in counts:
        if not applies(name, algorithm, ranks):
            continue
        for terms, simulation in simulations(name, algorithm, ranks):
            for nbytes in SIZES:
                check_time(terms, simulation, simulation.run(nbytes))


@pytest.mark.parametrize(("name", "algorithm"), ALGORITHMS, ids=IDS)
def test_one_rank_pays_the_launch_alone(name: str, algorithm: str) -> None:
    """With nobody to talk to, no message is listed."""
    if not applies(name, algorithm, 1):
        return
    schedule = schedule_of(name, algorithm, 1)
    assert len(schedule) == 0
    alone = Cluster.ideal(1, ALPHA, 1 / BETA, gamma=GAMMA, launch=LAUNCH)
    assert Simulation(schedule, alone).makespan(1e6) == LAUNCH
    terms = find(name, algorithm).terms(1, 1)
    assert terms is None or terms.seconds(1e6, ALPHA, BETA, GAMMA) == 0.0


@pytest.mark.parametrize("ranks", [2, 3, 6, 13])
@pytest.mark.parametrize(("name", "algorithm"), ALGORITHMS, ids=IDS)
def test_parts_of_the_time_are_those_of_the_formula(
    name: str, algorithm: str, ranks: int
) -> None:
    """Where a formula is exact, its alphas and betas lie on the critical path, as many."""
    if not applies(name, algorithm, ranks):
        return
    terms = find(name, algorithm).terms(ranks, 1)
    cluster = network(name, algorithm, ranks)
    schedule = schedule_of(name, algorithm, ranks)
    parts = Simulation(schedule, cluster).run(1e5).breakdown
    if terms is not None and terms.exact:
        assert parts.alpha == pytest.approx(terms.alphas * ALPHA, rel=TOLERANCE)
        assert parts.beta == pytest.approx(terms.betas * 1e5 * BETA, rel=TOLERANCE)


def log2_up(ranks: int) -> int:
    """Return the rounds in which a doubling number reaches so many ranks."""
    rounds = 0
    while 2**rounds < ranks:
        rounds += 1
    return rounds


def bits(ranks: int) -> Fraction:
    """Return the sum over bits k of #{1 <= j < P : bit k of j set}, per rank."""
    return Fraction(sum(j.bit_count() for j in range(1, ranks)), ranks)


def others(ranks: int) -> Fraction:
    """Return (P-1)/P."""
    return Fraction(ranks - 1, ranks)


Row = Callable[[int, int], tuple[Fraction | int, Fraction | int]]
# The design's table once more: alphas and betas of P ranks and c chunks.
TABLE: dict[tuple[str, str], Row] = {
    ("broadcast", "mst"): lambda p, c: (log2_up(p), log2_up(p)),
    ("reduce", "mst"): lambda p, c: (log2_up(p), log2_up(p)),
    ("scatter", "mst"): lambda p, c: (log2_up(p), others(p)),
    ("gather", "mst"): lambda p, c: (log2_up(p), others(p)),
    ("all_gather", "mst"): lambda p, c: (2 * log2_up(p), log2_up(p) + others(p)),
    ("reduce_scatter", "mst"): lambda p, c: (2 * log2_up(p), log2_up(p) + others(p)),
    ("all_reduce", "mst"): lambda p, c: (2 * log2_up(p), 2 * log2_up(p)),
    ("all_to_all", "mst"): lambda p, c: (log2_up(p), bits(p)),
    ("broadcast", "ring"): lambda p, c: (p - 2 + c, Fraction(p - 2 + c, c)),
    ("reduce", "ring"): lambda p, c: (p - 2 + c, Fraction(p - 2 + c, c)),
    ("scatter", "ring"): lambda p, c: (p - 1, others(p)),
    ("gather", "ring"): lambda p, c: (p - 1, others(p)),
    ("all_gather", "ring"): lambda p, c: (p - 1, others(p)),
    ("reduce_scatter", "ring"): lambda p, c: (p - 1, others(p)),
    ("all_reduce", "ring"): lambda p, c: (2 * (p - 1), 2 * others(p)),
    ("all_to_all", "ring"): lambda p, c: (p - 1, others(p)),
}


@pytest.mark.parametrize(("name", "algorithm"), TABLE)
def test_mst_and_ring_take_the_time_of_the_table(name: str, algorithm: str) -> None:
    """Typed in a second time, independent of what the files of the algorithms claim."""
    row = TABLE[name, algorithm]
    for ranks in RANKS[1:]:
        for chunks in CHUNKS if find(name, algorithm).chunked else CHUNKS[:1]:
            alphas, betas = row(ranks, chunks)
            terms = find(name, algorithm).terms(ranks, chunks)
            assert terms is not None
            assert terms.holds(0.0)
            assert terms.alphas == alphas
            assert terms.betas == pytest.approx(float(betas), rel=1e-14)
            if ranks <= 17:
                cluster = Cluster.ideal(ranks, ALPHA, 1 / BETA)
                time = Simulation(
                    build(name, algorithm, ranks, ranks - 1, chunks), cluster
                ).makespan(65537)
                assert time == pytest.approx(
                    float(alphas) * ALPHA + float(betas) * 65537 * BETA, rel=TOLERANCE
                )


def test_every_collective_has_mst_and_ring() -> None:
    """All eight; sendrecv is one message."""
    assert {key for key in ALGORITHMS if key[1] in {"mst", "ring"}} == TABLE.keys()


@pytest.mark.parametrize(("name", "algorithm"), ALGORITHMS, ids=IDS)
def test_path_is_the_name_and_the_file_says_what_it_claims(
    name: str, algorithm: str, root: Path
) -> None:
    """The file `<collective>/<algorithm>.py` holds formula, summary and paper."""
    claim = find(name, algorithm)
    path = root / "collsim" / "algorithms" / name / f"{algorithm}.py"
    assert claim.build.__module__ == f"collsim.algorithms.{name}.{algorithm}"
    text = path.read_text(encoding="utf-8")
    for said in (claim.formula, claim.summary, claim.paper):
        assert said
        assert said in text
    assert "\n" not in claim.formula + claim.summary + claim.paper


@pytest.mark.parametrize(
    ("name", "algorithm"), ALGORITHMS + VARIANTS, ids=IDS + [name for _, name in VARIANTS]
)
def test_formula_of_the_reader_is_that_of_the_computer(name: str, algorithm: str) -> None:
    """The text, computed with its letters replaced, gives the claimed seconds."""
    claim = find(name, algorithm)
    rng = random.Random(0)
    radix = int(algorithm.partition("radix=")[2] or 4)
    for ranks in (2, 3, 6, 8, 13):
        if not applies(name, algorithm, ranks) or claim.terms(ranks, 1) is None:
            continue
        for chunks in CHUNKS if claim.chunked else CHUNKS[:1]:
            n, alpha, beta, gamma = (rng.uniform(1, 9) for _ in range(4))
            terms = claim.terms(ranks, chunks)
            assert terms is not None
            expected = terms.seconds(n, alpha, beta, gamma)
            letters = {
                "P": ranks, "c": chunks, "n": n, "α": alpha, "β": beta, "γ": gamma,
                "L": log2_up(ranks), "F": ranks.bit_length() - 1,
                "S": float(bits(ranks)) * ranks,
                "V": sum(v * radix**k < ranks for k in range(5) for v in range(1, radix)),
                "D": sum(j // radix**k % radix > 0 for k in range(5) for j in range(ranks)),
            }  # fmt: skip
            assert evaluate(formula_in(claim.formula, chunks), letters) == pytest.approx(
                expected, rel=1e-12
            )


def formula_in(formula: str, chunks: int) -> str:
    """Return the part of a formula that is for so many chunks, where they differ."""
    whole, _, pipelined = formula.partition(", in c > 1 chunks ")
    return pipelined if pipelined and chunks > 1 else whole


def evaluate(formula: str, letters: dict[str, float]) -> float:
    """Return the value of a formula in the notation of the files."""
    text = formula.removeprefix("≤").replace("⌈log P⌉", "L").replace("⌊log P⌋", "F")
    text = (
        text.replace("Σₖ #{1 ≤ j < P : bit k of j set}", "S")
        .replace("Σₖ #{1 ≤ v < r : v·rᵏ < P}", "V")
        .replace("Σₖ #{1 ≤ j < P : digit k of j set}", "D")
        .replace("·", "*")
        .replace("^", "**")
    )
    # A letter, bracket or number that follows another is multiplied with it.
    spelled = ""
    for before, char in zip(" " + text, text, strict=False):
        if (before.isalnum() or before == ")") and (char.isalpha() or char == "("):
            spelled += "*"
        spelled += char
    try:
        return float(eval(spelled, {}, letters))
    except (SyntaxError, NameError):
        pytest.fail(
            f"formula {formula!r}: known are P c n α β γ, ⌈log P⌉, ⌊log P⌋, numbers, + - / · "
            "and brackets"
        )
