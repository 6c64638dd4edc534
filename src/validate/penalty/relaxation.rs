//! Relaxation of attachments on a plane, and on the same plane in triangles.
//!
//! With normal n, slip along τ and b = n × τ, ∂Y/∂Z = τ τᵀ + (1 − s) b bᵀ − μ τ nᵀ.

use nalgebra::{Matrix3, Point3, UnitQuaternion, Vector3};
use pliant_hydroelastic::{
    Branch, Facing, MeshPlace, MeshRelaxed, SignedDistance, Slide, SlidingFriction, WalkSurface,
    relax_on_level_set,
};

use super::spread::Spread;
use super::{derivatives, entries};
use crate::validate::test_world::Outcome;
use crate::validate::{CaseLength, Finding};

pub(super) fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let many = match length {
        CaseLength::Quick => 4_000,
        CaseLength::Full => 1_000_000,
    };
    let mut findings = plane(2_000);
    findings.extend(triangulated_plane(many)?);
    findings.extend(derivatives::findings()?);
    findings.extend(entries::findings(many));
    Ok(findings)
}

fn plane(count: u32) -> Vec<Finding> {
    let (mut by_particle, mut twice, mut held, mut smooth) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
    for k in 0..count {
        let spread = Spread { k };
        let n = spread.direction(0);
        let offset = spread.between(2, -1.0, 1.0);
        let distance = |p: &Point3<f64>| SignedDistance {
            value: n.dot(&p.coords) - offset,
            gradient: n,
            hessian: Matrix3::zeros(),
        };
        let depth = spread.between(3, 1e-3, 1e-2);
        let mu = spread.between(4, 0.05, 1.0);
        let s = spread.between(5, 0.1, 0.95);
        let tau = n.cross(&spread.direction(6)).normalize();
        let foot = Point3::from(n * offset);
        let particle = foot - n * depth;
        let relax = |mu: f64, old: &Point3<f64>| {
            let friction = SlidingFriction::coulomb(mu);
            relax_on_level_set(distance, friction, Slide::Planar, old, &particle)
        };
        let found = relax(mu, &(foot + tau * (mu * depth / s)));
        let b = n.cross(&tau);
        let expected =
            tau * tau.transpose() + b * b.transpose() * (1.0 - s) - tau * n.transpose() * mu;
        by_particle = by_particle.max((found.by_particle - expected).norm() * s);
        let again = relax(mu, &found.attachment);
        let size = 1.0 + found.attachment.coords.norm();
        twice = twice.max((again.attachment - found.attachment).norm() / size);
        let inside = foot + tau * (0.99 * mu * depth);
        let kept = relax(mu, &inside);
        held += f64::from(kept.attachment != inside || kept.branch != Branch::Stick);
        let projector = Matrix3::identity() - n * n.transpose();
        for old in [foot, foot + tau * 0.1] {
            smooth = smooth.max((relax(0.0, &old).by_particle - projector).norm());
        }
    }
    let name = |what: &str| format!("penalty-relaxation: {what}");
    vec![
        Finding::at_most(
            name("s |dY/dZ - closed form| on a plane"),
            by_particle,
            1e-9,
            "closed form",
        ),
        Finding::at_most(
            name("|P(P(X, Z), Z) - P(X, Z)| over the size of places, on a plane"),
            twice,
            4.0 * f64::EPSILON,
            "a second relaxation changes nothing",
        ),
        Finding::at_most(
            name("attachments in the cone that have changed by a bit"),
            held,
            0.0,
            "static friction",
        ),
        Finding::at_most(
            name("|dY/dZ - tangential projector| without friction, also where X = W"),
            smooth,
            1e-12,
            "closed form",
        ),
    ]
}

/// n × n squares of unit length in the plane z = 0, each of two triangles.
fn lattice(n: u32) -> (Vec<Point3<f64>>, Vec<[u32; 3]>) {
    let side = n + 1;
    let vertices = (0..side * side)
        .map(|i| Point3::new(f64::from(i % side), f64::from(i / side), 0.0))
        .collect();
    let squares = (0..n * side).filter(|i| i % side < n);
    let triangles = squares.flat_map(|i| [[i, i + 1, i + side + 1], [i, i + side + 1, i + side]]);
    (vertices, triangles.collect())
}

fn triangulated_plane(count: u32) -> Outcome<Vec<Finding>> {
    let (flat, triangles) = lattice(8);
    let walk = WalkSurface::new(&flat, &triangles)?;
    let (mut worst, mut longest) = (0.0_f64, 0);
    let mut found = MeshRelaxed::default();
    for k in 0..count {
        let spread = Spread { k };
        let turn = match k % 2 {
            0 => UnitQuaternion::identity(),
            _ => spread.rotation(8),
        };
        let vertices: Vec<Point3<f64>> = flat.iter().map(|p| turn * p).collect();
        // Half of the walks lead from one vertex of the lattice below another.
        let on_lattice = k % 4 < 2;
        let inner = |axis: usize| match on_lattice {
            true => spread.between(axis, 1.0, 8.0).floor(),
            false => spread.between(axis, 1.0, 7.0),
        };
        let triangle = spread.between(0, 0.0, 128.0) as u32;
        let weights = match on_lattice {
            true => [0, 1, 2].map(|i| f64::from(u8::from(i == k as usize / 4 % 3))),
            false => {
                let (a, b) = (spread.at(1), spread.at(2));
                let (a, b) = if a + b > 1.0 {
                    (1.0 - a, 1.0 - b)
                } else {
                    (a, b)
                };
                [a, b, 1.0 - a - b]
            }
        };
        let start = MeshPlace { triangle, weights };
        let old = walk.point(&flat, &start);
        if old.x.min(old.y) < 0.5 || old.x.max(old.y) > 7.5 {
            continue; // the walk would end at the boundary
        }
        let particle = Point3::new(inner(3), inner(4), -spread.between(5, 0.01, 0.3));
        let friction = SlidingFriction::coulomb([0.0, 0.1, 0.5, 2.0][k as usize / 2 % 4]);
        let distance = |p: &Point3<f64>| SignedDistance {
            value: p.z,
            gradient: Vector3::z(),
            hessian: Matrix3::zeros(),
        };
        let expected = relax_on_level_set(distance, friction, Slide::Planar, &old, &particle);
        let below = turn * particle;
        walk.relax(
            &vertices,
            friction,
            Facing::Front,
            &start,
            &below,
            &mut found,
        );
        let place = found.point(&walk, &vertices);
        let error = place.map_or(f64::INFINITY, |p| (p - turn * expected.attachment).norm());
        worst = worst.max(error);
        longest = longest.max(found.states);
    }
    Ok(vec![
        Finding::at_most(
            format!(
                "penalty-relaxation: |walk - plane| (m) on a triangulated plane, {count} walks"
            ),
            worst,
            1e-13,
            "the plane itself",
        ),
        Finding::at_most(
            format!(
                "penalty-relaxation: states of the longest of {count} walks over 8 x 8 squares"
            ),
            longest as f64,
            100.0,
            "each crosses a triangle, an edge or a vertex; the bound against endless walks is 1000",
        ),
    ])
}
