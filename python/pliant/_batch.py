"""Many simulations that are stepped together."""

from collections.abc import Mapping, Sequence

from . import _pliant
from ._pliant import PliantError, StepError
from ._simulation import Simulation


class BatchError(StepError):
    """Steps of some simulations of a batch failed. These are in the state before the failed step; the others have taken all of theirs."""

    def __init__(self, errors: Mapping[int, PliantError], of: int) -> None:
        first = min(errors)
        super().__init__(f"{len(errors)} of {of} simulations failed; simulation {first}: {errors[first]}")
        self.errors = dict(errors)
        """What each of them raises, by its index."""


class SimulationBatch:
    """Simulations that take their steps in one call, with the interpreter released, in `threads` threads, by default one for each core.

    The simulations may be of different scenes. Each has the same bits as if it were stepped alone. Those with `device = "gpu"` in their scenes
    take their substeps on one device, in one set of dispatches for all of them.

    >>> import pliant
    >>> simulations = [pliant.load("box-on-incline", mu=mu).simulation() for mu in (0.1, 0.3)]
    >>> pliant.SimulationBatch(simulations).step(10)
    >>> [simulation.steps for simulation in simulations]
    [10, 10]
    """

    def __init__(self, simulations: Sequence[Simulation], *, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise ValueError(f"threads must be at least 1; it is {threads}")
        if len(set(map(id, simulations))) != len(simulations):
            raise ValueError("a simulation is in the batch twice")
        self._simulations = tuple(simulations)
        self._raw = _pliant.SimulationBatch(threads)

    @property
    def simulations(self) -> tuple[Simulation, ...]:
        """The simulations. What is set on them between two calls of `step` holds as ever."""
        return self._simulations

    def step(self, n: int | Sequence[int] = 1) -> None:
        """Takes `n` steps of every simulation, or as many as the sequence has for each. Raises `BatchError` where a step fails.

        Force fields of `Simulation.set_field` are asked before every time step, which then needs a call of its own.
        """
        counts = [n] * len(self._simulations) if isinstance(n, int) else list(n)
        if len(counts) != len(self._simulations):
            raise ValueError(f"there are {len(counts)} numbers of steps; there are {len(self._simulations)} simulations")
        if any(count < 0 for count in counts):
            raise ValueError(f"numbers of steps must not be negative; they are {counts}")
        if any(count and simulation._fields for count, simulation in zip(counts, self._simulations)):
            errors = self._step_with_fields(counts)
        else:
            errors = self._take(counts)
        if errors:
            raise BatchError(errors, len(counts))

    def _step_with_fields(self, counts: Sequence[int]) -> dict[int, PliantError]:
        errors: dict[int, PliantError] = {}
        for taken in range(max(counts)):
            now = [int(count > taken and i not in errors) for i, count in enumerate(counts)]
            for is_on, simulation in zip(now, self._simulations):
                if is_on:
                    simulation._push()
            errors |= self._take(now)
        return errors

    def _take(self, counts: list[int]) -> dict[int, PliantError]:
        return dict(self._raw.step([simulation._raw for simulation in self._simulations], counts))
