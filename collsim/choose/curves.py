"""Times of all algorithms of a collective on one cluster, as functions of size."""

from collections.abc import Iterable, Sequence
from itertools import chain

from collsim.algorithms import algorithm_names, find, unknown_algorithm, variants
from collsim.choose.curve import Counts, Curve, Model
from collsim.choose.schedule_size import MOST_TRIED
from collsim.core.cluster import Cluster
from collsim.core.collective import check_root, collective
from collsim.errors import InputError
from collsim.nccl.families import SEVERAL, nccl_algorithms, takes

__all__ = ["curves", "tried"]


def curves(
    collective_name: str,
    cluster: Cluster,
    algorithm: str = "auto",
    *,
    root: int = 0,
    chunks: Counts = "auto",
    channels: Counts = "auto",
    model: Model = "auto",
    only: Sequence[str] | None = None,
    fold: bool = True,
    dtype: str = "float",
    op: str = "sum",
) -> tuple[list[Curve], dict[str, str]]:
    """Return the curve of each algorithm that applies, and why the others don't.

    Parameters
    ----------
    collective_name : str
        Any spelling.
    cluster : Cluster
        Where it runs.
    algorithm : str
        A name, options included, or ``"auto"`` or ``"all"`` for every one, in all options
        that are worth a try; ``"nccl"`` for those that NCCL has.
    root, chunks, channels, model, fold
        As in :class:`~collsim.choose.curve.Curve`; what takes no chunks or channels ignores
        them unless it is the one that is named.
    only : sequence of str, optional
        Of all, only these, ``"nccl"`` among them for those that NCCL has.
    dtype, op : str
        Type and reduction; of several, what switches don't add up is left out.

    Returns
    -------
    list of Curve, dict of str
        In the order of their names.

    Raises
    ------
    InputError
        If the one that is named does not apply, or none does.

    Examples
    --------
    >>> found, left_out = curves("gather", Cluster.ideal(4, "1us", "1GB/s"), "all")
    >>> [curve.name for curve in found], list(left_out)
    (['mst', 'ring', 'direct', 'linear'], ['hierarchical'])
    """
    kind = collective(collective_name)
    if not isinstance(cluster, Cluster):
        raise InputError(
            f"cluster: got {cluster!r}, expected a Cluster, as Cluster.load(name) gives"
        )
    check_root(root, cluster.ranks)
    numbers = [channels] if isinstance(channels, int) else channels
    cluster.setting.check_channels(max((n for n in numbers if isinstance(n, int)), default=1))
    if model == "formula" and cluster.uniform is None:
        raise InputError(
            f"model: no formula is exact on cluster {cluster.name!r}, which is no ideal "
            "one-port network; expected event or auto"
        )
    if algorithm not in SEVERAL:
        _known(kind.name, algorithm)
        one = Curve(
            kind.name, algorithm, cluster,
            root=root, chunks=chunks, channels=channels, model=model, fold=fold,
        )  # fmt: skip
        return [one], {}
    only = ["nccl"] if algorithm == "nccl" else only
    found: list[Curve] = []
    left_out: dict[str, str] = {}
    for name, specs in _wanted(kind.name, cluster, only).items():
        known = find(kind.name, name)
        switches = known.in_switch or name.startswith("nvls")
        if switches and not takes(kind.name, "nvls", dtype, op):
            left_out[name] = f"{kind.name}/{name}: switches have no {op} of {dtype}"
            continue
        for spec in specs:
            try:
                curve = Curve(
                    kind.name,
                    spec,
                    cluster,
                    root=root,
                    chunks=chunks if known.chunked else "auto",
                    channels=channels if known.channeled else "auto",
                    model=model,
                    fold=fold,
                    most=MOST_TRIED,
                )
            except InputError as error:
                left_out[spec] = str(error)
                if spec == name:
                    break
            else:
                found.append(curve)
    if not found:
        raise InputError(f"{kind.name}: no algorithm applies; {'; '.join(left_out.values())}")
    return found, left_out


def _wanted(
    name: str, cluster: Cluster, only: Sequence[str] | None
) -> dict[str, tuple[str, ...]]:
    """Return algorithms and, of each, the options to try: all, or those that are named."""
    if only is None:
        return {
            known: variants(name, known, cluster.setting) for known in algorithm_names(name)
        }
    wanted: dict[str, tuple[str, ...]] = {}
    theirs = nccl_algorithms(name, cluster)
    for spec in chain.from_iterable(theirs if one == "nccl" else (one,) for one in only):
        base = _known(name, spec)
        more = (spec,) if ":" in spec else variants(name, base, cluster.setting)
        wanted[base] = tuple(dict.fromkeys((*wanted.get(base, ()), *(more or (spec,)))))
    return {known: wanted[known] for known in algorithm_names(name) if known in wanted}


def _known(name: str, algorithm: str) -> str:
    """Return the name of an algorithm without its options."""
    known = algorithm_names(name)
    base = algorithm.partition(":")[0]
    if base not in known:
        choices = (*known, *SEVERAL)
        raise unknown_algorithm(f"algorithm of {name}", base, choices)
    return base


def tried(found: Iterable[Curve]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of chunks and of channels among which some curves take the best.

    Examples
    --------
    >>> found, _ = curves("broadcast", Cluster.ideal(4, "1us", "1GB/s"), chunks=[1, 3])
    >>> tried(found)
    ((1, 3), (1,))
    """
    chunks: set[int] = set()
    channels: set[int] = set()
    for curve in found:
        chunks |= {curve.chunks} if curve.chunks is not None else set(curve.candidates)
        channels |= set(curve.channels)
    return tuple(sorted(chunks)), tuple(sorted(channels))
