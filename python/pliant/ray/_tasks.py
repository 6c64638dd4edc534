"""Sweeps and rollouts of scenes, in parallel."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike, fspath
from typing import Any, Generic, Literal, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import Array
from .._rollout import Apply, Rollout, rollout
from .._scene import load
from ._crew import Crew
from ._dispatch import Progress, dispatch
from ._local import LocalCrew

Argument = TypeVar("Argument")
Value = TypeVar("Value")


@dataclass(frozen=True)
class Local:
    """Processes on this machine, by default one for each core."""

    processes: int | None = None


@dataclass(frozen=True)
class Cluster:
    """The Ray cluster that this program is connected to, or a new one on this machine; needs `pliant[ray]`."""

    per_core: int = 4
    """Tasks for each core that a node takes at once."""


@dataclass(frozen=True)
class Result(Generic[Value]):
    """The result of one task."""

    index: int
    """Place among the arguments."""
    outcome: Value | None
    """What the function returned; None after an error."""
    error: str | None
    """The exception's type and text; None without one."""

    @property
    def value(self) -> Value:
        """What the function returned. Raises `TaskError` after an error."""
        if self.error is not None:
            raise TaskError(f"task {self.index}: {self.error}")
        return cast(Value, self.outcome)


class TaskError(Exception):
    """A task that has failed."""


def evaluate_all(
    function: Callable[[Argument], Value],
    arguments: Sequence[Argument],
    *,
    on: Local | Cluster = Local(),
    progress: Callable[[Progress], None] | None = None,
) -> list[Result[Value]]:
    """Calls `function` with each of the arguments in workers; the results are complete and in the order of the arguments.

    A task whose worker is lost is given to another one. `progress` is called after each report of a worker: `print_progress`
    prints a line with the time left. With `Local`, a program's file calls this under `if __name__ == "__main__"`, as
    `multiprocessing` requires.
    """
    if not len(arguments):
        return []
    with Workers(function, on) as workers:
        return workers.evaluate(arguments, progress)


class Workers(Generic[Argument, Value]):
    """Workers that hold a function, for several calls of `evaluate`; a context manager, which ends them."""

    def __init__(self, function: Callable[[Argument], Value], on: Local | Cluster = Local()) -> None:
        self._crew = _crew(function, on)

    def evaluate(
        self, arguments: Sequence[Argument], progress: Callable[[Progress], None] | None = None
    ) -> list[Result[Value]]:
        """As `evaluate_all`."""
        done = dispatch(self._crew, arguments, progress)
        return [Result(entry.index, entry.value, entry.error) for entry in done]

    def close(self) -> None:
        """Ends the workers."""
        self._crew.close()

    def __enter__(self) -> "Workers[Argument, Value]":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _crew(function: Callable[[Any], Any], on: Local | Cluster) -> Crew:
    if isinstance(on, Cluster):
        from ._cluster import ClusterCrew

        return ClusterCrew(function, on.per_core)
    return LocalCrew(function, on.processes)


@dataclass(frozen=True)
class Case:
    """One run of a sweep."""

    settings: dict[str, str | float]
    """What was varied."""
    times: Array = field(repr=False)
    """Times of the rows, s, shape (rows,)."""
    table: dict[str, Array] = field(repr=False)
    """The observables, each of shape (rows,)."""
    expectations: list[dict[str, str | float | None]] = field(repr=False)
    """As `Run.expectations`."""
    summary: dict[str, Any] = field(repr=False)
    """As `Run.summary`."""


def sweep(
    scene: str | PathLike[str],
    vary: Mapping[str, Sequence[str | float]],
    *,
    until: float | Literal["smoke", "full"] = "smoke",
    on: Local | Cluster = Local(),
    progress: Callable[[Progress], None] | None = None,
    **parameters: str | float,
) -> list[Result[Case]]:
    """Runs a scene with every combination of the values of parameters and keys in `vary`, the last varying fastest."""
    cases = [dict(zip(vary, values)) for values in itertools.product(*vary.values())]
    run = partial(_run, fspath(scene), parameters, until)
    return evaluate_all(run, cases, on=on, progress=progress)


def _run(
    scene: str,
    parameters: Mapping[str, str | float],
    until: float | Literal["smoke", "full"],
    settings: dict[str, str | float],
) -> Case:
    run = load(scene, keys={**parameters, **settings}).run(until)
    return Case(settings, run.times, run.table, run.expectations, run.summary)


def rollouts(
    scene: str | PathLike[str],
    u: ArrayLike,
    apply: str | Apply,
    *,
    bodies: Sequence[str] | None = None,
    steps_per_control: int = 1,
    on: Local | Cluster = Local(),
    progress: Callable[[Progress], None] | None = None,
    **parameters: str | float,
) -> list[Rollout]:
    """`pliant.rollout` from the scene's start for each world of `u`, of shape (worlds, rows, n). Raises `TaskError`."""
    worlds = np.array(u, np.float64)
    if worlds.ndim != 3:
        raise ValueError(f"u must have shape (worlds, rows, n); it has {worlds.shape}")
    task = partial(_rollout, fspath(scene), parameters, apply, bodies, steps_per_control)
    return [result.value for result in evaluate_all(task, list(worlds), on=on, progress=progress)]


def _rollout(
    scene: str,
    parameters: Mapping[str, str | float],
    apply: str | Apply,
    bodies: Sequence[str] | None,
    steps_per_control: int,
    u: Array,
) -> Rollout:
    loaded = load(scene, keys=parameters)
    return rollout(loaded, u, apply, bodies=bodies, steps_per_control=steps_per_control)

