"""Gradients of one step by the adjoint system, against known answers and central differences."""

from collections.abc import Callable

import numpy as np
import pliant
import pytest
from numpy.typing import NDArray

Array = NDArray[np.float64]


def quotients(value: Callable[[Array], float], u: Array, h: float) -> Array:
    """Central differences of width 2h."""
    return np.array([(value(u + h * e) - value(u - h * e)) / (2 * h) for e in np.eye(len(u))])


def test_gradient_of_a_free_body_is_the_inverse_of_its_mass(ball: pliant.Scene) -> None:
    simulation = ball.simulation()
    simulation.step()
    dt, m, inertia = 0.01, 2.0, 0.4 * 2.0 * 0.1**2
    gradient = simulation.adjoint({"ball": [1, 2, 3, 4, 5, 6]})["ball"]
    expected = dt * np.array([4 / m, 5 / m, 6 / m, 1 / inertia, 2 / inertia, 3 / inertia])
    assert gradient.load == pytest.approx(expected)
    assert gradient.field == pytest.approx(expected[None, :3])
    assert gradient.effort == pytest.approx(dt * np.array([1, 2, 3, 4 / m * inertia, 5 / m * inertia, 6 / m * inertia]) / inertia)
    assert gradient.position.shape == gradient.velocity.shape == (0,)


def test_gradient_of_a_robot_is_that_of_its_mass_matrix(pendulum: pliant.Scene) -> None:
    simulation = pendulum.simulation()
    q, slope = np.array([0.3, -0.7]), np.array([1.0, -2.0])
    simulation.set_positions("pendulum", q)
    simulation.step()
    gradient = simulation.adjoint({"pendulum": slope})["pendulum"]
    model = simulation.model("pendulum")
    assert gradient.effort == pytest.approx(0.001 * np.linalg.solve(model.mass_matrix(q), slope), rel=1e-6)
    # Weight acts as the efforts that hold it do, with the opposite sign.
    _, _, masses = simulation.points("pendulum")
    by_gravity = masses @ gradient.field @ np.array([0, 0, -9.81])
    assert by_gravity == pytest.approx(-gradient.effort @ model.bias(q, np.zeros(2)))


@pytest.mark.parametrize(("angle", "mu"), [("10*deg", 0.5), ("35*deg", 0.3)])
def test_gradient_of_a_box_that_sticks_or_slides(angle: str, mu: float) -> None:
    scene = pliant.load("box-on-incline", angle=angle, mu=mu, keys={"contact.model": "sap"})
    simulation = scene.simulation()
    simulation.step(100)
    saved, u = simulation.snapshot(), np.array([0.3, 0.2, -0.5, 0.01, 0.0, 0.02])
    slope = np.array([0.2, -0.1, 0.3, 1.0, -2.0, 0.5])

    def value(load: Array) -> float:
        simulation.restore(saved)
        simulation.set_load("box", load[:3], load[3:])
        simulation.step()
        return float(slope @ simulation.velocities("box"))

    value(u)
    found = simulation.adjoint({"box": slope})["box"].load
    assert found == pytest.approx(quotients(value, u, 1e-2), rel=1e-2, abs=1e-5)


def test_gradient_through_contact_of_efforts_on_what_is_held() -> None:
    simulation = pliant.load("gripper-holds-box", keys={"contact.model": "sap"}).simulation()
    simulation.step(200)
    saved, u = simulation.snapshot(), np.array([-20.0, -15.0])
    random = np.random.default_rng(5)
    slopes = {body: random.normal(size=len(simulation.velocities(body))) for body in ("gripper", "box")}

    def value(efforts: Array) -> float:
        simulation.restore(saved)
        simulation.set_control("gripper", effort=efforts)
        simulation.step()
        return float(sum(slope @ simulation.velocities(body) for body, slope in slopes.items()))

    value(u)
    found = simulation.adjoint(slopes)["gripper"].effort
    assert np.abs(found).min() > 0
    assert found == pytest.approx(quotients(value, u, 1.0), rel=1e-2)


def test_gradient_of_targets_of_actuators() -> None:
    simulation = pliant.load("arm-pushes-boxes", keys={"contact.model": "sap"}).simulation()
    simulation.step(3)
    saved = simulation.snapshot()
    u = np.array(simulation.positions("arm"))
    slope = np.linspace(-1, 1, len(u))

    def value(targets: Array) -> float:
        simulation.restore(saved)
        simulation.set_control("arm", position=targets)
        simulation.step()
        return float(slope @ simulation.velocities("arm"))

    value(u)
    found = simulation.adjoint({"arm": slope})["arm"].position
    assert found == pytest.approx(quotients(value, u, 1e-4), rel=1e-3)


def test_gradient_of_forces_on_a_soft_body() -> None:
    simulation = pliant.load("cantilever").simulation()
    body = simulation.bodies[0]
    saved = simulation.snapshot()
    n = len(simulation.points(body)[0])
    random = np.random.default_rng(3)
    force, direction = random.normal(size=(n, 3)), random.normal(size=(n, 3))
    slope = random.normal(size=len(simulation.velocities(body)))
    scale = 0.0

    def field(time: float, positions: Array, velocities: Array, masses: Array) -> Array:
        return force + scale * direction

    simulation.set_field(field, [body])

    def value(h: float) -> float:
        nonlocal scale
        scale = h
        simulation.restore(saved)
        simulation.step()
        return float(slope @ simulation.velocities(body))

    rise = (value(1e-2) - value(-1e-2)) / 2e-2
    value(0.0)
    found = float(np.sum(simulation.adjoint({body: slope})[body].field * direction))
    assert found == pytest.approx(rise, rel=1e-3)


def test_wrong_use_is_refused(ball: pliant.Scene) -> None:
    simulation = ball.simulation()
    with pytest.raises(pliant.StepError, match="there is no step to differentiate; take one first"):
        simulation.adjoint({"ball": np.zeros(6)})
    simulation.step()
    with pytest.raises(pliant.ControlError, match='body "ball" has 3 values; it takes 6'):
        simulation.adjoint({"ball": np.zeros(3)})
    with pytest.raises(pliant.ControlError, match="no body 'bell'"):
        simulation.adjoint({"bell": np.zeros(6)})
    simulation.restore(simulation.snapshot())
    with pytest.raises(pliant.StepError, match="no step"):
        simulation.adjoint({})
