"""Boxes are pushed to a goal."""

import numpy as np

from .._arrays import Array
from .._simulation import Simulation
from ._env import SceneEnv

GOAL = np.array([0.25, 0.0])
REACHED = 0.05


class PushBoxes(SceneEnv):
    """A post moves in the plane and pushes `boxes` boxes to a goal at x = 0.25 m, y = 0.

    Observation: position and velocity of the post (4); for each box its position from the post, that of the goal from the box, and
    cos and sin of four times its yaw, as it looks the same after a quarter turn (6). Reward: by how much the mean distance of the
    boxes to the goal has decreased, and a tenth of by how much the post has come nearer to the farthest box, per 0.1 m, and 5 where all
    boxes are within 5 cm of the goal, which ends the episode.
    """

    robot = "gantry"
    joints = ("x", "y")
    low = np.array([-0.4, -0.3])
    high = np.array([0.4, 0.3])
    speed = 0.4
    steps_per_action = 5
    max_steps = 100

    def __init__(self, boxes: int = 2, mu: float = 0.4, render_mode: str | None = None) -> None:
        self._boxes = [f"box_{index}" for index in range(boxes)]
        super().__init__("push-boxes", 4 + 6 * boxes, {"boxes": boxes, "mu": mu}, render_mode)

    def _randomise(self, simulation: Simulation, random: np.random.Generator) -> None:
        rows = 0.16 * (np.arange(len(self._boxes)) - (len(self._boxes) - 1) / 2)
        for name, y in zip(self._boxes, rows):
            q = simulation.positions(name).copy()
            q[0] = random.uniform(-0.1, 0.05)
            q[1] = y + random.uniform(-0.02, 0.02)
            yaw = random.uniform(-0.4, 0.4)
            q[3:] = np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)
            simulation.set_positions(name, q)
        q = simulation.positions(self.robot).copy()
        q[self._entries] = -0.25, random.uniform(-0.1, 0.1)
        simulation.set_positions(self.robot, q)

    def _places(self) -> Array:
        return np.array([self.simulation.positions(name)[:2] for name in self._boxes])

    def _distances(self) -> Array:
        distances: Array = np.linalg.norm(self._places() - GOAL, axis=1)
        return distances

    def _reach(self) -> float:
        """Distance of the post to the box that is farthest from the goal, m."""
        farthest = self._places()[int(np.argmax(self._distances()))]
        return float(np.linalg.norm(farthest - self._joints()))

    def _begin(self) -> None:
        self._before = float(self._distances().mean()), self._reach()

    def _observe(self) -> Array:
        post = self._joints()
        parts = [post, self._joint_speeds()]
        for name in self._boxes:
            q = self.simulation.positions(name)
            yaw = 2.0 * np.arctan2(q[6], q[3])
            parts += [10 * (q[:2] - post), 10 * (GOAL - q[:2]), np.array([np.cos(4 * yaw), np.sin(4 * yaw)])]
        return np.concatenate(parts)

    def _evaluate(self, action: Array) -> tuple[float, bool]:
        distance, reach = float(self._distances().mean()), self._reach()
        reward = 10.0 * (self._before[0] - distance) + 1.0 * (self._before[1] - reach)
        self._before = distance, reach
        solved = self._solved()
        return reward + 5.0 * solved, solved

    def _solved(self) -> bool:
        return bool((self._distances() < REACHED).all())
