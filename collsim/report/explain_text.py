"""The explanation of a collective, as text for somebody who is new to it."""

from collections.abc import Iterable, Sequence
from typing import Final

from collsim.choose.explanation import AlgorithmStory, Claim, Cost, Explanation, Message
from collsim.report.explain_rounds import (
    WIDTH,
    in_lines,
    legend,
    multiple,
    round_lines,
    size_text,
)
from collsim.report.table import aligned
from collsim.units import format_bandwidth, format_size, format_time

__all__ = ["explain_text"]


def explain_text(answer: Explanation) -> str:
    """Return the explanation as text of at most 100 columns.

    Parameters
    ----------
    answer : Explanation
        Of :func:`collsim.choose.explain.explain`.

    Examples
    --------
    >>> from collsim import Cluster
    >>> from collsim.choose.explain import explain
    >>> cluster = Cluster.ideal(6, alpha="10us", bandwidth="900GB/s")
    >>> text = explain_text(explain("broadcast", cluster, chunks=1))
    >>> [line.strip() for line in text.splitlines() if "round 2" in line]
    ['round 2: 0 -> 2, 3 -> 5', 'round 2: 1 -> 2']
    """
    root = "" if answer.root is None else f", root {answer.root}"
    count = "1 rank" if answer.ranks == 1 else f"{answer.ranks} ranks"
    where = f"{answer.cluster} ({answer.shape}), sharing {answer.sharing}"
    head = f"{answer.collective} on {count} of {where}{root}"
    parts = [
        in_lines(head),
        _example(answer),
        _one_message(answer),
        *(_algorithm(answer, story) for story in answer.algorithms),
        _turns(answer),
    ]
    parts += [in_lines(f"{name} is left out: {why}") for name, why in answer.left_out.items()]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _example(answer: Explanation) -> list[str]:
    rows = []
    for holding in answer.example.ranks:
        sides = []
        for symbols, values in (
            (holding.before, holding.before_values),
            (holding.after, holding.after_values),
        ):
            sides += [" ".join(symbols) or "-", f"[{_join(values)}]" if values else "-"]
        rows.append([f"rank {holding.rank}", *sides])
    header = ["", "before", "such as", "after", "such as "]
    root = "" if answer.example.root is None else f", root {answer.example.root}"
    one_each = all(symbol.isalpha() for h in answer.example.ranks for symbol in h.before)
    letter = "a: what rank 0 brings" if one_each else "a2: element 2 of rank 0"
    title = f"What it does, on four ranks{root} ({letter}; -: nothing, or anything)"
    table = aligned(header, rows, left=header).splitlines()
    note = [f"  such as: {answer.example.note}"] if answer.example.note else []
    return [title, *(f"  {line.rstrip()}" for line in table), *note]


def _join(values: Iterable[object]) -> str:
    return " ".join(map(str, values))


def _one_message(answer: Explanation) -> list[str]:
    if not answer.messages:
        return ["There is one rank, so nothing is sent and nothing takes time."]
    lines = ["What one message costs: alpha to start it, and beta for each of its n bytes"]
    for message in answer.messages:
        lines += _message(answer, message)
    return lines


def _message(answer: Explanation, message: Message) -> list[str]:
    where = f"From rank {message.src} to rank {message.dst} over {message.link}: "
    if len(answer.messages) == 1 and answer.ideal:
        where = ""
    alpha = format_time(message.alpha_us * 1e-6)
    lines = in_lines(
        f"{where}alpha is {alpha}, and 1/beta is {format_bandwidth(message.bandwidth * 1e9)}.",
        2,
    )
    for size, beta_us in zip(answer.sizes, message.beta_us, strict=True):
        more = "alpha" if message.alpha_us > beta_us else "n beta"
        lines += in_lines(
            f"{size_text(size)} pays {alpha} of alpha and {format_time(beta_us * 1e-6)} of "
            f"n beta: {more} rules.",
            4,
        )
    if message.alpha_us > 0:
        equal = format_size(message.equal_bytes, 4)
        decimal = size_text(message.equal_bytes)
        if decimal != equal:
            equal = f"{decimal} ({equal})"
        lines += in_lines(
            f"Both are equal at {equal}: a smaller message pays for "
            "being sent at all, a larger one for its bytes.",
            4,
        )
    return lines


def _algorithm(answer: Explanation, story: AlgorithmStory) -> list[str]:
    lines = in_lines(f"{story.name}: {story.summary}")
    lines += in_lines(f"formula {story.formula}", 2)
    lines += in_lines(f"from {story.paper}", 2)
    if answer.ranks == 1:
        return lines
    auto = any(cost.chunks != story.chunks for cost in story.costs)
    counts = f"{_count(story.rounds, 'round')}, {_count(story.messages, 'message')}"
    if auto:
        counts += ", drawn for one chunk; below, each size has its best number of chunks"
    lines += in_lines(counts + legend(answer.collective, story), 2)
    lines += round_lines(answer.collective, answer.ranks, story)
    if story.efficiency is not None and story.efficiency < 1:
        lines += in_lines(
            f"To and from a switch that takes part, bytes pass at {story.efficiency:g} of a "
            f"link's bandwidth: their beta is 1/{story.efficiency:g} of it.",
            2,
        )
    if story.claim != "exact":
        some = any(cost.model == "formula" for cost in story.costs)
        which = "those times below that are no product" if some else "the times below"
        lines += in_lines(f"{_WHY[story.claim]}: {which} are simulated.", 2)
    return [*lines, *(f"    {line}" for line in _costs(answer, story.costs))]


