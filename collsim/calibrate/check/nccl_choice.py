"""What NCCL ran by its own model, where a log of it does not say."""

import re
from typing import Final

from collsim.algorithms import refusal
from collsim.calibrate.formula import found_for
from collsim.calibrate.predictor import is_ideal
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement
from collsim.errors import CollsimError
from collsim.nccl import COLLECTIVES, Tuning, communicator, tuning
from collsim.nccl.families import element_of
from collsim.nccl.names import OUR_NAME

__all__ = ["NcclChoice"]

_NEWEST: Final = "2.30"
_VERSION: Final = re.compile(r"NCCL (\d+\.\d+(?:\.\d+)?)", re.ASCII)


class NcclChoice:
    """NCCL's choice of algorithm on a cluster, by its documented model.

    Parameters
    ----------
    cluster : Cluster
        Where; what NCCL would not run on, or an ideal network, has no choice.

    Examples
    --------
    >>> from collsim.core.measurements import Source
    >>> choose = NcclChoice(Cluster.load("dgx-h100", nodes=2))
    >>> rows = [Measurement("all_reduce", 16, n, 1e-3, source=Source(backend="nccl"))
    ...         for n in (1024, 2**30)]
    >>> [choose(row) for row in rows], choose.names
    (['double_binary_tree', 'nvls_tree'], ('double_binary_tree', 'nvls_tree'))
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._tables: dict[str, Tuning | None] = {}
        self._names: set[str] = set()
        self._reasons: set[str] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """Our names of what was chosen so far."""
        return tuple(sorted(self._names))

    @property
    def notes(self) -> list[str]:
        """Why rows were compared with ring all the same, a line of each kind."""
        return [
            f"NCCL's choice is not known, and ring is compared: {why}"
            for why in sorted(self._reasons)
        ]

    def __call__(self, row: Measurement) -> str | None:
        """Return our name of what NCCL ran, or None: no row of NCCL, or not known."""
        if row.source.backend != "nccl" or row.collective not in COLLECTIVES:
            return None
        if row.ranks == 1 or is_ideal(self._cluster):
            return None
        found = _VERSION.match(row.source.version or "")
        table = self._table(found[1] if found else _NEWEST)
        if table is None:
            return None
        dtype, op = element_of(row.collective, row.dtype, row.op)
        choice = table.choice(row.collective, row.nbytes, dtype=dtype, op=op)
        name = OUR_NAME.get(choice.algorithm)
        why = self._missing(row, name)
        if name is None or why is not None:
            self._reasons.add(str(why))
            return None
        self._names.add(name)
        return name

    def _table(self, version: str) -> Tuning | None:
        if version not in self._tables:
            self._tables[version] = None
            try:
                self._tables[version] = tuning(communicator(self._cluster), version)
            except CollsimError as error:
                self._reasons.add(str(error))
        return self._tables[version]

    def _missing(self, row: Measurement, name: str | None) -> str | None:
        """Return why an algorithm that NCCL has cannot be predicted here, or None."""
        if name is None:
            return f"no algorithm here is what it runs for {row.collective}"
        cluster = self._cluster
        try:
            found_for(row.collective, name)
        except CollsimError:
            return f"{name} is no algorithm of {row.collective} here"
        multicast = cluster.setting.multicast
        return refusal(row.collective, name, row.ranks, cluster.node, multicast)
