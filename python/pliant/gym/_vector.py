"""Several environments at once: their simulations in one batch, or each environment in a thread."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import concatenate, iterate
from numpy.typing import NDArray

from .._batch import BatchError, SimulationBatch
from ._env import SceneEnv

Batch = NDArray[Any]
Taken = tuple[Any, float, bool, bool, dict[str, Any], tuple[Any, dict[str, Any]] | None]
"""What `step` of an environment returns, and `reset` where one follows in the same step."""


class TogetherVectorEnv(SyncVectorEnv):
    """Gymnasium's `SyncVectorEnv`, whose environments do not step one after the other."""

    def step(self, actions: Any) -> tuple[Any, Batch, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One action in each environment."""
        if self.autoreset_mode == AutoresetMode.DISABLED and self._autoreset_envs.any():
            ended = np.flatnonzero(self._autoreset_envs).tolist()
            raise RuntimeError(f"environments {ended} have ended: reset them with options={{'reset_mask': ...}}")
        taken, error = self._step_all(list(iterate(self.action_space, actions)))
        infos: dict[str, Any] = {}
        for i, of_env in taken.items():
            observation, self._rewards[i], self._terminations[i], self._truncations[i], info, again = of_env
            if again is not None:
                infos = self._add_info(infos, {"final_obs": observation, "final_info": info}, i)
                observation, info = again
            self._env_obs[i] = observation
            infos = self._add_info(infos, info, i)
        self._observations = concatenate(self.single_observation_space, self._env_obs, self._observations)
        self._autoreset_envs = np.logical_or(self._terminations, self._truncations)
        if error is not None:
            self._autoreset_envs[list(error.errors)] = True
            raise error
        observations = deepcopy(self._observations) if self.copy else self._observations
        return observations, self._rewards.copy(), self._terminations.copy(), self._truncations.copy(), infos

    @abstractmethod
    def _step_all(self, actions: list[Any]) -> tuple[dict[int, Taken], BatchError | None]:
        """What the environments do, by their index, and the error of those that are not among them."""

    def _resets(self, i: int) -> bool:
        """Whether environment i begins an episode instead of a step."""
        return self.autoreset_mode == AutoresetMode.NEXT_STEP and bool(self._autoreset_envs[i])

    def _begun(self, i: int) -> Taken:
        observation, info = self.envs[i].reset()
        return observation, 0.0, False, False, info, None

    def _stepped(self, i: int, outcome: tuple[Any, Any, bool, bool, dict[str, Any]]) -> Taken:
        observation, reward, terminated, truncated, info = outcome
        ends = (terminated or truncated) and self.autoreset_mode == AutoresetMode.SAME_STEP
        return observation, float(reward), terminated, truncated, info, self.envs[i].reset() if ends else None


class BatchVectorEnv(TogetherVectorEnv):
    """Gymnasium's `SyncVectorEnv` for environments of scenes, which take the time steps of an action in one call, as `SimulationBatch` does.

    `threads` threads step them, by default one for each core, with the interpreter released; scenes with `device = "gpu"` share one device.
    Observations, rewards and infos are those of `SyncVectorEnv`, to the last bit, in all three autoreset modes; `options={"reset_mask": ...}`
    resets some of them. The environments may be of different scenes and parameters; they are `SceneEnv` without wrappers.

    Where steps fail, `step` raises `BatchError`. The other environments have taken theirs by then, and the failed ones count as ended: the next
    `step` resets them in the mode `NEXT_STEP`; in the others it is for the caller to reset them, by a mask.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], SceneEnv]],
        *,
        threads: int | None = None,
        copy: bool = True,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    ) -> None:
        super().__init__(env_fns, copy=copy, autoreset_mode=autoreset_mode)
        self._of_scenes: list[SceneEnv] = []
        for i, env in enumerate(self.envs):
            if not isinstance(env, SceneEnv) or type(env).step is not SceneEnv.step:
                raise TypeError(
                    f"environment {i} is {env}: a batch takes the time steps of environments of SceneEnv, without wrappers and without a"
                    " `step` of their own; use ThreadVectorEnv for others"
                )
            self._of_scenes.append(env)
        self._batch = SimulationBatch([env.simulation for env in self._of_scenes], threads=threads)

    def _step_all(self, actions: list[Any]) -> tuple[dict[int, Taken], BatchError | None]:
        resets = [self._resets(i) for i in range(self.num_envs)]
        for env, action, is_reset in zip(self._of_scenes, actions, resets):
            if not is_reset:
                env._act(action)
        failed: BatchError | None = None
        try:
            self._batch.step([0 if is_reset else env.steps_per_action for env, is_reset in zip(self._of_scenes, resets)])
        except BatchError as error:
            failed = error
        taken = {}
        for i, (env, action, is_reset) in enumerate(zip(self._of_scenes, actions, resets)):
            if is_reset:
                taken[i] = self._begun(i)
            elif failed is None or i not in failed.errors:
                taken[i] = self._stepped(i, env._outcome(action))
        return taken, failed


class ThreadVectorEnv(TogetherVectorEnv):
    """Gymnasium's `SyncVectorEnv`, whose environments step at the same time in `threads` threads, by default one for each.

    It takes all environments, those with wrappers and with Python code between two time steps too. A time step of pliant releases the
    interpreter, so the threads use as many cores. Observations, rewards and infos are those of `SyncVectorEnv`, to the last bit, in all three
    autoreset modes; `options={"reset_mask": ...}` resets some of them.
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

    def _step_all(self, actions: list[Any]) -> tuple[dict[int, Taken], BatchError | None]:
        return dict(enumerate(self._pool.map(self._advance, range(self.num_envs), actions))), None

    def _advance(self, i: int, action: Any) -> Taken:
        return self._begun(i) if self._resets(i) else self._stepped(i, self.envs[i].step(action))

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the threads and closes the environments."""
        self._pool.shutdown()
        super().close_extras(**kwargs)
