//! Implicit steps of cloth: derivatives of the balance, conservation, held vertices.

use pliant_contact_sap::conformance::check_dynamics;
use pliant_contact_sap::{Integration, Interpolation, MaterialPoint, Primitive, Rows, TimeStep};
use pliant_hydroelastic::mesh::generate;

use super::*;
use crate::cloth::{ClothMaterial, ClothMesh, ClothSpec, InPlaneLaw};
use crate::material::Definiteness;
use crate::system::{StepMotion, Tangents};

const LAWS: [InPlaneLaw; 2] = [InPlaneLaw::FixedCorotated, InPlaneLaw::StVenantKirchhoff];

fn cloth_material(law: InPlaneLaw) -> ClothMaterial {
    ClothMaterial::new(law, 5e4, 0.3, 1000.0, 1e-3)
        .and_then(|m| m.with_normal_stiffness(1e5))
        .and_then(|m| m.with_shear_stiffness(3e4))
        .and_then(|m| m.with_friction(0.4))
        .and_then(|m| m.with_bending_stiffness(1e-4))
        .and_then(|m| m.with_damping_time(1e-3))
        .unwrap()
}

/// A sheet of 0.1 m above a cube; three vertices can be held.
fn sheet_and_cube(law: InPlaneLaw) -> MaterialPoints {
    let mesh = generate::sheet([0.1, 0.1], [4, 4]).unwrap();
    let (mesh, _) = ClothMesh::new("sheet", mesh, H).unwrap();
    let mut spec = ClothSpec::new("sheet", mesh, cloth_material(law));
    for x in &mut spec.positions {
        *x = Vector3::new(x.x, x.y, 0.05 + 0.2 * x.x + x.y * x.y);
    }
    let mut builder = MpmBuilder::new(MpmSettings::new(H));
    builder.cloth(spec);
    builder.object(ObjectSpec::new(
        "cube",
        solid(3e4),
        500.0,
        cube(0.05, Vector3::zeros()),
    ));
    builder.grip("corner", vec![0, 1, 5]);
    builder.build().unwrap()
}

/// A sheet of 0.1 m at rest.
fn flat_sheet() -> MaterialPoints {
    let mesh = generate::sheet([0.1, 0.1], [4, 4]).unwrap();
    let (mesh, _) = ClothMesh::new("sheet", mesh, H).unwrap();
    let spec = ClothSpec::new("sheet", mesh, cloth_material(InPlaneLaw::FixedCorotated));
    let mut builder = MpmBuilder::new(MpmSettings::new(H));
    builder.cloth(spec);
    builder.build().unwrap()
}

/// Moves the particles of the default state at random, the normals as if layers were pressed and sheared.
fn crumpled(model: &MaterialPoints) -> BodyState {
    let mut state = perturbed(model, 0.3);
    let mut random = Random::new(5);
    for record in state.history[2..].chunks_exact_mut(22) {
        if record[20] == 0.0 {
            for f in &mut record[15..18] {
                *f = 0.8 * *f + 0.1 * (random.unit() - 0.5);
            }
        }
    }
    state
}

fn held(velocity: [f64; 3]) -> Control {
    Control {
        held: velocity.map(Some).to_vec(),
        ..Control::default()
    }
}

/// (Not all of `check_body` holds: centroids follow their vertices and not the grid.)
#[test]
fn a_point_on_a_triangle_moves_with_its_vertices() {
    let model = sheet_and_cube(InPlaneLaw::FixedCorotated);
    for control in [model.default_control(), held([0.1, 0.0, -0.2])] {
        let mut step = MpmStep::new(Arc::clone(&model.parts));
        let state = perturbed(&model, 0.3);
        step.begin(&state, &input(&control, 0.002)).unwrap();
        let (v, _) = probe(step.system());
        let mut of_vertices = Vec::new();
        step.vertex_velocities(&v, &mut of_vertices);
        let (mut phi, mut rows) = (Interpolation::Twist, Rows::default());
        for (t, vertices) in model.parts.triangles.iter().enumerate() {
            let weights = [0.5, 0.3, 0.2, 0.0];
            let point = MaterialPoint {
                primitive: Primitive::Triangle(t as u32),
                weights,
                offset: Vector3::zeros(),
            };
            let basis = step.interpolation(&point, &mut phi).unwrap();
            step.basis(basis, &Point3::origin(), &mut rows);
            let mut u = vec![0.0; rows.n_rows()];
            rows.apply(&v, &mut u);
            let Interpolation::Weights(phi) = &phi else {
                panic!("weights of nodes")
            };
            let nodes = u.chunks_exact(3).zip(phi);
            let found: Vector3<f64> = nodes.map(|(u, w)| Vector3::from_column_slice(u) * *w).sum();
            let corners = vertices.iter().zip(weights);
            let expected: Vector3<f64> = corners.map(|(v, w)| of_vertices[*v as usize] * w).sum();
            assert!((found - expected).norm() < 1e-12, "{found} {expected}");
        }
    }
}

