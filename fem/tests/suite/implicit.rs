//! Nonlinear laws relinearised within a step until the implicit equations are solved.

use crate::support::{GRAVITY, UNDAMPED, built, place};
use nalgebra::{Isometry3, Vector3};
use pliant_constitutive::Lame;
use pliant_contact_sap::{
    Control, ConvexContactSolver, DeformableModel, Integration, SolverKind, StepInput, StopCriteria,
};
use pliant_coupling::{
    Geometry, Linearisation, Mount, State, StepError, StepReport, Stepper, StrongImplicit,
    StrongImplicitSettings, World, WorldBuilder, WorldError,
};
use pliant_fem::{Axis, Element, FemBody, FemBuilder, LawKind, Region};
use pliant_hydroelastic::mesh::TetIdx;
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::{ContactMaterial, Shape};

const FULL: Linearisation = Linearisation::UntilConverged {
    relative_tolerance: 1e-7,
    solves_max: 50,
};

/// A cube of 0.1 m and 1 kg, 1 cm above the floor.
fn cube(law: LawKind, youngs_modulus: f64) -> FemBody {
    let mesh = tet_cuboid(Vector3::repeat(0.05), [3, 3, 3]).unwrap();
    let material = law
        .of(Lame::from_young_poisson(youngs_modulus, 0.4).unwrap())
        .unwrap();
    let pose = Isometry3::translation(0.0, 0.0, 0.06);
    built(
        FemBuilder::new(mesh, material, 1000.0)
            .element(Element::Linear)
            .pose(pose),
    )
}

fn on_floor(body: &FemBody) -> World {
    let material = ContactMaterial {
        stiffness: 1e5,
        ..ContactMaterial::default()
    };
    let mut builder = WorldBuilder::default();
    let soft = builder.add_body("cube", Box::new(body.clone()));
    builder.add_geometry(Geometry::of_vertices("cube", soft, material));
    let mount = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
    builder.build().unwrap()
}

type Newton = StrongImplicit<Box<dyn ConvexContactSolver>>;

fn stepper(linearisation: Linearisation) -> Newton {
    let settings = StrongImplicitSettings {
        linearisation,
        ..StrongImplicitSettings::default()
    };
    stepper_of(settings).unwrap()
}

fn stepper_of(settings: StrongImplicitSettings) -> Result<Newton, WorldError> {
    let tight = StopCriteria {
        relative_tolerance: 1e-9,
        ..StopCriteria::default()
    };
    StrongImplicit::new(SolverKind::Newton.build(tight)).with_settings(settings)
}

fn thrown(world: &World, v: Vector3<f64>) -> State {
    let mut state = world.default_state();
    for of_vertex in state.bodies[0].v.chunks_exact_mut(3) {
        of_vertex.copy_from_slice(v.as_slice());
    }
    state
}

/// The largest residual force (N) of a vertex without contact, over a fall onto the floor, and the largest number of relinearisations of
/// a step.
fn missing_force(law: LawKind, linearisation: Linearisation, dt: f64) -> (f64, usize) {
    let body = cube(law, 3e4);
    let world = on_floor(&body);
    let mut state = thrown(&world, Vector3::new(0.5, 0.0, -2.0));
    let (mut next, mut stepper) = (State::default(), stepper(linearisation));
    let (mut missing, mut most) = (0.0_f64, 0);
    for _ in 0..(0.2 / dt) as usize {
        let report = stepper.step(&world, &state, dt, &mut next).unwrap();
        assert!(
            report.is_trusted(),
            "{:?} {:?} {:?}",
            report.convergence.solve.stop,
            report.convergence.friction,
            report.convergence.implicit
        );
        most = most.max(report.convergence.implicit.relinearisations);
        let control = Control::default();
        let input = StepInput {
            time_step: dt.into(),
            gravity: GRAVITY,
            control: &control,
        };
        let mut alone = body.new_step();
        alone.begin(&state.bodies[0], &input).unwrap();
        // The velocity of the solution, to which the state's adds a rigid motion.
        let moved = next.bodies[0].q.iter().zip(&state.bodies[0].q);
        let v: Vec<f64> = moved.map(|(q, q0)| (q - q0) / dt).collect();
        let mut momentum = vec![0.0; v.len()];
        let balance = alone.as_balance().unwrap();
        balance.residual(&v, &mut momentum).unwrap();
        let touches = |vertex: usize| {
            let p = place(&state.bodies[0], vertex);
            let near = |q: &Vector3<f64>| (p - q).xy().norm() < 1e-3;
            report.contacts.iter().any(|c| near(&c.p_WCa.coords))
        };
        for (vertex, m) in momentum.chunks_exact(3).enumerate() {
            if !touches(vertex) {
                missing = missing.max(Vector3::from_column_slice(m).norm() / dt);
            }
        }
        std::mem::swap(&mut state, &mut next);
    }
    (missing, most)
}

