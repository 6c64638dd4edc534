"""Finds the friction and the contact stiffness of a real cube from measured tosses.

The measurements are those of Pfrommer, Halm and Posa (2020), as a table with the columns toss, sample, t, x, y, z, qw, qx, qy, qz, vx, vy,
vz (world), wx, wy, wz (body axes), at 148 Hz. They measured a friction coefficient of 0.18.

    python identify_friction.py tosses.csv.gz --tosses 40 --stiffness --plot cube-tosses.png
"""

import argparse
from functools import lru_cache
from pathlib import Path

import numpy as np
import pliant
from numpy.typing import NDArray
from pliant.ray import Cluster, Identified, Local, identify, print_progress

Array = NDArray[np.float64]

SCENE = Path(__file__).parent / "cube_toss.toml"
STEPS_PER_SAMPLE = 4
STIFFNESS = 1e5
GUESS = 0.35


def read_tosses(path: Path) -> list[Array]:
    """The samples of each toss, rows of t, position, quaternion, velocity and angular velocity."""
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return [table[table[:, 0] == toss, 2:] for toss in np.unique(table[:, 0])]


@lru_cache(maxsize=8)
def simulation(mu: float, stiffness: float) -> pliant.Simulation:
    """A cube whose corners have this stiffness, N/m."""
    return pliant.load(SCENE, mu=mu, stiffness=2 * stiffness).simulation()


def rotation(quaternion: Array) -> Array:
    """The rotation matrix of a unit quaternion w, x, y, z."""
    w, x, y, z = quaternion
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    matrix: Array = np.eye(3) + 2 * w * cross + 2 * cross @ cross
    return matrix


def error(parameters: Array, toss: Array) -> Array:
    """Mean distance of the simulated cube from the measured one, m, from the first sample on.

    Parameters are the friction coefficient and, if given, log10 of the stiffness in N/m.
    """
    stiffness = 10 ** float(parameters[1]) if len(parameters) > 1 else STIFFNESS
    run = simulation(float(parameters[0]), stiffness)
    first = toss[0]
    run.set_positions("cube", first[1:8])
    run.set_velocities("cube", np.concatenate([rotation(first[4:8]) @ first[11:14], first[8:11]]))
    distances = []
    for sample in toss[1:]:
        run.step(STEPS_PER_SAMPLE)
        distances.append(np.linalg.norm(run.positions("cube")[:3] - sample[1:4]))
    return np.array([np.mean(distances)])


def fit(tosses: list[Array], on: Local | Cluster) -> Identified:
    """Friction by least squares from a poor guess; beyond 2 cm an error counts less, as some tosses tip onto another face."""
    return identify(error, tosses, [GUESS], ([0.02], [0.6]), scale=0.02, on=on, progress=print_progress)


def fit_both(tosses: list[Array], on: Local | Cluster) -> Identified:
    """Friction and log10 of the stiffness in N/m."""
    start, bounds = [GUESS, 3.5], ([0.02, 3.0], [0.6, 6.0])
    return identify(error, tosses, start, bounds, scale=0.02, on=on, progress=print_progress)


def plot(before: Array, after: Array, path: Path) -> None:
    """Draws the shares of tosses with at most a given error, before and after identification; errors in m."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    share = 100 * np.arange(1, len(before) + 1) / len(before)
    for errors, label in ((before, f"friction {GUESS}, the guess"), (after, "identified")):
        axes.step(1e3 * np.sort(errors), share, where="post", label=label)
    axes.set(xscale="log", xlabel="mean position error of a toss, mm", ylabel="share of tosses, %", ylim=(0, 100))
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, help="the table of tosses, plain or compressed by gzip")
    parser.add_argument("--tosses", type=int, default=40, help="how many of them, evenly spread [40]")
    parser.add_argument("--stiffness", action="store_true", help="find the stiffness of contact, too")
    parser.add_argument("--plot", type=Path, help="where to draw the errors before and after; needs matplotlib")
    parser.add_argument("--cluster", action="store_true", help="run on a Ray cluster instead of this machine's cores")
    arguments = parser.parse_args()
    tosses = read_tosses(arguments.table)
    chosen = tosses[:: max(1, len(tosses) // arguments.tosses)]
    on: Local | Cluster = Cluster() if arguments.cluster else Local()
    found = (fit_both if arguments.stiffness else fit)(chosen, on)
    print(f"friction {found.parameters[0]:.3f} ± {found.deviations[0]:.3f} from {len(chosen)} tosses; measured: 0.18")
    if arguments.stiffness:
        print(f"log10 of the stiffness in N/m {found.parameters[1]:.2f} ± {found.deviations[1]:.2f}")
    errors = np.array([error(found.parameters, toss)[0] for toss in chosen])
    print(f"median of the mean position errors: {1e3 * float(np.median(errors)):.1f} mm")
    if arguments.plot is not None:
        guessed = np.array([error(np.array([GUESS]), toss)[0] for toss in chosen])
        plot(guessed, errors, arguments.plot)


if __name__ == "__main__":
    main()
