"""Environments for reinforcement learning, by the conventions of Gymnasium; `pip install pliant[gym]`.

>>> import gymnasium, pliant.gym
>>> env = gymnasium.make("pliant/PushBoxes-v0")
>>> envs = gymnasium.make_vec("pliant/PushBoxes-v0", 8)  # as pliant.gym.make_vec, stepped together
"""

from functools import partial
from typing import Any

try:
    import gymnasium
except ImportError as error:
    raise ImportError("pliant.gym needs gymnasium: pip install 'pliant[gym]'") from error
from gymnasium.vector import AutoresetMode

from ._cable import InsertCable
from ._dough import RollDough
from ._env import SceneEnv
from ._grasp import GraspTeddy
from ._push import PushBoxes
from ._vector import BatchVectorEnv, ThreadVectorEnv

TASKS: dict[str, type[SceneEnv]] = {
    "pliant/PushBoxes-v0": PushBoxes,
    "pliant/GraspTeddy-v0": GraspTeddy,
    "pliant/RollDough-v0": RollDough,
    "pliant/InsertCable-v0": InsertCable,
}
"""The tasks by their names in Gymnasium; importing `pliant.gym` registers them."""


def make_vec(
    task: str,
    num_envs: int,
    *,
    threads: int | None = None,
    autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    **settings: Any,
) -> BatchVectorEnv:
    """`num_envs` environments of a task of `TASKS` that step together in `threads` threads; `settings` are those of the task."""
    if task not in TASKS:
        raise ValueError(f"no task {task!r}; there are: {', '.join(TASKS)}")
    if num_envs < 1:
        raise ValueError(f"num_envs must be at least 1; it is {num_envs}")
    return BatchVectorEnv(
        [lambda: TASKS[task](**settings)] * num_envs, threads=threads, autoreset_mode=autoreset_mode
    )


# Gymnasium finds these by their names.
push_boxes = partial(make_vec, "pliant/PushBoxes-v0")
grasp_teddy = partial(make_vec, "pliant/GraspTeddy-v0")
roll_dough = partial(make_vec, "pliant/RollDough-v0")
insert_cable = partial(make_vec, "pliant/InsertCable-v0")

for _task, _vector in zip(TASKS, ("push_boxes", "grasp_teddy", "roll_dough", "insert_cable")):
    if _task not in gymnasium.registry:
        _class = TASKS[_task]
        gymnasium.register(
            _task, f"{_class.__module__}:{_class.__qualname__}", vector_entry_point=f"{__name__}:{_vector}"
        )

__all__ = [
    "TASKS",
    "BatchVectorEnv",
    "GraspTeddy",
    "InsertCable",
    "PushBoxes",
    "RollDough",
    "SceneEnv",
    "ThreadVectorEnv",
    "make_vec",
]
