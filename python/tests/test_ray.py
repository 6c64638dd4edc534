"""Many simulations at once: results are complete and in order, also where workers are killed."""

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pliant
import pytest
from pliant.ray import Cluster, Local, Progress, Result, TaskError, evaluate_all, identify, rollouts, sweep
from pliant.ray._crew import Report, Task, evaluate
from pliant.ray._dispatch import RETRIES, dispatch
from pliant.ray._local import LocalCrew
from numpy.typing import NDArray

Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def ray_cluster() -> Iterator[Cluster]:
    ray = pytest.importorskip("ray", reason="SKIPPED ray: ray is not installed")
    # Its workers import this file and the package from where the tests do.
    path = os.pathsep.join([str(Path(__file__).parent), str(Path(pliant.__file__).parents[1])])
    environment = {"env_vars": {"PYTHONPATH": path}}
    ray.init(num_cpus=2, include_dashboard=False, logging_level="error", runtime_env=environment)
    yield Cluster(per_core=2)
    ray.shutdown()


def square(x: float) -> float:
    if x < 0:
        raise ValueError("negative")
    return x * x


def slow_square(x: float) -> float:
    time.sleep(0.05)
    return x * x


def die(x: float) -> float:
    if x == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return x * x


def values(results: Sequence[Result[float]]) -> list[float]:
    return [result.value for result in results]


def test_results_are_complete_and_in_order() -> None:
    seen: list[Progress] = []
    results = evaluate_all(square, list(range(20)), on=Local(2), progress=seen.append)
    assert values(results) == [x * x for x in range(20)]
    counts = [p.done for p in seen]
    assert counts == sorted(counts) and counts[-1] == 20 and seen[-1].remaining == 0
    assert all(p.remaining == pytest.approx(p.elapsed / p.done * (20 - p.done)) for p in seen)
    assert evaluate_all(square, []) == []


def test_error_of_a_task_is_its_result() -> None:
    results = evaluate_all(square, [1.0, -1.0, 2.0], on=Local(1))
    assert [result.error for result in results] == [None, "ValueError: negative", None]
    with pytest.raises(TaskError, match="task 1: ValueError: negative"):
        results[1].value


def kill_one(crew: Any) -> None:
    time.sleep(0.2)
    os.kill(crew.process_ids()[0], signal.SIGKILL)


def test_killed_worker_is_replaced_and_its_task_done_again() -> None:
    crew = LocalCrew(slow_square, 2)
    seen: list[Progress] = []
    killer = threading.Thread(target=kill_one, args=(crew,))
    try:
        # Workers start slowly: until then the first tasks wait in their pipes.
        killer.start()
        done = dispatch(crew, list(range(30)), seen.append)
    finally:
        killer.join()
        crew.close()
    assert [entry.value for entry in done] == [x * x for x in range(30)]
    assert seen[-1].lost == 1 and "1 workers replaced" in str(seen[-1])


def test_task_that_kills_its_worker_has_an_error() -> None:
    results = evaluate_all(die, [0.0, 1.0, 2.0, 3.0], on=Local(2))
    assert [result.outcome for result in results] == [0.0, 1.0, None, 9.0]
    assert results[2].error == f"WorkerLost: the worker of this task was lost {RETRIES + 1} times"


class LosingCrew:
    """Workers that are lost with their first batch."""

    workers = 2
    batch = 3

    def __init__(self) -> None:
        self.given: list[tuple[int, list[int]]] = []
        self.running: dict[int, list[Task]] = {}
        self.alive = [False, False]

    def give(self, worker: int, tasks: Sequence[Task]) -> None:
        self.given.append((worker, [index for index, _ in tasks]))
        self.running[worker] = list(tasks)

    def wait(self) -> list[Report]:
        worker, tasks = self.running.popitem()
        lost, self.alive[worker] = not self.alive[worker], True
        return [Report(worker, () if lost else tuple(evaluate(square, task) for task in tasks), lost)]

    def close(self) -> None: ...


def test_lost_batches_are_given_again_one_by_one() -> None:
    crew = LosingCrew()
    done = dispatch(crew, list(range(8)), None)
    assert [entry.value for entry in done] == [x * x for x in range(8)]
    assert crew.given[0] == (0, [0, 1, 2]) and crew.given[1] == (1, [3, 4, 5])
    assert [0] in [tasks for _, tasks in crew.given] and [3] in [tasks for _, tasks in crew.given]


def test_progress_tells_the_time_left() -> None:
    assert str(Progress(0, 10, 1.0, 0)) == "0 of 10, 1.0 s so far, ? left"
    assert str(Progress(5, 10, 100.0, 0)) == "5 of 10, 1 min 40 s so far, 1 min 40 s left"


def test_sweep_has_every_combination() -> None:
    results = sweep("box-on-incline", {"mu": [0.3, 0.4], "time": [1]}, until=0.1, on=Local(1))
    assert all("time" in (result.error or "") for result in results)
    results = sweep("box-on-incline", {"mu": [0.3, 0.4]}, until=1.0, angle="30*deg", on=Local(2))
    speeds = [result.value.table["box.speed"][-1] for result in results]
    g, angle = 9.81, np.deg2rad(30)
    expected = [g * (np.sin(angle) - mu * np.cos(angle)) for mu in (0.3, 0.4)]
    assert speeds == pytest.approx(expected, rel=2e-3)
    assert [result.value.settings for result in results] == [{"mu": 0.3}, {"mu": 0.4}]
    assert all(entry["outcome"] == "met" for result in results for entry in result.value.expectations)


