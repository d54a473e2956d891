"""The most probable parameters of some rows, given their priors (MAP), and how sure they are.

Residuals of rows are log(predicted / measured) / 0.03, of robust (soft L1) loss beyond 1.5 of
them; those of priors (log value - log centre) / sigma, quadratic. So relative errors count
alike at all sizes, an outlier pulls little, and what rows don't tell stays where it was
believed. The noise is first taken as 0.3, then 0.1, then 0.03: while it is wide few rows look
like outliers, so that a bad start can still move.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from collsim.calibrate.nccl_model.batch import Batch, Floats
from collsim.calibrate.nccl_model.pieces import seconds
from collsim.calibrate.nccl_model.prior import RATIO_OF_ONE, Prior
from collsim.calibrate.nccl_model.touched import touched

__all__ = ["Solved", "solve_map"]

_NOISE: Final = 0.03
"""Relative noise of a row that its residual is weighted by."""
_COARSE: Final = (0.3, 0.1, _NOISE)
_KNEE: Final = 1.5**2
_STEP: Final = 1e-6  # of the logarithm, for derivatives
_FAR: Final = 8.0  # most sigma from a prior
_LESS_BUSY: Final = 2.3  # a tenth
_LEAST_NOISE: Final = 0.005
_MAD: Final = 1.4826  # of a normal distribution


@dataclass(frozen=True)
class Solved:
    """What was found.

    Parameters
    ----------
    values : dict of str to float
        Every parameter; those that no row depends on as they were believed.
    log_sigma : dict of str to float
        Of their logarithms, from the Jacobian.
    noise : float
        Relative scatter of the rows about the model.
    cost : float
        Half the sum of squares that was minimised.
    """

    values: dict[str, float]
    log_sigma: dict[str, float]
    noise: float
    cost: float


class _Problem:
    """Residuals and their derivatives."""

    def __init__(self, prior: Mapping[str, Prior], batch: Batch, observed: Floats) -> None:
        believed = {key: p.centre for key, p in prior.items()}
        used = set().union(*touched(believed, batch).values())
        self.names = [key for key in prior if key in used]
        self.mu = np.log([prior[key].centre for key in self.names])
        self.sigma = np.array([prior[key].sigma for key in self.names])
        self._batch, self._observed = batch, np.log(observed)
        self.rows = len(observed)

    def off(self, trials: Floats) -> Floats:
        """Return log(predicted / measured), a row for each row of log parameters."""
        columns = np.exp(trials).T[:, :, None]
        values = dict(zip(self.names, columns, strict=True))
        found: Floats = np.log(seconds(values, self._batch, len(trials))) - self._observed
        return found

    def residuals(self, x: Floats, scale: float) -> Floats:
        """Return all residuals."""
        return np.concatenate([self.off(x[None])[0] / scale, (x - self.mu) / self.sigma])

    def jacobian(self, x: Floats, scale: float) -> Floats:
        """Return their derivatives, all trials at once."""
        trials = np.concatenate([x[None], x + _STEP * np.eye(len(x))])
        off = self.off(trials)
        slopes = (off[1:] - off[0]).T / (_STEP * scale)
        return np.concatenate([slopes, np.diag(1 / self.sigma)])

    def loss(self, z: Floats) -> Floats:
        """Return rho and its derivatives by a squared residual, as scipy wants them."""
        rho = np.stack([z, np.ones_like(z), np.zeros_like(z)])
        s = 1 + z[: self.rows] / _KNEE
        rho[:, : self.rows] = (
            2 * _KNEE * (np.sqrt(s) - 1), s**-0.5, -0.5 / _KNEE * s**-1.5
        )  # fmt: skip
        return rho

    def solve(self, x: Floats, scales: Sequence[float]) -> Any:
        """Return scipy's answer from a start."""
        from scipy.optimize import least_squares

        edge = _FAR * self.sigma
        for scale in scales:
            x = np.clip(x, self.mu - 0.999 * edge, self.mu + 0.999 * edge)
            found = least_squares(
                self.residuals,
                x,
                self.jacobian,
                bounds=(self.mu - edge, self.mu + edge),
                loss=self.loss,
                x_scale=np.maximum(self.sigma, RATIO_OF_ONE),
                kwargs={"scale": scale},
                max_nfev=60,
                ftol=1e-5,
                xtol=1e-5,
            )
            x = found.x
        return found


def solve_map(prior: Mapping[str, Prior], batch: Batch, observed: Floats) -> Solved:
    """Return the most probable parameters.

    It starts from the priors, with the network's occupancy as believed and as a tenth, of which
    the better answer is taken: where something else is slower, its derivative is 0.

    Parameters
    ----------
    prior : mapping of str to Prior
        Of every parameter.
    batch : Batch
        What was measured.
    observed : array of float
        Seconds of each case, all positive.
    """
    problem = _Problem(prior, batch, observed)
    busy = np.array([key.endswith("alpha_busy") for key in problem.names])
    starts = [problem.mu]
    if busy.any():
        starts.append(problem.mu - _LESS_BUSY * busy)
    best = min((problem.solve(x, _COARSE) for x in starts), key=lambda found: found.cost)
    off = np.abs(problem.off(best.x[None])[0])
    noise = max(_MAD * float(np.median(off)), _LEAST_NOISE)
    jacobian = best.jac.copy()  # weighted by the robust loss
    jacobian[: problem.rows] *= _NOISE / max(noise, _NOISE)
    variance = np.diag(np.linalg.pinv(jacobian.T @ jacobian))
    values = {key: p.centre for key, p in prior.items()}
    log_sigma = {key: p.sigma for key, p in prior.items()}
    for key, x, v in zip(problem.names, best.x, variance, strict=True):
        values[key], log_sigma[key] = float(np.exp(x)), float(np.sqrt(v))
    return Solved(values, log_sigma, noise, float(best.cost))
