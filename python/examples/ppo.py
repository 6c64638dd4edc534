"""Proximal policy optimisation (Schulman and others 2017) with small networks, in NumPy.

It learns the tasks of `pliant.gym` with low-dimensional observations within minutes on two cores. For larger ones take a library with
automatic derivatives, such as Stable-Baselines3 or CleanRL: the environments are Gymnasium's.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """Numbers of the algorithm."""

    steps: int = 64
    """Actions of each environment between two updates."""
    epochs: int = 8
    """Passes over the samples of an update."""
    minibatch: int = 128
    """Samples of a gradient."""
    rate: float = 1e-3
    """Learning rate of Adam at the start; it decreases linearly to a tenth."""
    discount: float = 0.98
    """Discount of an action."""
    trace: float = 0.95
    """λ of generalised advantage estimation."""
    clip: float = 0.2
    """How far the ratio of probabilities may leave 1."""
    hidden: int = 64
    """Width of the two hidden layers."""


class Network:
    """Two hidden layers of tanh, with derivatives and Adam."""

    def __init__(self, sizes: tuple[int, int, int], last: float, random: np.random.Generator) -> None:
        n_in, hidden, n_out = sizes
        self.layers = [
            [random.normal(0, n_in**-0.5, (n_in, hidden)), np.zeros(hidden)],
            [random.normal(0, hidden**-0.5, (hidden, hidden)), np.zeros(hidden)],
            [random.normal(0, last * hidden**-0.5, (hidden, n_out)), np.zeros(n_out)],
        ]

    @property
    def parameters(self) -> list[Array]:
        """Weights and offsets of all layers."""
        return [array for layer in self.layers for array in layer]

    def forward(self, x: Array) -> tuple[Array, list[Array]]:
        """Outputs, and the inputs of the layers."""
        inputs = [x]
        for weights, offset in self.layers[:-1]:
            inputs.append(np.tanh(inputs[-1] @ weights + offset))
        weights, offset = self.layers[-1]
        return inputs[-1] @ weights + offset, inputs

    def backward(self, slope: Array, inputs: list[Array]) -> list[Array]:
        """Derivatives of the parameters from those of the outputs."""
        found: list[Array] = []
        for (weights, _), x in zip(reversed(self.layers), reversed(inputs)):
            found = [x.T @ slope, slope.sum(axis=0), *found]
            slope = (slope @ weights.T) * (1 - x * x)
        return found


class Adam:
    """Steps of Kingma and Ba (2015), with gradients limited to a norm of 0.5."""

    def __init__(self, parameters: list[Array]) -> None:
        self.parameters = parameters
        self.mean = [np.zeros_like(p) for p in parameters]
        self.square = [np.zeros_like(p) for p in parameters]
        self.count = 0

    def step(self, gradients: list[Array], rate: float) -> None:
        """Moves the parameters in place."""
        self.count += 1
        norm = np.sqrt(sum(float((g * g).sum()) for g in gradients))
        share = min(1.0, 0.5 / (norm + 1e-12))
        rate *= np.sqrt(1 - 0.999**self.count) / (1 - 0.9**self.count)
        for p, g, m, s in zip(self.parameters, gradients, self.mean, self.square):
            m += 0.1 * (share * g - m)
            s += 0.001 * ((share * g) ** 2 - s)
            p -= rate * m / (np.sqrt(s) + 1e-8)


@dataclass
class Scale:
    """Mean and variance of all observations so far."""

    mean: Array
    square: Array
    count: float = 1e-4

    def add(self, x: Array) -> None:
        """Counts a batch."""
        self.count += len(x)
        self.mean += (x - self.mean).sum(axis=0) / self.count
        self.square += (x * x - self.square).sum(axis=0) / self.count

    def __call__(self, x: Array) -> Array:
        deviation = np.sqrt(np.maximum(self.square - self.mean**2, 1e-8))
        return np.clip((x - self.mean) / deviation, -5, 5)


@dataclass
class Policy:
    """A normal distribution of actions, and the value of a state."""

    actor: Network
    critic: Network
    spread: Array
    """Logarithms of standard deviations."""
    scale: Scale

    @classmethod
    def new(cls, n_in: int, n_out: int, hidden: int, random: np.random.Generator) -> "Policy":
        """An untrained one, whose actions are near zero on average."""
        return cls(
            Network((n_in, hidden, n_out), 0.01, random),
            Network((n_in, hidden, 1), 1.0, random),
            np.full(n_out, -0.5),
            Scale(np.zeros(n_in), np.ones(n_in)),
        )

    def act(self, observations: Array) -> Array:
        """The means of the distributions."""
        return self.actor.forward(self.scale(observations))[0]

    def log_density(self, actions: Array, means: Array) -> Array:
        """Of actions, but for a constant."""
        z = (actions - means) / np.exp(self.spread)
        density: Array = -0.5 * (z * z).sum(axis=1) - self.spread.sum()
        return density


@dataclass(frozen=True)
class Iteration:
    """What an update has learnt from."""

    samples: int
    """Actions so far."""
    returns: list[float] = field(repr=False)
    """Sums of rewards of the episodes that have ended since the last update."""
    successes: list[bool] = field(repr=False)
    """Whether each of them has solved its task."""


def train(
    envs: VectorEnv[Any, Any, Any], samples: int, seed: int = 0, settings: Settings = Settings()
) -> Iterator[tuple[Policy, Iteration]]:
    """Learns from at least so many actions, all environments together; yields after each update.

    `envs` begin a new episode with the action after the end of one (AutoresetMode.NEXT_STEP).
    """
    random = np.random.default_rng(seed)
    n_envs, n_in = envs.observation_space.shape or (0, 0)
    n_out = (envs.single_action_space.shape or (0,))[0]
    policy = Policy.new(n_in, n_out, settings.hidden, random)
    adam = Adam([*policy.actor.parameters, *policy.critic.parameters, policy.spread])
    observation = np.asarray(envs.reset(seed=seed)[0], np.float64)
    policy.scale.add(observation)
    totals, fresh = np.zeros(n_envs), np.zeros(n_envs, bool)
    updates = -(-samples // (settings.steps * n_envs))
    for update in range(updates):
        rows: list[tuple[Array, ...]] = []
        returns: list[float] = []
        successes: list[bool] = []
        for _ in range(settings.steps):
            x = policy.scale(observation)
            means, values = policy.actor.forward(x)[0], policy.critic.forward(x)[0][:, 0]
            actions = means + np.exp(policy.spread) * random.normal(size=means.shape)
            seen, rewards, terminated, truncated, infos = envs.step(np.clip(actions, -1, 1).astype(np.float32))
            after = np.asarray(seen, np.float64)
            following = policy.critic.forward(policy.scale(after))[0][:, 0]
            rows.append((x, actions, values, rewards, following * ~terminated, terminated | truncated, fresh))
            totals += rewards
            for k in np.flatnonzero(terminated | truncated):
                returns.append(float(totals[k]))
                successes.append(bool(infos["success"][k]))
                totals[k] = 0.0
            # The action after an end only begins the next episode: nothing is learnt from it.
            fresh = terminated | truncated
            observation = after
        x, actions, values, rewards, following, ended, skipped = (np.array(column) for column in zip(*rows))
        advantages = np.zeros_like(values)
        trace = np.zeros(n_envs)
        for t in reversed(range(settings.steps)):
            surprise = rewards[t] + settings.discount * following[t] - values[t]
            trace = surprise + settings.discount * settings.trace * trace * ~ended[t]
            advantages[t] = trace
        used = ~skipped
        rate = settings.rate * (1 - 0.9 * update / updates)
        _improve(policy, adam, (x[used], actions[used], advantages[used], (advantages + values)[used]), rate, settings, random)
        policy.scale.add(observation)
        yield policy, Iteration((update + 1) * settings.steps * n_envs, returns, successes)


def _improve(
    policy: Policy,
    adam: Adam,
    samples: tuple[Array, Array, Array, Array],
    rate: float,
    settings: Settings,
    random: np.random.Generator,
) -> None:
    x, actions, advantages, targets = samples
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    before = policy.log_density(actions, policy.actor.forward(x)[0])
    for _ in range(settings.epochs):
        for part in np.array_split(random.permutation(len(x)), max(1, len(x) // settings.minibatch)):
            gradients = loss_gradients(
                policy, x[part], actions[part], advantages[part], targets[part], before[part], settings.clip
            )
            adam.step(gradients, rate)


def loss_gradients(
    policy: Policy, x: Array, actions: Array, advantages: Array, targets: Array, before: Array, clip: float
) -> list[Array]:
    """Derivatives of `loss` of the parameters of actor and critic and the spread."""
    means, actor_inputs = policy.actor.forward(x)
    values, critic_inputs = policy.critic.forward(x)
    ratio = np.exp(policy.log_density(actions, means) - before)
    # The clipped objective is flat where the ratio has already gone as far as it may.
    moves = np.where(advantages > 0, ratio < 1 + clip, ratio > 1 - clip)
    of_density = -(advantages * ratio * moves / len(x))[:, None]
    deviation = np.exp(policy.spread)
    z = (actions - means) / deviation
    return [
        *policy.actor.backward(of_density * z / deviation, actor_inputs),
        *policy.critic.backward((values - targets[:, None]) / len(x), critic_inputs),
        (of_density * (z * z - 1)).sum(axis=0),
    ]


def loss(
    policy: Policy, x: Array, actions: Array, advantages: Array, targets: Array, before: Array, clip: float
) -> float:
    """The clipped objective, negative, and half the mean square error of the values."""
    ratio = np.exp(policy.log_density(actions, policy.actor.forward(x)[0]) - before)
    objective = np.minimum(ratio * advantages, np.clip(ratio, 1 - clip, 1 + clip) * advantages)
    error = policy.critic.forward(x)[0][:, 0] - targets
    return float(-objective.mean() + 0.5 * (error * error).mean())
