"""A scene under the control of a loop of one's own."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from . import _pliant
from ._pliant import ControlError

CONTACT = np.dtype(
    [
        ("a", np.int64),
        ("b", np.int64),
        ("point", np.float64, 3),
        ("normal", np.float64, 3),
        ("force", np.float64, 3),
        ("signed_distance", np.float64),
    ]
)
"""A contact: geometries a and b (indices into `Simulation.geometries`), where the force acts on a (m, world frame, at the start of
the step), unit normal from b into a, mean force on a over the step (N, world axes), signed distance (m, negative in penetration)."""

Values = Sequence[float] | NDArray[np.float64]


class Simulation:
    """A scene that is stepped one step at a time; `Scene.simulation` makes one.

    Bodies go by their names in the scene. Arrays are read-only copies.
    """

    def __init__(self, raw: _pliant.Simulation) -> None:
        self._raw = raw
        self._bodies = dict(raw.bodies())

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._raw.time

    @property
    def steps(self) -> int:
        """Steps taken."""
        return self._raw.steps

    @property
    def trusted(self) -> bool:
        """Whether everything converged in the last step."""
        return self._raw.trusted

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of rigid bodies, robots and soft bodies."""
        return tuple(self._bodies)

    @property
    def geometries(self) -> tuple[str, ...]:
        """Names of contact geometries, by the indices in `contacts`."""
        return tuple(self._raw.geometries())

    def step(self, n: int = 1) -> None:
        """Takes `n` steps of the scene's time step. Raises `StepError`; the state is then that before the failed step."""
        for _ in range(n):
            self._raw.step()

    def positions(self, body: str) -> NDArray[np.float64]:
        """Generalised positions q, shape (n_q,): m and rad; a free rigid body has position and unit quaternion."""
        return np.frombuffer(self._raw.positions(self._index(body)), np.float64)

    def velocities(self, body: str) -> NDArray[np.float64]:
        """Generalised velocities v, shape (n_v,): m/s and rad/s."""
        return np.frombuffer(self._raw.velocities(self._index(body)), np.float64)

    @property
    def state(self) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Positions and velocities of every body."""
        return {body: (self.positions(body), self.velocities(body)) for body in self._bodies}

    @property
    def contacts(self) -> NDArray[np.void]:
        """Contacts of the last step, shape (n,), of dtype `CONTACT`; none before the first step."""
        return np.frombuffer(self._raw.contacts(), CONTACT)

    def set_control(
        self,
        body: str,
        *,
        position: Values | None = None,
        velocity: Values | None = None,
        effort: Values | None = None,
    ) -> None:
        """Sets targets of actuators and efforts of joints from the next step on, until changed; all of shape (n_v,).

        `position` (rad or m) and `velocity` (rad/s or m/s) are targets of the actuators; `effort` (N·m or N) is feed-forward. They
        take the place of the scene's own drives of that body. Raises `ControlError`.
        """
        index = self._index(body)
        self._raw.control(index, _floats(position), _floats(velocity), _floats(effort))

    def set_load(self, body: str, force: Values = (0, 0, 0), torque: Values = (0, 0, 0)) -> None:
        """Sets force (N) and torque (N·m) on a free rigid body at its origin, world axes, from the next step on, until changed.

        Raises `ControlError`.
        """
        wrench = [float(x) for x in (*force, *torque)]
        if len(wrench) != 6 or len(force) != 3:
            raise ControlError("force and torque have 3 components each")
        self._raw.load(self._index(body), wrench)

    def save(self) -> bytes:
        """The state. `load` goes on from it with the same bits."""
        return self._raw.save()

    def load(self, state: bytes) -> None:
        """Goes on from a saved state of the same scene; forgets what `set_control` and `set_load` set since. Raises `StateError`."""
        self._raw.load_state(state)

    def _index(self, body: str) -> int:
        if body not in self._bodies:
            raise ControlError(f"no body {body!r}; there are: {', '.join(self._bodies)}")
        return self._bodies[body]


def _floats(values: Values | None) -> list[float] | None:
    return None if values is None else [float(x) for x in values]
