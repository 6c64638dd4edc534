//! Random poses, sample shapes and brute-force searches shared by several tests.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::Shape;

pub(crate) fn random_unit(rng: &mut ChaCha8Rng) -> Vector3<f64> {
    loop {
        let v = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        let norm: f64 = v.norm();
        if norm > 0.1 && norm < 1.0 {
            return v / norm;
        }
    }
}

pub(crate) fn random_rotation(rng: &mut ChaCha8Rng) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(random_unit(rng) * rng.random_range(0.0..std::f64::consts::PI))
}

/// A point in the cube of two metres about the origin.
pub(crate) fn random_point(rng: &mut ChaCha8Rng) -> Vector3<f64> {
    Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0))
}

/// Corners of a tetrahedron that is not flat, positively oriented.
pub(crate) fn random_tet(rng: &mut ChaCha8Rng) -> [Vector3<f64>; 4] {
    loop {
        let mut x = [(); 4].map(|()| random_point(rng));
        let volume = (x[1] - x[0]).cross(&(x[2] - x[0])).dot(&(x[3] - x[0]));
        if volume < 0.0 {
            x.swap(2, 3);
        }
        if volume.abs() > 0.1 {
            return x;
        }
    }
}

pub(crate) fn random_pose(rng: &mut ChaCha8Rng, reach: f64) -> Isometry3<f64> {
    let shift = Vector3::from_fn(|_, _| rng.random_range(-reach..reach));
    Isometry3::from_parts(Translation3::from(shift), random_rotation(rng))
}

/// Points on the surface of a shape, dense enough for brute force: `n` squared where it is curved.
pub(crate) fn surface_points(shape: &Shape, n: usize) -> Vec<Point3<f64>> {
    use std::f64::consts::{PI, TAU};
    let mut out = Vec::new();
    let mut ring = |z: f64, rho: f64, count: usize| {
        for i in 0..count {
            let (s, c) = (TAU * i as f64 / count as f64).sin_cos();
            out.push(Point3::new(rho * c, rho * s, z));
        }
    };
    match shape {
        Shape::Sphere(s) => {
            for i in 0..=n {
                let (sin, cos) = (PI * i as f64 / n as f64).sin_cos();
                ring(s.radius() * cos, s.radius() * sin, 2 * n);
            }
        }
        Shape::Capsule(s) => {
            for i in 0..=n {
                let (sin, cos) = (PI * i as f64 / n as f64).sin_cos();
                ring(
                    s.radius() * cos + s.half_length().copysign(cos),
                    s.radius() * sin,
                    2 * n,
                );
            }
            for i in 0..=n {
                ring(
                    s.half_length() * (2.0 * i as f64 / n as f64 - 1.0),
                    s.radius(),
                    2 * n,
                );
            }
        }
        Shape::Cylinder(s) => {
            for i in 0..=n {
                let x = i as f64 / n as f64;
                ring(s.half_length() * (2.0 * x - 1.0), s.radius(), 2 * n);
                ring(s.half_length(), s.radius() * x, 2 * n);
                ring(-s.half_length(), s.radius() * x, 2 * n);
            }
        }
        Shape::EllipticCylinder(s) => {
            for i in 0..=n {
                let x = i as f64 / n as f64;
                ring(s.half_length() * (2.0 * x - 1.0), 1.0, 2 * n);
                ring(s.half_length(), x, 2 * n);
                ring(-s.half_length(), x, 2 * n);
            }
            for p in &mut out {
                (p.x, p.y) = (p.x * s.semi_axes().x, p.y * s.semi_axes().y);
            }
        }
        Shape::Cone(s) => {
            for i in 0..=n {
                let x = i as f64 / n as f64;
                ring(s.half_height() * (1.0 - 2.0 * x), s.radius() * x, 2 * n);
                ring(-s.half_height(), s.radius() * x, 2 * n);
            }
        }
        Shape::Ellipsoid(s) => {
            for i in 0..=n {
                let (sin, cos) = (PI * i as f64 / n as f64).sin_cos();
                ring(cos, sin, 2 * n);
            }
            for p in &mut out {
                p.coords.component_mul_assign(&s.semi_axes());
            }
        }
        Shape::Box(s) => {
            for i in 0..=n {
                for j in 0..=n {
                    let x = [i, j].map(|k| 2.0 * k as f64 / n as f64 - 1.0);
                    for axis in 0..3 {
                        for side in [-1.0, 1.0] {
                            let mut p = Vector3::repeat(side);
                            p[(axis + 1) % 3] = x[0];
                            p[(axis + 2) % 3] = x[1];
                            out.push(p.component_mul(&s.half_extents()).into());
                        }
                    }
                }
            }
        }
        Shape::ConvexHull(h) => triangles(
            h.triangles().map(|t| t.map(|v| h.vertices()[v as usize])),
            n,
            &mut out,
        ),
        Shape::Mesh(m) => triangles(
            m.triangles()
                .iter()
                .map(|t| t.map(|v| m.vertices()[v as usize])),
            n,
            &mut out,
        ),
        Shape::HalfSpace | Shape::Custom(_) => {}
    }
    out
}

