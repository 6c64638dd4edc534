"""A roller flattens dough."""

import numpy as np

from .._arrays import Array
from .._simulation import Simulation
from ._env import SceneEnv

BINS = 10
REACH = 0.15
GOAL = 0.035


class RollDough(SceneEnv):
    """A free roller moves along x and z and flattens a block of dough, 0.2 m × 0.1 m × 6 cm.

    Observation: positions and velocities of the roller (4), and the height of the dough in 10 strips along x within ±0.15 m, m, 0
    where there is none. Reward: by how much the mean height of the strips over the dough's first length has decreased, per 1 cm, and 5
    where the highest of them is below 3.5 cm, which ends the episode. `spacing` is that of the grid, m; `device` takes the substeps, "cpu" or "gpu", see docs/gpu.md.
    """

    robot = "gantry"
    joints = ("x", "z")
    low = np.array([-0.14, 0.05])
    high = np.array([0.14, 0.12])
    speed = 0.3
    steps_per_action = 4
    max_steps = 100

    def __init__(self, spacing: float = 0.02, device: str = "cpu", render_mode: str | None = None) -> None:
        super().__init__("roll-dough", 4 + BINS, {"h": spacing, "simulation.device": device}, render_mode)

    def _randomise(self, simulation: Simulation, random: np.random.Generator) -> None:
        q = simulation.positions(self.robot).copy()
        q[self._entries[0]] = random.uniform(-0.12, 0.12)
        simulation.set_positions(self.robot, q)

    def _heights(self) -> Array:
        q = self.simulation.positions("dough").reshape(-1, 3)
        strips = np.floor((q[:, 0] + REACH) / (2 * REACH / BINS)).astype(int)
        heights = np.zeros(BINS)
        for strip in range(BINS):
            there = q[strips == strip, 2]
            heights[strip] = there.max() if len(there) else 0.0
        return heights

    def _middle(self) -> Array:
        """Heights where the dough was at first."""
        return self._heights()[2:-2]

    def _begin(self) -> None:
        self._mean = float(self._middle().mean())

    def _observe(self) -> Array:
        return np.concatenate([self._joints(), self._joint_speeds(), self._heights()])

    def _evaluate(self, action: Array) -> tuple[float, bool]:
        mean = float(self._middle().mean())
        reward = 100.0 * (self._mean - mean)
        self._mean = mean
        solved = self._solved()
        return reward + 5.0 * solved, solved

    def _solved(self) -> bool:
        return float(self._middle().max()) < GOAL
