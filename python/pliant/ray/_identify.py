"""System identification: parameters of which simulations fit measurements, by least squares."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import Array
from ._dispatch import Progress
from ._tasks import Cluster, Local, Workers

Residuals = Callable[[Array, Any], Array]
"""From parameters and one measurement to residuals, all in one unit."""


@dataclass(frozen=True)
class Identified:
    """Parameters that fit best."""

    parameters: Array
    """Their values."""
    deviations: Array
    """Standard deviations to first order, from the residuals' own scatter; infinite for a parameter that has no influence."""
    cost: float
    """Half the sum of squares of the residuals, robust loss included."""
    evaluations: int
    """Sets of parameters that were simulated."""
    message: str
    """Why the search ended."""


def identify(
    residuals: Residuals,
    measurements: Sequence[Any],
    start: ArrayLike,
    bounds: tuple[ArrayLike, ArrayLike],
    *,
    width: float = 0.02,
    loss: str = "soft_l1",
    scale: float = 1.0,
    on: Local | Cluster = Local(),
    progress: Callable[[Progress], None] | None = None,
    evaluations_max: int = 30,
) -> Identified:
    """Minimises the residuals of all measurements over the parameters within bounds, with SciPy's `least_squares`.

    Simulations of all measurements, and of all parameters of a derivative, run in parallel. `width` is the half-width of the
    central differences as a share of the bounds' distance: contact makes residuals rough, which small widths follow. `loss` and `scale`
    are SciPy's `loss` and `f_scale`: beyond `scale`, in the residuals' unit, a residual counts less. Raises `TaskError`, and
    `ValueError` for a start outside of the bounds.
    """
    from scipy.optimize import least_squares

    low, high = (np.array(bound, np.float64) for bound in bounds)
    begin = np.array(start, np.float64)
    if not (begin.ndim == 1 and low.shape == high.shape == begin.shape and (low <= begin).all() and (begin <= high).all()):
        raise ValueError(f"start and bounds must be vectors of one length, and start {begin} within {low} .. {high}")
    workers: Workers[tuple[Array, Any], Array] = Workers(partial(_residual, residuals), on)
    count = 0

    def at(points: Sequence[Array]) -> list[Array]:
        nonlocal count
        count += len(points)
        tasks = [(point, measurement) for point in points for measurement in measurements]
        values = [np.asarray(r.value, np.float64).ravel() for r in workers.evaluate(tasks, progress)]
        n = len(measurements)
        return [np.concatenate(values[k * n : (k + 1) * n]) for k in range(len(points))]

    def derivative(point: Array) -> Array:
        sides = []
        for k, step in enumerate(width * (high - low)):
            for sign in (1.0, -1.0):
                side = point.copy()
                side[k] = np.clip(point[k] + sign * step, low[k], high[k])
                sides.append(side)
        values = at(sides)
        columns = [
            (values[2 * k] - values[2 * k + 1]) / (sides[2 * k][k] - sides[2 * k + 1][k]) for k in range(len(point))
        ]
        return np.array(columns).T

    with workers:
        found = least_squares(
            lambda point: at([point])[0],
            begin,
            jac=derivative,
            bounds=(low, high),
            loss=loss,
            f_scale=scale,
            x_scale=high - low,
            max_nfev=evaluations_max,
            xtol=1e-4,
            ftol=1e-5,
        )
    return Identified(found.x, _deviations(found.jac, found.fun), float(found.cost), count, str(found.message))


def _residual(residuals: Residuals, task: tuple[Array, Any]) -> Array:
    return residuals(*task)


def _deviations(jacobian: Array, residuals: Array) -> Array:
    """√diag(σ² (JᵀJ)⁻¹), with σ from the residuals."""
    n, p = jacobian.shape
    variance = float(residuals @ residuals) / max(1, n - p)
    information = jacobian.T @ jacobian
    if np.linalg.matrix_rank(information) < p:
        return np.full(p, np.inf)
    deviations: Array = np.sqrt(variance * np.diag(np.linalg.inv(information)))
    return deviations
