"""Finds the elasticity of silicones from tensile tests of a bar.

The measurements are those of Marechal et al. (2020), Soft Robotics Materials Database, doi 10.1089/soro.2019.0115: tables with the
columns time (s), true strain, true stress (MPa), engineering strain, engineering stress (MPa), separated by semicolons, after a header.

    python identify_silicone.py Ecoflex_00-30.csv Dragon_Skin_30.csv --plot silicone-bars.png
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pliant
from numpy.typing import NDArray
from pliant.ray import Cluster, Identified, Local, identify

Array = NDArray[np.float64]

SCENE = Path(__file__).parent / "silicone_bar.toml"
STRAIN_MAX = 1.0
POINTS = 25


@dataclass(frozen=True)
class TensileTest:
    """A measured curve: engineering strain, and engineering stress in Pa."""

    name: str
    strain: Array
    stress: Array


def read_test(path: Path) -> TensileTest:
    """Some points of a measured curve, evenly spread in strain up to `STRAIN_MAX`."""
    cells = [line.split(";") for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    rows = np.array([[float(cell) for cell in row] for row in cells if _are_numbers(row)])
    strain, stress = rows[:, 3], 1e6 * rows[:, 4]
    wanted = np.linspace(max(0.05, strain[0]), STRAIN_MAX, POINTS)
    return TensileTest(path.stem, wanted, np.interp(wanted, strain, stress))


def _are_numbers(row: list[str]) -> bool:
    try:
        return len([float(cell) for cell in row]) == 5
    except ValueError:
        return False


def simulated(parameters: Array, strain: Array) -> Array:
    """Stress of the simulated bar, Pa.

    Parameters are log10 of Young's modulus in Pa and the slack: the strain at which the bar is taut, as strains are measured between the
    crossheads of the machine.
    """
    run = pliant.load(SCENE, modulus=10 ** float(parameters[0]), strain=STRAIN_MAX).run()
    stress = np.nan_to_num(run["bar.stress"])
    found: Array = np.interp(strain - parameters[1], run["bar.strain"], stress)
    return found


def error(parameters: Array, test: TensileTest) -> Array:
    """Simulated less measured stress, as a share of the largest measured one."""
    relative: Array = (simulated(parameters, test.strain) - test.stress) / test.stress.max()
    return relative


def fit(test: TensileTest, on: Local | Cluster, guess: float = 1e6) -> Identified:
    """Least squares from a guess of Young's modulus, Pa."""
    start, bounds = [np.log10(guess), 0.0], ([4.0, -0.1], [7.0, 0.2])
    return identify(error, [test], start, bounds, width=1e-3, loss="linear", on=on, evaluations_max=12)


def plot(results: list[tuple[TensileTest, Identified]], path: Path) -> None:
    """Draws measured points and simulated curves, a panel for each test."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(
        1, len(results), figsize=(2.6 * len(results), 2.8), sharex=True, squeeze=False, layout="constrained"
    )
    strain = np.linspace(0.0, STRAIN_MAX, 101)
    for axes, (test, found) in zip(panels[0], results):
        axes.plot(100 * test.strain, 1e-3 * test.stress, "o", markersize=3.5, color="tab:gray", label="measured")
        axes.plot(100 * strain, 1e-3 * simulated(found.parameters, strain), label="simulated")
        axes.set_title(f"{test.name.replace('_', ' ')}, E = {1e-3 * 10 ** found.parameters[0]:.0f} kPa", fontsize="small")
        axes.set_xlabel("engineering strain, %")
        axes.grid(alpha=0.3)
    panels[0, 0].set_ylabel("engineering stress, kPa")
    panels[0, 0].legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path, nargs="+", help="measured curves")
    parser.add_argument("--plot", type=Path, help="where to draw them; needs matplotlib")
    parser.add_argument("--cluster", action="store_true", help="run on a Ray cluster instead of this machine's cores")
    arguments = parser.parse_args()
    on: Local | Cluster = Cluster() if arguments.cluster else Local()
    results = []
    for path in arguments.tables:
        test = read_test(path)
        found = fit(test, on)
        modulus, slack = 10 ** found.parameters[0], found.parameters[1]
        deviations = (np.log(10) * modulus * found.deviations[0], found.deviations[1])
        rest = float(np.sqrt(np.mean(error(found.parameters, test) ** 2)))
        print(
            f"{test.name}: E {1e-3 * modulus:.1f} ± {1e-3 * deviations[0]:.1f} kPa, slack {slack:.3f} ± {deviations[1]:.3f}, "
            f"rms error {100 * rest:.1f} % of the largest stress, {found.evaluations} sets of parameters"
        )
        results.append((test, found))
    if arguments.plot is not None:
        plot(results, arguments.plot)


if __name__ == "__main__":
    main()
