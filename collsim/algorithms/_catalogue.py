"""Find and build algorithms by the path of their file."""

from collections.abc import Iterable
from typing import Final

from numpy.typing import ArrayLike

from collsim.algorithms._author import guarded, mistakes, place_of
from collsim.algorithms._spec import bound, read_options, split, text_of, tried
from collsim.core.algorithm import Algorithm
from collsim.core.arguments import checked
from collsim.core.builder import Builder
from collsim.core.collective import check_ranks, collective
from collsim.core.folded import Folded, FoldedBuilder
from collsim.core.schedule import Schedule
from collsim.core.setting import Setting
from collsim.core.symmetry import Fold, axes_of
from collsim.errors import AlgorithmError, InputError, UnknownNameError
from collsim.registry import member, names

__all__ = [
    "algorithm_names",
    "build",
    "build_folded",
    "canonical",
    "find",
    "refusal",
    "unknown_algorithm",
    "variants",
]

_ENDS = ("mst", "ring")

# What NCCL calls otherwise: its tree is two.
_THEIRS: Final = {"tree": "double_binary_tree"}

# Names that mean an algorithm, here or in NCCL, whether or not a collective has it: who
# asks for one has not misspelled another.
_ESTABLISHED: Final = frozenset(
    (
        "mst",
        "ring",
        "linear",
        "reduce_broadcast",
        "gather_broadcast",
        "reduce_scatter_all_gather",
        "scatter_all_gather",
        "recursive_doubling",
        "recursive_halving",
        "halving_doubling",
        "double_binary_tree",
        "one_shot",
        "two_shot",
        "bidirectional_ring",
        "hierarchical",
        "swing",
        "nvls",
        "nvls_tree",
        "multicast",
        "bruck",
        "direct",
        "pairwise",
        "pat",
        "tree",
        "collnet_direct",
        "collnet_chain",
    )
)


@checked
def algorithm_names(collective_name: str) -> tuple[str, ...]:
    """Return the names of a collective's algorithms.

    The two ends, `mst` and `ring`, come first, the others by the alphabet; of
    algorithms that are equally fast the first one is chosen.

    Parameters
    ----------
    collective_name : str
        In any spelling.

    Returns
    -------
    tuple of str
        What ``build`` and ``predict`` take.

    Raises
    ------
    UnknownNameError
        If there is no such collective.

    Examples
    --------
    >>> algorithm_names("gather")
    ('mst', 'ring', 'direct', 'hierarchical', 'linear')
    """
    found = names(f"collsim.algorithms.{collective(collective_name).name}")
    return tuple(sorted(found, key=lambda name: (name not in _ENDS, name)))


def find(collective_name: str, name: str) -> Algorithm:
    """Return an algorithm: how it is built, and what it claims.

    Parameters
    ----------
    collective_name : str
        Any spelling.
    name : str
        Its name, with options if there are any: ``"ring"``, ``"bruck:radix=8"``.

    Raises
    ------
    UnknownNameError
        If there is no such collective, algorithm or option; names the nearest.
    InputError
        If an option can't have that value.

    Examples
    --------
    >>> find("all_reduce", "ring").formula
    '2(P-1)α + 2(P-1)/P·nβ + (P-1)/P·nγ'
    """
    return _read(collective_name, name)[1]


def canonical(collective_name: str, name: str) -> str:
    """Return an algorithm's name with the options that differ from the default.

    Examples
    --------
    >>> canonical("alltoall", "bruck: radix = 4"), canonical("alltoall", "bruck:radix=08")
    ('bruck', 'bruck:radix=8')
    """
    return _read(collective_name, name)[0]


def variants(collective_name: str, name: str, setting: Setting) -> tuple[str, ...]:
    """Return an algorithm in all options that are worth a try on ranks spread like this.

    Examples
    --------
    >>> variants("all_to_all", "bruck", Setting(16))
    ('bruck', 'bruck:radix=3', 'bruck:radix=8')
    """
    return tuple(tried(name, _base(collective(collective_name).name, name), setting))