#[test]
fn a_large_step_in_contact_solves_the_implicit_equations() {
    for law in [LawKind::StableNeoHookean, LawKind::Corotational] {
        let (once, none) = missing_force(law, Linearisation::Once, 0.01);
        let (full, most) = missing_force(law, FULL, 0.01);
        eprintln!("{law}: {once:.2e} N are missing, {full:.2e} N after up to {most} more solves");
        assert_eq!(none, 0);
        assert!((2..20).contains(&most), "{law}: {most}");
        assert!(once > 0.1 && full < 1e-5 * once, "{law}: {once} {full}");
    }
}

#[test]
fn a_barrier_law_survives_a_step_that_one_linearisation_inverts() {
    let body = cube(LawKind::NeoHookean, 1e4);
    let run = |linearisation: Linearisation| -> Result<(usize, f64, StepReport), StepError> {
        let world = on_floor(&body);
        let mut state = thrown(&world, Vector3::z() * -12.0);
        let (mut next, mut stepper) = (State::default(), stepper(linearisation));
        let (mut shortened, mut least) = (0, f64::INFINITY);
        let mut last = StepReport::default();
        for _ in 0..60 {
            last = stepper.step(&world, &state, 0.01, &mut next)?;
            assert!(
                last.is_trusted(),
                "{:?} {:?} {:?}",
                last.convergence.solve.stop,
                last.convergence.friction,
                last.convergence.implicit
            );
            shortened += last.convergence.implicit.shortened;
            std::mem::swap(&mut state, &mut next);
            let det = |t: usize| {
                let F = body.deformation_gradient(&state.bodies[0], TetIdx(t as u32));
                F.determinant()
            };
            least = (0..body.mesh().tets().len()).map(det).fold(least, f64::min);
        }
        Ok((shortened, least, last))
    };
    let refused = run(Linearisation::Once).unwrap_err().to_string();
    assert!(refused.contains("inverted by the step"), "{refused}");
    let (shortened, least, _) = run(FULL).unwrap();
    eprintln!("squeezed to det F = {least:.3}, {shortened} steps shortened by the line search");
    assert!(least > 0.0 && shortened > 0);
}

#[test]
fn laws_that_are_linear_in_a_step_give_the_same_bits_with_and_without_relinearisation() {
    let body = cube(LawKind::LinearCorotated, 3e4);
    let run = |linearisation: Linearisation| {
        let world = on_floor(&body);
        let mut state = thrown(&world, Vector3::new(0.5, 0.0, -2.0));
        let (mut next, mut stepper) = (State::default(), stepper(linearisation));
        for _ in 0..20 {
            let report = stepper.step(&world, &state, 0.01, &mut next).unwrap();
            assert_eq!(report.convergence.implicit, Default::default());
            std::mem::swap(&mut state, &mut next);
        }
        state
    };
    assert_eq!(run(Linearisation::Once), run(FULL));
}

/// A soft beam of 1 × 0.1 × 0.1 m, clamped at one end.
fn cantilever() -> (World, u32) {
    let mesh = tet_cuboid(Vector3::new(0.5, 0.05, 0.05), [10, 1, 1]).unwrap();
    let clamp = Region::HalfSpace {
        point: Vector3::x() * -0.5,
        normal: Vector3::x(),
    };
    let tip = Region::HalfSpace {
        point: Vector3::x() * 0.5,
        normal: -Vector3::x(),
    };
    let tip = tip.vertices(&mesh, "the tip").unwrap()[0];
    let law = LawKind::Corotational.of(Lame::from_young_poisson(1e6, 0.3).unwrap());
    let beam = FemBuilder::new(mesh, law.unwrap(), 1000.0)
        .element(Element::Linear)
        .damping(UNDAMPED);
    let mut builder = WorldBuilder::default();
    builder.add_body("beam", Box::new(built(beam.fix(clamp, &Axis::ALL))));
    (builder.build().unwrap(), tip)
}

