"""Scenes, read and checked."""

import math
from collections.abc import Callable, Mapping
from os import PathLike, fspath
from typing import Any, Literal

from . import _pliant
from ._parts import Parts
from ._run import Run
from ._simulation import Simulation
from ._tables import scene_text


def load(
    path_or_name: str | PathLike[str],
    *,
    time_step: float | None = None,
    solver: str | None = None,
    keys: Mapping[str, str | float] | None = None,
    parts: Parts | None = None,
    **parameters: str | float,
) -> "Scene":
    """Reads the bundled scene of that name (see `scene_names`), or the file at that path.

    `parameters` are those of the scene: numbers or expressions such as "20*deg". `keys` overrides any key, as in
    `keys={"contact.model": "sap"}`. `time_step` is in s. `parts` has materials, contact laws and quantities written in Python, which
    the scene may name. Raises `SceneError`.
    """
    overrides = _overrides(keys, parameters)
    return Scene(_pliant.Scene(fspath(path_or_name), None, overrides, time_step, solver, None if parts is None else parts._raw))


def parse(
    text: str | Mapping[str, Any],
    *,
    name: str = "scene",
    time_step: float | None = None,
    solver: str | None = None,
    keys: Mapping[str, str | float] | None = None,
    parts: Parts | None = None,
    **parameters: str | float,
) -> "Scene":
    """Reads the scene that stands in `text`; error messages call it `name`. The rest is as in `load`. Raises `SceneError`.

    `text` is that of a scene file, or a dictionary of its tables: a list of dictionaries stands for an array of tables.
    """
    overrides = _overrides(keys, parameters)
    text = text if isinstance(text, str) else scene_text(text)
    return Scene(_pliant.Scene(name, text, overrides, time_step, solver, None if parts is None else parts._raw))


def _overrides(keys: Mapping[str, str | float] | None, parameters: Mapping[str, str | float]) -> list[str]:
    return [f"{name}={value}" for name, value in {**parameters, **(keys or {})}.items()]


class Scene:
    """A scene, read and checked; `load` makes one. It can be run any number of times."""

    def __init__(self, raw: _pliant.Scene) -> None:
        self._raw = raw

    @property
    def name(self) -> str:
        """The bundled name, or the file's name without extension."""
        return self._raw.name

    @property
    def title(self) -> str:
        """One line."""
        return self._raw.title

    @property
    def time_step(self) -> float:
        """The time step, s."""
        return self._raw.time_step

    @property
    def solver(self) -> str:
        """Name of the solver."""
        return self._raw.solver

    @property
    def stepper(self) -> str:
        """Name of the time stepper."""
        return self._raw.stepper

    @property
    def parameters(self) -> dict[str, float]:
        """Values of the parameters, overrides included."""
        return self._raw.parameters

    def simulation(self) -> Simulation:
        """The scene at its start, to be stepped; nothing is recorded. Raises `SceneError`."""
        return Simulation(self._raw.simulation())

    def run(
        self,
        until: float | Literal["smoke", "full"] = "smoke",
        *,
        on_step: Callable[[Simulation], None] | None = None,
    ) -> Run:
        """Runs the scene `until` a time in s, or for its smoke or full length.

        `on_step` is called before every step: a controller that reads the simulation and sets its controls. An exception in
        it, Ctrl-C included, ends the run. Raises `SceneError`, `StepError`, `RecordingError`.
        """
        if until == "smoke":
            end = self._raw.smoke_time
        elif until == "full":
            end = self._raw.full_time
        else:
            end = float(until)
        if not (math.isfinite(end) and end > 0.0):
            raise ValueError(f"until must be a positive time in s, 'smoke' or 'full'; it is {until!r}")
        raw = self._raw.recorded()
        simulation = Simulation(raw)
        # The rule of the command line: a multiple of the step but for rounding takes that many steps.
        for _ in range(max(1, math.ceil(end / self.time_step - 1e-9))):
            if on_step is not None:
                on_step(simulation)
            simulation.step()
        return Run(_pliant.Scene.finish(raw))
