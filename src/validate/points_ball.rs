//! A ball of material points rolls more slowly than a rigid one: the grid adds inertia, and particles make the surface uneven.

use std::f64::consts::FRAC_PI_4;
use std::sync::Arc;

use nalgebra::{Isometry3, Matrix3, Vector3};
use pliant_constitutive::Lame;
use pliant_coupling::{Exclusion, Geometry};
use pliant_hydroelastic::Shape;
use pliant_mpm::{
    LinearCorotated, MpmBuilder, MpmSettings, ObjectSpec, ParticleSet, Sampling, fill,
};
use pliant_multibody::SpatialInertia;

use super::test_world::{G, Model, Outcome, TestWorld, free_body, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "points-ball",
    about: "a ball of material points rolls like a rigid body of the same points with the inertia of the grid",
    kind: CaseKind::Function(run),
    needs: None,
};

const RADIUS: f64 = 0.5;
const DENSITY: f64 = 1000.0;
const SECONDS: f64 = 0.8;
const STIFFNESS: f64 = 1e10;

/// Grid spacing, particles per cell and time step, refined together.
struct Resolution {
    spacing: f64,
    per_cell: f64,
    time_step_s: f64,
}

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let of = |spacing: f64, per_cell| Resolution {
        spacing,
        per_cell,
        time_step_s: 0.05 * spacing,
    };
    let mut all = vec![of(0.25, 30.0)];
    if length == CaseLength::Full {
        all.extend([of(0.2, 30.0), of(0.1, 12.5)]);
    }
    let mut findings = Vec::new();
    let mut last = 0.12;
    for resolution in all {
        let h = resolution.spacing;
        let ball = Shape::sphere(RADIUS)?;
        let sampling = Sampling::Conforming {
            per_cell: resolution.per_cell,
            seed: 1,
        };
        let X_WS = Isometry3::translation(0.0, 0.0, RADIUS);
        let set = fill("ball", &ball, &X_WS, h, sampling)?;
        let steps = (SECONDS / resolution.time_step_s).round();
        // Distance of a rigid ball without losses: ½ a t (t + Δt) in steps of Δt.
        let ideal = 0.5 * 5.0 / 7.0 * G * FRAC_PI_4.sin() * SECONDS * SECONDS * (1.0 + 1.0 / steps);
        let grid_factor = 1.4 / (1.4 + 0.5 * (h / RADIUS).powi(2));
        let points = distance_of_points(&resolution, set.clone())? / ideal;
        let without_grid = distance_of_spheres(&resolution, &set, 0.0)? / ideal;
        let rigid = distance_of_spheres(&resolution, &set, h)? / ideal;
        let name =
            |what: &str| format!("points-ball: {what} at h = {h} m, over that of a rigid ball");
        findings.push(Finding::equals(
            name("distance rolled"),
            points,
            rigid,
            0.01,
            "a rigid body of the same points, with the inertia m h²/2 that the grid adds, over the same uneven surface in the same steps",
        ));
        findings.push(Finding::equals(
            name("distance rolled by that rigid body"),
            rigid,
            without_grid * grid_factor,
            0.02,
            "loss by uneven surface and time steps, times the factor of the grid's inertia, 1.4/(1.4 + h²/2r²)",
        ));
        findings.push(Finding::at_most(
            name("loss"),
            1.0 - points,
            last,
            "less than on the coarser grid; 12% on the first",
        ));
        last = 1.0 - points;
    }
    if length == CaseLength::Full {
        findings.push(Finding::at_most(
            "points-ball: loss at a tenth of the diameter".into(),
            last,
            0.03,
            "within 3% of a rigid ball",
        ));
    }
    Ok(findings)
}

fn test_world() -> TestWorld {
    let mut setup = TestWorld::new(Model::Lagged, material(STIFFNESS, 0.6));
    setup
        .builder
        .gravity(Vector3::new(FRAC_PI_4.sin(), 0.0, -FRAC_PI_4.cos()) * G);
    setup.floor(Isometry3::identity());
    setup
}

/// Distance the ball rolls, m.
fn distance_of_points(resolution: &Resolution, set: ParticleSet) -> Outcome<f64> {
    let mut points = MpmBuilder::new(MpmSettings::new(resolution.spacing));
    let stiff = Arc::new(LinearCorotated::new(Lame::from_young_poisson(1e8, 0.2)?));
    points.object(ObjectSpec::new("ball", stiff, DENSITY, set));
    let mut setup = test_world();
    let body = setup.builder.add_body("ball", Box::new(points.build()?));
    setup
        .builder
        .add_geometry(Geometry::of_vertices("ball", body, setup.material));
    setup.builder.exclude(Exclusion::Bodies(body, body));
    let mut run = setup.start(resolution.time_step_s)?;
    let mean = |q: &[f64]| q.iter().step_by(3).sum::<f64>() / (q.len() / 3) as f64;
    let start = mean(&run.body(body).q);
    run.steps((SECONDS / resolution.time_step_s).round() as usize)?;
    Ok(mean(&run.body(body).q) - start)
}

/// Distance rolled by a rigid ball whose contact geometry is spheres at its outer particles, and whose inertia includes that of a grid of
/// spacing `h`.
fn distance_of_spheres(resolution: &Resolution, set: &ParticleSet, h: f64) -> Outcome<f64> {
    let mass = DENSITY * set.volume();
    let (d, centre) = (set.spacing(), Vector3::z() * RADIUS);
    let about = |p: &nalgebra::Point3<f64>| p.coords - centre;
    let second = set.points.iter().map(|p| about(p) * about(p).transpose());
    let spread: Matrix3<f64> = second.sum::<Matrix3<f64>>() / set.points.len() as f64
        + Matrix3::identity() * (0.25 * h * h);
    let rotational = (Matrix3::identity() * spread.trace() - spread) * mass;
    let mut setup = test_world();
    let outer: Vec<_> = (set.points.iter().map(about))
        .filter(|p| p.norm() > RADIUS - 0.75 * d)
        .collect();
    let inertia = SpatialInertia::new(mass, Vector3::zeros(), rotational);
    let X_WB = Isometry3::translation(0.0, 0.0, RADIUS);
    let body = setup
        .builder
        .add_body("ball", Box::new(free_body(inertia, X_WB, [0.0; 6])?));
    let shape = Shape::sphere(0.5 * d)?;
    for (k, p) in outer.iter().enumerate() {
        setup.mount(
            &format!("particle {k}"),
            (body, 0),
            Isometry3::from(*p),
            shape.clone(),
        );
    }
    let mut run = setup.start(resolution.time_step_s)?;
    let start = run.position(body).x;
    run.steps((SECONDS / resolution.time_step_s).round() as usize)?;
    Ok(run.position(body).x - start)
}
