//! Inertia of a mesh at unit density, by the rules of MuJoCo's attribute `inertia`.

use nalgebra::{Matrix3, Point3, Vector3};
use pliant_hydroelastic::Shape;

use crate::inertia::SpatialInertia;

/// How the solid of a mesh is defined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MeshSolid {
    /// The inside of a closed surface.
    Exact,
    /// The union of the tetrahedra between the triangles and the centre, each counted as positive: MuJoCo's default. It is
    /// exact for shapes that are star-shaped about their centre, and too heavy for others.
    Legacy,
    /// The convex hull.
    Convex,
    /// The surface; densities are kg/m².
    Shell,
}

/// The inertia of the solid at 1 kg/m³, of a shell at 1 kg/m², in the frame of the mesh.
///
/// # Errors
/// A message if the mesh encloses no volume.
pub(crate) fn unit_density(
    vertices: &[Vector3<f64>],
    triangles: &[[u32; 3]],
    solid: MeshSolid,
) -> Result<SpatialInertia, String> {
    if solid == MeshSolid::Convex {
        let points: Vec<Point3<f64>> = vertices.iter().map(|v| Point3::from(*v)).collect();
        let hull = Shape::convex_hull(&points).map_err(|error| error.to_string())?;
        let properties = hull
            .mass_properties(1.0)
            .map_err(|error| error.to_string())?;
        return Ok(SpatialInertia::new(
            properties.mass,
            properties.center.coords,
            properties.inertia,
        ));
    }
    let at = |triangle: &[u32; 3]| triangle.map(|corner| vertices[corner as usize]);
    let corners = || triangles.iter().map(at);
    if solid == MeshSolid::Shell {
        return shell(corners());
    }
    // Once about the centroid of the surface to find the centre of mass, then about that.
    let about_surface = tetrahedra(corners(), surface_centroid(corners()), solid);
    let volume = about_surface.volume;
    if !(volume > 0.0 && volume.is_finite()) {
        let text = format!(
            "encloses a volume of {volume} m³, which must be positive to have a mass; check the order of its triangles, or give the body an <inertial>"
        );
        return Err(text);
    }
    let com = about_surface.centroid;
    let solid = tetrahedra(corners(), com, solid);
    let rotational = Matrix3::identity() * solid.second.trace() - solid.second;
    Ok(SpatialInertia::new(solid.volume, com, rotational))
}

/// Moments of tetrahedra with a common corner.
struct Moments {
    volume: f64,
    centroid: Vector3<f64>,
    /// ∫ x xᵀ dV about the common corner.
    second: Matrix3<f64>,
}

