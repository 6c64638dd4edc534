//! Conformance of finite-element bodies of every kind.

use std::sync::Arc;

use crate::support::touching::{Touch, add_floor, add_soft, run, surface};
use crate::support::{built, corotated};
use nalgebra::{Isometry3, Matrix3, Rotation3, Vector3};
use pliant_constitutive::{Domain, Lame, MooneyRivlin};
use pliant_contact_sap::conformance::{check_body, check_dynamics};
use pliant_contact_sap::{
    BodyError, BodyState, ConstraintSet, ContactProblem, Control, ConvexContactSolver,
    DeformableModel, Load, MaterialPoint, Newton, NewtonCg, NewtonCgSettings, Preconditioner,
    Primitive, Solution, StepInput, Surface,
};
use pliant_coupling::WorldBuilder;
use pliant_fem::{
    AnchorCompliance, Axis, FemBody, FemBuilder, Kinematics, LawKind, LinearCorotated, MassKind,
    Material, Preconditioning, Rayleigh, Region, Rotation, UniformForce,
};
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::mesh::{TetMesh, TetOptions};

const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

fn block() -> TetMesh {
    tet_cuboid(Vector3::new(0.06, 0.04, 0.03), [3, 2, 1]).unwrap()
}

fn rubber() -> Arc<dyn Material> {
    Arc::new(LinearCorotated::new(
        Lame::from_young_poisson(1e5, 0.4).unwrap(),
    ))
}

fn builder() -> FemBuilder {
    FemBuilder::new(block(), rubber(), 1000.0)
}

/// Rotated, stretched, perturbed, in motion.
fn perturbed(body: &FemBody) -> BodyState {
    let turn = Rotation3::new(Vector3::new(0.4, -0.7, 1.1));
    let pose = Isometry3::from_parts(Vector3::new(0.1, -0.2, 0.3).into(), turn.into());
    let mut state = body.rigid_state(&pose, &Vector3::new(2.0, -1.0, 3.0), &Vector3::x());
    for (i, (q, v)) in state.q.iter_mut().zip(&mut state.v).enumerate() {
        *q += 2e-3 * (1.7 * i as f64).sin();
        *v += 0.2 * (2.3 * i as f64).cos();
    }
    state
}

fn input(control: &Control) -> StepInput<'_> {
    StepInput {
        time_step: 2e-3.into(),
        gravity: GRAVITY,
        control,
    }
}

#[track_caller]
fn check(builder: FemBuilder, control: impl Fn(&FemBody) -> Control) {
    let body = built(builder);
    check_body(&body, &perturbed(&body), &input(&control(&body))).unwrap();
}

fn free(_: &FemBody) -> Control {
    Control::default()
}

#[test]
fn a_body_of_any_law_passes_the_conformance_checks() {
    for law in LawKind::ALL {
        let material = law.of(Lame::from_young_poisson(1e5, 0.4).unwrap()).unwrap();
        check(FemBuilder::new(block(), material, 1000.0), free);
    }
    let rubber = MooneyRivlin::new(1e4, 5e3, 1e5).unwrap();
    check(FemBuilder::new(block(), Arc::new(rubber), 1000.0), free);
}

#[test]
fn a_body_of_any_settings_passes_the_conformance_checks() {
    check(builder().mass(MassKind::Consistent), free);
    check(builder().rotation(Rotation::Lagged), free);
    let none = Rayleigh {
        mass: 0.0,
        stiffness: 0.0,
    };
    check(builder().damping(none), free);
    let heavy = Rayleigh {
        mass: 3.0,
        stiffness: 0.1,
    };
    check(builder().damping(heavy), free);
    check(
        builder().force_field(Arc::new(UniformForce(Vector3::new(3e3, 0.0, 1e3)))),
        free,
    );
    let wall = || Region::HalfSpace {
        point: Vector3::new(-0.06, 0.0, 0.0),
        normal: Vector3::x(),
    };
    check(builder().fix(wall(), &Axis::ALL), free);
    check(
        builder().fix(wall(), &[Axis::X]).mass(MassKind::Consistent),
        free,
    );
    check(builder().anchor(wall(), AnchorCompliance::NearRigid), free);
    check(builder().contact_radius(2e-3), free);
    let offering = || builder().preconditioning(Preconditioning::RestShape);
    check(offering(), free);
    check(offering().fix(wall(), &[Axis::X]), free);
    let material = LawKind::StableNeoHookean
        .of(Lame::from_young_poisson(1e5, 0.4).unwrap())
        .unwrap();
    let neo_hookean = FemBuilder::new(block(), material, 1000.0);
    check(
        neo_hookean
            .fix(wall(), &[Axis::Y, Axis::Z])
            .mass(MassKind::Consistent),
        free,
    );
}

