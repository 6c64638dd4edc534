"""The example that learns to push: its record of episodes, and some updates of its policy."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("gymnasium", reason="SKIPPED ppo: gymnasium is not installed")
pytest.importorskip("jax", reason="SKIPPED ppo: jax is not installed")
pytest.importorskip("skrl", reason="SKIPPED ppo: skrl is not installed")

import gymnasium
import ppo_push
from gymnasium.spaces import Box
from gymnasium.vector import SyncVectorEnv


class Count(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """Each action is its reward; the third ends the episode, which is solved if it is positive."""

    def __init__(self) -> None:
        self.observation_space = Box(-np.inf, np.inf, (1,), np.float32)
        self.action_space = Box(-1, 1, (1,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        super().reset(seed=seed)
        self.taken = 0
        return np.zeros(1, np.float32), {"success": False}

    def step(self, action: NDArray[np.float32]) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        self.taken += 1
        reward = float(action[0])
        return np.zeros(1, np.float32), reward, self.taken == 3, False, {"success": self.taken == 3 and reward > 0}


def test_record_has_the_returns_and_successes_of_episodes() -> None:
    record = ppo_push.Record(SyncVectorEnv([Count] * 2))
    record.reset(seed=0)
    # The fourth action only begins the next episodes.
    for pair in ([0.5, 0.25], [0.5, 0.25], [-0.5, 0.25], [9.0, 9.0], [0.25, 0.5], [0.25, 0.5], [0.25, -0.5]):
        record.step(np.array(pair, np.float32)[:, None])
    assert record.episodes == [
        ppo_push.Episode(6, 0.5, False),
        ppo_push.Episode(6, 0.75, True),
        ppo_push.Episode(14, 0.75, True),
        ppo_push.Episode(14, 0.5, False),
    ]


def test_pushing_changes_the_policy() -> None:
    seen = np.linspace(-1, 1, 10, dtype=np.float32)
    untrained, none = ppo_push.learn(0, environments=4)
    agent, episodes = ppo_push.learn(512, environments=4)
    assert not none and len(episodes) >= 4 and all(episode.actions <= 512 for episode in episodes)
    before, after = ppo_push.act(untrained, seen), ppo_push.act(agent, seen)
    assert np.abs(before).max() < 0.1 and (after != before).all() and np.isfinite(after).all()
    assert 0.0 <= ppo_push.solved(agent, 1) <= 1.0
