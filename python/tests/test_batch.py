"""Simulations that take their steps together."""

import signal
import threading

import numpy as np
import pliant
import pytest
from numpy.typing import NDArray

Array = NDArray[np.float64]


def slopes() -> list[pliant.Simulation]:
    return [pliant.load("box-on-incline", mu=mu, angle="20*deg").simulation() for mu in (0.1, 0.3, 0.5)]


def push(simulation: pliant.Simulation, force: float) -> None:
    simulation.set_load("box", force=(force, 0.0, 0.0))


@pytest.mark.parametrize("threads", [None, 1, 2])
def test_together_and_alone_have_the_same_bits(threads: int | None, pendulum: pliant.Scene) -> None:
    alone, together = ([*slopes(), pendulum.simulation()] for _ in range(2))
    batch = pliant.SimulationBatch(together, threads=threads)
    assert batch.simulations == tuple(together)
    # What is set in between holds as ever.
    for counts in ([5, 5, 5, 5], [0, 3, 1, 2]):
        for one, other, count in zip(alone, together, counts):
            if one is not alone[-1]:
                push(one, 2.0)
                push(other, 2.0)
            one.step(count)
        batch.step(counts)
        assert [one.save() for one in alone] == [other.save() for other in together]
        assert [one.trusted for one in alone] == [other.trusted for other in together]
        assert [one.contacts.tobytes() for one in alone] == [other.contacts.tobytes() for other in together]
    assert [simulation.steps for simulation in together] == [5, 8, 6, 7]


def test_fields_act_in_every_step_of_a_batch(ball: pliant.Scene) -> None:
    asked: list[float] = []

    def spring(time: float, p: Array, v: Array, m: Array) -> Array:
        asked.append(time)
        forces: Array = -30.0 * (p - np.array([0.1, 0.0, 0.0]))
        return forces

    alone, together = (ball.simulation() for _ in range(2))
    for simulation in (alone, together):
        simulation.set_field(spring)
    free = ball.simulation()
    alone.step(4)
    expected, asked[:] = asked.copy(), []
    pliant.SimulationBatch([together, free]).step([4, 6])
    assert asked == expected and len(asked) == 4
    assert together.save() == alone.save() and together.velocities("ball")[3] > 0
    assert free.steps == 6 and free.velocities("ball")[3] == 0


@pytest.mark.parametrize("has_field", [False, True])
def test_simulation_that_fails_leaves_the_others_alone(has_field: bool, ball: pliant.Scene) -> None:
    simulations = slopes()
    expected = slopes()
    for simulation in (simulations[2], expected[2]):
        if has_field:
            simulation.set_field(lambda time, p, v, m: 0.1 * p)
    simulations[1].set_velocities("box", np.array([1e200, 1e200, 0.0, 0.0, 0.0, 0.0]))
    with pytest.raises(pliant.BatchError, match="1 of 3 simulations failed; simulation 1: box-on-incline: step 0") as caught:
        pliant.SimulationBatch(simulations).step(3)
    assert list(caught.value.errors) == [1] and isinstance(caught.value, pliant.StepError)
    assert type(caught.value.errors[1]) is pliant.StepError
    assert [simulation.steps for simulation in simulations] == [3, 0, 3]
    for i in (0, 2):
        expected[i].step(3)
        assert simulations[i].save() == expected[i].save()


def test_bad_input_of_a_batch_is_named(ball: pliant.Scene) -> None:
    one, other = ball.simulation(), ball.simulation()
    batch = pliant.SimulationBatch([one, other])
    with pytest.raises(ValueError, match="there are 3 numbers of steps; there are 2 simulations"):
        batch.step([1, 1, 1])
    with pytest.raises(ValueError, match=r"must not be negative; they are \[-1, -1\]"):
        batch.step(-1)
    with pytest.raises(ValueError, match="threads must be at least 1; it is 0"):
        pliant.SimulationBatch([one], threads=0)
    with pytest.raises(ValueError, match="in the batch twice"):
        pliant.SimulationBatch([one, other, one])
    pliant.SimulationBatch([]).step(3)
    # What Python does not see: the compiled part borrows each of them.
    with pytest.raises(RuntimeError, match="is being stepped"):
        batch._raw.step([one._raw, one._raw], [1, 1])
    ended: list[pliant.Simulation] = []
    ball.run(until=0.01, on_step=ended.append)
    with pytest.raises(pliant.PliantError, match="the simulation has ended"):
        pliant.SimulationBatch([one, *ended]).step()
    assert one.steps == 0


def test_exception_of_a_part_ends_the_steps(ball: pliant.Scene) -> None:
    parts = pliant.Parts()

    @parts.contact_law("broken")
    class Broken(pliant.ContactLaw):
        def __init__(self, contact: pliant.Contact) -> None:
            self.base = contact.lagged()

        def cost(self, v: Array) -> float:
            return self.base.cost(v)

        def impulse(self, v: Array) -> Array:
            raise ZeroDivisionError("of the law")

        def hessian(self, v: Array) -> Array:
            return self.base.hessian(v)

    on_floor = {
        "schema": 1,
        "title": "A box on a floor",
        "simulation": {"smoke_s": 0.1},
        "contact": {"model": "broken"},
        "fixed": [{"name": "floor", "shape": {"half_space": {}}}],
        "bodies": [{"name": "box", "shape": {"box": {"size": [0.1, 0.1, 0.1]}}, "pose": {"position": [0, 0, 0.05]}}],
    }
    simulation = pliant.parse(on_floor, parts=parts).simulation()
    with pytest.raises(ZeroDivisionError, match="of the law"):
        pliant.SimulationBatch([ball.simulation(), simulation]).step(1000)
    assert simulation.steps <= 1


def test_signal_ends_a_batch_between_two_steps(ball: pliant.Scene) -> None:
    simulations = [ball.simulation() for _ in range(3)]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            pliant.SimulationBatch(simulations).step(10**9)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    # A thread takes all steps of a simulation before it begins another.
    assert 0 < simulations[0].steps < 10**9
    pliant.SimulationBatch(simulations).step()
