"""A scene under the control of a loop of one's own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import _pliant
from ._arrays import Array, Values, floats, packed, unpacked
from ._model import Model
from ._pliant import ControlError, State

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

Field = Callable[[float, Array, Array, Array], Array]
"""A force field: from time (s), positions (m, shape (n, 3)), velocities (m/s, shape (n, 3)) and masses (kg, shape (n,)) of the points of
a body to forces (N, shape (n, 3)), all in world axes."""


@dataclass(frozen=True)
class Gradient:
    """Gradient of a function L with respect to what acts on one body during a step; see `Simulation.adjoint`."""

    position: Array
    """∂L/∂ position targets of actuators, shape (n_v,); empty without an actuator."""
    velocity: Array
    """∂L/∂ their velocity targets, shape (n_v,); empty without an actuator."""
    effort: Array
    """∂L/∂ efforts of joints, shape (n_v,); empty for rods and material points."""
    load: Array
    """∂L/∂ force and torque on a free rigid body as `set_load` sets them, shape (6,); empty for others."""
    field: Array
    """∂L/∂ forces on the points of `Simulation.points`, shape (n, 3). That by gravity is `masses @ field`."""


@dataclass(frozen=True)
class Image:
    """What a camera sees; rows from the top, columns from the left."""

    colors: NDArray[np.uint8]
    """Red, green and blue, shape (height, width, 3)."""
    depth: NDArray[np.float32]
    """Distance along the camera's axis, m, shape (height, width); infinite where there is nothing."""


