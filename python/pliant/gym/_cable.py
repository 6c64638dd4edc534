"""A cable is inserted into a hole."""

import numpy as np

from .._arrays import Array
from .._simulation import Simulation
from ._env import SceneEnv

ENTRANCE = 0.05
DEPTH = 0.02


class InsertCable(SceneEnv):
    """A clamp holds the upper end of a cable, 0.1 m long and 6 mm thick; its free end has to enter a hole, 18 mm wide, at the origin.

    Observation: position and velocity of the clamp (6), position (3) and velocity (3) of the free end, m and m/s, from the hole's
    entrance at z = 5 cm. Reward: by how much the free end has come nearer to the point 2 cm deep in the hole, per 1 cm, and 5 where it
    is that deep, which ends the episode.
    """

    robot = "gantry"
    joints = ("x", "y", "z")
    low = np.array([-0.1, -0.1, 0.1])
    high = np.array([0.1, 0.1, 0.25])
    speed = 0.1
    steps_per_action = 10
    max_steps = 100

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__("insert-cable", 12, {}, render_mode)

    def _randomise(self, simulation: Simulation, random: np.random.Generator) -> None:
        shift = np.array([*random.uniform(-0.04, 0.04, 2), random.uniform(0.0, 0.03)])
        q = simulation.positions(self.robot).copy()
        q[self._entries] += shift
        simulation.set_positions(self.robot, q)
        # A node has its position and the angle of the edge after it; the last has no edge.
        cable = simulation.positions("cable").copy()
        for axis in range(3):
            cable[axis::4] += shift[axis]
        simulation.set_positions("cable", cable)

    def _tip(self) -> tuple[Array, Array]:
        places, velocities, _ = self.simulation.points("cable")
        return places[-1] - np.array([0.0, 0.0, ENTRANCE]), velocities[-1]

    def _far(self) -> float:
        return float(np.linalg.norm(self._tip()[0] + np.array([0.0, 0.0, DEPTH])))

    def _begin(self) -> None:
        self._before = self._far()

    def _observe(self) -> Array:
        place, velocity = self._tip()
        return np.concatenate([self._joints(), self._joint_speeds(), place, velocity])

    def _evaluate(self, action: Array) -> tuple[float, bool]:
        far = self._far()
        reward = 100.0 * (self._before - far)
        self._before = far
        solved = self._solved()
        return reward + 5.0 * solved, solved

    def _solved(self) -> bool:
        place, _ = self._tip()
        return bool(place[2] < -DEPTH and np.abs(place[:2]).max() < 0.01)
