//! Elastic bodies that hit a rigid wall in explicit substeps, compared with the theory of waves and of contact.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_constitutive::Lame;
use pliant_coupling::{AsynchronousSettings, Geometry, GeometryIdx, Mount, Substeps, WorldBuilder};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_mpm::{LinearCorotated, MpmBuilder, MpmSettings, ObjectSpec, Sampling, fill};

use crate::support::substepped::{Substepped, double};

const DENSITY: f64 = 1000.0;
/// Speed of waves, m/s.
const C: f64 = 10.0;

/// A body of `shape` that flies at `speed` against the half space below it, without gravity.
fn flying(shape: &Shape, height: f64, h: f64, poissons_ratio: f64, speed: f64) -> Substepped {
    let wall = ContactMaterial {
        stiffness: 1e5,
        dissipation: 0.0,
        friction: 0.0,
        ..ContactMaterial::default()
    };
    let set = fill(
        "body",
        shape,
        &Isometry3::translation(0.0, 0.0, height),
        h,
        Sampling::default(),
    )
    .unwrap();
    let lame = Lame::from_young_poisson(DENSITY * C * C, poissons_ratio).unwrap();
    let mut object = ObjectSpec::new("body", Arc::new(LinearCorotated::new(lame)), DENSITY, set);
    object.velocity_W = Vector3::new(0.0, 0.0, -speed);
    let mut points = MpmBuilder::new(MpmSettings::new(h));
    points.object(object);
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let mount = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("wall", mount, Shape::half_space(), wall));
    let body = builder.add_body("points", Box::new(points.build().unwrap()));
    builder.add_geometry(Geometry::of_vertices("points", body, wall));
    let settings = AsynchronousSettings {
        substeps: Substeps::Fixed(1),
        ..double()
    };
    Substepped::new(builder.build().unwrap(), settings)
}

/// How a body rebounds.
struct Rebound {
    /// Speed after the impact over that before.
    restitution: f64,
    /// Time from the first to the last contact, s.
    duration: f64,
}

fn rebound(mut run: Substepped, dt: f64, until: f64) -> Rebound {
    let before = run.momentum().z;
    let (mut first, mut last) = (f64::INFINITY, 0.0);
    while run.state.time_s < until {
        let report = run.step(dt);
        let force = report
            .contact_wrench(&Point3::origin(), |g| g == GeometryIdx(1))
            .force;
        if force.z > 0.0 {
            first = run.state.time_s.min(first);
            last = run.state.time_s;
        }
    }
    Rebound {
        restitution: -run.momentum().z / before,
        duration: last - first,
    }
}

/// Restitution and duration, in 2 L/c, of a bar of length L = 1 m and of one-dimensional waves, at c/200.
fn bar(cells: usize) -> Rebound {
    let h = 1.0 / cells as f64;
    let shape = Shape::cuboid(Vector3::new(2.0 * h, 2.0 * h, 1.0)).unwrap();
    let run = flying(&shape, 0.51, h, 0.0, 0.05);
    let rebound = rebound(run, 0.4 * h / C, 0.6);
    Rebound {
        duration: rebound.duration / (2.0 / C),
        ..rebound
    }
}

#[test]
fn a_bar_leaves_a_wall_when_its_wave_has_come_back_and_with_its_speed() {
    // The wave solution: the bar is in contact for 2 L/c and then flies off as it came, without oscillating. Its first layer of cells is stopped by
    // the grid without rebound, hence the loss of first order in h.
    let [coarse, fine] = [10, 20].map(bar);
    for bar in [&coarse, &fine] {
        assert!((bar.duration - 1.0).abs() < 0.02, "{}", bar.duration);
    }
    let [coarse, fine] = [coarse, fine].map(|bar| 1.0 - bar.restitution);
    assert!((0.0..0.1).contains(&fine), "{coarse} {fine}");
    assert!((coarse / fine).log2() > 0.75, "{coarse} {fine}");
}

#[test]
fn a_ball_rebounds_with_less_loss_on_a_finer_grid() {
    // At c/50 the contact lasts for many passages of a wave, which take next to none of the energy: e = 1 (Hertz 1882, Reed 1985).
    let loss = |cells: usize| {
        let h = 1.0 / cells as f64;
        let run = flying(&Shape::sphere(0.5).unwrap(), 0.51, h, 0.3, 0.2);
        1.0 - rebound(run, 0.3 * h / C, 0.7).restitution
    };
    let [coarse, fine] = [8, 16].map(loss);
    assert!((0.0..0.1).contains(&fine), "{coarse} {fine}");
    assert!((coarse / fine).log2() > 0.9, "{coarse} {fine}");
}
