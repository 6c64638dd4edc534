//! Material points in contact with a floor.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_constitutive::Lame;
use pliant_contact_sap::{SolverKind, StopCriteria};
use pliant_coupling::{
    Exclusion, Geometry, Mount, State, Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_mpm::{
    LinearCorotated, Liquid, Material, MaterialPoints, MpmBuilder, MpmSettings, ObjectSpec,
    Sampling, fill,
};

const H: f64 = 0.04;
const DT: f64 = 0.005;
const G: f64 = 9.81;

/// A cube of 0.08 m and 800 kg/m³ that stands 2 mm above the floor of a world with friction μ, tilted by `slope`.
fn world(material: Arc<dyn Material>, friction: f64, slope: f64) -> (World, MaterialPoints) {
    let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), slope);
    let X_WF = Isometry3::from_parts(nalgebra::Translation3::identity(), turn);
    let shape = Shape::cuboid(Vector3::repeat(0.08)).unwrap();
    let pose = X_WF * Isometry3::translation(0.0, 0.0, 0.042);
    let set = fill("cube", &shape, &pose, H, Sampling::default()).unwrap();
    let mut builder = MpmBuilder::new(MpmSettings::new(H));
    builder.object(ObjectSpec::new("cube", material, 800.0, set));
    let points = builder.build().unwrap();

    let contact = ContactMaterial {
        stiffness: 2e3,
        dissipation: 5.0,
        friction,
        ..ContactMaterial::default()
    };
    let mut builder = WorldBuilder::default();
    builder.add_geometry(Geometry::new(
        "floor",
        Mount::World(X_WF),
        Shape::half_space(),
        contact,
    ));
    let body = builder.add_body("points", Box::new(points.clone()));
    builder.add_geometry(Geometry::of_vertices("points", body, contact));
    builder.exclude(Exclusion::Bodies(body, body));
    (builder.build().unwrap(), points)
}

/// Steps for `seconds`, and returns the mean force of the floor over the last quarter.
fn run(world: &World, state: &mut State, seconds: f64) -> Vector3<f64> {
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let mut next = State::default();
    let steps = (seconds / DT).round() as usize;
    let (mut sum, mut count) = (Vector3::zeros(), 0.0);
    for step in 0..steps {
        let report = stepper.step(world, state, DT, &mut next).unwrap();
        assert!(report.is_trusted());
        std::mem::swap(state, &mut next);
        if 4 * step >= 3 * steps {
            let floor = pliant_coupling::GeometryIdx(0);
            sum += report
                .contact_wrench(&Point3::origin(), |g| g != floor)
                .force;
            count += 1.0;
        }
    }
    sum / count
}

fn mean_velocity(points: &MaterialPoints, state: &State) -> Vector3<f64> {
    let each: Vec<_> = points.particles(&state.bodies[0]).collect();
    each.iter().map(|p| p.v_WP).sum::<Vector3<f64>>() / each.len() as f64
}

#[test]
fn the_floor_carries_the_weight_of_solids_and_liquids() {
    let materials: [Arc<dyn Material>; 2] = [
        Arc::new(LinearCorotated::new(
            Lame::from_young_poisson(5e4, 0.3).unwrap(),
        )),
        Arc::new(Liquid::new(1e4, 7.0).unwrap().with_viscosity(50.0).unwrap()),
    ];
    for material in materials {
        let (world, points) = world(material, 0.5, 0.0);
        let mut state = world.default_state();
        let force = run(&world, &mut state, 0.6);
        let weight = 800.0 * 0.08_f64.powi(3) * G;
        assert!(
            (force.z / weight - 1.0).abs() < 0.02,
            "{force} for {weight}"
        );
        assert!(points.particles(&state.bodies[0]).all(|p| p.p_WP.z > 0.0));
    }
}

#[test]
fn the_acceleration_of_a_cube_on_a_slope_is_that_of_coulomb_friction() {
    let slope = 0.4_f64; // tan = 0.42
    let along = Vector3::new(slope.cos(), 0.0, -slope.sin());
    for (friction, expected) in [(0.2, G * (slope.sin() - 0.2 * slope.cos())), (0.6, 0.0)] {
        let material = Arc::new(LinearCorotated::new(
            Lame::from_young_poisson(2e5, 0.3).unwrap(),
        ));
        let (world, points) = world(material, friction, slope);
        let mut state = world.default_state();
        let _ = run(&world, &mut state, 0.2);
        let before = mean_velocity(&points, &state).dot(&along);
        let _ = run(&world, &mut state, 0.2);
        let gained = (mean_velocity(&points, &state).dot(&along) - before) / 0.2;
        assert!(
            (gained - expected).abs() < 0.05 * G,
            "{gained} for {expected} at {friction}"
        );
    }
}
