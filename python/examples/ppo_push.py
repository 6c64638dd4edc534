"""Learns to push a box to a goal by the proximal policy optimisation of skrl, in minutes on two cores.

    pip install './python[learn]'
    python ppo_push.py --samples 100000 --curve curve.csv
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pliant.gym
import skrl
from gymnasium.vector import VectorEnv, VectorWrapper
from numpy.typing import NDArray
from skrl.agents.jax.ppo import PPO, PPO_CFG
from skrl.envs.wrappers.jax import wrap_env
from skrl.memories.jax import RandomMemory
from skrl.resources.preprocessors.jax import RunningStandardScaler
from skrl.trainers.jax import SequentialTrainer
from skrl.utils import set_seed
from skrl.utils.model_instantiators.jax import deterministic_model, gaussian_model

TASK = "pliant/PushBoxes-v0"
ROLLOUT = 32
"""Actions of each environment between two updates."""
NETWORK = [{"name": "net", "input": "OBSERVATIONS", "layers": [64, 64], "activations": "tanh"}]


@dataclass(frozen=True)
class Episode:
    """An episode of learning."""

    actions: int
    """Actions of all environments until its end."""
    total: float
    """Sum of its rewards."""
    solved: bool


class Record(VectorWrapper[Any, Any, Any]):
    """Notes the episodes that end; prints how many of them were solved after each `every` actions."""

    def __init__(self, env: VectorEnv[Any, Any, Any], every: int = 10_000) -> None:
        super().__init__(env)
        self.episodes: list[Episode] = []
        self._every = every
        self._actions = self._printed = 0
        self._totals = np.zeros(env.num_envs)
        self._begin = time.monotonic()

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One action in each environment."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        self._actions += self.num_envs
        self._totals += rewards
        for k in np.flatnonzero(terminated | truncated):
            self.episodes.append(Episode(self._actions, float(self._totals[k]), bool(infos["success"][k])))
            self._totals[k] = 0.0
        if self._actions >= self._printed + self._every:
            recent = [episode.solved for episode in self.episodes if episode.actions > self._printed]
            share = np.mean(recent) if recent else float("nan")
            print(f"{self._actions:8d} actions, {time.monotonic() - self._begin:5.0f} s, solved {share:4.0%}", flush=True)
            self._printed = self._actions
        return observations, rewards, terminated, truncated, infos


def optimiser(env: Any) -> Any:
    """The untrained agent for environments that skrl has wrapped."""
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space, "device": env.device}
    models = {
        "policy": gaussian_model(**spaces, network=NETWORK, output="ACTIONS", initial_log_std=-0.5),
        "value": deterministic_model(**spaces, network=NETWORK, output="ONE"),
    }
    for role, model in models.items():
        model.init_state_dict(role=role)
    # Means of large initial actions would lie outside of the bounds, where nothing is learnt.
    last = models["policy"].state_dict.params["params"]["net_container"]["layers_4"]
    last["kernel"] = 0.01 * last["kernel"]
    settings = PPO_CFG(
        rollouts=ROLLOUT,
        mini_batches=2,
        learning_epochs=8,
        learning_rate=1e-3,
        discount_factor=0.98,
        value_clip=0.0,
        time_limit_bootstrap=True,
        observation_preprocessor=RunningStandardScaler,
        observation_preprocessor_kwargs={"size": env.observation_space, "device": env.device},
        value_preprocessor=RunningStandardScaler,
        value_preprocessor_kwargs={"size": 1, "device": env.device},
    )
    settings.experiment.write_interval = settings.experiment.checkpoint_interval = 0
    memory = RandomMemory(memory_size=ROLLOUT, num_envs=env.num_envs, device=env.device)
    return PPO(models=models, memory=memory, cfg=settings, **spaces)


def learn(samples: int, environments: int = 8, threads: int = 2, seed: int = 0) -> tuple[Any, list[Episode]]:
    """An agent for one box that has learnt from so many actions, all environments together, and its episodes."""
    skrl.config.jax.device = "cpu"
    set_seed(seed)
    record = Record(pliant.gym.make_vec(TASK, environments, threads=threads, boxes=1))
    env = wrap_env(record, wrapper="gymnasium")
    agent = optimiser(env)
    settings = {"timesteps": samples // environments, "headless": True, "disable_progressbar": True, "close_environment_at_exit": False}
    SequentialTrainer(env=env, agents=agent, cfg=settings).train()
    agent.enable_training_mode(False, apply_to_models=True)
    env.close()
    return agent, record.episodes


def act(agent: Any, observation: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean of the distribution of actions."""
    _, found = agent.act(observation[None], None, timestep=0, timesteps=0)
    means: NDArray[np.float32] = np.asarray(found["mean_actions"])[0]
    return means


def solved(agent: Any, episodes: int, seed: int = 1000) -> float:
    """The share of episodes that the agent solves without noise."""
    env = pliant.gym.PushBoxes(boxes=1)
    count = 0
    for episode in range(episodes):
        observation, info = env.reset(seed=seed + episode)
        ended = False
        while not ended:
            observation, _, terminated, truncated, info = env.step(act(agent, observation))
            ended = terminated or truncated
        count += info["success"]
    return count / episodes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=100_000, help="actions to learn from [100000]")
    parser.add_argument("--environments", type=int, default=8, help="environments that step at once [8]")
    parser.add_argument("--threads", type=int, default=2, help="threads that step them [2]")
    parser.add_argument("--seed", type=int, default=0, help="of starts and exploration [0]")
    parser.add_argument("--curve", type=Path, help="writes the episodes into this CSV file")
    arguments = parser.parse_args()
    begin = time.monotonic()
    agent, episodes = learn(arguments.samples, arguments.environments, arguments.threads, arguments.seed)
    print(f"learnt in {time.monotonic() - begin:.0f} s; solves {solved(agent, 100):.0%} of 100 new episodes")
    if arguments.curve is not None:
        lines = ["actions,return,solved"]
        lines += [f"{episode.actions},{episode.total:.4f},{episode.solved:d}" for episode in episodes]
        arguments.curve.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