/// A is linear, symmetric and positive definite, and its diagonal blocks are those of A.
#[test]
fn the_dynamics_of_cloth_are_positive_definite() {
    for law in LAWS {
        let model = sheet_and_cube(law);
        for control in [model.default_control(), held([0.1, 0.0, -0.2])] {
            for dt in [1e-3, 1e-2] {
                let mut step = model.new_step();
                step.begin(&crumpled(&model), &input(&control, dt)).unwrap();
                linearise(step.as_mut());
                check_dynamics(step.dynamics()).unwrap();
                let v: Vec<f64> = step.start_velocity().iter().map(|v| 3.0 * v).collect();
                step.linearise(&v).unwrap();
                check_dynamics(step.dynamics()).unwrap();
            }
        }
    }
}

/// Velocities near the start and a direction.
fn probe(system: &GridSystem) -> (Vec<f64>, Vec<f64>) {
    let mut random = Random::new(3);
    let near = system.start.iter().map(|v| v + 0.1 * random.unit());
    let v = near.collect();
    let x = system.start.iter().map(|_| random.unit() - 0.5).collect();
    (v, x)
}

#[test]
fn the_balance_is_the_gradient_of_the_energy_and_the_tangent_its_derivative() {
    for (law, integration) in LAWS.into_iter().flat_map(|law| {
        [Integration::BackwardEuler, Integration::Midpoint].map(|integration| (law, integration))
    }) {
        let model = sheet_and_cube(law);
        let control = held([0.1, 0.0, -0.2]);
        let input = StepInput {
            time_step: TimeStep {
                length_s: 0.005,
                integration,
            },
            ..input(&control, 0.005)
        };
        let mut step = MpmStep::new(Arc::clone(&model.parts));
        step.begin(&crumpled(&model), &input).unwrap();
        let system = step.system();
        let (v, x) = probe(system);
        let shifted = |h: f64| -> Vec<f64> { v.iter().zip(&x).map(|(v, x)| v + h * x).collect() };
        let at = |v: &[f64]| {
            let mut motion = StepMotion::default();
            system.motion(v, &mut motion);
            motion
        };
        let balance = |v: &[f64]| {
            let mut m = vec![0.0; v.len()];
            system.residual(v, &at(v), &mut m);
            m
        };
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let h = 1e-5;
        let [up, down] = [h, -h].map(shifted);
        let difference =
            (system.energy(&up, &at(&up)) - system.energy(&down, &at(&down))) / (2.0 * h);
        let m = balance(&v);
        let size: f64 = m.iter().map(|m| m.abs()).sum();
        let slope = dot(&m, &x);
        assert!(
            (difference - slope).abs() < 1e-6 * size,
            "{difference} {slope}"
        );
        let mut tangents = Tangents::default();
        system.tangents_into(&at(&v), Definiteness::Exact, &mut tangents);
        let mut product = vec![0.0; v.len()];
        system.apply(&tangents, &x, &mut product);
        let (up, down) = (balance(&up), balance(&down));
        let change: Vec<f64> = (up.iter().zip(&down))
            .map(|(up, down)| (up - down) / (2.0 * h))
            .collect();
        let off: Vec<f64> = change.iter().zip(&product).map(|(a, b)| a - b).collect();
        let error = dot(&off, &off).sqrt() / dot(&product, &product).sqrt();
        assert!(error < 1e-5, "{law:?} {integration:?}: {error:e}");
    }
}

#[test]
fn linear_momentum_is_conserved_and_free_fall_is_exact() {
    let model = sheet_and_cube(InPlaneLaw::FixedCorotated);
    let control = model.default_control();
    let mut step = model.new_step();
    let mut state = crumpled(&model);
    let before = model.energy(&state, &Vector3::zeros()).linear_momentum_W;
    let mass: f64 = model.particles(&state).map(|p| p.mass).sum();
    let (dt, steps) = (0.005, 10);
    for _ in 0..steps {
        step_freely(step.as_mut(), &mut state, &input(&control, dt));
    }
    let after = model.energy(&state, &Vector3::zeros()).linear_momentum_W;
    let expected = Vector3::new(0.0, 0.0, -9.81 * mass * dt * f64::from(steps));
    let error = (after - before - expected).norm();
    assert!(error < 1e-8 * expected.norm(), "{error:e}");

    // A cloth at rest falls without deformation.
    let model = flat_sheet();
    let (mut step, mut state) = (model.new_step(), model.default_state());
    let (start, control) = (state.q.clone(), model.default_control());
    step_freely(step.as_mut(), &mut state, &input(&control, dt));
    for (now, then) in state.q.chunks(3).zip(start.chunks(3)) {
        assert!((now[2] - then[2] + 9.81 * dt * dt).abs() < 1e-9);
    }
}