fn tetrahedra(
    triangles: impl Iterator<Item = [Vector3<f64>; 3]>,
    corner: Vector3<f64>,
    solid: MeshSolid,
) -> Moments {
    let (mut volume, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
    for triangle in triangles {
        let [a, b, c] = triangle.map(|x| x - corner);
        let signed = a.dot(&b.cross(&c)) / 6.0;
        let v = match solid {
            MeshSolid::Exact => signed,
            _ => signed.abs(),
        };
        let sum = a + b + c;
        volume += v;
        first += sum * (v / 4.0);
        // ∫ x xᵀ over a tetrahedron with one corner at the origin.
        let squares = a * a.transpose() + b * b.transpose() + c * c.transpose();
        second += (squares + sum * sum.transpose()) * (v / 20.0);
    }
    Moments {
        volume,
        centroid: corner + first / volume,
        second,
    }
}

/// The inertia of a surface at 1 kg/m².
fn shell(
    triangles: impl Iterator<Item = [Vector3<f64>; 3]> + Clone,
) -> Result<SpatialInertia, String> {
    let com = surface_centroid(triangles.clone());
    let (mut area, mut second) = (0.0, Matrix3::zeros());
    for triangle in triangles {
        let [a, b, c] = triangle.map(|x| x - com);
        let own = 0.5 * (b - a).cross(&(c - a)).norm();
        let sum = a + b + c;
        // ∫ x xᵀ over a triangle.
        let squares = a * a.transpose() + b * b.transpose() + c * c.transpose();
        second += (squares + sum * sum.transpose()) * (own / 12.0);
        area += own;
    }
    if !(area > 0.0 && area.is_finite()) {
        return Err(format!("has an area of {area} m², which must be positive"));
    }
    let rotational = Matrix3::identity() * second.trace() - second;
    Ok(SpatialInertia::new(area, com, rotational))
}

fn surface_centroid(triangles: impl Iterator<Item = [Vector3<f64>; 3]>) -> Vector3<f64> {
    let (mut area, mut first) = (0.0, Vector3::zeros());
    for [a, b, c] in triangles {
        let twice = (b - a).cross(&(c - a)).norm();
        area += twice;
        first += (a + b + c) * (twice / 3.0);
    }
    first / area
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The surface of a box, its corner at `at`.
    fn cuboid(at: Vector3<f64>, size: Vector3<f64>) -> (Vec<Vector3<f64>>, Vec<[u32; 3]>) {
        let corner = |k: u32| {
            let bit = |axis: u32| f64::from((k >> axis) & 1);
            at + size.component_mul(&Vector3::new(bit(0), bit(1), bit(2)))
        };
        let faces = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let halves = |[a, b, c, d]: [u32; 4]| [[a, b, c], [a, c, d]];
        (
            (0..8).map(corner).collect(),
            faces.into_iter().flat_map(halves).collect(),
        )
    }

    #[test]
    fn a_box_has_the_same_inertia_by_all_rules() {
        let size = Vector3::new(0.4, 0.2, 0.1);
        let at = Vector3::new(1.0, -2.0, 0.5);
        let (vertices, triangles) = cuboid(at, size);
        let expected = SpatialInertia::solid_box(size.product(), size);
        for solid in [MeshSolid::Exact, MeshSolid::Legacy, MeshSolid::Convex] {
            let found = unit_density(&vertices, &triangles, solid).expect("a solid");
            assert!((found.mass - expected.mass).abs() < 1e-15, "{solid:?}");
            assert!((found.com - at - size / 2.0).norm() < 1e-12, "{solid:?}");
            assert!(
                (found.rotational - expected.rotational).norm() < 1e-15,
                "{solid:?}"
            );
        }
    }

    #[test]
    fn a_shell_has_the_inertia_of_its_six_plates() {
        let size = Vector3::new(0.4, 0.2, 0.1);
        let at = Vector3::new(1.0, -2.0, 0.5);
        let (vertices, triangles) = cuboid(at, size);
        let found = unit_density(&vertices, &triangles, MeshSolid::Shell).expect("a surface");
        // Thin plates, moved by half of the size across them.
        let mut expected = Matrix3::zeros();
        for axis in 0..3 {
            let plate = Vector3::from_fn(|k, _| if k == axis { 0.0 } else { size[k] });
            let area = size.product() / size[axis];
            let across = Vector3::from_fn(|k, _| if k == axis { size[k] / 2.0 } else { 0.0 });
            let moved = Matrix3::identity() * across.norm_squared() - across * across.transpose();
            let own = SpatialInertia::solid_box(area, plate).rotational;
            expected += 2.0 * (own + moved * area);
        }
        let area = 2.0 * (0.4 * 0.2 + 0.2 * 0.1 + 0.1 * 0.4);
        assert!((found.mass - area).abs() < 1e-15);
        assert!((found.com - at - size / 2.0).norm() < 1e-12);
        assert!((found.rotational - expected).norm() < 1e-15, "{found:?}");
    }

    #[test]
    fn a_hollow_box_is_lighter_exactly_and_heavier_by_the_default_rule() {
        let (mut vertices, mut triangles) = cuboid(Vector3::zeros(), Vector3::repeat(1.0));
        let (inner, reversed) = cuboid(Vector3::repeat(0.25), Vector3::repeat(0.5));
        vertices.extend(inner);
        triangles.extend(reversed.iter().map(|[a, b, c]| [a + 8, c + 8, b + 8]));
        let mass = |solid| {
            unit_density(&vertices, &triangles, solid)
                .expect("a solid")
                .mass
        };
        assert!((mass(MeshSolid::Exact) - 0.875).abs() < 1e-15);
        assert!((mass(MeshSolid::Legacy) - 1.125).abs() < 1e-15);
        assert!((mass(MeshSolid::Convex) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_surface_that_is_inside_out_has_no_exact_solid() {
        let (vertices, mut triangles) = cuboid(Vector3::zeros(), Vector3::repeat(1.0));
        triangles.iter_mut().for_each(|t| t.swap(1, 2));
        let error = unit_density(&vertices, &triangles, MeshSolid::Exact).expect_err("negative");
        assert!(error.contains("-1 m³"), "{error}");
    }
}
