//! The particles of a rigid shape: points of its surface.
//!
//! Boxes have a grid on each face, convex hulls their corners, meshes their vertices, round shapes the vertices of a triangulation of their surface.
//! A half space and user-defined shapes have none. Corners alone would not do for boxes: those of a box that lies on an equal one are on the sides of
//! the other, which push them nowhere.

use nalgebra::{Point3, Vector3};
use pliant_hydroelastic::Shape;
use pliant_hydroelastic::mesh::{TriMesh, generate};

use super::settings::PenaltyForceSettings;

/// Particles in the shape's frame.
pub(super) fn particles_of(shape: &Shape, settings: &PenaltyForceSettings) -> Vec<Point3<f64>> {
    let around = settings.round_particles;
    let points = |mesh: &TriMesh| mesh.vertices().iter().map(|p| Point3::from(*p)).collect();
    let generated = |mesh: Result<TriMesh, _>| mesh.as_ref().map(points).unwrap_or_default();
    match shape {
        Shape::HalfSpace | Shape::Custom(_) => Vec::new(),
        Shape::Sphere(s) => generated(generate::sphere(s.radius(), subdivisions(around))),
        Shape::Box(s) => on_box(&s.half_extents(), settings.box_particles),
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

/// A grid with `n` points along each edge, without those inside; x runs fastest.
fn on_box(half: &Vector3<f64>, n: u32) -> Vec<Point3<f64>> {
    let last = n - 1;
    let at = |i: u32| 2.0 * f64::from(i) / f64::from(last) - 1.0;
    let is_end = |i: u32| i == 0 || i == last;
    let mut out = Vec::new();
    for k in 0..n {
        for j in 0..n {
            let row = (0..n).filter(|i| is_end(*i) || is_end(j) || is_end(k));
            out.extend(row.map(|i| {
                let place = Vector3::new(at(i), at(j), at(k));
                Point3::from(half.component_mul(&place))
            }));
        }
    }
    out
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
        let settings = PenaltyForceSettings::default();
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
            let particles = particles_of(&shape, &settings);
            assert!(particles.len() >= 8, "{}", shape.name());
            for p in particles {
                let phi = shape.signed_distance(&p).value;
                assert!(phi.abs() < 1e-12, "{}: {phi:e}", shape.name());
            }
        }
        assert!(particles_of(&Shape::half_space(), &settings).is_empty());
    }

    #[test]
    fn boxes_have_a_grid_on_every_face() {
        for n in 2..6 {
            let grid = on_box(&Vector3::new(0.1, 0.2, 0.3), n);
            let inside = (n - 2).pow(3);
            assert_eq!(grid.len() as u32, n.pow(3) - inside);
            let top = grid.iter().filter(|p| p.z == 0.3);
            assert_eq!(top.count() as u32, n * n);
        }
    }
}