class Simulation:
    """A scene that is stepped one step at a time; `Scene.simulation` makes one.

    Bodies go by their names in the scene. Arrays are read-only copies.
    """

    def __init__(self, raw: _pliant.Simulation) -> None:
        self._raw = raw
        self._bodies = dict(raw.bodies())
        self._fields: list[tuple[Field, tuple[str, ...]]] = []
        self._models: dict[str, Model] = {}

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
        if n < 0:
            raise ValueError(f"n must not be negative; it is {n}")
        if not self._fields:
            self._raw.step(n)
            return
        for _ in range(n):
            self._push()
            self._raw.step(1)

    @property
    def energy(self) -> tuple[float, float]:
        """Kinetic and potential energy of everything, J."""
        return self._raw.energy()

    def positions(self, body: str) -> Array:
        """Generalised positions q, shape (n_q,): m and rad; a free rigid body has position and unit quaternion."""
        return unpacked(self._raw.positions(self._index(body)))

    def velocities(self, body: str) -> Array:
        """Generalised velocities v, shape (n_v,): m/s and rad/s."""
        return unpacked(self._raw.velocities(self._index(body)))

    def points(self, body: str) -> tuple[Array, Array, Array]:
        """Points with mass of a body: positions (m, (n, 3)), velocities (m/s, (n, 3)), masses (kg, (n,)), world axes.

        They are the centres of mass of the links of a rigid body or robot, the vertices of a mesh, the nodes of a rod, or material
        points, of which all objects of a scene are one body. Raises `ControlError` for another kind of body.
        """
        p, v, m = self._raw.points(self._index(body))
        return unpacked(p).reshape(-1, 3), unpacked(v).reshape(-1, 3), unpacked(m)

    def model(self, body: str) -> Model:
        """The kinematic tree of a rigid body or robot. Raises `ControlError` for a soft body."""
        if body not in self._models:
            raw = self._raw.model(self._index(body))
            if raw is None:
                raise ControlError(f"{body!r} is soft: only rigid bodies and robots have a kinematic tree")
            self._models[body] = Model(raw)
        return self._models[body]

    @property
    def state(self) -> dict[str, tuple[Array, Array]]:
        """Positions and velocities of every body."""
        return {body: (self.positions(body), self.velocities(body)) for body in self._bodies}

    @property
    def contacts(self) -> NDArray[np.void]:
        """Contacts of the last step, shape (n,), of dtype `CONTACT`; none before the first step."""
        return np.frombuffer(self._raw.contacts(), CONTACT)

    @property
    def observables(self) -> dict[str, float]:
        """The scene's observables now; NaN for what has no value, such as forces before the first step.

        Observables that count over steps count those at which they are read.
        """
        return dict(self._raw.observables())

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
        given = [None if values is None else floats(values) for values in (position, velocity, effort)]
        self._raw.control(index, *given)

    def set_load(self, body: str, force: Values = (0, 0, 0), torque: Values = (0, 0, 0)) -> None:
        """Sets force (N) and torque (N·m) on a free rigid body at its origin, world axes, from the next step on, until changed.

        Raises `ControlError`.
        """
        wrench = floats(force) + floats(torque)
        if len(wrench) != 6 or len(force) != 3:
            raise ControlError("force and torque have 3 components each")
        self._raw.load(self._index(body), wrench)

    def set_field(self, field: Field, bodies: Sequence[str] | None = None) -> None:
        """Adds a force field, which acts from the next step on, on `bodies` or on all; see `Field`.

        Its forces act beside all others and are constant during a step. A field is no part of the state: `save` and `snapshot` leave
        its forces out. Raises `ControlError`, also in a step where a force is not finite or the shape is wrong.
        """
        names = self.bodies if bodies is None else tuple(bodies)
        for name in names:
            self._raw.points(self._index(name))
        self._fields.append((field, names))

    def set_positions(self, body: str, q: Values) -> None:
        """Puts a body at the positions `q`, shape (n_q,); quaternions are normalised. Raises `ControlError`.

        What contact remembers from the last step is forgotten, for all bodies. The new place is not checked for overlaps.
        """
        self._raw.place(self._index(body), packed(q), None)

    def set_velocities(self, body: str, v: Values) -> None:
        """Gives a body the velocities `v`, shape (n_v,). Raises `ControlError`. Contact forgets as in `set_positions`."""
        self._raw.place(self._index(body), None, packed(v))

    def adjoint(self, slopes: Mapping[str, Values]) -> dict[str, Gradient]:
        """Gradients of a function L of the velocities at the end of the last step, for all bodies, by one linear system.

        `slopes` has ∂L/∂v of some bodies, shape (n_v,), in their order of velocities; that of others is zero. For an L of end positions
        of joints, add δt ∂L/∂q to it. Held fixed are contact geometry, friction bounds of the lagged model and rotations of corotated
        bodies: the gradient of sliding friction is exact for `contact.model` "sap" and "similar" only. Where contact begins, ends or starts
        to slide, the gradient is one-sided. Raises `ControlError` for a wrong shape and for material points, `StepError` without a step and
        for steppers other than strong-implicit with a fixed time step.
        """
        given = [(self._index(body), floats(slope)) for body, slope in slopes.items()]
        by_body = self._raw.adjoint(given)
        gradients = {}
        for body, index in self._bodies.items():
            position, velocity, effort, load, field = map(unpacked, by_body[index])
            gradients[body] = Gradient(position, velocity, effort, load, field.reshape(-1, 3))
        return gradients

    def image(
        self,
        size: tuple[int, int] = (320, 240),
        *,
        camera: str | None = None,
        eye: Values | None = None,
        target: Values = (0, 0, 0),
        fov: float = 0.6,
    ) -> Image:
        """What is seen now, of `size` (width, height) in pixels, by ray casting: without a browser, shadows and smooth edges.

        The camera is the scene's first one, or that of the name `camera`, or stands at `eye` (m) and looks at `target` with the vertical
        field of view `fov` (rad). Raises `ControlError`.
        """
        if camera is not None and eye is not None:
            raise ControlError("give either a camera of the scene or an eye")
        at = None if eye is None else (floats(eye), floats(target), float(fov))
        colors, depth = self._raw.image(size, camera, at)
        width, height = size
        return Image(
            np.frombuffer(colors, np.uint8).reshape(height, width, 3),
            np.frombuffer(depth, np.float32).reshape(height, width),
        )

    def save(self) -> bytes:
        """The state, for a file. `load` goes on from it with the same bits."""
        return self._raw.save()

    def load(self, state: bytes) -> None:
        """Goes on from a saved state of the same scene; forgets what `set_control` and `set_load` set since. Raises `StateError`."""
        self._raw.load_state(state)

    def snapshot(self) -> State:
        """The state, kept in memory: as `save`, and faster. Its `positions` and `velocities` are views of this memory, without copies."""
        return self._raw.snapshot()

    def restore(self, state: State) -> None:
        """Goes on from a snapshot of the same scene, as `load` does. Raises `StateError`."""
        self._raw.restore(state)

    def _push(self) -> None:
        sums: dict[str, Array] = {}
        for field, bodies in self._fields:
            for body in bodies:
                p, v, m = self.points(body)
                force = np.ascontiguousarray(field(self.time, p, v, m), np.float64)
                if force.shape != p.shape:
                    raise ControlError(f"the field on {body!r} has shape {force.shape}; its points have {p.shape}")
                sums[body] = sums[body] + force if body in sums else force
        for body, force in sums.items():
            self._raw.push(self._index(body), force.tobytes())

    def _index(self, body: str) -> int:
        if body not in self._bodies:
            raise ControlError(f"no body {body!r}; there are: {', '.join(self._bodies)}")
        return self._bodies[body]

