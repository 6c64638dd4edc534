"""Bad input raises an exception with a reason; forks, threads and the end of the interpreter end well."""

import random
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pliant
import pytest

DOUGH = """
schema = 1
title = "dough"
simulation = { smoke_s = 0.1, time_step_s = 0.002 }
grid = { spacing = 0.02 }
[[fixed]]
name = "floor"
shape = { half_space = {} }
[[material_points]]
name = "dough"
constitutive_material = "pizza-dough"
shape = { box = { size = [0.2, 0.2, 0.2] } }
pose = { position = [0, 0, 0.099] }
"""


def script(text: str) -> subprocess.CompletedProcess[str]:
    """Runs a program that begins with the scene of the dough; one that hangs is an error."""
    program = f"import os, sys, threading\nimport pliant\nscene = pliant.parse({DOUGH!r})\n{text}"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((6, 1)), r"shape \(6, 1\)"),
        (np.zeros(()), r"shape \(\)"),
        (5.0, r"shape \(\)"),
        (np.zeros(5), "has 5 values"),
        (np.zeros(10**7), "has 10000000 values"),
        ([], "has 0 values"),
        ([0, 0, 0, 0, 0, np.nan], "finite"),
        ([0, 0, 0, 0, 0, -np.inf], "finite"),
        ("123456", "dtype"),
        (["1"] * 6, "dtype"),
        (None, "dtype object"),
        ([None] * 6, "dtype object"),
        ([10**400] * 6, "dtype object"),
        (np.zeros(6, np.complex128), "dtype complex128"),
        ([[0, 0], [0]], "one dimension"),
    ],
)
def test_arrays_that_are_no_velocities_are_refused(ball: pliant.Scene, values: Any, message: str) -> None:
    simulation = ball.simulation()
    calls: list[Callable[[Any], object]] = [
        lambda v: simulation.set_velocities("ball", v),
        lambda v: simulation.model("ball").bias(simulation.positions("ball"), v),
    ]
    if message != "finite":
        calls.append(lambda v: simulation.adjoint({"ball": v}))
    if values is not None:
        calls.append(lambda v: simulation.set_control("ball", effort=v))
    simulation.step()
    for call in calls:
        with pytest.raises(pliant.ControlError, match=message):
            call(values)
    simulation.step()


@pytest.mark.parametrize(
    "values",
    [
        np.arange(6, dtype=np.float32),
        np.arange(6, dtype=np.int16),
        np.arange(12.0)[::2] / 2,
        np.arange(6.0)[::-1][::-1],
        np.asfortranarray(np.stack([np.arange(6.0)] * 3))[1],
        np.arange(6.0).astype(">f8"),
        np.ma.masked_array(np.arange(6.0)),
        range(6),
        (0, 1, 2, 3, 4, 5.0),
    ],
)
def test_arrays_of_any_kind_of_number_and_stride_have_their_values(ball: pliant.Scene, values: Any) -> None:
    simulation = ball.simulation()
    simulation.set_velocities("ball", values)

    assert simulation.velocities("ball").tolist() == [0, 1, 2, 3, 4, 5]


def test_counts_and_sizes_out_of_range_are_refused(ball: pliant.Scene) -> None:
    simulation = ball.simulation()
    for n in (-1, 2**64, 2**200, 1.5, "1", None):
        with pytest.raises((ValueError, OverflowError, TypeError)):
            simulation.step(n)  # type: ignore[arg-type]
    for size in ((0, 1), (-1, 5), (10**9, 10**9), (2**70, 1), (1.5, 2), (3,)):
        with pytest.raises((pliant.ControlError, OverflowError, TypeError, ValueError)):
            simulation.image(size)  # type: ignore[arg-type]
    for fov in (0.0, -1.0, float("nan"), 4.0):
        with pytest.raises(pliant.ControlError):
            simulation.image((4, 4), eye=(1, 1, 1), fov=fov)
    for threads in (0, -1, 10**9, 2**70):
        with pytest.raises((ValueError, OverflowError)):
            pliant.SimulationBatch([simulation], threads=threads)
    for until in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="until"):
            ball.run(until=until)
    for force in ([1, 2], 5, "abc", [1, 2, float("nan")]):
        with pytest.raises((pliant.ControlError, TypeError)):
            simulation.set_load("ball", force)  # type: ignore[arg-type]


def test_the_compiled_part_has_no_bodies_beyond_the_last(ball: pliant.Scene) -> None:
    simulation = ball.simulation()
    simulation.step()
    raw = simulation._raw
    for body in (1, 2**63):
        calls: list[Callable[[int], object]] = [
            raw.positions,
            raw.velocities,
            raw.model,
            raw.points,
            lambda b: raw.place(b, None, None),
            lambda b: raw.control(b, None, None, None),
            lambda b: raw.load(b, [0.0] * 6),
            lambda b: raw.push(b, b""),
            lambda b: raw.adjoint([(b, [0.0] * 6)]),
        ]
        for call in calls:
            with pytest.raises(pliant.ControlError, match=f"body {body} of 1"):
                call(body)


