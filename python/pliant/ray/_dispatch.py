"""Hands tasks to workers until all are done: in order, complete, whatever happens to the workers."""

import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ._crew import Crew, Done, Task

RETRIES = 3


@dataclass(frozen=True)
class Progress:
    """How far a run of many tasks has come."""

    done: int
    """Tasks that are done."""
    total: int
    """All tasks."""
    elapsed: float
    """Wall time since the start, s."""
    lost: int
    """Workers that were lost and replaced."""

    @property
    def remaining(self) -> float:
        """Estimated wall time until the end, s; infinite before the first task is done."""
        return self.elapsed / self.done * (self.total - self.done) if self.done else float("inf")

    def __str__(self) -> str:
        left = "?" if not self.done else _duration(self.remaining)
        lost = f", {self.lost} workers replaced" if self.lost else ""
        return f"{self.done} of {self.total}, {_duration(self.elapsed)} so far, {left} left{lost}"


def print_progress(progress: Progress) -> None:
    """Writes a line to standard error, in place on a terminal."""
    end = "\r" if sys.stderr.isatty() and progress.done < progress.total else "\n"
    print(progress, end=end, file=sys.stderr, flush=True)


def dispatch(crew: Crew, arguments: Sequence[Any], progress: Callable[[Progress], None] | None) -> list[Done]:
    """The results in the order of the arguments. A task whose worker was lost is given again, `RETRIES` times at most: one that ends its
    worker each time has an error as result."""
    waiting = deque(enumerate(arguments))
    taken: dict[int, list[Task]] = {}
    results: dict[int, Done] = {}
    losses: dict[int, int] = {}
    begin, lost = time.monotonic(), 0
    while len(results) < len(arguments):
        for worker in range(crew.workers):
            if worker not in taken and waiting:
                # A task that was lost may have ended its worker: it goes alone.
                size = 1 if waiting[0][0] in losses else crew.batch
                taken[worker] = [waiting.popleft() for _ in range(min(size, len(waiting)))]
                crew.give(worker, taken[worker])
        for report in crew.wait():
            batch = taken.pop(report.worker, [])
            for done in report.done:
                results[done.index] = done
            if report.lost:
                lost += 1
                for task in reversed(batch):
                    losses[task[0]] = losses.get(task[0], 0) + 1
                    if losses[task[0]] > RETRIES:
                        text = f"WorkerLost: the worker of this task was lost {RETRIES + 1} times"
                        results[task[0]] = Done(task[0], None, text)
                    else:
                        waiting.appendleft(task)
        if progress is not None:
            progress(Progress(len(results), len(arguments), time.monotonic() - begin, lost))
    return [results[index] for index in range(len(arguments))]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"
