"""Models of robots, rollouts and derivatives of steps, against known answers."""

import numpy as np
import pliant
import pytest
from numpy.typing import NDArray

Array = NDArray[np.float64]

ARM = """
schema = 1
title = "An arm"
[simulation]
smoke_s = 0.1
[[models]]
name = "arm"
file = "robots/arm7.urdf"
"""


def arm() -> pliant.Model:
    return pliant.parse(ARM).simulation().model("arm")


def random_state(model: pliant.Model, seed: int) -> tuple[Array, Array]:
    random = np.random.default_rng(seed)
    return model.neutral() + random.uniform(-1, 1, model.n_q), random.uniform(-1, 1, model.n_v)


def test_mass_matrix_is_that_of_kinetic_energy(pendulum: pliant.Scene) -> None:
    simulation = pendulum.simulation()
    model = simulation.model("pendulum")
    q, v = np.array([0.3, -0.7]), np.array([1.1, -0.4])
    simulation.set_positions("pendulum", q)
    simulation.set_velocities("pendulum", v)
    mass = model.mass_matrix(q)
    assert mass == pytest.approx(mass.T) and np.linalg.eigvalsh(mass).min() > 0
    assert 0.5 * v @ mass @ v == pytest.approx(simulation.energy[0], rel=1e-12)


def test_bias_at_rest_is_the_gradient_of_potential_energy(pendulum: pliant.Scene) -> None:
    simulation = pendulum.simulation()
    model = simulation.model("pendulum")
    q, h = np.array([0.3, -0.7]), 1e-6

    def potential(at: Array) -> float:
        simulation.set_positions("pendulum", at)
        return simulation.energy[1]

    gradient = [(potential(q + h * e) - potential(q - h * e)) / (2 * h) for e in np.eye(2)]
    assert model.bias(q, np.zeros(2)) == pytest.approx(np.array(gradient), rel=1e-7)


def test_dynamics_are_consistent() -> None:
    model = arm()
    q, v = random_state(model, 1)
    vdot = np.linspace(-1, 1, model.n_v)
    tau = model.inverse_dynamics(q, v, vdot)
    assert tau == pytest.approx(model.mass_matrix(q) @ vdot + model.bias(q, v))
    assert model.forward_dynamics(q, v, tau) == pytest.approx(vdot)
    assert model.gravity == pytest.approx([0, 0, -9.81])


def test_jacobian_is_the_derivative_of_the_pose() -> None:
    model = arm()
    q, v = random_state(model, 2)
    point, h = np.array([0.1, -0.2, 0.3]), 1e-6
    link = model.links[-1]

    def place(at: Array) -> Array:
        p, (w, x, y, z) = model.pose(at, link)
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        placed: Array = p + point + 2 * cross @ (w * point + cross @ point)
        return placed

    slope = (place(model.integrate(q, v, h)) - place(model.integrate(q, v, -h))) / (2 * h)
    assert model.jacobian(q, link, point)[3:] @ v == pytest.approx(slope, abs=1e-8)
    # A frame on the last link: the point is given in it.
    assert model.frames == ("flange",)
    p, (w, x, y, z) = model.pose(q, "flange")
    tip = model.jacobian(q, "flange")[3:] @ v
    origin = model.jacobian(q, link)
    assert tip == pytest.approx(origin[3:] @ v + np.cross(origin[:3] @ v, p - model.pose(q, link)[0]))
    # Seven joints that turn about unit axes.
    angular = model.jacobian(q, link)[:3]
    assert np.linalg.norm(angular, axis=0) == pytest.approx(np.ones(7))


def test_integrate_and_difference_are_inverse_also_for_quaternions(ball: pliant.Scene) -> None:
    model = ball.simulation().model("ball")
    q = model.neutral()
    v = np.array([0.3, -0.2, 0.5, 1.0, 2.0, 3.0])
    moved = model.integrate(q, v)
    assert np.linalg.norm(moved[3:]) == pytest.approx(1.0) and model.difference(q, moved) == pytest.approx(v)
    # A quarter turn about z in 1 s.
    quarter = model.integrate(q, [0, 0, np.pi / 2, 0, 0, 0])
    assert quarter[3:] == pytest.approx([np.sqrt(0.5), 0, 0, np.sqrt(0.5)])


def test_names_and_limits_of_joints() -> None:
    model = arm()
    assert [joint.name for joint in model.joints] == [f"joint_{k}" for k in range(1, 8)]
    assert all(joint.lower < joint.upper and joint.effort > 0 for joint in model.joints)
    assert model.joints[2].velocities == slice(2, 3) and model.n_v == 7 and model.mass > 1


def test_wrong_input_of_models_is_refused() -> None:
    model = arm()
    with pytest.raises(pliant.ControlError, match="q has 6 values; it takes 7"):
        model.mass_matrix(np.zeros(6))
    with pytest.raises(pliant.ControlError, match="v must be finite"):
        model.bias(np.zeros(7), np.full(7, np.nan))
    with pytest.raises(pliant.ControlError, match='"arm7" has no frame or link "flang"'):
        model.pose(np.zeros(7), "flang")


