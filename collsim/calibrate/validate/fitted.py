"""The contender: the fitted model of NCCL, as `calibrate fit` fits it."""

from collections.abc import Sequence

from collsim.calibrate.nccl_model import Fitted, System, fit_nccl, system_named, system_of
from collsim.calibrate.validate.bench import Bench
from collsim.core.measurements import Measurement

__all__ = ["fitted_to"]


def fitted_to(bench: Bench, rows: Sequence[Measurement]) -> Fitted:
    """Return the model fitted to rows of a bench."""
    return fit_nccl(rows, _system_for(bench, rows))


def _system_for(bench: Bench, rows: Sequence[Measurement]) -> System:
    """Return what was known of a bench before it was measured, as `calibrate fit` finds it.

    Of one node the name of the GPU tells, where it does, else the preset.

    Examples
    --------
    >>> bench = Bench("a", "A", (), "dgx-a100", "own", (), None)
    >>> _system_for(bench, [Measurement("allreduce", 8, 8, 1e-5, nodes=1)]).intra_bus
    240.0
    """
    if bench.graphs is not None:
        ring = bench.graphs["ring"]
        channels = bench.channels // 2
        return System("hopper", channels, ring.channels * ring.bw_intra)
    nodes = max(row.nodes or 1 for row in rows)
    named = system_named(rows[0].source.device) if nodes == 1 else None
    if named is not None:
        return named
    gpus = max(row.ranks // (row.nodes or 1) for row in rows)
    return system_of(bench.cluster(gpus * nodes, nodes))
