"""The file that NCCL's example tuner plugin reads.

A line is ``colltype,minbytes,maxbytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,
regBuff``; -1 means any. Lines are of 255 characters at most, a comment has its # in the first
column. Source: NCCL 2.30.7, plugins/tuner/example/plugin.c, lines 14-292 and 352-450.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from collsim.choose.against import Comparison
from collsim.errors import InputError
from collsim.interop.nccl_tuner.names import FUNCTIONS, spelled
from collsim.interop.nccl_tuner.rules import Rule
from collsim.nccl import ALGORITHMS, PROTOCOLS
from collsim.units import format_size

__all__ = ["to_csv"]

_MAX_LINE: Final = 255
_WIDTH: Final = 96
_TRAP: Final = (
    "A communicator of another size, or a collective without a line here, falls to one channel "
    "with NVIDIA's example plugin up to 2.30.7, whatever its README says."
)
_USE: Final = (
    "Use with NCCL 2.27.7 or later: NCCL_TUNER_PLUGIN=<the example plugin> "
    "NCCL_TUNER_CONFIG_FILE=<this file>"
)
_FIELDS: Final = (
    "colltype,minbytes,maxbytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff; "
    "the first line that fits wins, but where its algorithm can't run"
)
_PLAIN: Final = (
    "Where switches can't add up, as a product or a type that they don't know, the lines of "
    "nvls above are passed over, and these fit:"
)


def to_csv(
    made: Sequence[Rule], comparisons: Sequence[Comparison], about: Sequence[str]
) -> str:
    """Return the text of the file.

    Parameters
    ----------
    made : sequence of Rule
        In the order in which they are tried.
    comparisons : sequence of Comparison
        What they come from, told in comments.
    about : sequence of str
        Sentences for the head: versions, cluster, command.

    Raises
    ------
    InputError
        If a rule has a word that the plugin does not know, no channels, or lines are too long.

    Examples
    --------
    >>> rule = Rule("all_reduce", 0, 2**64 - 1, "ring", "simple", 8, 2, 16)
    >>> print(to_csv([rule], [], ["collsim"]).splitlines()[-1])
    allreduce,0,18446744073709551615,ring,simple,8,2,16,-1,-1
    """
    covered = ", ".join(dict.fromkeys(FUNCTIONS[rule.collective] for rule in made))
    where = {(rule.nodes, rule.ranks) for rule in made}
    sizes = " and ".join(f"{ranks} ranks on {nodes} nodes" for nodes, ranks in sorted(where))
    head = [
        *about,
        f"For {covered} in communicators of {sizes}. {_TRAP}",
        _USE,
        _FIELDS,
    ]
    lines = [f"# {part}" for text in head for part in _wrapped(text)]
    told = {found.collective: found for found in comparisons}
    last, reached = "", -1
    for rule in made:
        if rule.collective == last and rule.min_bytes <= reached:
            lines += [f"# {part}" for part in _wrapped(_PLAIN)]
        reached = rule.max_bytes
        if rule.collective != last and rule.collective in told:
            texts = _told(told[rule.collective])
            lines += [f"# {part}" for text in texts for part in _wrapped(text)]
        last = rule.collective
        lines.append(_line(rule))
    long = next((line for line in lines if len(line.encode()) > _MAX_LINE), None)
    if long is not None:
        raise InputError(f"tuner file: a line of {len(long)} characters: {long[:60]}...")
    return "\n".join(lines) + "\n"


def _line(rule: Rule) -> str:
    known = rule.algorithm in ALGORITHMS and rule.protocol in PROTOCOLS
    if not known or rule.channels < 1 or not 0 <= rule.min_bytes <= rule.max_bytes:
        raise InputError(f"tuner file: {rule} is nothing that NCCL's plugin can read")
    fields = (
        FUNCTIONS[rule.collective],
        rule.min_bytes,
        rule.max_bytes,
        rule.algorithm,
        rule.protocol,
        rule.channels,
        rule.nodes,
        rule.ranks,
        -1,
        -1,
    )
    return ",".join(map(str, fields))


def _told(found: Comparison) -> Iterable[str]:
    changes = found.changes()
    if found.held:
        yield f"{found.collective}: NCCL's own choice: {found.held}"
        return
    if not changes:
        least = f"{100 * found.min_gain:.3g} %"
        yield f"{found.collective}: NCCL's own choice; nothing it has gains {least} or more"
        return
    yield f"{found.collective}: NCCL's own choice, but"
    for row in changes:
        span = f"{format_size(row.min_bytes, 4)} to {format_size(row.max_bytes, 4)}"
        where = format_size(row.size, 4)
        gain = f", x{row.gain:.3g} at {where}" if row.gain else ""
        model = row.model_gain
        theirs = f"; NCCL's model says x{model:.3g} there" if model is not None else ""
        its = row.nccl_algorithm + (f"/{row.nccl_protocol}" if found.fitted else "")
        yield f"  from {span} {found.best(row)} for its {its}{gain}{theirs}"
        if not found.measured:
            word = f"{FUNCTIONS[found.collective]}:{spelled(row.best_algorithm)}"
            yield f"    measure with NCCL_ALGO={word} first: there is no profile"


def _wrapped(text: str) -> list[str]:
    """Return a text in lines, without what would end one or is no plain character."""
    plain = "".join(c if c.isprintable() and c.isascii() else "?" for c in text)
    indent = " " * (len(plain) - len(plain.lstrip()))
    lines, line = [], ""
    for word in plain.split():
        for piece in (word[i : i + _WIDTH] for i in range(0, len(word), _WIDTH)):
            if line and len(line) + 1 + len(piece) > _WIDTH:
                lines.append(indent + line)
                line = ""
            line = f"{line} {piece}" if line else piece
    return [*lines, indent + line]
