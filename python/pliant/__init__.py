"""pliant: contact between rigid robots and deformable bodies.

>>> import pliant
>>> scene = pliant.load("box-on-incline", mu=0.3)
>>> run = scene.run(until=0.1)
>>> run["box.speed"].shape == run.times.shape
True

Units are SI. Arrays are read-only copies: they stay as they are when the simulation goes on.
"""

from ._pliant import (
    ControlError,
    PliantError,
    RecordingError,
    SceneError,
    StateError,
    StepError,
    scene_names,
)
from ._run import Run
from ._scene import Scene, load
from ._simulation import CONTACT, Simulation

__all__ = [
    "CONTACT",
    "ControlError",
    "PliantError",
    "RecordingError",
    "Run",
    "Scene",
    "SceneError",
    "Simulation",
    "StateError",
    "StepError",
    "load",
    "scene_names",
]
