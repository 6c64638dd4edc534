"""pliant: contact between rigid robots and deformable bodies.

>>> import pliant
>>> scene = pliant.load("box-on-incline", mu=0.3)
>>> run = scene.run(until=0.1)
>>> run["box.speed"].shape == run.times.shape
True

Units are SI. Arrays are read-only copies: they stay as they are when the simulation goes on.

`pliant.gym` has environments for reinforcement learning, `pliant.ray` runs in parallel; both are imported by name.
"""

from ._batch import BatchError, SimulationBatch
from ._compare import Comparison, compare
from ._model import Joint, Model
from ._parts import Contact, ContactLaw, Material, Parts, Snapshot
from ._pliant import (
    ControlError,
    PliantError,
    RecordingError,
    SceneError,
    State,
    StateError,
    StepError,
    scene_names,
)
from ._rollout import Linearisation, Rollout, effort_of, linearise, load_on, rollout, target_of
from ._run import Run
from ._scene import Scene, load, parse
from ._show import Replay, show
from ._simulation import CONTACT, Field, Gradient, Image, Simulation

__all__ = [
    "CONTACT",
    "BatchError",
    "Comparison",
    "Contact",
    "ContactLaw",
    "ControlError",
    "Field",
    "Gradient",
    "Image",
    "Joint",
    "Linearisation",
    "Material",
    "Model",
    "Parts",
    "PliantError",
    "RecordingError",
    "Replay",
    "Rollout",
    "Run",
    "Scene",
    "SceneError",
    "Simulation",
    "SimulationBatch",
    "Snapshot",
    "State",
    "StateError",
    "StepError",
    "compare",
    "effort_of",
    "linearise",
    "load",
    "load_on",
    "parse",
    "rollout",
    "scene_names",
    "show",
    "target_of",
]
