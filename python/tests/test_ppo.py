"""The policy optimisation of the examples: its derivatives, a task with a known answer, pushing."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("gymnasium", reason="SKIPPED ppo: gymnasium is not installed")

import gymnasium
import ppo
import ppo_push
from gymnasium.spaces import Box
from gymnasium.vector import SyncVectorEnv

Array = NDArray[np.float64]


def test_gradients_are_those_of_the_loss() -> None:
    random = np.random.default_rng(4)
    policy = ppo.Policy.new(3, 2, 5, random)
    x, actions = random.normal(size=(20, 3)), random.normal(size=(20, 2))
    advantages, targets = random.normal(size=20), random.normal(size=20)
    # Ratios on both sides of the clip, none at its kink.
    before = policy.log_density(actions, policy.actor.forward(x)[0]) + random.choice([-0.5, 0.05, 0.5], size=20)
    arguments = (x, actions, advantages, targets, before, 0.2)
    gradients = ppo.loss_gradients(policy, *arguments)
    parameters = [*policy.actor.parameters, *policy.critic.parameters, policy.spread]
    assert len(gradients) == len(parameters)
    for parameter, gradient in zip(parameters, gradients):
        for index in np.ndindex(parameter.shape):
            value, h = parameter[index], 1e-6
            parameter[index] = value + h
            up = ppo.loss(policy, *arguments)
            parameter[index] = value - h
            down = ppo.loss(policy, *arguments)
            parameter[index] = value
            assert gradient[index] == pytest.approx((up - down) / (2 * h), abs=1e-8)


def test_scale_is_that_of_all_observations() -> None:
    data = np.random.default_rng(0).normal([1.0, -2.0], [0.5, 3.0], (400, 2))
    scale = ppo.Scale(np.zeros(2), np.ones(2))
    for part in np.split(data, 10):
        scale.add(part)
    expected = (data - data.mean(axis=0)) / data.std(axis=0)
    assert scale(data) == pytest.approx(np.clip(expected, -5, 5), abs=1e-4)


class Aim(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """One action for each episode, which should be half of what is seen."""

    def __init__(self) -> None:
        self.observation_space = Box(-np.inf, np.inf, (1,), np.float32)
        self.action_space = Box(-1, 1, (1,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        super().reset(seed=seed)
        self.seen = self.np_random.uniform(-1, 1, 1).astype(np.float32)
        return self.seen, {"success": False}

    def step(self, action: NDArray[np.float32]) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        error = abs(float(action[0] - 0.5 * self.seen[0]))
        return self.seen, -(error**2), True, False, {"success": error < 0.1}


def test_it_learns_a_task_with_a_known_answer() -> None:
    *_, (policy, last) = ppo.train(SyncVectorEnv([Aim] * 16), 30_000, seed=1)
    seen = np.linspace(-0.9, 0.9, 7)[:, None]
    assert policy.act(seen) == pytest.approx(0.5 * seen, abs=0.1)
    assert last.samples >= 30_000 and np.mean(last.returns) > -0.2


def test_pushing_improves_the_policy() -> None:
    policy, history = ppo_push.learn(1024, environments=4, threads=2)
    assert [entry.samples for entry in history] == [256, 512, 768, 1024]
    again, _ = ppo_push.learn(1024, environments=4, threads=1)
    # The same bits, whatever the threads.
    assert all((a == b).all() for a, b in zip(policy.actor.parameters, again.actor.parameters))
    untrained = ppo.Policy.new(10, 2, 64, np.random.default_rng(0))
    assert any((a != b).any() for a, b in zip(policy.actor.parameters, untrained.actor.parameters))
    assert 0.0 <= ppo_push.solved(policy, 1) <= 1.0
