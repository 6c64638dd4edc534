"""Rollouts and derivatives of steps, for optimisers such as those of SciPy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import Array
from ._pliant import ControlError
from ._scene import Scene
from ._simulation import Simulation

Apply = Callable[[Simulation, Array], None]
"""Sets the controls of a step from a row of u."""


@dataclass(frozen=True)
class Rollout:
    """States of a rollout, the start included."""

    times: Array
    """s, shape (steps + 1,)."""
    positions: dict[str, Array]
    """q of each body, shape (steps + 1, n_q)."""
    velocities: dict[str, Array]
    """v of each body, shape (steps + 1, n_v)."""
    trusted: bool
    """Whether everything converged in all steps."""


def effort_of(body: str) -> Apply:
    """Rows of u are efforts of the joints of `body`, N or N·m, shape (n_v,)."""
    return partial(_set_effort, body)


def load_on(body: str) -> Apply:
    """Rows of u are force (N) and torque (N·m) on a free rigid body at its origin, world axes, shape (6,)."""
    return partial(_set_load, body)


def target_of(body: str) -> Apply:
    """Rows of u are position targets of the actuators of `body`, rad or m, shape (n_v,)."""
    return partial(_set_target, body)


def _set_effort(body: str, simulation: Simulation, u: Array) -> None:
    simulation.set_control(body, effort=u)


def _set_load(body: str, simulation: Simulation, u: Array) -> None:
    simulation.set_load(body, u[:3], u[3:])


def _set_target(body: str, simulation: Simulation, u: Array) -> None:
    simulation.set_control(body, position=u)


def rollout(
    start: Scene | Simulation,
    u: ArrayLike,
    apply: str | Apply,
    *,
    bodies: Sequence[str] | None = None,
    steps_per_control: int = 1,
) -> Rollout:
    """Steps a scene from its start, or a simulation from its state, with a row of `u` for each `steps_per_control` steps.

    `u` has shape (rows, n). `apply` says what a row does: a function such as `effort_of("arm")`, or the name of a body for
    its efforts. States are recorded after each row, of `bodies` or of all. A simulation is returned to its state, without what was set
    by `set_control` and `set_load`. Raises `ControlError`, `StepError`.
    """
    rows = _rows(u)
    act = effort_of(apply) if isinstance(apply, str) else apply
    simulation = start.simulation() if isinstance(start, Scene) else start
    begin = None if isinstance(start, Scene) else start.snapshot()
    names = simulation.bodies if bodies is None else tuple(bodies)
    times = [simulation.time]
    q = {name: [simulation.positions(name)] for name in names}
    v = {name: [simulation.velocities(name)] for name in names}
    trusted = True
    try:
        for row in rows:
            act(simulation, row)
            for _ in range(steps_per_control):
                simulation.step()
                trusted = trusted and simulation.trusted
            times.append(simulation.time)
            for name in names:
                q[name].append(simulation.positions(name))
                v[name].append(simulation.velocities(name))
    finally:
        if begin is not None:
            simulation.restore(begin)
    return Rollout(
        np.array(times),
        {name: np.array(values) for name, values in q.items()},
        {name: np.array(values) for name, values in v.items()},
        trusted,
    )


@dataclass(frozen=True)
class Linearisation:
    """One step of a body to first order: δx' = A δx + B δu, with x = (q, v) in tangent coordinates of q."""

    A: Array
    """∂x'/∂x, shape (2 n_v, 2 n_v)."""
    B: Array
    """∂x'/∂u, shape (2 n_v, n)."""


def linearise(
    simulation: Simulation,
    body: str,
    u: ArrayLike,
    apply: str | Apply,
    *,
    width: float = 1e-5,
    steps: int = 1,
) -> Linearisation:
    """Derivatives of `steps` steps of a rigid body or robot by central differences, at the simulation's state and the control `u`.

    `apply` is as in `rollout`. `width` is the half-width of the differences, relative to values above 1 and absolute below. Tangent
    coordinates are those of `Model.integrate`: they stand for quaternions, too. Positions and velocities of other bodies
    are held. The simulation is returned to its state. Where contact begins or ends within the width the differences are
    secants. Raises `ControlError` for a soft body, `StepError`.
    """
    row = np.array(u, np.float64)
    if row.ndim != 1:
        raise ControlError(f"u must have shape (n,); it has {row.shape}")
    if not width > 0:
        raise ValueError(f"width must be positive; it is {width}")
    act = effort_of(apply) if isinstance(apply, str) else apply
    model = simulation.model(body)
    begin = simulation.snapshot()
    q0, v0 = simulation.positions(body), simulation.velocities(body)

    def after(dq: Array, dv: Array, du: Array) -> tuple[Array, Array]:
        simulation.restore(begin)
        simulation.set_positions(body, model.integrate(q0, dq))
        simulation.set_velocities(body, v0 + dv)
        act(simulation, row + du)
        simulation.step(steps)
        return simulation.positions(body), simulation.velocities(body)

    sizes = (model.n_v, model.n_v, len(row))
    scales = np.concatenate([np.ones(model.n_v), np.maximum(1.0, np.abs(v0)), np.maximum(1.0, np.abs(row))])
    columns = []
    try:
        for k, scale in enumerate(scales):
            step = np.zeros(sum(sizes))
            step[k] = width * scale
            (q_up, v_up), (q_down, v_down) = (
                after(*np.split(sign * step, np.cumsum(sizes)[:2])) for sign in (1.0, -1.0)
            )
            change = np.concatenate([model.difference(q_down, q_up), v_up - v_down])
            columns.append(change / (2 * width * scale))
    finally:
        simulation.restore(begin)
    derivative = np.array(columns).T
    return Linearisation(derivative[:, : 2 * model.n_v], derivative[:, 2 * model.n_v :])


def _rows(u: ArrayLike) -> Array:
    rows = np.array(u, np.float64)
    if rows.ndim != 2:
        raise ControlError(f"u must have shape (rows, n); it has {rows.shape}")
    return rows