#[test]
fn a_body_with_any_control_passes_the_conformance_checks() {
    let held = |body: &FemBody| {
        let mut control = body.holding(&[0, 3], &Axis::ALL, &Vector3::new(0.1, 0.0, -0.2));
        let other = body.holding(&[5], &[Axis::Y], &Vector3::new(0.0, 0.3, 0.0));
        for (held, other) in control.held.iter_mut().zip(other.held) {
            *held = held.or(other);
        }
        control
    };
    check(builder(), held);
    check(builder().mass(MassKind::Consistent), held);
    let loaded = |_: &FemBody| Control {
        loads: vec![
            Load {
                point: MaterialPoint {
                    primitive: Primitive::Triangle(2),
                    weights: [0.2, 0.3, 0.5, 0.0],
                    offset: Vector3::zeros(),
                },
                force_W: Vector3::new(1.0, 0.0, 2.0),
                torque_W: Vector3::zeros(),
            },
            Load {
                point: MaterialPoint::on_vertex(4),
                force_W: Vector3::new(0.0, 0.5, 0.0),
                torque_W: Vector3::zeros(),
            },
        ],
        ..Control::default()
    };
    check(builder(), loaded);
    let pushed = |body: &FemBody| Control {
        effort: vec![0.1; 3 * body.mesh().vertices().len()],
        ..Control::default()
    };
    check(builder(), pushed);
}

#[test]
fn a_plane_strain_body_passes_the_conformance_checks() {
    let body = built(builder().kinematics(Kinematics::PlaneStrain));
    let mut state = body.rigid_state(
        &Isometry3::rotation(Vector3::z() * 0.8),
        &Vector3::new(0.0, 0.0, 2.0),
        &Vector3::x(),
    );
    for (i, (q, v)) in state.q.iter_mut().zip(&mut state.v).enumerate() {
        if i % 3 != 2 {
            *q += 2e-3 * (1.7 * i as f64).sin();
            *v += 0.2 * (2.3 * i as f64).cos();
        }
    }
    check_body(&body, &state, &input(&Control::default())).unwrap();
    let mut step = body.new_step();
    step.begin(&state, &input(&Control::default())).unwrap();
    assert_eq!(
        step.start_velocity().len(),
        2 * body.mesh().vertices().len()
    );
}

#[test]
fn a_step_has_the_same_bits_for_any_number_of_threads() {
    // Large enough for every loop to run in parallel.
    let mesh = tet_cuboid(Vector3::new(0.3, 0.3, 0.3), [9, 9, 9]).unwrap();
    for law in [LawKind::LinearCorotated, LawKind::StableNeoHookean] {
        let material = law.of(Lame::from_young_poisson(1e5, 0.4).unwrap()).unwrap();
        let body = built(FemBuilder::new(mesh.clone(), material, 1000.0));
        let state = perturbed(&body);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| {
                let control = Control::default();
                let mut step = body.new_step();
                step.begin(&state, &input(&control)).unwrap();
                step.linearise_start(&mut Vec::new()).unwrap();
                let dynamics = step.dynamics();
                let mut bits = dynamics.right_hand_side().to_vec();
                let mut y = vec![0.0; bits.len()];
                dynamics.apply(step.start_velocity(), &mut y);
                bits.extend(&y);
                let mut next = BodyState::default();
                let _ = step.advance(&y, &mut next).unwrap();
                bits.extend(next.q);
                bits.into_iter().map(f64::to_bits).collect::<Vec<_>>()
            })
        };
        let one = run(1);
        assert!(one == run(2) && one == run(3));
    }
}

