"""Environments by Gymnasium's conventions."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("gymnasium", reason="SKIPPED gym: gymnasium is not installed")

import gymnasium
import pliant
import pliant.gym
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

# Coarse: the checker resets and steps an environment often.
SETTINGS: dict[str, dict[str, Any]] = {
    "pliant/PushBoxes-v0": {"boxes": 1},
    "pliant/GraspTeddy-v0": {"edge_length": 0.03},
    "pliant/RollDough-v0": {"spacing": 0.04},
    "pliant/InsertCable-v0": {},
}


def test_every_task_is_tested() -> None:
    assert list(SETTINGS) == list(pliant.gym.TASKS)


@pytest.mark.parametrize("task", SETTINGS)
def test_registration_is_complete(task: str) -> None:
    spec = gymnasium.spec(task)
    assert gymnasium.envs.registration.EnvSpec.from_json(spec.to_json()) == spec
    envs = gymnasium.make_vec(task, 2, **SETTINGS[task])
    assert isinstance(envs.unwrapped, pliant.gym.BatchVectorEnv)
    assert isinstance(envs.unwrapped.envs[1], pliant.gym.TASKS[task])
    envs.close()


@pytest.mark.parametrize("task", SETTINGS)
def test_environment_keeps_the_conventions(task: str) -> None:
    env = gymnasium.make(task, render_mode="rgb_array", **SETTINGS[task])
    env.unwrapped.image_size = (16, 12)  # type: ignore[attr-defined]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Unbounded observations are meant.
        warnings.filterwarnings("ignore", message=".*Box observation space m(in|ax)imum value is (-)?infinity")
        check_env(env.unwrapped)


def test_environment_is_drawn() -> None:
    env = pliant.gym.PushBoxes(boxes=1, render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    assert before is not None and before.shape == (240, 320, 3) and before.dtype == np.uint8
    # The post moves across the picture.
    for _ in range(10):
        env.step(np.array([0.0, 1.0], np.float32))
    after = env.render()
    assert after is not None
    changed = float(np.not_equal(after, before).any(axis=2).mean())
    assert 1e-3 < changed < 0.2
    assert env.metadata["render_fps"] == round(1 / (env.scene.time_step * env.steps_per_action))
    assert pliant.gym.PushBoxes().render() is None
    with pytest.raises(ValueError, match="no render_mode 'human'"):
        pliant.gym.PushBoxes(render_mode="human")
    envs = pliant.gym.make_vec("pliant/PushBoxes-v0", 2, boxes=1, render_mode="rgb_array")
    envs.reset(seed=0)
    frames = envs.render()
    assert frames is not None and len(frames) == 2 and np.array_equal(frames[0], before)
    envs.close()


def episode(env: pliant.gym.SceneEnv, seed: int, actions: NDArray[np.float32]) -> list[Any]:
    seen: list[Any] = [env.reset(seed=seed)[0].tobytes()]
    for action in actions:
        observation, reward, terminated, truncated, _ = env.step(action)
        seen.append((observation.tobytes(), reward, terminated, truncated))
    return seen


def test_same_seed_and_actions_give_the_same_bits() -> None:
    env = pliant.gym.PushBoxes(boxes=1)
    actions = np.random.default_rng(0).uniform(-1, 1, (30, 2)).astype(np.float32)
    first = episode(env, 5, actions)
    assert episode(env, 6, actions) != first
    assert episode(env, 5, actions) == first
    assert episode(pliant.gym.PushBoxes(boxes=1), 5, actions) == first


def test_pushing_towards_the_goal_is_rewarded_and_ends() -> None:
    env = pliant.gym.PushBoxes(boxes=1)
    observation, info = env.reset(seed=3)
    total, terminated, truncated = 0.0, False, False
    while not (terminated or truncated):
        box, goal = observation[4:6] / 10, observation[6:8] / 10
        # Behind the box, as seen from the goal; then straight on.
        behind = box - 0.07 * goal / np.linalg.norm(goal)
        action = np.clip(30 * (behind + 0.03 * goal / np.linalg.norm(goal)), -1, 1).astype(np.float32)
        observation, reward, terminated, truncated, info = env.step(action)
        total += reward
    assert terminated and info["success"] and total > 5


def test_unmoved_boxes_truncate_the_episode() -> None:
    env = pliant.gym.PushBoxes(boxes=2)
    env.reset(seed=0)
    for _ in range(env.max_steps):
        _, _, terminated, truncated, info = env.step(np.zeros(2, np.float32))
    assert truncated and not terminated and not info["success"]


def test_bear_is_lifted_by_a_grip_that_closes() -> None:
    env = pliant.gym.GraspTeddy(edge_length=0.03)
    env.reset(seed=1)
    for k in range(env.max_steps):
        action = np.array([1.0, 0.0] if k > 12 else [0.0, -1.0], np.float32)
        _, _, terminated, _, info = env.step(action)
        if terminated:
            break
    assert info["success"]


def test_dough_is_flattened_by_a_roller_that_comes_down() -> None:
    env = pliant.gym.RollDough(spacing=0.04)
    observation, _ = env.reset(seed=1)
    high = observation[6:-2].max()
    total = 0.0
    for k in range(20):
        observation, reward, *_ = env.step(np.array([0.0, -1.0], np.float32))
        total += float(reward)
    assert observation[6:-2].min() < high - 0.005 and total > 0


def test_cable_enters_the_hole_when_it_is_lowered_above_it() -> None:
    env = pliant.gym.InsertCable()
    observation, _ = env.reset(seed=2)
    total, terminated, truncated = 0.0, False, False
    while not (terminated or truncated):
        tip = observation[6:9]
        down = -1.0 if np.abs(tip[:2]).max() < 0.004 else 0.0
        observation, reward, terminated, truncated, info = env.step(np.append(np.clip(-20 * tip[:2], -1, 1), down))
        total += reward
    assert terminated and info["success"] and total > 5


SWING = """
schema = 1
title = "A driven pendulum"
[simulation]
time_step_s = 0.005
smoke_s = 0.1
[[models]]
name = "pendulum"
file = "robots/double_pendulum.urdf"
gravity = "absent"
actuators = { shoulder = { proportional = 1e4, derivative = 100 } }
"""


class Swing(pliant.gym.SceneEnv):
    """A task of one's own: the shoulder turns to 0.1 rad."""

    robot = "pendulum"
    joints = ("shoulder",)
    low = np.array([-0.05])
    high = np.array([0.12])
    speed = 1.0
    steps_per_action = 4
    max_steps = 50

    def _randomise(self, simulation: pliant.Simulation, random: np.random.Generator) -> None:
        simulation.set_positions("pendulum", random.uniform(-0.01, 0.01, 2))

    def _observe(self) -> NDArray[np.float64]:
        return self._joints()

    def _evaluate(self, action: NDArray[np.float64]) -> tuple[float, bool]:
        return -abs(float(self._joints()[0]) - 0.1), self._solved()

    def _solved(self) -> bool:
        return bool(abs(self._joints()[0] - 0.1) < 0.01)


