"""What a run yields."""

import json
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _pliant


class Run:
    """A finished run. `run["box.speed"]` is a column of its table of observables."""

    def __init__(self, raw: _pliant.Run) -> None:
        self._raw = raw
        columns = raw.columns()
        self.units: dict[str, str] = {name: unit for name, unit, _ in columns}
        """Unit of each observable."""
        self.table: dict[str, NDArray[np.float64]] = {
            name: np.frombuffer(values, np.float64) for name, _, values in columns
        }
        """Values of each observable at `times`, shape (rows,)."""
        self.times: NDArray[np.float64] = np.frombuffer(raw.row_times(), np.float64)
        """Times of the rows, s, shape (rows,)."""

    def __getitem__(self, observable: str) -> NDArray[np.float64]:
        return self.table[observable]

    @property
    def expectations(self) -> list[dict[str, str | float | None]]:
        """The scene's expectations: observable, measured, found, at_least, at_most, outcome, source.

        The outcome is "met", "failed", or "skipped" where the run ended before its time.
        """
        return self._raw.expectations()

    @property
    def as_expected(self) -> bool:
        """Whether no expectation failed."""
        return all(entry["outcome"] != "failed" for entry in self.expectations)

    @property
    def time(self) -> float:
        """Simulated time at the end, s."""
        return self._raw.time

    @property
    def steps(self) -> int:
        """Steps taken."""
        return self._raw.steps

    @property
    def unconverged_steps(self) -> int:
        """Steps that should not be trusted."""
        return self._raw.unconverged_steps

    @property
    def summary(self) -> dict[str, Any]:
        """What the run did, in numbers: the object that `pliant run --json` prints."""
        summary: dict[str, Any] = json.loads(self._raw.summary())
        return summary

    @property
    def notes(self) -> list[str]:
        """Notes on files and warnings of steps, each once."""
        return self._raw.notes

    def save_replay(self, path: str | PathLike[str]) -> None:
        """Writes the replay, one HTML file without external parts. Raises `RecordingError`."""
        self._raw.save_replay(path)

    def save_csv(self, path: str | PathLike[str]) -> None:
        """Writes the table of observables. Raises `RecordingError`."""
        self._raw.save_csv(path)

    def _repr_html_(self) -> str:
        from ._show import show

        return show(self)._repr_html_()
