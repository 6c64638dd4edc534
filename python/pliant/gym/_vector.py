"""Several environments at once, each in a thread."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import concatenate, iterate
from numpy.typing import NDArray

Batch = NDArray[Any]
Taken = tuple[Any, float, bool, bool, dict[str, Any], tuple[Any, dict[str, Any]] | None]


class ThreadVectorEnv(SyncVectorEnv):
    """Gymnasium's `SyncVectorEnv`, whose environments step at the same time in `threads` threads, by default one for each.

    A time step of pliant releases the interpreter, so the threads use as many cores. Observations, rewards and infos are those of
    `SyncVectorEnv`, to the last bit, in all three autoreset modes; `options={"reset_mask": ...}` resets some of them.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], gymnasium.Env[Any, Any]]],
        *,
        threads: int | None = None,
        copy: bool = True,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    ) -> None:
        super().__init__(env_fns, copy=copy, autoreset_mode=autoreset_mode)
        self._pool = ThreadPoolExecutor(threads or self.num_envs, thread_name_prefix="pliant-env")

    def step(self, actions: Any) -> tuple[Any, Batch, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One action in each environment."""
        if self.autoreset_mode == AutoresetMode.DISABLED and self._autoreset_envs.any():
            ended = np.flatnonzero(self._autoreset_envs).tolist()
            raise RuntimeError(f"environments {ended} have ended: reset them with options={{'reset_mask': ...}}")
        given = list(iterate(self.action_space, actions))
        infos: dict[str, Any] = {}
        for i, taken in enumerate(self._pool.map(self._advance, range(self.num_envs), given)):
            observation, self._rewards[i], self._terminations[i], self._truncations[i], info, again = taken
            if again is not None:
                infos = self._add_info(infos, {"final_obs": observation, "final_info": info}, i)
                observation, info = again
            self._env_obs[i] = observation
            infos = self._add_info(infos, info, i)
        self._observations = concatenate(self.single_observation_space, self._env_obs, self._observations)
        self._autoreset_envs = np.logical_or(self._terminations, self._truncations)
        observations = deepcopy(self._observations) if self.copy else self._observations
        return observations, self._rewards.copy(), self._terminations.copy(), self._truncations.copy(), infos

    def _advance(self, i: int, action: Any) -> Taken:
        """What environment i does, and its reset where one follows in the same step."""
        env = self.envs[i]
        if self.autoreset_mode == AutoresetMode.NEXT_STEP and self._autoreset_envs[i]:
            observation, info = env.reset()
            return observation, 0.0, False, False, info, None
        observation, reward, terminated, truncated, info = env.step(action)
        ends = (terminated or truncated) and self.autoreset_mode == AutoresetMode.SAME_STEP
        return observation, float(reward), terminated, truncated, info, env.reset() if ends else None

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the threads and closes the environments."""
        self._pool.shutdown()
        super().close_extras(**kwargs)
