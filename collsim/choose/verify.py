"""Verify schedules: right data in every order that a machine may take, and no race."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from collsim.algorithms import algorithm_names, build, canonical, find, unknown_algorithm
from collsim.choose.arrangements import alike_on_all, arrangements, words_of
from collsim.core.algorithm import Algorithm, no_needs
from collsim.core.arguments import checked
from collsim.core.collective import COLLECTIVES, Collective, check_ranks, check_root, collective
from collsim.core.setting import Setting
from collsim.engine.chunks import channels_of
from collsim.engine.verdict import Verdict, verify_schedule
from collsim.errors import CollsimError

__all__ = ["RANKS", "LeftOut", "Row", "Verdict", "Verification", "verify", "verify_schedule"]

# Small counts one by one, and around powers of two: what the command line checks.
RANKS: Final = (*range(1, 10), 13, 16, 17, 33)
_CHUNKS: Final = (1, 3)
_ALL_ROOTS_UP_TO: Final = 9
# Channels of a schedule that is verified: all that the chooser takes on so few ranks, else few.
_ALL_CHANNELS_UP_TO: Final = 16
_MANY_CHANNELS: Final = 3


@dataclass(frozen=True)
class Row:
    """One verified case; attributes are the keys of the JSON output.

    Parameters
    ----------
    collective, algorithm : str
        What was verified; an algorithm in chunks with several chunk counts.
    ranks : int
        Rank count P.
    root : int or None
        Root; None where the collective has none.
    ok : bool
        Whether everything was right.
    reason : str
        What was not; empty if all was.
    """

    collective: str
    algorithm: str
    ranks: int
    root: int | None
    ok: bool
    reason: str = ""


@dataclass(frozen=True)
class LeftOut:
    """A case that does not apply, and why.

    Parameters
    ----------
    collective, algorithm : str
        What would have been verified.
    ranks : int
        Rank count P.
    reason : str
        Why not.
    """

    collective: str
    algorithm: str
    ranks: int
    reason: str


@dataclass(frozen=True)
class Verification:
    """The answer of :func:`verify`.

    Parameters
    ----------
    rows : tuple of Row
        One per collective, algorithm, rank count and root.
    left_out : tuple of LeftOut
        What does not apply: an algorithm that can't run on so many ranks, a root that
        is no rank.
    nodes : mapping of (str, str) to tuple of str
        Of algorithms that do not run on just any nodes, by collective and name: the
        arrangements that they were verified on, in words.
    """

    rows: tuple[Row, ...]
    left_out: tuple[LeftOut, ...]
    nodes: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether all rows are right."""
        return all(row.ok for row in self.rows)


@checked
def verify(
    collective_name: str | None = None,
    algorithm: str | Sequence[str] | None = None,
    ranks: Iterable[int] = RANKS,
    roots: Iterable[int] | None = None,
    progress: Callable[[Row], None] | None = None,
) -> Verification:
    """Verify algorithms, each on several rank counts and from several roots.

    Parameters
    ----------
    collective_name : str, optional
        Any spelling; all collectives by default.
    algorithm : str or sequence of str, optional
        A name, or several; all algorithms by default, as for ``"all"``.
    ranks : iterable of int
        Rank counts P.
    roots : iterable of int, optional
        Roots of the collectives that have one. By default every rank up to P = 9, and
        the first, a middle and the last one beyond.
    progress : callable, optional
        Told each row as soon as it is there.

    Returns
    -------
    Verification
        Rows, and what was left out.

    Raises
    ------
    UnknownNameError
        If there is no such collective, or none of the collectives has such an algorithm.
    InputError
        If a rank count is below 1, or a root is no rank at any of the rank counts.

    Examples
    --------
    >>> verification = verify("broadcast", "mst", ranks=(1, 3))
    >>> [(row.ranks, row.root, row.ok) for row in verification.rows]
    [(1, 0, True), (3, 0, True), (3, 1, True), (3, 2, True)]
    """
    counts = [check_ranks(p) for p in ranks]
    wanted = None if roots is None else _check_roots(roots, counts)
    rows: list[Row] = []
    left_out: list[LeftOut] = []
    nodes: dict[tuple[str, str], tuple[str, ...]] = {}
    several = [algorithm] if algorithm is None or isinstance(algorithm, str) else algorithm
    members = (one for name in several for one in _algorithms(collective_name, name))
    for kind, name, found in members:
        for p in counts:
            settings = [setting for _, setting in arrangements(p)]
            refused = [found.limits(p) or found.needs(setting) for setting in settings]
            if None not in refused:
                left_out.append(LeftOut(kind.name, name, p, refused[-1] or ""))
                continue
            for root in _roots(kind, p, wanted):
                if root is not None and root >= p:
                    left_out.append(
                        LeftOut(
                            kind.name, name, p, f"root {root} needs at least {root + 1} ranks"
                        )
                    )
                    continue
                verdict = _algorithm(kind.name, name, found, p, root or 0)
                rows.append(Row(kind.name, name, p, root, verdict.ok, verdict.reason))
                key = kind.name, name
                if found.needs is not no_needs:
                    nodes[key] = tuple(
                        dict.fromkeys((*nodes.get(key, ()), *words_of(found, p)))
                    )
                if progress is not None:
                    progress(rows[-1])
    return Verification(tuple(rows), tuple(left_out), nodes)