#[test]
fn a_cantilever_of_the_corotational_law_is_at_rest_after_one_step() {
    // Steps so long that inertia is negligible: each solution of the implicit equations is the static one.
    let dt = 1e4;
    let many = Linearisation::UntilConverged {
        relative_tolerance: 1e-9,
        solves_max: 200,
    };
    let (world, tip) = cantilever();
    let mut next = State::default();
    let report = stepper(many)
        .step(&world, &world.default_state(), dt, &mut next)
        .unwrap();
    assert!(
        report.is_trusted(),
        "{:?} {:?} {:?}",
        report.convergence.solve.stop,
        report.convergence.friction,
        report.convergence.implicit
    );
    let full = place(&next.bodies[0], tip as usize);
    let (mut state, mut stepper) = (world.default_state(), stepper(Linearisation::Once));
    let mut off = Vec::new();
    for _ in 0..60 {
        let report = stepper.step(&world, &state, dt, &mut next).unwrap();
        assert!(report.is_trusted());
        std::mem::swap(&mut state, &mut next);
        off.push((place(&state.bodies[0], tip as usize) - full).norm());
    }
    let down = world.default_state().bodies[0].q[3 * tip as usize + 2] - full.z;
    eprintln!(
        "tip {down:.4} m down, {} more solves, {} shortened; one solve a step is off by {:.2e} m after one step, {:.2e} m after sixty",
        report.convergence.implicit.relinearisations,
        report.convergence.implicit.shortened,
        off[0],
        off[59]
    );
    assert!(down > 0.2, "{down}");
    assert!(off[0] > 0.05 && off[59] < 1e-7, "{} {}", off[0], off[59]);
}

/// Position of a corner of a stretched, free cube after a twentieth of a second in `n` steps.
fn swing(integration: Integration, linearisation: Linearisation, n: usize) -> Vector3<f64> {
    let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2]).unwrap();
    let law = LawKind::StableNeoHookean.of(Lame::from_young_poisson(3e4, 0.3).unwrap());
    let body = built(
        FemBuilder::new(mesh, law.unwrap(), 1000.0)
            .element(Element::Linear)
            .damping(UNDAMPED),
    );
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    builder.add_body("cube", Box::new(body));
    let world = builder.build().unwrap();
    let (mut state, mut next) = (world.default_state(), State::default());
    for q in state.bodies[0].q.chunks_exact_mut(3) {
        q[0] *= 1.3;
        q[1] += 0.2 * q[0];
    }
    let settings = StrongImplicitSettings {
        integration,
        linearisation,
        ..StrongImplicitSettings::default()
    };
    let mut stepper = stepper_of(settings).unwrap();
    for _ in 0..n {
        let report = stepper.step(&world, &state, 0.05 / n as f64, &mut next);
        assert!(report.unwrap().is_trusted());
        std::mem::swap(&mut state, &mut next);
    }
    place(&state.bodies[0], 0)
}

#[test]
fn solved_in_full_the_midpoint_rule_is_of_second_order_and_backward_euler_of_first() {
    for (integration, expected) in [
        (Integration::BackwardEuler, 1.0),
        (Integration::Midpoint, 2.0),
    ] {
        let ends = [80, 160, 320].map(|n| swing(integration, FULL, n));
        let order = ((ends[0] - ends[1]).norm() / (ends[1] - ends[2]).norm()).log2();
        let once = [80, 160, 320].map(|n| swing(integration, Linearisation::Once, n));
        let of_once = ((once[0] - once[1]).norm() / (once[1] - once[2]).norm()).log2();
        let apart = (once[2] - ends[2]).norm();
        eprintln!(
            "{integration:?}: order {order:.3}, linearised once {of_once:.3}, apart {apart:.1e} m"
        );
        assert!((order - expected).abs() < 0.15, "{integration:?}: {order}");
    }
}

#[test]
fn an_invalid_tolerance_is_rejected_and_too_few_solves_are_untrusted() {
    let settings = StrongImplicitSettings {
        linearisation: Linearisation::UntilConverged {
            relative_tolerance: 0.0,
            solves_max: 5,
        },
        ..StrongImplicitSettings::default()
    };
    let refused = stepper_of(settings).err().unwrap().to_string();
    assert!(
        refused.contains("relative tolerance of the linearisation"),
        "{refused}"
    );
    let short = Linearisation::UntilConverged {
        relative_tolerance: 1e-9,
        solves_max: 1,
    };
    let (world, _) = cantilever();
    let step = stepper(short).step(&world, &world.default_state(), 1.0, &mut State::default());
    let report = step.unwrap();
    assert!(report.convergence.implicit.missed && !report.is_trusted());
}
