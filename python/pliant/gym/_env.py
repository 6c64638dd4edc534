"""The parts that all tasks share: a scene, its start, and actions that move joints."""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from .._arrays import Array
from .._scene import load
from .._simulation import Simulation

Observation = NDArray[np.float32]
Action = NDArray[np.float32]

SCENES = Path(__file__).parent / "scenes"


class SceneEnv(gymnasium.Env[Observation, Action]):
    """A task in a scene. An action in [-1, 1]ⁿ gives the velocities of the targets of n joints of one robot, as a share of `speed`.

    An observation is a vector of float32. The task ends where it is solved or lost (`terminated`) or after `max_steps` actions
    (`truncated`). `info` has "success", and "trusted": whether all time steps converged. Episodes with the same seed and actions have
    the same bits. With `render_mode="rgb_array"`, `render` draws the scene by ray casting, seen by its first camera.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}
    image_size: tuple[int, int] = (320, 240)
    """Width and height of what `render` draws, pixels."""
    robot: str
    """The robot that acts."""
    joints: tuple[str, ...]
    """Its joints, one for each component of an action."""
    low: Array
    """Smallest targets of these joints, m."""
    high: Array
    """Largest targets, m."""
    speed: float
    """Speed of a target at action 1, m/s."""
    steps_per_action: int
    max_steps: int

    def __init__(
        self, scene: str, n_observations: int, parameters: Mapping[str, str | float], render_mode: str | None = None
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"no render_mode {render_mode!r}; there are: 'rgb_array' and None")
        self.render_mode = render_mode
        path = SCENES / f"{scene}.toml"
        self.scene = load(path if path.is_file() else scene, keys=parameters)
        self.simulation = self.scene.simulation()
        self._start = self.simulation.snapshot()
        model = self.simulation.model(self.robot)
        moved = {joint.name: joint for joint in model.joints}
        self._dofs = [moved[name].velocities.start for name in self.joints]
        self._entries = [moved[name].positions.start for name in self.joints]
        self._target = np.zeros(model.n_v)
        self._taken = 0
        rate = 1.0 / (self.scene.time_step * self.steps_per_action)
        self.metadata = {**self.metadata, "render_fps": max(1, round(rate))}
        self.action_space = Box(-1.0, 1.0, (len(self.joints),), np.float32)
        self.observation_space = Box(-np.inf, np.inf, (n_observations,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode at a random start."""
        super().reset(seed=seed)
        self.simulation.restore(self._start)
        self._randomise(self.simulation, self.np_random)
        self._target[:] = 0.0
        self._target[self._dofs] = self._joints()
        self._taken = 0
        self._begin()
        return self._observe().astype(np.float32), self._info(True)

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Moves the targets and takes the time steps of one action. Raises `StepError`."""
        self._act(action)
        self.simulation.step(self.steps_per_action)
        return self._outcome(action)

    def _act(self, action: Action) -> None:
        """The part of `step` before the time steps."""
        way = self.speed * self.scene.time_step * self.steps_per_action
        moved = self._target[self._dofs] + way * np.clip(np.asarray(action, np.float64), -1.0, 1.0)
        self._target[self._dofs] = np.clip(moved, self.low, self.high)
        self.simulation.set_control(self.robot, position=self._target)

    def _outcome(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """The part of `step` after the time steps."""
        self._taken += 1
        reward, terminated = self._evaluate(np.asarray(action, np.float64))
        info = self._info(self.simulation.trusted)
        return self._observe().astype(np.float32), float(reward), terminated, self._taken >= self.max_steps, info

    def render(self) -> NDArray[np.uint8] | None:
        """The scene now, shape (height, width, 3); None without a render mode."""
        return None if self.render_mode is None else self.simulation.image(self.image_size).colors

    def _joints(self) -> Array:
        """Positions of the joints that act, m."""
        return self.simulation.positions(self.robot)[self._entries]

    def _joint_speeds(self) -> Array:
        return self.simulation.velocities(self.robot)[self._dofs]

    def _info(self, trusted: bool) -> dict[str, Any]:
        return {"success": bool(self._solved()), "trusted": trusted}

    def _begin(self) -> None:
        """Remembers what rewards are measured from."""

    @abstractmethod
    def _randomise(self, simulation: Simulation, random: np.random.Generator) -> None:
        """Moves bodies to a random start."""

    @abstractmethod
    def _observe(self) -> Array: ...

    @abstractmethod
    def _evaluate(self, action: Array) -> tuple[float, bool]:
        """The reward of the last action, and whether the episode ends."""

    @abstractmethod
    def _solved(self) -> bool: ...