def _algorithms(
    collective_name: str | None, algorithm: str | None
) -> Iterator[tuple[Collective, str, Algorithm]]:
    kinds = COLLECTIVES if collective_name is None else (collective(collective_name).name,)
    members: dict[str, tuple[str, ...]] = {kind: algorithm_names(kind) for kind in kinds}
    if algorithm is not None and algorithm != "all":
        every = dict.fromkeys(name for known in members.values() for name in known)
        base, *options = algorithm.split(":")
        if base not in every:
            what = "algorithm" if collective_name is None else f"algorithm of {kinds[0]}"
            raise unknown_algorithm(what, base, every)
        having = [kind for kind, known in members.items() if base in known]
        if options:
            # Of two algorithms of that name, one may have no options.
            having = [kind for kind in having if find(kind, base).options] or having
        members = {kind: (canonical(kind, algorithm),) for kind in having}
    for kind, known in members.items():
        for name in known:
            yield collective(kind), name, find(kind, name)


def _algorithm(kind: str, name: str, found: Algorithm, ranks: int, root: int) -> Verdict:
    """Verify on one node and, where that makes a difference, on several."""
    for _, setting in arrangements(ranks):
        if found.needs(setting) is not None:
            continue
        for channels in _channels(found, setting):
            for chunks in _CHUNKS if found.chunked else (1,):
                verdict = _case(kind, name, setting, root, chunks, channels)
                if not verdict.ok:
                    return Verdict(False, _where(setting, channels, chunks) + verdict.reason)
        if alike_on_all(found):
            # Nodes make no difference to it.
            break
    return Verdict(True)


def _channels(found: Algorithm, setting: Setting) -> Iterable[int]:
    """Return how many channels to try: those in use, but many of them on few ranks only.

    Channels differ in where they start alone, and every further one costs as much again.
    """
    most = setting.ranks if setting.ranks <= _ALL_CHANNELS_UP_TO else _MANY_CHANNELS
    return dict.fromkeys(min(count, most) for count in channels_of(found, setting))


def _case(
    kind: str, name: str, setting: Setting, root: int, chunks: int, channels: int
) -> Verdict:
    try:
        schedule = build(
            kind, name, setting.ranks, root, chunks, node=setting.node, channels=channels,
            multicast=setting.multicast, rings=setting.rings,
        )  # fmt: skip
        return verify_schedule(schedule)
    except CollsimError as error:
        return Verdict(False, f"can't be built: {error}")


def _where(setting: Setting, channels: int, chunks: int) -> str:
    counts = ((setting.nodes, "nodes"), (channels, "channels"), (chunks, "chunks"))
    said = ", ".join(f"{count} {what}" for count, what in counts if count > 1)
    return f"{said}: " if said else ""


def _check_roots(roots: Iterable[int], counts: Sequence[int]) -> tuple[int, ...]:
    most = max(counts, default=1)
    return tuple(check_root(root, most) for root in roots)


def _roots(
    kind: Collective, ranks: int, wanted: Sequence[int] | None
) -> Sequence[int] | Sequence[None]:
    if not kind.rooted:
        return (None,)
    if wanted is not None:
        return wanted
    return range(ranks) if ranks <= _ALL_ROOTS_UP_TO else (0, ranks // 2, ranks - 1)
