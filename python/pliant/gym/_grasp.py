"""A soft-bubble gripper lifts a teddy bear."""

import numpy as np

from .._arrays import Array
from .._simulation import Simulation
from ._env import SceneEnv

HEIGHT = 0.08


class GraspTeddy(SceneEnv):
    """The bundled scene `bubble-gripper-teddy` without its motion: hoist and fingers are moved by the actions.

    Observation: positions and velocities of hoist and finger (4), centre of mass (3) and mean velocity (3) of the bear, its lowest
    point (1), all in m and m/s. Reward: by how much the lowest point has risen, per 1 cm, and 5 where it is above 8 cm, which ends the
    episode; −1 where the bear has fallen over, which ends it, too. A time step takes some hundredths of a second. `edge_length` is that
    of the bear's mesh, m.
    """

    robot = "robot"
    joints = ("lift", "gripper/left_slide")
    low = np.array([0.0, 0.02])
    high = np.array([0.2, 0.055])
    speed = 0.15
    steps_per_action = 2
    max_steps = 75

    def __init__(self, edge_length: float = 0.02, render_mode: str | None = None) -> None:
        super().__init__("bubble-gripper-teddy", 11, {"fem.teddy.mesh.filled.edge_length": edge_length}, render_mode)
        self._masses = self.simulation.points("teddy")[2]

    def _randomise(self, simulation: Simulation, random: np.random.Generator) -> None:
        shift = np.append(random.uniform(-0.006, 0.006, 2), 0.0)
        q = simulation.positions("teddy").reshape(-1, 3) + shift
        simulation.set_positions("teddy", q.ravel())

    def _bear(self) -> tuple[Array, Array, float]:
        """Centre of mass, mean velocity, lowest point."""
        q = self.simulation.positions("teddy").reshape(-1, 3)
        v = self.simulation.velocities("teddy").reshape(-1, 3)
        return (
            np.average(q, axis=0, weights=self._masses),
            np.average(v, axis=0, weights=self._masses),
            float(q[:, 2].min()),
        )

    def _begin(self) -> None:
        self._foot = self._bear()[2]

    def _observe(self) -> Array:
        centre, velocity, foot = self._bear()
        return np.concatenate([self._joints(), self._joint_speeds(), centre, velocity, [foot]])

    def _evaluate(self, action: Array) -> tuple[float, bool]:
        centre, _, foot = self._bear()
        reward = 100.0 * (foot - self._foot)
        self._foot = foot
        solved, lost = self._solved(), bool(centre[2] - foot < 0.04)
        return reward + 5.0 * solved - lost, solved or lost

    def _solved(self) -> bool:
        return self._bear()[2] > HEIGHT
