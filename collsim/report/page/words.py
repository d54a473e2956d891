"""Words of the page: sizes and times as a reader writes them, and text made safe for HTML."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from collsim.choose.policy import Policy
from collsim.units import format_size

__all__ = ["ranks_of", "sentence", "size_words", "table", "time_words", "unit_of"]

_SHORT: Final = 24  # characters that stay on one line
_TIMES: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def time_words(seconds: float) -> str:
    """Spell a time.

    Examples
    --------
    >>> time_words(1.2345e-5), time_words(0)
    ('12.35 µs', '0 µs')
    """
    if seconds <= 0:
        return "0 µs"
    step, unit = unit_of(seconds)
    return f"{seconds / step:.4g} {unit}"


def unit_of(seconds: float) -> tuple[float, str]:
    """Return the largest unit of time that is reached: its seconds and its name.

    Examples
    --------
    >>> unit_of(0.0021), unit_of(0)
    ((0.001, 'ms'), (1e-09, 'ns'))
    """
    # Judged after rounding, so that 999.99 of a unit becomes 1 of the next.
    return next((pair for pair in _TIMES if seconds >= pair[0] * 0.99995), _TIMES[-1])


def size_words(nbytes: float) -> str:
    """Spell a size to four digits.

    Examples
    --------
    >>> size_words(503014), size_words(2**30)
    ('491.2 KiB', '1 GiB')
    """
    text = format_size(nbytes, 4)
    number = text.rstrip("BKMGTi")
    return f"{number} {text[len(number) :]}"


def ranks_of(policy: Policy, profile: str | None = None) -> str:
    """Return how many ranks of what, and whose numbers that has."""
    fitted = "" if profile is None else f" by profile {profile}"
    return f"{policy.ranks} rank{'s' * (policy.ranks != 1)} of {policy.cluster}{fitted}"


def sentence(policy: Policy, profile: str | None = None) -> str:
    """Return the answer in a sentence, which names the profile that it rests on.

    Examples
    --------
    >>> from collsim.choose.policy import choose
    >>> from collsim.core.cluster import Cluster
    >>> sentence(choose("all_reduce", Cluster.ideal(8, "10us", "900GB/s")))
    'The fastest all_reduce on 8 ranks of ideal is recursive_doubling up to 20.6 MiB, and
    halving_doubling above that, up to 8 GiB.'
    """
    head = f"The fastest {policy.collective} on {ranks_of(policy, profile)} is"
    span = f"{size_words(policy.min_bytes)} to {size_words(policy.max_bytes)}"
    if all(row.time_us == 0 for row in policy.rows):
        where = ranks_of(policy, profile)
        return f"{policy.collective} on {where} takes no time at every size from {span}."
    if len(policy.rows) == 1:
        return f"{head} {policy.rows[0].algorithm} at every size from {span}."
    parts = [f"{row.algorithm} up to {size_words(row.max_bytes)}" for row in policy.rows[:-1]]
    last = f"{policy.rows[-1].algorithm} above that, up to {size_words(policy.max_bytes)}"
    return f"{head} {', '.join(parts)}, and {last}."


def _cells(values: Iterable[object]) -> str:
    """Return values as the cells of one row, numbers to the right.

    Examples
    --------
    >>> _cells(["<b>", 3])
    '<tr><td class="s">&lt;b&gt;</td><td class="n">3</td></tr>'
    """
    return f"<tr>{''.join(map(_cell, values))}</tr>"


def _cell(value: object) -> str:
    if isinstance(value, int | float):
        return f'<td class="n">{value}</td>'
    text = escape(str(value))
    if len(text) < _SHORT:
        return f'<td class="s">{text}</td>'
    if " " not in text:
        # Long names of algorithms may break where their options begin.
        text = text.replace(":", ":<wbr>").replace(",", ",<wbr>")
    return f"<td>{text}</td>"


def table(name: str, titles: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table that scrolls by itself where the window is narrow."""
    first = rows[0] if rows else [""] * len(titles)
    head = "".join(
        f'<th class="{"n" if isinstance(value, int | float) else "s"}">{escape(title)}</th>'
        for title, value in zip(titles, first, strict=True)
    )
    body = "\n".join(_cells(row) for row in rows)
    return (
        f'<div class="wide"><table id="{escape(name)}"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )
