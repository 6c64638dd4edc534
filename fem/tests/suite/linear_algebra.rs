//! Every linear algebra for Newton's systems gives the same steps of soft bodies in contact, bit-identical for any number of threads.

use crate::support::{built, corotated};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use pliant_contact_sap::{
    FrictionLimit, LinearAlgebra, Newton, NewtonSettings, SolveReport, StopCriteria,
};
use pliant_coupling::{
    ContactSettings, Exclusion, Geometry, LaggedModel, Mount, State, Stepper, StrongImplicit,
    World, WorldBuilder,
};
use pliant_fem::{FemBody, FemBuilder, Rayleigh};
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

fn stepper(linear_algebra: LinearAlgebra) -> StrongImplicit<Newton> {
    StrongImplicit::new(Newton::new(NewtonSettings {
        stop: StopCriteria {
            relative_tolerance: 1e-9,
            ..StopCriteria::default()
        },
        linear_algebra,
        ..NewtonSettings::default()
    }))
}

fn block(half: Vector3<f64>, cells: [u32; 3], E: f64, pose: Isometry3<f64>) -> FemBody {
    let mesh = tet_cuboid(half, cells).unwrap();
    let damping = Rayleigh {
        mass: 0.0,
        stiffness: 0.01,
    };
    let builder = FemBuilder::new(mesh, corotated(E, 0.4), 1000.0);
    built(builder.damping(damping).pose(pose).contact_radius(1e-3))
}

/// Soft blocks thrown onto a floor, a rigid cube among them.
fn heap(rng: &mut ChaCha8Rng, n_blocks: usize, cells: [u32; 3]) -> (World, State) {
    let mut builder = WorldBuilder::default();
    // Friction bounds of the published rule: round-off of one step does not enter the problem of the next.
    builder.contact(ContactSettings {
        model: Arc::new(LaggedModel {
            friction_limit: FrictionLimit::Lagged,
        }),
        ..ContactSettings::default()
    });
    let material = ContactMaterial {
        stiffness: 1e5,
        dissipation: 5.0,
        friction: 0.6,
        ..ContactMaterial::default()
    };
    let floor = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", floor, Shape::half_space(), material));
    let direction = |rng: &mut ChaCha8Rng| Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0));
    for k in 0..n_blocks {
        let turn = UnitQuaternion::from_scaled_axis(direction(rng) * 0.5);
        let at = Vector3::new(0.0, 0.0, 0.045 + 0.12 * k as f64) + direction(rng) * 0.01;
        let E = 10_f64.powf(rng.random_range(4.5..7.0));
        let body = block(
            Vector3::new(0.06, 0.05, 0.04),
            cells,
            E,
            Isometry3::from_parts(at.into(), turn),
        );
        let name = format!("block {k}");
        let index = builder.add_body(&name, Box::new(body));
        builder.add_geometry(Geometry::of_vertices(&name, index, material));
        builder.exclude(Exclusion::Bodies(index, index));
    }
    let mut model = ModelBuilder::new("cube");
    model.root(Root::Floating);
    let lengths = Vector3::repeat(0.05);
    model.link(LinkSpec::new(
        "cube",
        SpatialInertia::solid_box(0.3, lengths),
    ));
    let model = Arc::new(model.build().unwrap());
    let q = [0.0, 0.0, 0.108, 1.0, 0.0, 0.0, 0.0];
    let cube = builder.add_body(
        "cube",
        Box::new(RigidTree::new(model).starting_at(&q, &[0.0; 6])),
    );
    let mount = Mount::Frame {
        body: cube,
        frame: 0,
        X_FG: Isometry3::identity(),
    };
    let shape = Shape::cuboid(lengths).unwrap();
    builder.add_geometry(Geometry::new("cube", mount, shape, material));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    for body in &mut state.bodies {
        let v = direction(rng) * 2.0 - Vector3::z();
        if body.v.len() > 6 {
            for v_W in body.v.chunks_exact_mut(3) {
                v_W.copy_from_slice((v + direction(rng) * 0.1).as_slice());
            }
        }
    }
    (world, state)
}

fn step(method: LinearAlgebra, world: &World, state: &State, dt: f64) -> (State, SolveReport) {
    let mut next = State::default();
    let report = stepper(method).step(world, state, dt, &mut next).unwrap();
    // Thrown this hard, the rotations of some do not converge, whatever the linear algebra.
    assert!(
        report.convergence.solve.is_trusted(),
        "{method}: {:?}",
        report.convergence.solve
    );
    (next, report.convergence.solve)
}

fn largest_difference(a: &State, b: &State) -> f64 {
    let velocities = |state: &State| -> Vec<f64> {
        let bodies = state.bodies.iter();
        bodies.flat_map(|body| body.v.iter().copied()).collect()
    };
    let (a, b) = (velocities(a), velocities(b));
    let size = a.iter().map(|v| v.abs()).fold(0.0, f64::max);
    let apart = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
    apart.fold(0.0, f64::max) / size
}

#[test]
fn every_linear_algebra_takes_the_same_step() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut used = pliant_contact_sap::LinearSystems::default();
    for problem in 0..150 {
        let n_blocks = rng.random_range(1..=3);
        let cells = [0; 3].map(|_| rng.random_range(1..=5));
        let (world, state) = heap(&mut rng, n_blocks, cells);
        let dt = 10_f64.powf(rng.random_range(-3.0..-1.7));
        let (expected, _) = step(LinearAlgebra::Direct, &world, &state, dt);
        for method in LinearAlgebra::ALL {
            let (found, report) = step(method, &world, &state, dt);
            let apart = largest_difference(&expected, &found);
            assert!(
                apart < 1e-5,
                "problem {problem}, {method}: {apart:e}, {}",
                report.systems
            );
            used = used + report.systems;
        }
    }
    eprintln!("systems: {used}");
    assert!(used.sparse > 0 && used.mixed > 0 && used.schur > 0);
}

#[test]
fn schur_complements_have_the_same_bits_on_any_number_of_threads() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let (world, state) = heap(&mut rng, 3, [9, 6, 6]);
    let steps = [1, 2, 8].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap()
            .install(|| step(LinearAlgebra::Schur, &world, &state, 5e-3))
    });
    assert!(steps[0].1.systems.schur > 0, "{}", steps[0].1.systems);
    for (state, _) in &steps[1..] {
        assert!(*state == steps[0].0, "bits differ");
    }
}