def test_rollouts_are_those_of_one_by_one() -> None:
    u = np.zeros((3, 20, 6))
    u[:, :, 0] = [[1.0], [2.0], [3.0]]
    paths = rollouts("box-on-incline", u, pliant.load_on("box"), angle=0, on=Local(2))
    scene = pliant.load("box-on-incline", angle=0)
    for path, controls in zip(paths, u):
        expected = pliant.rollout(scene, controls, pliant.load_on("box"))
        assert path.positions["box"].tobytes() == expected.positions["box"].tobytes()
    with pytest.raises(ValueError, match="u must have shape"):
        rollouts("box-on-incline", np.zeros((2, 6)), pliant.load_on("box"))


def distance_error(parameters: Array, measured: tuple[float, float]) -> Array:
    angle, distance = measured
    run = pliant.load("box-on-incline", mu=float(parameters[0]), angle=angle).run(until=0.5)
    return np.array([run["box.distance"][-1] - distance])


def test_friction_is_identified_from_distances() -> None:
    pytest.importorskip("scipy", reason="SKIPPED identification: scipy is not installed")
    mu, g, t = 0.25, 9.81, 0.5
    angles = [0.5, 0.6, 0.7]
    # Coulomb: s = (g/2) (sin − μ cos) t².
    measured = [(a, 0.5 * g * (np.sin(a) - mu * np.cos(a)) * t * t) for a in angles]
    found = identify(distance_error, measured, [0.1], ([0.0], [0.4]), on=Local(2))
    assert found.parameters[0] == pytest.approx(mu, abs=2e-3)
    assert found.deviations[0] < 5e-3 and found.evaluations > 2
    with pytest.raises(ValueError, match="start and bounds"):
        identify(distance_error, measured, [0.5], ([0.0], [0.4]))


def test_cluster_gives_the_same_results_in_order(ray_cluster: Cluster) -> None:
    results = evaluate_all(square, [1.0, 2.0, -1.0, 4.0, 5.0, 6.0], on=ray_cluster)
    assert [result.outcome for result in results] == [1.0, 4.0, None, 16.0, 25.0, 36.0]
    assert results[2].error == "ValueError: negative"


def test_killed_actor_of_a_node_is_replaced(ray_cluster: Cluster) -> None:
    from pliant.ray._cluster import ClusterCrew

    crew = ClusterCrew(slow_square, per_core=2)
    assert crew.workers == 1 and crew.batch == 4
    crew.process_ids()  # The actor is there.
    seen: list[Progress] = []
    killer = threading.Thread(target=kill_actor, args=(crew.process_ids()[0],))
    try:
        killer.start()
        done = dispatch(crew, list(range(40)), seen.append)
    finally:
        killer.join()
        crew.close()
    assert [entry.value for entry in done] == [x * x for x in range(40)]
    assert seen[-1].lost == 1


def kill_actor(process_id: int) -> None:
    time.sleep(0.3)
    os.kill(process_id, signal.SIGKILL)


def test_friction_of_the_measured_cube() -> None:
    repository = Path(os.environ.get("PLIANT_REPOSITORY", Path(__file__).parents[2]))
    table = repository / "../shared/data/measured/cube_toss/tosses_even.csv.gz"
    if not table.is_file():
        pytest.skip("SKIPPED friction_of_the_measured_cube: ../shared is missing")
    pytest.importorskip("scipy", reason="SKIPPED identification: scipy is not installed")
    examples = pytest.importorskip("identify_friction")
    found = examples.fit(examples.read_tosses(table)[::14], Local(2))
    # As its authors measured.
    assert found.parameters[0] == pytest.approx(0.18, abs=0.04)


def test_elasticity_of_a_bar_is_identified() -> None:
    pytest.importorskip("scipy", reason="SKIPPED identification: scipy is not installed")
    examples = pytest.importorskip("identify_silicone")
    # An incompressible bar of a neo-Hookean law: P = E/3 (λ − λ⁻²), taut from a strain of 0.03 on.
    modulus, slack, strain = 1.5e5, 0.03, np.linspace(0.1, 1.0, 10)
    stretch = 1 + strain - slack
    test = examples.TensileTest("formula", strain, modulus / 3 * (stretch - stretch**-2))
    found = examples.fit(test, Local(2), guess=1e5)
    # The held ends, which the formula neglects, and the mesh make the bar stiffer by some percent.
    assert 1.06 * 10 ** found.parameters[0] == pytest.approx(modulus, rel=0.03)
    assert found.parameters[1] == pytest.approx(slack, abs=0.01)


def test_table_of_a_tensile_test_is_read(tmp_path: Path) -> None:
    examples = pytest.importorskip("identify_silicone")
    rows = [f"{t};{np.log1p(t)};{1.0};{t};{2 * t}" for t in (0.0, 0.5, 1.0, 1.5)]
    table = tmp_path / "rubber.csv"
    table.write_text("PARAMETER;INFO;;;\nTime (s);True Strain;;;\n" + "\n".join(rows))
    test = examples.read_test(table)
    assert test.name == "rubber" and test.strain[[0, -1]] == pytest.approx([0.05, 1.0])
    assert test.stress == pytest.approx(2e6 * test.strain)
