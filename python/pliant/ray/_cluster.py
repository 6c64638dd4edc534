"""Workers on a Ray cluster: one actor for each node, which evaluates a batch of tasks in as many threads as the node has cores."""

import logging
import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ._crew import Report, Task, evaluate

try:
    import ray
    from ray.exceptions import RayActorError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError as error:
    raise ImportError("a Ray cluster needs ray: pip install 'pliant[ray]'") from error


class _Node:
    """The tasks of one node. A time step of pliant releases the interpreter, so threads use all cores."""

    def __init__(self, function: Callable[[Any], Any], threads: int) -> None:
        self._function = function
        self._pool = ThreadPoolExecutor(threads)

    def evaluate(self, tasks: Sequence[Task]) -> tuple[Any, ...]:
        return tuple(self._pool.map(lambda task: evaluate(self._function, task), tasks))

    def process_id(self) -> int:
        return os.getpid()


class ClusterCrew:
    """One actor for each node of the cluster that this program is connected to, with `per_core` tasks per core in a batch.

    Without `ray.init` before, it connects as `ray.init()` does: to the cluster of RAY_ADDRESS, or to a new one on this machine.
    """

    def __init__(self, function: Callable[[Any], Any], per_core: int = 4) -> None:
        if not ray.is_initialized():
            ray.init(logging_level=logging.ERROR, include_dashboard=False)
        self._function = ray.put(function)
        nodes: list[Any] = ray.nodes()  # type: ignore[no-untyped-call, unused-ignore]
        self._nodes = [node for node in nodes if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
        if not self._nodes:
            raise RuntimeError("no node of the cluster has a free core; add nodes or free resources")
        self.workers = len(self._nodes)
        self.batch = per_core * math.ceil(max(self._cores(k) for k in range(self.workers)))
        self._actors = [self._hire(k) for k in range(self.workers)]
        self._running: dict[Any, int] = {}

    def _cores(self, worker: int) -> float:
        return float(self._nodes[worker]["Resources"]["CPU"])

    def _hire(self, worker: int) -> Any:
        # Soft: where the node is gone, its tasks go to another one.
        node = NodeAffinitySchedulingStrategy(self._nodes[worker]["NodeID"], soft=True)
        cores = self._cores(worker)
        actor = ray.remote(_Node).options(num_cpus=1, scheduling_strategy=node)
        return actor.remote(self._function, max(1, int(cores)))

    def give(self, worker: int, tasks: Sequence[Task]) -> None:
        self._running[self._actors[worker].evaluate.remote(list(tasks))] = worker

    def wait(self) -> list[Report]:
        ready, _ = ray.wait(list(self._running), num_returns=1)
        reports = []
        for reference in ready:
            worker = self._running.pop(reference)
            try:
                reports.append(Report(worker, ray.get(reference), lost=False))
            except RayActorError as error:
                if error.actor_init_failed:
                    raise RuntimeError(f"the actor of node {worker} cannot be made: {error}") from error
                self._actors[worker] = self._hire(worker)
                reports.append(Report(worker, (), lost=True))
        return reports

    def process_ids(self) -> list[int]:
        """Of the actors."""
        return [int(pid) for pid in ray.get([actor.process_id.remote() for actor in self._actors])]

    def close(self) -> None:
        for actor in self._actors:
            ray.kill(actor)