#[test]
fn a_heap_has_the_same_bits_for_any_number_of_threads() {
    // Large enough for bodies, meshes, pairs and eliminations to run in parallel.
    let mut builder = WorldBuilder::default();
    add_floor(&mut builder, surface(0.5));
    for i in 0..8 {
        let [x, y, z] = [i & 1, i >> 1 & 1, i >> 2].map(|k| f64::from(k) * 0.098);
        let pose = Isometry3::new(
            Vector3::new(x, y, z + 0.049),
            Vector3::z() * (0.1 * f64::from(i)),
        );
        let mesh = tet_cuboid(Vector3::repeat(0.05), [5, 5, 5]).unwrap();
        let cube = built(FemBuilder::new(mesh, corotated(1e5, 0.3), 1000.0).pose(pose));
        let name = format!("cube {i}");
        add_soft(&mut builder, &name, cube, surface(0.5), Touch::Surface);
    }
    let world = builder.build().unwrap();
    let of_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mut state = world.default_state();
            let mut touched = 0;
            run(&world, &mut state, 0.01, 0.02, |report, _| {
                touched = touched.max(report.contacts.len());
            });
            assert!(touched > 100, "{touched}");
            let values = state.bodies.iter().flat_map(|body| &body.q);
            values.map(|q| q.to_bits()).collect::<Vec<_>>()
        })
    };
    let one = of_threads(1);
    assert!(one == of_threads(2) && one == of_threads(3));
}

#[test]
fn the_dynamics_of_a_large_body_are_consistent() {
    let mesh = tet_cuboid(Vector3::new(0.3, 0.3, 0.3), [9, 9, 9]).unwrap();
    let body = built(FemBuilder::new(mesh, rubber(), 1000.0));
    let control = Control::default();
    let mut step = body.new_step();
    step.begin(&perturbed(&body), &input(&control)).unwrap();
    step.linearise_start(&mut Vec::new()).unwrap();
    check_dynamics(step.dynamics()).unwrap();
}

#[test]
fn the_rest_shape_preconditions_a_rotated_and_strained_body() {
    let mesh = tet_cuboid(Vector3::new(0.3, 0.1, 0.1), [12, 4, 4]).unwrap();
    let builder = FemBuilder::new(mesh, rubber(), 1000.0);
    let body = built(builder.preconditioning(Preconditioning::RestShape));
    let state = perturbed(&body);
    let control = Control::default();
    let input = StepInput {
        time_step: 0.02.into(),
        ..input(&control)
    };
    let mut step = body.new_step();
    step.begin(&state, &input).unwrap();
    step.linearise_start(&mut Vec::new()).unwrap();
    let dynamics = [step.dynamics()];
    let set = ConstraintSet::default();
    let problem = ContactProblem {
        dynamics: &dynamics,
        constraints: &set,
    };
    let mut exact = Solution::default();
    let _ = Newton::default()
        .solve(&problem, step.start_velocity(), &mut exact)
        .unwrap();
    let iterations = [Preconditioner::BlockDiagonal, Preconditioner::Body].map(|preconditioner| {
        let mut solver = NewtonCg::new(NewtonCgSettings {
            preconditioner,
            ..NewtonCgSettings::default()
        });
        let mut found = Solution::default();
        let report = solver
            .solve(&problem, step.start_velocity(), &mut found)
            .unwrap();
        assert!(report.is_trusted());
        let pairs = found.velocity.iter().zip(&exact.velocity);
        let error = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(error < 1e-4, "{error}");
        report.inner_iterations
    });
    eprintln!("iterations by block diagonal and by rest shape: {iterations:?}");
    assert!(10 * iterations[1] < iterations[0], "{iterations:?}");
}

#[test]
fn held_vertices_leave_the_solve_and_move_as_prescribed() {
    let body = built(builder());
    let n = body.mesh().vertices().len();
    let v_W = Vector3::new(0.1, 0.2, -0.3);
    let control = body.holding(&[2], &Axis::ALL, &v_W);
    let state = body.default_state();
    let mut step = body.new_step();
    step.begin(&state, &input(&control)).unwrap();
    assert_eq!(step.start_velocity().len(), 3 * n - 3);
    let mut next = BodyState::default();
    let _ = step.advance(&vec![0.0; 3 * n - 3], &mut next).unwrap();
    let found = Vector3::from_column_slice(&next.q[6..9]);
    let expected = Vector3::from_column_slice(&state.q[6..9]) + v_W * 2e-3;
    assert!((found - expected).norm() < 1e-16);
    assert_eq!(next.v[6..9], [0.1, 0.2, -0.3]);
    // Without held vertices, the same workspace solves for all velocities again.
    step.begin(&state, &input(&Control::default())).unwrap();
    assert_eq!(step.start_velocity().len(), 3 * n);
}

