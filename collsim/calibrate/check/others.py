"""What other algorithms of NCCL would take for rows that don't say what ran."""

from collections.abc import Sequence
from typing import Final

from collsim.algorithms import algorithm_names
from collsim.calibrate.check.expected import expectation_of
from collsim.calibrate.formula import Chunks, Predictor
from collsim.calibrate.nccl_model import COVERED, fitted_of
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement
from collsim.core.profile import Profile
from collsim.errors import CollsimError
from collsim.nccl.families import element_of
from collsim.nccl.names import OUR_NAME

__all__ = ["others_of"]

_SIMULATED: Final = 64
"""Ranks up to which ring is simulated on a cluster: more would take longer than the check."""


def others_of(
    model: Profile | Cluster | Predictor,
    rows: Sequence[Measurement],
    chunks: Chunks | None = None,
) -> dict[str, list[float]]:
    """Return the seconds of each other algorithm that NCCL may have run, for all rows.

    Parameters
    ----------
    model : Profile, Cluster or callable
        By what was predicted; of a profile of NCCL all that it has times of, of a cluster ring.
    rows : sequence of Measurement
        Of one collective, ranks and nodes, none of which names an algorithm.
    chunks : int or "auto", optional
        Of pipelined algorithms.

    Examples
    --------
    >>> from collsim.calibrate.nccl_model import example_profile
    >>> profile = example_profile(Cluster.load("dgx-h100", nodes=2))
    >>> rows = [Measurement("all_reduce", 16, 2**30, 1e-2, nodes=2)]
    >>> sorted(others_of(profile, rows))
    ['double_binary_tree', 'nvls_tree', 'ring']
    """
    if not rows or not isinstance(model, Profile | Cluster):
        return {}
    found = {}
    for name in _names(model, rows[0]):
        expect = expectation_of(model, name, chunks)
        try:
            expected = [expect(row) for row in rows]
        except CollsimError:
            continue  # a hint more is not worth an end of the check
        times = [one.seconds for one in expected if not isinstance(one, str)]
        if len(times) == len(rows):
            found[name] = times
    return found


def _names(model: Profile | Cluster, row: Measurement) -> list[str]:
    known = algorithm_names(row.collective)
    if isinstance(model, Cluster):
        # Datasheets are off by too much to tell ring's neighbours apart.
        return ["ring"] if row.ranks <= _SIMULATED else []
    if model.model != "nccl" or row.collective not in COVERED:
        return []
    fitted = fitted_of(model)
    nodes = fitted.system.nodes_of(row.ranks, row.nodes)
    if nodes > 1 and not fitted.system.several:
        return []
    dtype, op = element_of(row.collective, row.dtype, row.op)
    pieces = fitted.available(row.collective, row.ranks, nodes, dtype=dtype, op=op)
    names = dict.fromkeys(OUR_NAME.get(algorithm, "") for algorithm, _ in pieces)
    return [name for name in names if name in known]
