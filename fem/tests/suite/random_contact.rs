//! Ten thousand soft bodies of random shape, stiffness and motion that meet a floor, a ball or each other, by
//! their vertices or their surfaces: they are solved, and what contact gives the bodies is what it reports.

use crate::support::GRAVITY;
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_contact_sap::{FrictionLimit, Integration, SolverKind, StopCriteria};
use pliant_coupling::{
    ContactModel, ContactSettings, Exclusion, Geometry, Mount, State, StrongImplicit, WorldBuilder,
};
use pliant_fem::{FemBody, FemBuilder, LawKind, MassKind, Rayleigh, lame_parameters};
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::{ContactMaterial, Shape};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const PROBLEMS: usize = 10_000;

fn log_uniform(rng: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    rng.random_range(low.ln()..high.ln()).exp()
}

fn direction(rng: &mut ChaCha8Rng) -> Vector3<f64> {
    Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0))
}

/// A box of a few cells, anywhere near the origin.
fn body(rng: &mut ChaCha8Rng, center: Vector3<f64>) -> FemBody {
    let half = Vector3::from_fn(|_, _| log_uniform(rng, 0.02, 0.1));
    let cells = [0; 3].map(|_| rng.random_range(1..=2));
    let laws = [
        LawKind::LinearCorotated,
        LawKind::LinearCorotated,
        LawKind::Corotational,
        LawKind::StableNeoHookean,
    ];
    let law = laws[rng.random_range(0..4)];
    let lame = lame_parameters(log_uniform(rng, 1e4, 1e8), rng.random_range(-0.2..0.45));
    let material = law.of(lame.unwrap()).unwrap();
    let damping = Rayleigh {
        mass: 0.0,
        stiffness: log_uniform(rng, 1e-4, 1e-1),
    };
    let mass = [MassKind::Lumped, MassKind::Consistent][rng.random_range(0..2)];
    let turn = UnitQuaternion::from_scaled_axis(direction(rng) * 3.0);
    let pose = Isometry3::from_parts(center.into(), turn);
    let mesh = tet_cuboid(half, cells).unwrap();
    let builder = FemBuilder::new(mesh, material, log_uniform(rng, 100.0, 5000.0));
    builder
        .damping(damping)
        .mass(mass)
        .pose(pose)
        .contact_radius(1e-3)
        .build()
        .unwrap()
        .0
}

#[test]
fn ten_thousand_random_problems_are_solved_and_balanced() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let (mut contacts, mut iterations, mut long, mut worst) = (0, 0, 0, 0.0_f64);
    let mut untrusted = 0;
    // What is left of a stiff body's gradient may be all in its momentum: ask for more than a step needs.
    let tight = StopCriteria {
        relative_tolerance: 1e-9,
        iterations_max: 300, // a handful of stiff, rough problems of the similar and the SAP model take 100 to 200
        ..StopCriteria::default()
    };
    let mut solver = StrongImplicit::new(SolverKind::Newton.build(tight));
    let mut next = State::default();
    for problem in 0..PROBLEMS {
        let mut builder = WorldBuilder::default();
        let model = [
            ContactModel::Lagged(FrictionLimit::LocalImplicit),
            ContactModel::Similar,
            ContactModel::Sap,
        ][rng.random_range(0..3)];
        builder.contact(ContactSettings {
            model,
            ..ContactSettings::default()
        });
        let integration = [Integration::BackwardEuler, Integration::Midpoint];
        builder.integration(integration[rng.random_range(0..2)]);
        let material = ContactMaterial {
            stiffness: log_uniform(&mut rng, 1e3, 1e8),
            dissipation: log_uniform(&mut rng, 1e-2, 1e2),
            friction: rng.random_range(0.0..1.5),
            ..ContactMaterial::default()
        };
        let floor = Mount::World(Isometry3::identity());
        let ground = if rng.random_range(0..3) > 0 {
            Shape::half_space()
        } else {
            Shape::sphere(0.05).unwrap()
        };
        builder.add_geometry(Geometry::new("ground", floor, ground, material));
        let mut mass = 0.0;
        for k in 0..rng.random_range(1..=2) {
            let center = direction(&mut rng) * 0.05 + Vector3::z() * 0.05 * f64::from(k + 1);
            let name = format!("body {k}");
            let body = body(&mut rng, center);
            mass += body.mass();
            let index = builder.add_body(&name, Box::new(body));
            builder.add_geometry(if problem % 2 == 0 {
                Geometry::of_surface(&name, index, material)
            } else {
                Geometry::of_vertices(&name, index, material)
            });
            if rng.random_range(0..2) == 0 {
                builder.exclude(Exclusion::Bodies(index, index));
            }
        }
        let world = builder.build().unwrap();
        let mut state = world.default_state();
        for body in &mut state.bodies {
            let (v, omega) = (direction(&mut rng) * 3.0, direction(&mut rng) * 5.0);
            for (v_W, q) in body.v.chunks_exact_mut(3).zip(body.q.chunks_exact_mut(3)) {
                let shaken =
                    v + omega.cross(&Vector3::from_column_slice(q)) + direction(&mut rng) * 0.3;
                v_W.copy_from_slice(shaken.as_slice());
                q.iter_mut()
                    .for_each(|q| *q += rng.random_range(-1e-3..1e-3));
            }
        }
        let dt = log_uniform(&mut rng, 1e-4, 2e-2);
        let report = solver.step(&world, &state, dt, &mut next).unwrap();
        if !report.is_trusted() {
            assert!(
                report.solve.is_trusted(),
                "problem {problem}, {model:?}: {:?}",
                report.solve
            );
            untrusted += 1;
        }
        long += usize::from(report.solve.iterations > 100);
        let on_bodies = report.contact_wrench(&Point3::origin(), |geometry| geometry.0 > 0);
        let before = world.energy(&state).linear_momentum_W;
        let change = world.energy(&next).linear_momentum_W - before;
        let impulse = (on_bodies.force + GRAVITY * mass) * dt;
        let scale = before.norm() + impulse.norm();
        let error = (change - impulse).norm() / scale;
        worst = worst.max(error);
        assert!(error < 1e-5, "problem {problem}: momentum off by {error:e}");
        contacts += report.contacts.len();
        iterations += report.solve.iterations;
    }
    eprintln!(
        "{PROBLEMS} problems, {contacts} contacts, {iterations} Newton iterations (more than 100 in {long}), momentum off by {worst:.1e} at most"
    );
    assert!(contacts > 3 * PROBLEMS);
    // Of the lagged model, μ up to 1.5: friction that does not settle within twelve corrections, and says so.
    assert!(untrusted <= 30, "{untrusted} problems");
}