def _base(known: str, name: str) -> Algorithm:
    """Return an algorithm with the defaults of its options."""
    existing = algorithm_names(known)
    if name not in existing:
        raise unknown_algorithm(f"algorithm of {known}", name, existing)
    what = f"algorithm of {known}"
    with mistakes(known, name):
        found = member(f"collsim.algorithms.{known}", name, "ALGORITHM", what)
    if not isinstance(found, Algorithm):
        raise AlgorithmError(
            f"{known}/{name}: got a {type(found).__name__}, expected ALGORITHM = Algorithm(...)"
        )
    return found


def _read(collective_name: str, spec: str) -> tuple[str, Algorithm]:
    """Return the canonical text of an algorithm, and the algorithm with its options set."""
    known = collective(collective_name).name
    name, options = split(spec)
    base = _base(known, name)
    if options is None:
        return name, guarded(base, known, name)
    values = read_options(f"{known}/{name}", base, options)
    return text_of(name, base, values), guarded(bound(base, values), known, name)


def refusal(
    collective_name: str,
    name: str,
    ranks: int,
    node: ArrayLike | None = None,
    multicast: bool = False,
) -> str | None:
    """Return why an algorithm can't run on so many ranks on these nodes, or None if it can.

    Parameters
    ----------
    collective_name, name, ranks, node, multicast
        As in :func:`build`.

    Examples
    --------
    >>> refusal("all_reduce", "ring", 5) is None
    True
    """
    algorithm = find(collective_name, name)
    reason = algorithm.limits(ranks) or algorithm.needs(Setting(ranks, node, multicast))
    return None if reason is None else f"{collective(collective_name).name}/{name}: {reason}"


def unknown_algorithm(what: str, name: str, choices: Iterable[str]) -> UnknownNameError:
    """Return the error for an algorithm that there is not.

    The nearest name is suggested unless the one that was asked for is itself that of an
    algorithm.

    Examples
    --------
    >>> print(unknown_algorithm("algorithm", "rong", ["mst", "ring"]))
    unknown algorithm 'rong'; did you mean 'ring'? (known: mst, ring)
    >>> print(unknown_algorithm("algorithm", "tree", ["double_binary_tree"]))
    unknown algorithm 'tree'; did you mean 'double_binary_tree'? (known: double_binary_tree)
    >>> print(unknown_algorithm("algorithm", "swing", ["mst", "ring"]))
    unknown algorithm 'swing' (known: mst, ring)
    >>> print(unknown_algorithm("algorithm", "ring/ll", ["mst", "ring"]))
    unknown algorithm 'ring/ll'; did you mean 'ring'? (known: mst, ring)
    """
    choices = tuple(choices)
    # NCCL's protocols are no part of a name: a profile says which is taken.
    bare, protocol, _ = name.lower().partition("/")
    meant = _THEIRS.get(bare, bare if protocol else None)
    if meant not in choices:
        meant = "" if name in _ESTABLISHED else None
    return UnknownNameError(what, name, choices, meant)


