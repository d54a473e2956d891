"""A fitted system: what it predicts, and what the rows did not tell."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from collsim.calibrate.nccl_model.batch import Batch, Case, Floats, batch_of, case_of
from collsim.calibrate.nccl_model.pieces import PIECES, seconds
from collsim.calibrate.nccl_model.prior import REDUCES, Prior
from collsim.calibrate.nccl_model.system import Selector, System
from collsim.core.collective import collective as kind_of
from collsim.core.measurements import Measurement
from collsim.errors import InputError, UnknownNameError
from collsim.nccl.families import element_of, takes

__all__ = ["COVERED", "Fitted"]

COVERED: Final = (*REDUCES, "broadcast", "reduce", "all_to_all")
"""Collectives that the model has formulas of."""
_TOLD: Final = 0.8
"""Rows tell a parameter if they make it so many times as sure as believed, or more."""
_STILL: Final = 1e-6
"""What rows move a parameter by, relative, is rounding: 1e-9 and less is seen, and 1e-5."""


@dataclass(frozen=True)
class Fitted:
    """Parameters of a system, and what follows from them.

    Parameters
    ----------
    system : System
        What was known before.
    selector : Selector
        How NCCL's table is read.
    values : dict of str to float
        Parameters in SI units, keyed ``CLASS[.PROTOCOL].NAME``.
    log_sigma : dict of str to float
        Of their logarithms.
    prior : dict of str to Prior
        What was believed of them.
    noise : float
        Relative scatter of the rows about the model.
    scores : dict of Selector to float
        Mean error of left-out rows for every selector that was tried to the end.
    beyond : tuple of int, optional
        Fewest and most nodes that rows were of: on others no time is less than what a node's
        network cards take for its bytes.

    Examples
    --------
    >>> from collsim.calibrate.nccl_model import fit_nccl
    >>> system = System("ampere", 12, 240.0)
    >>> rows = [Measurement("all_gather", 8, 2**k, 15e-6 + 2**k * 4e-12) for k in range(10, 31)]
    >>> fitted = fit_nccl(rows, system)
    >>> fitted.choice("all_gather", 8, 1, 2**28)
    ('ring', 'simple')
    >>> round(fitted.seconds("all_gather", 8, 1, 2**28) * 1e3, 1)
    1.1
    """

    system: System
    selector: Selector
    values: dict[str, float]
    log_sigma: dict[str, float]
    prior: dict[str, Prior]
    noise: float
    scores: dict[Selector, float] = field(default_factory=dict)
    beyond: tuple[int, int] | None = None

    @property
    def untold(self) -> tuple[str, ...]:
        """Parameters that the rows don't tell: no surer than believed before."""
        return tuple(k for k, s in self.log_sigma.items() if s > _TOLD * self.prior[k].sigma)

    def believed(self, key: str) -> bool:
        """Return whether a parameter is what was believed of it: no row depends on it."""
        prior = self.prior[key]
        return math.isclose(self.values[key], prior.centre, rel_tol=_STILL) and math.isclose(
            self.log_sigma[key], prior.sigma, rel_tol=_STILL
        )

    @property
    def by_table(self) -> bool:
        """Whether NCCL's table tells what runs; if not, `choice` is the fastest piece."""
        return bool(self.selector.scale)

    def predict(self, rows: Iterable[Measurement]) -> Floats:
        """Return the seconds of rows; of the piece where they name one."""
        return self.times([case_of(row, self.system) for row in rows])

    def times(self, cases: Sequence[Case]) -> Floats:
        """Return the seconds of many cases at once."""
        found = np.zeros(len(cases))
        real = [i for i, case in enumerate(cases) if case.ranks > 1]
        if real:
            batch = batch_of(self.system, [cases[i] for i in real], self.selector)
            found[real] = self._times(batch)
        return found

    def _times(self, batch: Batch) -> Floats:
        values = {key: np.array([[value]]) for key, value in self.values.items()}
        found: Floats = seconds(values, batch, beyond=self.beyond)[0]
        return found

    def seconds(
        self,
        collective: str,
        ranks: int,
        nodes: int,
        nbytes: float,
        algorithm: str | None = None,
        protocol: str | None = None,
    ) -> float:
        """Return the time of NCCL's own choice, or of a piece that is named.

        Of an algorithm without a protocol the fastest that NCCL has there counts.

        Raises
        ------
        InputError
            If NCCL has no such piece there, or the model no such collective.
        """
        if ranks == 1:
            return 0.0
        if algorithm is None:
            name = _covered(collective)
            return float(self.times([Case(name, ranks, nodes, float(nbytes))])[0])
        return self.named(collective, ranks, nodes, nbytes, algorithm, protocol)[1]

    def named(
        self,
        collective: str,
        ranks: int,
        nodes: int,
        nbytes: float,
        algorithm: str,
        protocol: str | None = None,
    ) -> tuple[str, float]:
        """Return the fastest protocol of an algorithm, or the one named, and its time."""
        pieces = self.available(collective, ranks, nodes)
        found = [p for a, p in pieces if a == algorithm and protocol in (None, p)]
        if not found:
            known = tuple(dict.fromkeys(a for a, _ in pieces))
            asked = algorithm if protocol is None else f"{algorithm}/{protocol}"
            raise InputError(
                f"{collective} on {ranks} ranks: NCCL has no {asked} there, expected one of "
                f"{', '.join(known)}"
            )
        name = _covered(collective)
        cases = [Case(name, ranks, nodes, float(nbytes), algorithm, p) for p in found]
        times = self.times(cases)
        best = int(np.argmin(times))
        return found[best], float(times[best])

    def covers(self, collective: str) -> bool:
        """Return whether the model has formulas of a collective."""
        return kind_of(collective).name in COVERED

    def launch(self, collective: str) -> float:
        """Return the seconds that a call takes before anything is sent."""
        peers = kind_of(collective).name == "all_to_all"
        return self.values["p2p.setup" if peers else "launch"]

    def shown(self, algorithm: str, protocol: str) -> bool:
        """Return whether rows of the fit have shown a piece, rather than NCCL's constants."""
        key = f"inside.{protocol}.alpha"
        if algorithm.startswith("nvls"):
            key = "nvls.simple.alpha"
        elif algorithm == "p2p":
            key = f"p2p.{protocol}.alpha"
        elif algorithm in ("tree", "pat"):
            several = self.system.several
            key = f"between.{protocol}.alpha" if several else "tree.alpha_ratio"
        # But for rounding: a profile writes intervals.
        return self.log_sigma[key] < 0.999 * self.prior[key].sigma

    def available(
        self,
        collective: str,
        ranks: int,
        nodes: int,
        *,
        dtype: str = "float",
        op: str = "sum",
    ) -> tuple[tuple[str, str], ...]:
        """Return the algorithms and protocols that NCCL has there and that have a formula.

        Of those, what it has for a type of elements and a reduction.
        """
        name = _covered(collective)
        if name == "all_to_all":
            return ("p2p", "ll"), ("p2p", "simple")
        pieces = self.system.pieces(name, ranks, nodes, self.selector)
        return tuple(
            piece for piece in pieces if piece[0] in PIECES and takes(name, piece[0], dtype, op)
        )

    def choice(
        self,
        collective: str,
        ranks: int,
        nodes: int,
        nbytes: float,
        *,
        dtype: str | None = None,
        op: str | None = None,
    ) -> tuple[str, str]:
        """Return the algorithm and protocol that run, by NCCL's names.

        That is NCCL's own choice, by its table; where the rows contradict that (`by_table` is
        false), the fastest of what NCCL has. Type and reduction, by default float and sum,
        decide whether switches can add the elements up.
        """
        name = _covered(collective)
        element = element_of(name, dtype, op)
        case = Case(name, ranks, nodes, float(nbytes), element=element)
        batch = batch_of(self.system, [case], self.selector)
        pieces = batch.pieces[0]
        if len(pieces) == 1:
            return pieces[0]
        times = [self._times_of(case, piece) for piece in pieces]
        return pieces[int(np.argmin(times))]

    def _times_of(self, case: Case, piece: tuple[str, str]) -> float:
        named = Case(case.collective, case.ranks, case.nodes, case.nbytes, *piece)
        return float(self.times([named])[0])


def _covered(name: str) -> str:
    ours = kind_of(name).name
    if ours not in COVERED:
        raise UnknownNameError("collective of NCCL's model", ours, COVERED)
    return ours