_WHY: Final[dict[Claim, str]] = {
    "overlap": "Reductions overlap with messages, so the formula is a bound",
    "bound": "The formula is a bound",
    "none": "No formula is exact on this network",
}


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _costs(answer: Explanation, costs: Sequence[Cost]) -> list[str]:
    """Return a table of the parts of the time; if it gets too wide, in fewer words."""
    wide = _table(answer, costs, results=True)
    return wide if max(map(len, wide)) <= WIDTH - 4 else _table(answer, costs, results=False)


def _table(answer: Explanation, costs: Sequence[Cost], results: bool) -> list[str]:
    columns: dict[str, list[str]] = {"size": [size_text(cost.size) for cost in costs]}
    if any(cost.chunks > 1 for cost in costs):
        columns["chunks"] = [str(cost.chunks) for cost in costs]
    if any(cost.channels > 1 for cost in costs):
        columns["channels"] = [str(cost.channels) for cost in costs]
    first = answer.messages[0]
    columns["alpha"] = [
        _product(cost.alphas, first.alpha_us, cost.alpha_us, results) for cost in costs
    ]
    # Their own n beta: over a switch that takes part it is more than that of a message.
    columns["n beta"] = [
        _product(cost.betas, cost.beta_us / (cost.betas or 1), cost.beta_us, results)
        for cost in costs
    ]
    for name in ("gamma", "launch", "waiting"):
        values = [getattr(cost, f"{name}_us") for cost in costs]
        if any(values):
            columns[name] = [_us(value) for value in values]
    columns["time"] = [_us(cost.time_us) for cost in costs]
    columns["rules"] = [{"beta": "n beta"}.get(cost.rules, cost.rules) for cost in costs]
    if any(cost.equal_bytes for cost in costs):
        columns["equal at"] = [
            format_size(cost.equal_bytes, 4) if cost.equal_bytes else "-" for cost in costs
        ]
    rows = list(zip(*columns.values(), strict=True))
    return aligned(list(columns), rows, left=["rules"]).splitlines()


def _product(factor: float | None, each_us: float, whole_us: float, result: bool) -> str:
    if factor is None:
        return _us(whole_us)
    product = f"{multiple(factor)} x {_us(each_us)}"
    return f"{product} = {_us(whole_us)}" if result else product


def _us(microseconds: float) -> str:
    return format_time(microseconds * 1e-6)


def _turns(answer: Explanation) -> list[str]:
    if len(answer.algorithms) < 2 or answer.ranks == 1:
        return []
    lines = ["Which is faster"]
    for i, (size, best) in enumerate(zip(answer.sizes, answer.fastest, strict=True)):
        lines += in_lines(_comparison(answer, i, size, best), 2)
    if answer.turns is None:
        return [*lines, "  (So many messages that the sizes where it turns were not searched.)"]
    if not answer.turns:
        always = f"{answer.best} is faster, or as fast, at every size from 1B to 1TiB."
        return [*lines, *in_lines(always, 2)]
    for swap in answer.turns:
        jump = ", where a time jumps" if swap.jump is not None else ""
        lines += in_lines(
            f"It turns at {format_size(swap.size, 4)} ({_us(swap.time_us)}{jump}): below "
            f"{swap.below} is faster, above {swap.above}.",
            2,
        )
    return lines


def _comparison(answer: Explanation, i: int, size: float, best: str) -> str:
    by_name = {story.name: story.costs[i] for story in answer.algorithms}
    winner = by_name.pop(best)
    other, loser = min(by_name.items(), key=lambda pair: pair[1].time_us)
    if loser.time_us <= winner.time_us * (1 + 1e-9):
        return f"At {size_text(size)} {best} and {other} take the same {_us(winner.time_us)}."
    text = (
        f"At {size_text(size)} {best}: {_us(winner.time_us)} against {_us(loser.time_us)} "
        f"of {other}."
    )
    in_alpha = loser.alpha_us - winner.alpha_us > loser.beta_us - winner.beta_us
    if in_alpha and winner.alphas is not None and loser.alphas is not None:
        return (
            f"{text} It pays {multiple(winner.alphas)} alphas one after another, "
            f"{other} {multiple(loser.alphas)}."
        )
    if not in_alpha and winner.betas is not None and loser.betas is not None:
        return (
            f"{text} It sends {multiple(winner.betas)} n one after another, "
            f"{other} {multiple(loser.betas)} n."
        )
    part = "alpha" if in_alpha else "bytes"
    pair = (winner.alpha_us, loser.alpha_us) if in_alpha else (winner.beta_us, loser.beta_us)
    return f"{text} Most of that is {part}: {_us(pair[0])} against {_us(pair[1])}."