#[test]
fn an_inverted_element_has_no_surface_and_a_warning() {
    let vertices = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let one = || {
        let vertices = vertices.map(Vector3::from).to_vec();
        TetMesh::build(vertices, vec![[0, 1, 2, 3]], &TetOptions::default())
            .unwrap()
            .0
    };
    let body = built(FemBuilder::new(one(), rubber(), 1000.0));
    let mut state = body.default_state();
    let mut surface = Surface::default();
    body.surface(&state, &mut surface);
    assert!(surface.triangles.iter().all(|[a, b, c]| a != b && b != c));
    // The tip is pushed through the base.
    state.q[11] = -0.3;
    body.surface(&state, &mut surface);
    assert!(surface.triangles.iter().all(|[a, b, c]| a == b && b == c));
    assert!(body.volume(&state) < 0.0);
    let control = Control::default();
    let mut step = body.new_step();
    step.begin(&state, &input(&control)).unwrap();
    step.linearise_start(&mut Vec::new()).unwrap();
    let report = step.advance(&[0.0; 12], &mut BodyState::default()).unwrap();
    let text = &report.warnings[0];
    assert!(
        text.contains("inverted") && text.contains("det F = -3.000e-1"),
        "{text}"
    );

    let barrier = LawKind::NeoHookean
        .of(Lame::from_young_poisson(1e5, 0.4).unwrap())
        .unwrap();
    assert_eq!(barrier.domain(), Domain::PositiveVolume);
    let body = built(FemBuilder::new(one(), barrier, 1000.0));
    let mut step = body.new_step();
    let refused = step
        .begin(&state, &input(&control))
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("tetrahedron 0") && refused.contains("stable-neo-hookean"),
        "{refused}"
    );
    // Driven through its base within the step.
    let upright = body.default_state();
    step.begin(&upright, &input(&control)).unwrap();
    step.linearise_start(&mut Vec::new()).unwrap();
    let mut v = [0.0; 12];
    v[11] = -600.0;
    let refused = step.advance(&v, &mut BodyState::default());
    assert!(matches!(refused, Err(BodyError::Model(text)) if text.contains("by the step")));
}

#[test]
fn invalid_input_of_a_step_is_rejected_by_name() {
    let body = built(builder());
    let state = body.default_state();
    let begin = |control: &Control| body.new_step().begin(&state, &input(control));
    let short = Control {
        held: vec![Some(0.0); 4],
        ..Control::default()
    };
    assert!(matches!(
        begin(&short),
        Err(BodyError::StateLength { found: 4, .. })
    ));
    let actuated = Control {
        position: vec![0.0; 72],
        ..Control::default()
    };
    assert!(matches!(
        begin(&actuated),
        Err(BodyError::Unsupported { .. })
    ));
    let mut broken = state.clone();
    broken.v[7] = f64::NAN;
    let text = body
        .new_step()
        .begin(&broken, &input(&Control::default()))
        .unwrap_err()
        .to_string();
    assert!(text.contains("vertex 2, axis y"), "{text}");
}

#[test]
fn stress_of_a_stretched_bar_is_hooke_s() {
    let body = built(builder());
    let mut state = body.default_state();
    // Stretched by 1 ‰ along x, free to narrow.
    let F = Matrix3::from_diagonal(&Vector3::new(1.001, 0.9996, 0.9996));
    for q in state.q.chunks_exact_mut(3) {
        let moved = F * Vector3::from_column_slice(q);
        q.copy_from_slice(moved.as_slice());
    }
    let stress = body.cauchy_stress(&state, 7.into());
    assert!((stress[(0, 0)] - 100.0).abs() < 0.3, "{stress}");
    assert!(
        stress[(1, 1)].abs() < 1e-6 && stress[(0, 1)].abs() < 1e-6,
        "{stress}"
    );
}
