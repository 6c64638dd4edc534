"""Workers on this machine, each a process of its own."""

import multiprocessing
import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from ._crew import Report, Task, evaluate

# A forked process would share locks of the parent's threads.
CONTEXT = multiprocessing.get_context("spawn")


def _packed(function: Any) -> bytes:
    try:
        import cloudpickle

        packed: bytes = cloudpickle.dumps(function)
        return packed
    except ImportError:
        return pickle.dumps(function)


def _serve(connection: Connection, packed: bytes) -> None:
    function = pickle.loads(packed)
    try:
        while True:
            tasks: Sequence[Task] = connection.recv()
            connection.send(tuple(evaluate(function, task) for task in tasks))
    except (EOFError, KeyboardInterrupt):
        pass


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection


class LocalCrew:
    """`processes` worker processes, which take one task at a time."""

    batch = 1

    def __init__(self, function: Callable[[Any], Any], processes: int | None = None) -> None:
        self.workers = processes or os.cpu_count() or 1
        self._function = _packed(function)
        self._crew = [self._hire() for _ in range(self.workers)]

    def _hire(self) -> _Worker:
        ours, theirs = CONTEXT.Pipe()
        process = CONTEXT.Process(target=_serve, args=(theirs, self._function), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def give(self, worker: int, tasks: Sequence[Task]) -> None:
        try:
            self._crew[worker].connection.send(list(tasks))
        except OSError:
            pass  # It is gone, which `wait` reports.

    def wait(self) -> list[Report]:
        waiting = {w.connection: number for number, w in enumerate(self._crew)}
        reports = []
        for connection in wait(list(waiting)):
            assert isinstance(connection, Connection)
            number = waiting[connection]
            try:
                reports.append(Report(number, connection.recv(), lost=False))
            except (EOFError, OSError):
                self._crew[number].connection.close()
                self._crew[number].process.join()
                self._crew[number] = self._hire()
                reports.append(Report(number, (), lost=True))
        return reports

    def process_ids(self) -> list[int]:
        """Of the workers."""
        return [worker.process.pid or 0 for worker in self._crew]

    def close(self) -> None:
        for worker in self._crew:
            worker.connection.close()
        for worker in self._crew:
            worker.process.terminate()
            worker.process.join()
