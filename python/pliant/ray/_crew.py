"""What a group of workers offers: batches of tasks go out, results or losses come back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Task = tuple[int, Any]
"""The number of a task and its argument."""


@dataclass(frozen=True)
class Done:
    """A finished task: its value, or the text of its exception."""

    index: int
    value: Any
    error: str | None


@dataclass(frozen=True)
class Report:
    """What a worker reports: tasks that it has finished, or that it is gone."""

    worker: int
    done: tuple[Done, ...]
    lost: bool


class Crew(Protocol):
    """Workers, numbered from 0, that hold the same function. A lost one is replaced under its number."""

    workers: int
    """How many there are."""
    batch: int
    """How many tasks a worker takes at once."""

    def give(self, worker: int, tasks: Sequence[Task]) -> None:
        """Sends a batch to a worker that has none."""

    def wait(self) -> list[Report]:
        """Waits until at least one worker has finished its batch or is gone."""

    def close(self) -> None:
        """Ends the workers."""


def evaluate(function: Any, task: Task) -> Done:
    """Calls the function with the argument of a task; an exception is a result, too."""
    index, argument = task
    try:
        return Done(index, function(argument), None)
    except Exception as error:
        return Done(index, None, f"{type(error).__name__}: {error}")
