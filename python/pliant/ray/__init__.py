"""Many simulations at once: sweeps, rollouts, system identification.

The same calls run in processes on this machine (`on=Local()`, the default) or on a Ray cluster (`on=Cluster()`, `pip install
pliant[ray]`), where each node has one actor that steps a batch of worlds in threads. Results are complete and in order, also where
workers are lost.

>>> from pliant.ray import print_progress, sweep
>>> results = sweep("box-on-incline", {"mu": [0.2, 0.4], "angle": ["20*deg", "30*deg"]}, progress=print_progress)
"""

from ._dispatch import Progress, print_progress
from ._identify import Identified, identify
from ._tasks import Case, Cluster, Local, Result, TaskError, Workers, evaluate_all, rollouts, sweep

__all__ = [
    "Case",
    "Cluster",
    "Identified",
    "Local",
    "Progress",
    "Result",
    "TaskError",
    "Workers",
    "evaluate_all",
    "identify",
    "print_progress",
    "rollouts",
    "sweep",
]
