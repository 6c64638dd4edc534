//! Derivatives of the relaxation on shapes, on triangles and between edges.
//!
//! They are compared with central differences of fourth order wherever those of two steps agree, which they don't across kinks.

use nalgebra::{Matrix3, Point3, Vector3};
use pliant_hydroelastic::mesh::generate;
use pliant_hydroelastic::{
    Branch, EdgesCrossing, EdgesRelaxed, Facing, MeshPlace, MeshRelaxed, Shape, Slide,
    SlidingFriction, WalkSurface, relax_on_level_set,
};

use super::spread::Spread;
use crate::validate::Finding;
use crate::validate::test_world::Outcome;

pub(super) fn findings() -> Outcome<[Finding; 3]> {
    Ok([on_shapes()?, on_triangles()?, between_edges()])
}

/// The derivative of `f` at `at` by differences of fourth order; `None` near a kink.
fn difference(
    f: impl Fn(&Point3<f64>) -> Option<Point3<f64>>,
    at: &Point3<f64>,
    h: f64,
) -> Option<Matrix3<f64>> {
    let by = |h: f64| -> Option<Matrix3<f64>> {
        let mut out = Matrix3::zeros();
        for j in 0..3 {
            let moved = |steps: f64| f(&(at + Vector3::ith(j, h * steps)));
            let near = moved(1.0)? - moved(-1.0)?;
            let far = moved(2.0)? - moved(-2.0)?;
            out.set_column(j, &((near * 8.0 - far) / (12.0 * h)));
        }
        Some(out)
    };
    let (coarse, fine) = (by(2.0 * h)?, by(h)?);
    ((coarse - fine).norm() < 1e-6).then_some(fine)
}

/// The worst error, infinite where fewer than `least` were compared.
fn compared(what: &str, worst: f64, count: usize, least: usize) -> Finding {
    let worst = if count < least { f64::INFINITY } else { worst };
    Finding::at_most(
        format!("penalty-relaxation: error of derivatives {what}, {count} places"),
        worst,
        1e-6,
        "central differences of fourth order",
    )
}

fn on_shapes() -> Outcome<Finding> {
    let shapes = [
        Shape::sphere(0.4)?,
        Shape::capsule(0.3, 0.5)?,
        Shape::ellipsoid(Vector3::new(0.4, 0.5, 0.6))?,
    ];
    let (mut worst, mut count) = (0.0_f64, 0);
    for shape in &shapes {
        let distance = |p: &Point3<f64>| shape.signed_distance(p);
        for k in 0..200 {
            let spread = Spread { k };
            let mut surface = Point3::from(spread.direction(0));
            for _ in 0..4 {
                let at = distance(&surface);
                surface -= at.gradient * at.value;
            }
            let normal = distance(&surface).gradient;
            let depth = spread.between(2, 1e-3, 2e-2);
            let mu = spread.between(3, 0.05, 1.2);
            let along = normal.cross(&spread.direction(4));
            let old = surface + along * (mu * depth * spread.between(6, 0.0, 2.5));
            let at = distance(&old);
            let old = old - at.gradient * at.value;
            let particle = surface - normal * depth;
            let is_on = |p: &Point3<f64>| distance(p).value.abs() < 1e-12;
            if !is_on(&surface) || !is_on(&old) || distance(&particle).value > -0.5 * depth {
                continue; // no projection
            }
            for slide in [Slide::Planar, Slide::Exact] {
                let friction = SlidingFriction::coulomb(mu);
                let relax =
                    |z: &Point3<f64>| relax_on_level_set(distance, friction, slide, &old, z);
                let place = |z: &Point3<f64>| Some(relax(z).attachment);
                if let Some(expected) = difference(place, &particle, 2e-4 * depth) {
                    worst = worst.max((relax(&particle).by_particle - expected).norm());
                    count += 1;
                }
            }
        }
    }
    Ok(compared("on shapes", worst, count, 600))
}

fn on_triangles() -> Outcome<Finding> {
    let torus = generate::torus(1.0, 0.4, 12, 8)?;
    let vertices: Vec<Point3<f64>> = torus.vertices().iter().map(|p| Point3::from(*p)).collect();
    let triangles: Vec<[u32; 3]> = torus.raw_triangles().collect();
    let walk = WalkSurface::new(&vertices, &triangles)?;
    let (mut worst, mut count, mut longest) = (0.0_f64, 0, 0);
    for k in 0..600 {
        let spread = Spread { k };
        let triangle = spread.between(0, 0.0, triangles.len() as f64) as u32;
        let weights = match k % 5 {
            0 => [0.0, 1.0, 0.0],
            _ => {
                let (a, b) = (0.5 * spread.at(1), 0.5 * spread.at(2));
                [a, b, 1.0 - a - b]
            }
        };
        let start = MeshPlace { triangle, weights };
        let (normal, _) = walk.plane(&vertices, triangle);
        let along = normal.cross(&spread.direction(3));
        let reach = [0.05, 0.3, 1.2][k as usize % 3];
        let particle = walk.point(&vertices, &start) - normal * spread.between(5, 0.01, 0.15)
            + along * spread.between(6, 0.0, reach);
        let friction = SlidingFriction::coulomb([0.0, 0.2, 0.6][k as usize % 3]);
        let relax = |z: &Point3<f64>| {
            let mut out = MeshRelaxed::default();
            walk.relax(&vertices, friction, Facing::Front, &start, z, &mut out);
            out
        };
        let found = relax(&particle);
        if found.branch != Branch::Slip {
            continue;
        }
        let place = |z: &Point3<f64>| relax(z).point(&walk, &vertices);
        if let Some(expected) = difference(place, &particle, 1e-5) {
            worst = worst.max((found.by_particle(&walk, &vertices) - expected).norm());
            count += 1;
            longest = longest.max(found.states);
        }
    }
    let what = format!("on triangles, walks of up to {longest} states");
    Ok(compared(&what, worst, count, 200))
}

fn between_edges() -> Finding {
    let (mut worst, mut count) = (0.0_f64, 0);
    for k in 0..200 {
        let spread = Spread { k };
        let corner = |axis: usize, p: [f64; 3]| Point3::from(p) + spread.direction(axis) * 0.02;
        let ends = [
            corner(0, [-0.5, 0.0, -0.05]),
            corner(2, [0.6, 0.0, -0.05]),
            corner(4, [0.0, -0.4, 0.05]),
            corner(6, [0.1, 0.5, 0.05]),
        ];
        let facing = match EdgesCrossing::of(&ends) {
            Some(crossing) if crossing.normal.z < 0.0 => Facing::Back,
            _ => Facing::Front,
        };
        let friction = SlidingFriction::coulomb(spread.between(9, 0.0, 0.8));
        let old = [spread.between(10, 0.3, 0.6), spread.between(11, 0.3, 0.6)];
        let relax = |ends: &[Point3<f64>; 4]| {
            let mut out = EdgesRelaxed::default();
            out.relax(ends, &friction, facing, old, 0.01);
            out
        };
        let found = relax(&ends);
        for vertex in 0..4 {
            let pull = |p: &Point3<f64>| {
                let mut moved = ends;
                moved[vertex] = *p;
                Some(Point3::from(relax(&moved).pull))
            };
            if let Some(expected) = difference(pull, &ends[vertex], 1e-5) {
                worst = worst.max((found.pull_by[vertex] - expected).norm());
                count += 1;
            }
        }
    }
    compared("between edges", worst, count, 600)
}
