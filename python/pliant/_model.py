"""Kinematics and dynamics of a robot, as functions of its positions and velocities."""

from dataclasses import dataclass

import numpy as np

from . import _pliant
from ._arrays import Array, Values, floats, unpacked


@dataclass(frozen=True)
class Joint:
    """A joint that moves."""

    name: str
    """Its name."""
    positions: slice
    """Its entries of q."""
    velocities: slice
    """Its entries of v."""
    lower: float
    """Smallest position, rad or m."""
    upper: float
    """Largest position, rad or m."""
    effort: float
    """Largest force or torque, N or N·m; may be infinite."""
    speed: float
    """Largest speed, rad/s or m/s; may be infinite."""


class Model:
    """The kinematic tree of a rigid body or robot; `Simulation.model` gives it.

    The equation of motion without contact is M(q) v̇ + bias(q, v) = τ + Jᵀ F. World axes, z up, SI units. A floating root has
    q = (x, y, z, quaternion w, x, y, z) and v = (ω, v of the link's origin), both in world axes. For comparison: pinocchio orders
    (v, ω) in link axes and quaternions x, y, z, w; Drake has the quaternion first. Rotors, dampers and springs of joints are not part
    of M and bias. All functions raise `ControlError` for a wrong number of values or an unknown frame.
    """

    def __init__(self, raw: _pliant.Model) -> None:
        self._raw = raw
        self.links: tuple[str, ...] = tuple(raw.links())
        """Names of the links, parents before children."""
        self.frames: tuple[str, ...] = tuple(raw.frames())
        """Names of the frames that the file fixes on links."""
        self.joints: tuple[Joint, ...] = tuple(
            Joint(name, slice(q, q + n_q), slice(v, v + n_v), *limits)
            for (name, q, n_q, v, n_v), limits in zip(raw.joints(), raw.limits())
        )
        """The joints that move, in the order of v."""

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._raw.name

    @property
    def n_q(self) -> int:
        """Number of positions."""
        return self._raw.n_q

    @property
    def n_v(self) -> int:
        """Number of velocities."""
        return self._raw.n_v

    @property
    def mass(self) -> float:
        """Mass of what moves, kg."""
        return self._raw.mass

    @property
    def gravity(self) -> Array:
        """Gravity that acts on the model, m/s², shape (3,); zero for a gravity-compensated robot."""
        return np.array(self._raw.gravity)

    def neutral(self) -> Array:
        """q with all joints at zero, shape (n_q,)."""
        return unpacked(self._raw.neutral())

    def mass_matrix(self, q: Values) -> Array:
        """M(q), shape (n_v, n_v); pinocchio's `crba`, Drake's `CalcMassMatrix`."""
        return unpacked(self._raw.mass_matrix(floats(q))).reshape(self.n_v, self.n_v)

    def bias(self, q: Values, v: Values) -> Array:
        """Coriolis, centrifugal and gravity forces, N or N·m, shape (n_v,); pinocchio's `nle`, Drake's bias less gravity forces."""
        return unpacked(self._raw.bias(floats(q), floats(v)))

    def inverse_dynamics(self, q: Values, v: Values, vdot: Values) -> Array:
        """τ = M(q) v̇ + bias(q, v), N or N·m, shape (n_v,); pinocchio's `rnea`."""
        return unpacked(self._raw.inverse_dynamics(floats(q), floats(v), floats(vdot)))

    def forward_dynamics(self, q: Values, v: Values, tau: Values) -> Array:
        """v̇ = M(q)⁻¹ (τ − bias(q, v)), shape (n_v,); pinocchio's `aba`."""
        return unpacked(self._raw.forward_dynamics(floats(q), floats(v), floats(tau)))

    def pose(self, q: Values, frame: str) -> tuple[Array, Array]:
        """Position of the origin (m, shape (3,)) and unit quaternion (w, x, y, z) of a link or named frame, in the world."""
        pose = unpacked(self._raw.pose(floats(q), frame))
        return pose[:3], pose[3:]

    def jacobian(self, q: Values, frame: str, point: Values = (0.0, 0.0, 0.0)) -> Array:
        """Jacobian of a point given in a link or named frame (m), rows (ω, v of the point) in world axes, shape (6, n_v)."""
        return unpacked(self._raw.jacobian(floats(q), frame, floats(point))).reshape(6, self.n_v)

    def integrate(self, q: Values, v: Values, time: float = 1.0) -> Array:
        """q ⊕ v·time: positions after a time (s) at constant velocities; quaternions keep unit length."""
        return unpacked(self._raw.integrate(floats(q), floats(v), time))

    def difference(self, q: Values, to: Values) -> Array:
        """The velocity that leads from `q` to `to` in 1 s, shape (n_v,): the inverse of `integrate`."""
        return unpacked(self._raw.difference(floats(q), floats(to)))
