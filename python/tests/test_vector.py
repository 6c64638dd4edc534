"""Vector environments: stepped together or in threads, they have the bits of one after the other."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("gymnasium", reason="SKIPPED gym: gymnasium is not installed")

import gymnasium
import pliant
import pliant.gym
from gymnasium.vector import AutoresetMode, SyncVectorEnv

MODES = list(AutoresetMode)
MakeEnv = Callable[[], pliant.gym.SceneEnv]


def pushing(boxes: int = 1, mu: float = 0.3, max_steps: int = 7) -> MakeEnv:
    def make() -> pliant.gym.SceneEnv:
        env = pliant.gym.PushBoxes(boxes=boxes, mu=mu)
        env.max_steps = max_steps
        return env

    return make


def results(envs: SyncVectorEnv, steps: int) -> list[Any]:
    (n,) = envs.single_action_space.shape or ()
    actions = np.random.default_rng(1).uniform(-1, 1, (steps, envs.num_envs, n)).astype(np.float32)
    first, info = envs.reset(seed=7)
    seen: list[Any] = [first.tobytes(), repr(info)]
    for action in actions:
        *arrays, info = envs.step(action)
        # The texts of arrays of some numbers have all their bits.
        with np.printoptions(floatmode="unique"):
            seen.append([array.tobytes() for array in arrays] + [repr(sorted(info.items()))])
        ended = arrays[2] | arrays[3]
        if envs.autoreset_mode == AutoresetMode.DISABLED and ended.any():
            observations, info = envs.reset(options={"reset_mask": ended})
            seen.append([observations.tobytes(), repr(info)])
    envs.close()
    return seen


@pytest.mark.parametrize("mode", MODES)
def test_environments_in_threads_and_together_have_the_bits_of_one_by_one(mode: AutoresetMode) -> None:
    # Of different friction and lengths of their episodes.
    fns = [pushing(mu=mu, max_steps=k) for mu, k in ((0.3, 7), (0.1, 5), (0.5, 7), (0.3, 3), (0.2, 100))]
    expected = results(SyncVectorEnv(fns, autoreset_mode=mode), 20)
    assert results(pliant.gym.ThreadVectorEnv(fns, threads=4, autoreset_mode=mode), 20) == expected
    for threads in (None, 1, 3):
        envs = pliant.gym.BatchVectorEnv(fns, threads=threads, autoreset_mode=mode)
        assert envs.metadata["autoreset_mode"] == mode
        assert results(envs, 20) == expected, threads


def test_environments_of_different_scenes_step_together() -> None:
    def slow() -> pliant.gym.SceneEnv:
        env = pliant.gym.PushBoxes(boxes=2)
        env.steps_per_action = 3
        return env

    fns = [pushing(boxes=2), slow]
    assert results(pliant.gym.BatchVectorEnv(fns), 8) == results(SyncVectorEnv(fns), 8)


def break_down(envs: SyncVectorEnv, i: int) -> None:
    """The next step of environment i fails."""
    (env,) = envs.envs[i : i + 1]
    assert isinstance(env, pliant.gym.SceneEnv)
    v = np.zeros(6)
    v[3] = 1e200
    env.simulation.set_velocities("box_0", v)


@pytest.mark.parametrize("mode", MODES)
def test_an_environment_that_fails_leaves_the_others_alone(mode: AutoresetMode) -> None:
    fns = [pushing(max_steps=100)] * 3
    whole, broken = (pliant.gym.BatchVectorEnv(fns, autoreset_mode=mode) for _ in range(2))
    actions = np.full((3, 2), 0.5, np.float32)
    for envs in (whole, broken):
        envs.reset(seed=3)
        envs.step(actions)
    break_down(broken, 1)
    with pytest.raises(pliant.BatchError, match="1 of 3 simulations failed; simulation 1: push-boxes: step") as caught:
        broken.step(actions)
    assert list(caught.value.errors) == [1] and isinstance(caught.value.errors[1], pliant.StepError)
    whole.step(actions)
    others = np.array([True, False, True])
    if mode == AutoresetMode.NEXT_STEP:
        # It counts as ended and is reset in the next step.
        observations, rewards, terminated, truncated, _ = broken.step(actions)
        assert rewards[1] == 0 and not terminated[1] and not truncated[1]
    else:
        if mode == AutoresetMode.DISABLED:
            with pytest.raises(RuntimeError, match=r"environments \[1\] have ended"):
                broken.step(actions)
        broken.reset(options={"reset_mask": ~others})
        observations, rewards, *_ = broken.step(actions)
    expected, expected_rewards, *_ = whole.step(actions)
    assert observations[others].tobytes() == expected[others].tobytes()
    assert rewards[others].tobytes() == expected_rewards[others].tobytes()
    assert np.isfinite(observations).all()
    for envs in (whole, broken):
        envs.close()


class OwnStep(pliant.gym.PushBoxes):
    """Two actions in one, and Python between them."""

    def step(self, action: NDArray[np.float32]) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        *_, info = super().step(action)
        assert info["trusted"]
        return super().step(action)


@pytest.mark.parametrize("make", [lambda: OwnStep(boxes=1), lambda: gymnasium.make("pliant/PushBoxes-v0", boxes=1)])
def test_environments_with_python_between_time_steps_are_for_threads(make: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match="environment 0 is .*; use ThreadVectorEnv for others"):
        pliant.gym.BatchVectorEnv([make])
    fns: Sequence[Callable[[], Any]] = [make] * 2
    assert results(pliant.gym.ThreadVectorEnv(fns, threads=2), 3) == results(SyncVectorEnv(fns), 3)


def test_environments_on_a_gpu_have_the_bits_of_one_by_one() -> None:
    def rolling(device: str) -> MakeEnv:
        return lambda: pliant.gym.RollDough(spacing=0.04, device=device)

    try:
        # Its device stays open for the others.
        first = rolling("gpu")()
    except pliant.SceneError as error:
        pytest.skip(f"SKIPPED gpu: {error}")
    fns = [rolling("gpu")] * 3 + [rolling("cpu")]
    assert results(pliant.gym.BatchVectorEnv(fns), 2) == results(SyncVectorEnv(fns), 2)
    first.close()