fn triangles(
    corners: impl Iterator<Item = [Point3<f64>; 3]>,
    n: usize,
    out: &mut Vec<Point3<f64>>,
) {
    for [a, b, c] in corners {
        for i in 0..=n {
            for j in 0..=n - i {
                out.push(a + (b - a) * (i as f64 / n as f64) + (c - a) * (j as f64 / n as f64));
            }
        }
    }
}

/// The support point of a bounded shape in direction `d`, by a formula independent of the library's own.
pub(crate) fn support(shape: &Shape, d: &Vector3<f64>) -> Point3<f64> {
    let disc = |r: f64| {
        Vector3::new(d.x, d.y, 0.0)
            .try_normalize(0.0)
            .unwrap_or_else(Vector3::x)
            * r
    };
    let u = d.normalize();
    match shape {
        Shape::Sphere(s) => Point3::from(u * s.radius()),
        Shape::Box(s) => Point3::from(s.half_extents().zip_map(d, f64::copysign)),
        Shape::Cylinder(s) => {
            Point3::from(disc(s.radius()) + Vector3::z() * s.half_length().copysign(d.z))
        }
        Shape::EllipticCylinder(s) => {
            let axes = s.semi_axes();
            let angle = (axes.y * d.y).atan2(axes.x * d.x);
            let (x, y) = (axes.x * angle.cos(), axes.y * angle.sin());
            Point3::new(x, y, s.half_length().copysign(d.z))
        }
        Shape::Capsule(s) => {
            Point3::from(u * s.radius() + Vector3::z() * s.half_length().copysign(d.z))
        }
        Shape::Ellipsoid(s) => {
            let scaled = s.semi_axes().component_mul(d);
            Point3::from(s.semi_axes().component_mul(&scaled) / scaled.norm())
        }
        Shape::Cone(s) => {
            let rim = disc(s.radius()) - Vector3::z() * s.half_height();
            let apex = Vector3::z() * s.half_height();
            Point3::from(if rim.dot(d) > apex.dot(d) { rim } else { apex })
        }
        Shape::ConvexHull(_) | Shape::Mesh(_) => {
            let vertices = match shape {
                Shape::ConvexHull(h) => h.vertices(),
                Shape::Mesh(m) => m.vertices(),
                _ => &[],
            };
            *vertices
                .iter()
                .max_by(|a, b| a.coords.dot(d).total_cmp(&b.coords.dot(d)))
                .unwrap()
        }
        Shape::HalfSpace | Shape::Custom(_) => panic!("no furthest point"),
    }
}

/// An L-shaped solid: convex and concave edges, flat interior edges.
pub(crate) fn l_shape() -> (Vec<Point3<f64>>, Vec<[u32; 3]>) {
    let profile = [
        [0.0, 0.0],
        [0.6, 0.0],
        [0.6, 0.2],
        [0.2, 0.2],
        [0.2, 0.5],
        [0.0, 0.5],
    ];
    let mut vertices = Vec::new();
    for y in [0.0, 0.3] {
        vertices.extend(profile.iter().map(|p| Point3::new(p[0], y, p[1])));
    }
    let mut triangles = Vec::new();
    // Front (y = 0, normal −y) and back caps as fans that respect the concave corner 3.
    for t in [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]] {
        triangles.push(t);
        triangles.push([t[0] + 6, t[2] + 6, t[1] + 6]);
    }
    for i in 0..6_u32 {
        let j = (i + 1) % 6;
        triangles.push([i, i + 6, j + 6]);
        triangles.push([i, j + 6, j]);
    }
    (vertices, triangles)
}

/// The twelve triangles of a box with the given half edge lengths.
pub(crate) fn box_mesh(half: Vector3<f64>) -> (Vec<Point3<f64>>, Vec<[u32; 3]>) {
    let vertices = (0..8)
        .map(|i| {
            let sign = |bit: u32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
            Point3::from(half.component_mul(&Vector3::new(sign(0), sign(1), sign(2))))
        })
        .collect();
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let triangles = quads
        .iter()
        .flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]])
        .collect();
    (vertices, triangles)
}