/// Backward Euler has an error of second order in the rotation of a step, as with any material: halving the step halves the loss.
#[test]
fn angular_momentum_converges_with_the_time_step() {
    let lost = |steps: u32| {
        let model = flat_sheet();
        let mut state = model.default_state();
        let spin = Vector3::new(1.0, 2.0, 4.0);
        let c = spin.cross_matrix();
        for k in 0..state.q.len() / 3 {
            let x = Vector3::from_column_slice(&state.q[3 * k..3 * k + 3]);
            state.v[3 * k..3 * k + 3].copy_from_slice((c * x).as_slice());
            state.history[2 + 22 * k..][..9].copy_from_slice(c.as_slice());
        }
        let before = model.energy(&state, &Vector3::zeros()).angular_momentum_W;
        let control = model.default_control();
        let weightless = StepInput {
            gravity: Vector3::zeros(),
            ..input(&control, 0.1 / f64::from(steps))
        };
        let mut step = model.new_step();
        for _ in 0..steps {
            step_freely(step.as_mut(), &mut state, &weightless);
        }
        let after = model.energy(&state, &Vector3::zeros()).angular_momentum_W;
        (after - before).norm() / before.norm()
    };
    let (coarse, fine) = (lost(20), lost(40));
    assert!(coarse < 0.02, "{coarse}");
    assert!((0.3..0.7).contains(&(fine / coarse)), "{fine} of {coarse}");
}

#[test]
fn held_vertices_move_as_prescribed_pull_the_rest_and_are_released() {
    let model = sheet_and_cube(InPlaneLaw::FixedCorotated);
    let mut state = model.default_state();
    let start = state.q.clone();
    let mut step = model.new_step();
    let (dt, velocity) = (0.005, [0.2, -0.1, 0.3]);
    let control = held(velocity);
    for k in 1..=8 {
        step_freely(step.as_mut(), &mut state, &input(&control, dt));
        for vertex in [0, 1, 5] {
            for (at, held) in (3 * vertex..).zip(velocity) {
                let moved = state.q[at] - start[at];
                assert!((moved - held * dt * f64::from(k)).abs() < 1e-14);
                assert_eq!(state.v[at], held);
            }
        }
    }
    // The next vertex is pulled along: in free fall it would not move sideways, and be 8.8 mm lower.
    let moved = |axis: usize| state.q[3 * 6 + axis] - start[3 * 6 + axis];
    assert!(
        moved(0) > 1e-3 && moved(1) < -0.5e-3,
        "{} {}",
        moved(0),
        moved(1)
    );
    assert!(moved(2) > -0.75 * 8.8e-3, "{}", moved(2));
    // Released, all falls.
    let free = model.default_control();
    let height = state.q[2];
    for _ in 0..20 {
        step_freely(step.as_mut(), &mut state, &input(&free, dt));
    }
    assert!(state.q[2] < height);
}

/// With damping alone, a step of a stretched sheet dissipates and never gains energy.
#[test]
fn a_stretched_sheet_gains_no_energy_at_any_time_step() {
    for law in LAWS {
        for dt in [1e-3, 1e-2, 1e-1] {
            let model = sheet_and_cube(law);
            let mut state = model.default_state();
            for x in state.q[..75].chunks_mut(3) {
                x[0] *= 1.2;
            }
            let control = model.default_control();
            let weightless = StepInput {
                gravity: Vector3::zeros(),
                ..input(&control, dt)
            };
            let energy = |state: &BodyState| {
                let energy = model.energy(state, &Vector3::zeros());
                energy.kinetic + energy.potential
            };
            let mut step = model.new_step();
            let mut last = energy(&state);
            for _ in 0..10 {
                step_freely(step.as_mut(), &mut state, &weightless);
                let next = energy(&state);
                assert!(
                    next <= last * (1.0 + 1e-6),
                    "{law:?}, {dt}: {next} after {last}"
                );
                last = next;
            }
        }
    }
}