def test_own_task(tmp_path: Path) -> None:
    path = tmp_path / "swing.toml"
    path.write_text(SWING)
    env = Swing(str(path), 1, {})
    start, _ = env.reset(seed=0)
    observation, _, terminated, _, _ = env.step(np.ones(1, np.float32))
    # The target jumps by 1 rad/s for four steps of 5 ms; the actuator follows with the time constant derivative/proportional of 10 ms,
    # by implicit steps.
    assert observation[0] - start[0] == pytest.approx(0.02 * (1 - 1.5**-4), rel=0.02) and not terminated
    for _ in range(8):
        observation, _, terminated, _, info = env.step(np.ones(1, np.float32))
        if terminated:
            break
    assert terminated and info["success"]
    for _ in range(20):
        observation, *_ = env.step(-np.ones(1, np.float32))
    # The target stops at its bound.
    assert observation[0] == pytest.approx(-0.05, abs=2e-3)


def test_vector_environment_by_name() -> None:
    envs = pliant.gym.make_vec("pliant/PushBoxes-v0", 3, boxes=1, autoreset_mode=AutoresetMode.DISABLED)
    observations, _ = envs.reset(seed=0)
    assert observations.shape == (3, 10)
    envs.set_attr("max_steps", 1)
    envs.step(envs.action_space.sample())
    with pytest.raises(RuntimeError, match=r"environments \[0, 1, 2\] have ended: reset them"):
        envs.step(envs.action_space.sample())
    mask = np.array([True, False, False])
    envs.reset(options={"reset_mask": mask})
    with pytest.raises(RuntimeError, match=r"environments \[1, 2\]"):
        envs.step(envs.action_space.sample())
    envs.close()
    by_gymnasium = gymnasium.make_vec("pliant/PushBoxes-v0", 3, boxes=1)
    assert (by_gymnasium.reset(seed=0)[0] == observations).all()
    by_gymnasium.close()
    with pytest.raises(ValueError, match="no task 'pliant/Push'; there are: pliant/PushBoxes-v0"):
        pliant.gym.make_vec("pliant/Push", 2)
    with pytest.raises(ValueError, match="num_envs must be at least 1"):
        pliant.gym.make_vec("pliant/PushBoxes-v0", 0)
