//! Steps that follow their error: a soft cube that falls on the floor and rebounds.
#![allow(
    non_snake_case,
    reason = "monogram frame names and the field's F are the notation of the theory"
)]

mod support;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{SolverKind, StopCriteria};
use pliant_coupling::{
    Accuracy, Adaptive, Geometry, Mount, State, StepReport, StrongImplicit, World, WorldBuilder,
};
use pliant_fem::FemBuilder;
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::{ContactMaterial, Shape};
use support::{built, corotated};

const SECONDS: f64 = 0.03;

/// A cube of 0.1 m that meets the floor at 0.3 m/s after a tenth of the time.
fn world() -> World {
    let material = ContactMaterial {
        stiffness: 1e4,
        ..ContactMaterial::default()
    };
    let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2]).unwrap();
    let pose = Isometry3::translation(0.0, 0.0, 0.001);
    let cube = built(FemBuilder::new(mesh, corotated(1e5, 0.3), 1000.0).pose(pose));
    let mut builder = WorldBuilder::default();
    let body = builder.add_body("cube", Box::new(cube));
    builder.add_geometry(Geometry::of_vertices("cube", body, material));
    let mount = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
    builder.build().unwrap()
}

fn end(world: &World, tolerance: f64) -> Vec<f64> {
    let solver = SolverKind::Newton.build(StopCriteria::default());
    let accuracy = Accuracy {
        tolerance,
        shortest_s: 1e-6,
        ..Accuracy::default()
    };
    let mut stepper = Adaptive::new(StrongImplicit::new(solver), accuracy).unwrap();
    let (mut state, mut next) = (world.default_state(), State::default());
    for v in state.bodies[0].v.chunks_exact_mut(3) {
        v[2] = -0.3;
    }
    let mut report = StepReport::default();
    for _ in 0..3 {
        let done = stepper.advance(world, &state, SECONDS / 3.0, &mut next, &mut report);
        assert!(done.unwrap().accepted > 0 && report.is_trusted());
        std::mem::swap(&mut state, &mut next);
    }
    state.bodies.remove(0).q
}

#[test]
fn the_error_of_a_rebounding_cube_follows_the_accuracy() {
    let world = world();
    let truth = end(&world, 5e-5);
    let lowest = truth
        .chunks_exact(3)
        .map(|p| p[2])
        .fold(f64::INFINITY, f64::min);
    assert!(lowest < 0.0, "it is in contact: {lowest}");
    let mut last = f64::INFINITY;
    for tolerance in [1e-2, 2e-3, 4e-4] {
        let q = end(&world, tolerance);
        let error = q
            .iter()
            .zip(&truth)
            .map(|(x, y)| (x - y).abs())
            .fold(0.0, f64::max);
        eprintln!("{tolerance}: {error:e}");
        assert!(error < tolerance * SECONDS, "{tolerance}: {error}");
        assert!(error < last, "{tolerance}: {error} after {last}");
        last = error;
    }
}