def test_rollout_of_a_force_on_a_ball(ball: pliant.Scene) -> None:
    u = np.zeros((10, 6))
    u[:, 0] = 4.0
    path = pliant.rollout(ball, u, pliant.load_on("ball"))
    # v = F t/m at the end of each implicit step, x the sum of δt v.
    steps = np.arange(11)
    assert path.times == pytest.approx(0.01 * steps) and path.trusted
    assert path.velocities["ball"][:, 3] == pytest.approx(2.0 * 0.01 * steps)
    assert path.positions["ball"][:, 0] == pytest.approx(2.0 * 1e-4 * steps * (steps + 1) / 2)


def test_rollout_returns_the_simulation_to_its_state(pendulum: pliant.Scene) -> None:
    simulation = pendulum.simulation()
    simulation.step(5)
    before = simulation.save()
    first = pliant.rollout(simulation, np.ones((4, 2)), "pendulum", steps_per_control=2)
    second = pliant.rollout(simulation, np.ones((4, 2)), "pendulum", steps_per_control=2)
    assert simulation.save() == before and len(first.times) == 5
    assert first.positions["pendulum"].tobytes() == second.positions["pendulum"].tobytes()
    with pytest.raises(pliant.ControlError, match="u must have shape"):
        pliant.rollout(simulation, np.ones(2), "pendulum")


def test_optimiser_finds_the_least_forces_that_move_a_ball(ball: pliant.Scene) -> None:
    optimize = pytest.importorskip("scipy.optimize", reason="SKIPPED optimiser: scipy is not installed")
    m, dt, n = 2.0, 0.01, 20

    def miss(forces: Array) -> Array:
        u = np.zeros((n, 6))
        u[:, 0] = forces
        path = pliant.rollout(ball, u, pliant.load_on("ball"))
        end = [path.positions["ball"][-1, 0] - 0.1, path.velocities["ball"][-1, 3]]
        return np.concatenate([1e3 * np.array(end), 1e-3 * forces])

    forces = optimize.least_squares(miss, np.zeros(n)).x
    # The least norm for two linear conditions: x = Σ δt² (n − k) F_k/m, v = Σ δt F_k/m.
    rows = np.array([dt * dt / m * (n - np.arange(n)), np.full(n, dt / m)])
    assert forces == pytest.approx(rows.T @ np.linalg.solve(rows @ rows.T, [0.1, 0.0]), rel=1e-3)


def test_linearised_step_of_a_free_body_is_exact(ball: pliant.Scene) -> None:
    simulation = ball.simulation()
    simulation.step()
    before = simulation.save()
    step = pliant.linearise(simulation, "ball", np.zeros(6), pliant.load_on("ball"))
    dt, m, inertia = 0.01, 2.0, 0.4 * 2.0 * 0.1**2
    one, zero = np.eye(6), np.zeros((6, 6))
    # The load is (force, torque), v is (angular, linear).
    v_of_u = dt * np.vstack([np.hstack([zero[:3, :3], np.eye(3) / inertia]), np.hstack([np.eye(3) / m, zero[:3, :3]])])
    # In tangent coordinates q is (rotation, position), as v is.
    assert step.A == pytest.approx(np.block([[one, dt * one], [zero, one]]), abs=1e-8)
    assert step.B == pytest.approx(np.vstack([dt * v_of_u, v_of_u]), abs=1e-8)
    assert simulation.save() == before


def test_linearised_step_of_a_robot_is_that_of_its_mass_matrix(pendulum: pliant.Scene) -> None:
    simulation = pendulum.simulation()
    q = np.array([0.3, -0.7])
    simulation.set_positions("pendulum", q)
    model = simulation.model("pendulum")
    step = pliant.linearise(simulation, "pendulum", np.zeros(2), "pendulum")
    expected = 0.001 * np.linalg.inv(model.mass_matrix(q))
    assert step.B[2:] == pytest.approx(expected, rel=2e-2)


def test_soft_bodies_have_no_model() -> None:
    simulation = pliant.load("cantilever").simulation()
    with pytest.raises(pliant.ControlError, match="is soft: only rigid bodies"):
        simulation.model(simulation.bodies[0])


def test_bodies_are_placed(ball: pliant.Scene) -> None:
    simulation = ball.simulation()
    simulation.set_positions("ball", [1, 2, 3, 0, 0, 0, 2])
    assert simulation.positions("ball") == pytest.approx([1, 2, 3, 0, 0, 0, 1])
    with pytest.raises(pliant.ControlError, match="q has 6 values; the body has 7 positions"):
        simulation.set_positions("ball", np.zeros(6))
    with pytest.raises(pliant.ControlError, match="must be finite"):
        simulation.set_velocities("ball", np.full(6, np.inf))