@checked
def build(
    collective_name: str,
    name: str,
    ranks: int,
    root: int = 0,
    chunks: int = 1,
    *,
    node: ArrayLike | None = None,
    channels: int = 1,
    multicast: bool = False,
    rings: ArrayLike | None = None,
) -> Schedule:
    """Return the schedule of an algorithm.

    Parameters
    ----------
    collective_name, name : str
        For example ``"all_reduce"``, ``"ring"``; options may follow the name.
    ranks : int
        Rank count P.
    root : int
        Root of a rooted collective.
    chunks : int
        Into how many chunks a pipelined algorithm cuts its message.
    node : int array, shape (P,), optional
        Node of every rank, as in ``cluster.node``; None means that all are on one.
    channels : int
        Copies of the algorithm that run at once, each on its share of the data.
    multicast : bool
        Whether the switches of all nodes can add up and multicast, as
        ``cluster.setting.multicast`` says.
    rings : int array, shape (rings, ranks of a node), optional
        In which orders rings pass through a node, each in a channel of its own, as
        ``cluster.setting.rings`` has them; None means by the ranks.

    Returns
    -------
    Schedule
        Which serves all sizes.

    Raises
    ------
    InputError
        If the algorithm can't run on so many ranks or on ranks spread like this, takes no
        chunks or channels, or the root is no rank.

    Examples
    --------
    >>> len(build("all_reduce", "ring", 8))
    112
    """
    kind = collective(collective_name)
    algorithm = find(collective_name, name)
    reason = refusal(kind.name, name, check_ranks(ranks), node, multicast)
    if reason is not None:
        raise InputError(reason)
    if chunks != 1 and not algorithm.chunked:
        raise InputError(f"chunks: {kind.name}/{name} sends each message whole, got {chunks}")
    if channels != 1 and not algorithm.channeled:
        raise InputError(f"channels: {kind.name}/{name} runs in one, got {channels}")
    setting = Setting(ranks, node, multicast, rings)
    setting.check_channels(channels)
    parts = algorithm.cut(setting, chunks)
    builder = Builder(
        kind, ranks, root, chunks, parts, node=node, channels=channels, multicast=multicast,
        rings=rings,
    )  # fmt: skip
    if ranks > 1:
        algorithm.build(builder)
    with mistakes(kind.name, name.partition(":")[0], place_of(algorithm.build)):
        schedule = builder.finish()
    _check_listed(f"{kind.name}/{name}", algorithm, ranks, len(schedule))
    return schedule


def _check_listed(where: str, algorithm: Algorithm, ranks: int, messages: int) -> None:
    """Refuse a schedule without a message, which would take no time at all."""
    if ranks > 1 and not messages:
        raise AlgorithmError(
            f"{where}: build lists no message, expected some on {ranks} ranks "
            f"({place_of(algorithm.build)})"
        )


def build_folded(
    collective_name: str,
    name: str,
    fold: Fold,
    chunks: int = 1,
    *,
    node: ArrayLike | None = None,
    channels: int = 1,
    rings: ArrayLike | None = None,
) -> Folded:
    """Return the operations of a few ranks that stand for those of all.

    Parameters
    ----------
    collective_name, name, chunks, node, channels, rings
        As in :func:`build`; the algorithm claims a symmetry.
    fold : Fold
        Renamings of that kind, in steps that are multiples of the claim's.

    Raises
    ------
    InputError
        If the algorithm claims no such symmetry, or can't run there.

    Examples
    --------
    >>> len(build_folded("all_reduce", "ring", Fold("shift", 64, 8)))
    1008
    """
    kind = collective(collective_name)
    algorithm = find(collective_name, name)
    reason = refusal(kind.name, name, fold.ranks, node)
    setting = Setting(fold.ranks, node, rings=rings)
    claim = algorithm.claim(setting)
    if reason is None and (claim is None or claim.kind != fold.kind):
        reason = f"{kind.name}/{name}: claims no symmetry of the kind {fold.kind}"
    elif reason is None and claim and fold.step % claim.step(setting, channels):
        reason = (
            f"{kind.name}/{name}: got a step of {fold.step}, expected a multiple of "
            f"{claim.step(setting, channels)}"
        )
    if reason is not None or claim is None:
        raise InputError(reason or "")
    parts = algorithm.cut(setting, chunks)
    axes = axes_of(kind, claim, setting, chunks, channels, parts * channels)
    builder = FoldedBuilder(kind, setting, fold, axes, chunks, parts, channels)
    algorithm.build(builder)
    with mistakes(kind.name, name.partition(":")[0], place_of(algorithm.build)):
        folded = builder.folded()
    _check_listed(f"{kind.name}/{name}", algorithm, fold.ranks, len(folded))
    return folded