def test_changed_states_are_refused_or_can_be_stepped(pendulum: pliant.Scene) -> None:
    draw = random.Random(3)
    for scene, times in ((pendulum, 100), (pliant.parse(DOUGH), 10)):
        simulation = scene.simulation()
        simulation.step()
        saved = simulation.save()
        for _ in range(times):
            changed = bytearray(saved)
            for _ in range(draw.randint(1, 3)):
                at = draw.randrange(len(changed))
                changed[at] = draw.choice(b'0123456789.-e,[]{}":x')
            try:
                simulation.load(bytes(changed))
                simulation.step()
            except pliant.PliantError as error:
                assert len(str(error)) > 10
        for wrong in (b"", b"{}", b"[" * 10**5, saved[: len(saved) // 2], b"\xff\x00"):
            with pytest.raises(pliant.StateError):
                simulation.load(wrong)
        simulation.load(saved)
        simulation.step()


def test_states_of_other_scenes_and_impossible_ones_are_refused(ball: pliant.Scene, pendulum: pliant.Scene) -> None:
    simulation = ball.simulation()
    before = simulation.positions("ball")
    with pytest.raises(pliant.StateError, match="load it into the scene that saved it"):
        simulation.load(pendulum.simulation().save())
    with pytest.raises(pliant.StateError, match="load it into the scene that saved it"):
        simulation.restore(pendulum.simulation().snapshot())
    half = simulation.save().replace(b"1.0,0.0,0.0,0.0]", b"0.5,0.0,0.0,0.0]")
    with pytest.raises(pliant.StateError, match=r"quaternion .* has length 0\.5"):
        simulation.load(half)
    assert simulation.positions("ball").tolist() == before.tolist()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_exceptions_in_functions_of_the_caller_come_back(ball: pliant.Scene, error: type[BaseException]) -> None:
    def fails(*_: object) -> Any:
        raise error("of the caller")

    with pytest.raises(error, match="of the caller"):
        ball.run(until=0.05, on_step=fails)
    simulation = ball.simulation()
    simulation.set_field(fails)
    with pytest.raises(error, match="of the caller"):
        simulation.step()
    parts = pliant.Parts()
    parts.quantity("failing", unit="m")(fails)
    text = '[[observables]]\nname = "x"\nquantity = "failing"\n'
    scene = pliant.parse(f"schema = 1\ntitle = 't'\nsimulation = {{ smoke_s = 0.1 }}\n{text}", parts=parts)
    with pytest.raises(error, match="of the caller"):
        scene.run()


def test_threads_share_no_simulation_by_accident() -> None:
    simulation = pliant.parse(DOUGH).simulation()
    errors: list[BaseException] = []

    def steps() -> None:
        for _ in range(5):
            try:
                simulation.step()
            except BaseException as error:
                errors.append(error)

    threads = [threading.Thread(target=steps) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(isinstance(error, RuntimeError) for error in errors), errors
    assert simulation.steps + len(errors) == 20


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork on this system")
def test_children_of_fork_step_with_threads_of_their_own() -> None:
    ended = script("""
simulation = scene.simulation()
batch = pliant.SimulationBatch([scene.simulation(), scene.simulation()], threads=2)
simulation.step()
batch.step()
child = os.fork()
if child == 0:
    before = simulation.save()
    simulation.step()
    _ = simulation.energy, simulation.observables, simulation.points("dough")
    after = simulation.save()
    again = scene.simulation()
    again.load(before)
    again.step()
    assert again.save() == after
    batch.step()
    pliant.SimulationBatch([again]).step()
    grandchild = os.fork()
    if grandchild == 0:
        again.step()
        os._exit(0)
    os._exit(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]))
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
simulation.step()
sys.exit(code)
""")
    assert ended.returncode == 0, ended.stderr


def test_the_interpreter_ends_while_threads_step() -> None:
    ended = script("""
simulations = [scene.simulation() for _ in range(3)]
begun = threading.Barrier(4)
def steps(simulation):
    begun.wait()
    while True:
        simulation.step(10)
for simulation in simulations:
    threading.Thread(target=steps, args=(simulation,), daemon=True).start()
begun.wait()
print("ends")
""")
    assert (ended.returncode, ended.stdout) == (0, "ends\n"), ended.stderr
    assert "Fatal" not in ended.stderr and "panicked" not in ended.stderr, ended.stderr
