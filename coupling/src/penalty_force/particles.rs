//! The particles of a rigid shape: points of its surface.
//!
//! Boxes and convex hulls have their corners, meshes their vertices, round shapes the vertices of a triangulation of their surface. A half space
//! and user-defined shapes have none.

use nalgebra::{Point3, Vector3};
use pliant_hydroelastic::Shape;
use pliant_hydroelastic::mesh::{TriMesh, generate};

/// Particles in the shape's frame, with about `around` of them around a round shape.
pub(super) fn particles_of(shape: &Shape, around: u32) -> Vec<Point3<f64>> {
    let points = |mesh: &TriMesh| mesh.vertices().iter().map(|p| Point3::from(*p)).collect();
    let generated = |mesh: Result<TriMesh, _>| mesh.as_ref().map(points).unwrap_or_default();
    match shape {
        Shape::HalfSpace | Shape::Custom(_) => Vec::new(),
        Shape::Sphere(s) => generated(generate::sphere(s.radius(), subdivisions(around))),
        Shape::Box(s) => {
            let half = s.half_extents();
            let corner = |i: usize| {
                let side = |axis: usize| if i >> axis & 1 == 0 { -1.0 } else { 1.0 };
                Point3::from(half.component_mul(&Vector3::new(side(0), side(1), side(2))))
            };
            (0..8).map(corner).collect()
        }
        Shape::Cylinder(s) => generated(generate::cylinder(s.radius(), s.half_length(), around)),
        Shape::EllipticCylinder(s) => {
            let round: Vec<Point3<f64>> =
                generated(generate::cylinder(1.0, s.half_length(), around));
            let axes = Vector3::new(s.semi_axes().x, s.semi_axes().y, 1.0);
            stretched(round, &axes)
        }
        Shape::Capsule(s) => generated(generate::capsule(s.radius(), s.half_length(), around)),
        Shape::Ellipsoid(s) => stretched(
            generated(generate::sphere(1.0, subdivisions(around))),
            &s.semi_axes(),
        ),
        Shape::Cone(s) => {
            let mut out = vec![Point3::new(0.0, 0.0, s.half_height())];
            out.extend((0..around).map(|i| {
                let (sin, cos) =
                    (std::f64::consts::TAU * f64::from(i) / f64::from(around)).sin_cos();
                Point3::new(s.radius() * cos, s.radius() * sin, -s.half_height())
            }));
            out
        }
        Shape::ConvexHull(s) => s.vertices().to_vec(),
        Shape::Mesh(s) => s.vertices().to_vec(),
        _ => Vec::new(),
    }
}

/// An icosahedron subdivided k times has 5·2^k vertices on a great circle through its own.
fn subdivisions(around: u32) -> u32 {
    (f64::from(around) / 5.0).log2().round().clamp(0.0, 6.0) as u32
}

fn stretched(points: Vec<Point3<f64>>, axes: &Vector3<f64>) -> Vec<Point3<f64>> {
    points
        .into_iter()
        .map(|p| Point3::from(p.coords.component_mul(axes)))
        .collect()
}

#[cfg(test)]
mod tests {
    use nalgebra::Vector2;

    use super::*;

    #[test]
    fn particles_lie_on_the_surface() {
        let shapes = [
            Shape::sphere(0.3),
            Shape::cuboid(Vector3::new(0.2, 0.4, 0.6)),
            Shape::cylinder(0.2, 0.7),
            Shape::elliptic_cylinder(Vector2::new(0.4, 0.1), 0.5),
            Shape::capsule(0.15, 0.4),
            Shape::ellipsoid(Vector3::new(0.3, 0.2, 0.4)),
            Shape::cone(0.25, 0.6),
        ];
        for shape in shapes {
            let shape = shape.expect("legal sizes");
            let particles = particles_of(&shape, 40);
            assert!(particles.len() >= 8, "{}", shape.name());
            for p in particles {
                let phi = shape.signed_distance(&p).value;
                assert!(phi.abs() < 1e-12, "{}: {phi:e}", shape.name());
            }
        }
        assert!(particles_of(&Shape::half_space(), 40).is_empty());
    }
}
