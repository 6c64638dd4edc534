//! Rigid shapes as numbers for `signed_distance.wgsl`: a few sizes, or a table of a polyhedron or of samples.

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_hydroelastic::{ConvexHull, MeshShape, SampledShape, Shape};

use crate::error::GpuError;
use crate::mesh_tree::MeshTree;

/// Places in tables travel in f32, up to 1 << 24; objects have the rest.
const VECTORS_MAX: usize = 15 << 20;

/// A shape of the shaders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DeviceShape {
    /// Its number.
    pub(crate) number: u32,
    /// `size`; the first one of a shape with a table is its beginning within those of [`Shapes`].
    pub(crate) size: Vector3<f64>,
    /// Whether it has a table.
    pub(crate) has_table: bool,
}

/// The tables of the shapes that were met so far, one after another.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    known: Vec<(Shape, DeviceShape)>,
    vectors: Vec<[f32; 4]>,
}

impl Shapes {
    /// The tables.
    pub(crate) fn vectors(&self) -> &[[f32; 4]] {
        &self.vectors
    }

    /// The numbers of a shape. A table is made when its shape is met first.
    ///
    /// # Errors
    /// [`GpuError::Unsupported`] for a shape without a shader.
    pub(crate) fn of(&mut self, shape: &Shape) -> Result<DeviceShape, GpuError> {
        let sized = |number, size| {
            Ok(DeviceShape {
                number,
                size,
                has_table: false,
            })
        };
        match shape {
            Shape::HalfSpace => sized(0, Vector3::zeros()),
            Shape::Sphere(s) => sized(1, Vector3::new(s.radius(), 0.0, 0.0)),
            Shape::Box(s) => sized(2, s.half_extents()),
            Shape::Cylinder(s) => sized(3, Vector3::new(s.radius(), s.half_length(), 0.0)),
            Shape::Capsule(s) => sized(4, Vector3::new(s.radius(), s.half_length(), 0.0)),
            Shape::Ellipsoid(s) => sized(5, s.semi_axes()),
            Shape::EllipticCylinder(s) => sized(6, s.semi_axes().push(s.half_length())),
            Shape::Cone(s) => sized(7, Vector3::new(s.radius(), s.half_height(), 0.0)),
            Shape::ConvexHull(hull) => {
                self.with_table(shape, || (8, of_hull(hull), hull.faces().len()))
            }
            Shape::Mesh(mesh) => self.with_table(shape, || {
                let tree = MeshTree::new(mesh);
                (9, tree.vectors(mesh), tree.n_nodes())
            }),
            Shape::Custom(custom) if custom.as_any().is::<SampledShape>() => {
                let sampled = custom.as_any().downcast_ref();
                let sampled: &SampledShape = sampled.expect("its type was asked for");
                self.with_table(shape, || (10, of_samples(sampled), 0))
            }
            _ => Err(GpuError::unsupported(format!(
                "contact of particles with a {}",
                shape.name()
            ))),
        }
    }

    /// `make` gives number, table, and the second size.
    fn with_table(
        &mut self,
        shape: &Shape,
        make: impl FnOnce() -> (u32, Vec<[f32; 4]>, usize),
    ) -> Result<DeviceShape, GpuError> {
        if let Some((_, known)) = self.known.iter().find(|(other, _)| is_same(other, shape)) {
            return Ok(*known);
        }
        let (number, table, length) = make();
        let at = self.vectors.len();
        if at + table.len() > VECTORS_MAX {
            return Err(GpuError::unsupported(format!(
                "contact of particles with shapes whose tables have {} vectors, more than {VECTORS_MAX},",
                at + table.len()
            )));
        }
        let made = DeviceShape {
            number,
            size: Vector3::new(at as f64, length as f64, 0.0),
            has_table: true,
        };
        self.vectors.extend(table);
        self.known.push((shape.clone(), made));
        Ok(made)
    }
}

/// Whether two shapes are the same in memory.
fn is_same(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::ConvexHull(a), Shape::ConvexHull(b)) => Arc::ptr_eq(a, b),
        (Shape::Mesh(a), Shape::Mesh(b)) => Arc::ptr_eq(a, b),
        (Shape::Custom(a), Shape::Custom(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}

pub(crate) fn vector(x: &Vector3<f64>, last: f64) -> [f32; 4] {
    [x.x, x.y, x.z, last].map(|x| x as f32)
}

/// Faces, then the corners of each.
fn of_hull(hull: &ConvexHull) -> Vec<[f32; 4]> {
    let mut faces = Vec::new();
    let mut corners = Vec::new();
    for (f, face) in hull.faces().iter().enumerate() {
        let own = hull.face_vertices(f);
        let first = 2 * hull.faces().len() + corners.len();
        faces.push(vector(&face.normal, face.offset));
        faces.push([first as f32, own.len() as f32, 0.0, 0.0]);
        let places = own.iter().map(|v| hull.vertices()[*v as usize].coords);
        corners.extend(places.map(|x| vector(&x, 0.0)));
    }
    faces.extend(corners);
    faces
}

/// Origin and size of the grid, then its coefficients.
fn of_samples(sampled: &SampledShape) -> Vec<[f32; 4]> {
    let [x, y, z] = sampled.size().map(|n| n as f64);
    let mut table = vec![
        vector(&sampled.origin().coords, sampled.spacing()),
        vector(&Vector3::new(x, y, z), 0.0),
    ];
    table.extend(sampled.coefficients().chunks(4).map(|four| {
        let mut numbers = [0.0; 4];
        (numbers.iter_mut().zip(four)).for_each(|(to, c)| *to = *c as f32);
        numbers
    }));
    table
}

/// Corners and pseudo-normals of a triangle, as `polyhedra.wgsl` reads them.
pub(crate) fn of_triangle(mesh: &MeshShape, triangle: usize) -> [[f32; 4]; 10] {
    let corners = mesh.triangles()[triangle].map(|v| mesh.vertices()[v as usize].coords);
    let normals = mesh.pseudo_normals(triangle);
    let mut record = [[0.0; 4]; 10];
    let each = (corners.iter())
        .chain([&normals.face])
        .chain(&normals.edges)
        .chain(&normals.corners);
    for (to, x) in record.iter_mut().zip(each) {
        *to = vector(x, 0.0);
    }
    record
}

#[cfg(test)]
mod tests {
    use nalgebra::Point3;

    use super::*;

    fn corner_of_a_cube() -> Shape {
        let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        Shape::convex_hull(&corners.map(Point3::from)).expect("a tetrahedron")
    }

    #[test]
    fn a_polyhedron_has_one_table_however_often_it_is_met() {
        let (one, other) = (corner_of_a_cube(), corner_of_a_cube());
        let mut shapes = Shapes::default();
        let first = shapes.of(&one).expect("a hull");
        assert_eq!(shapes.of(&one.clone()).expect("the same"), first);
        // Four faces of two vectors, and three corners of each.
        assert_eq!(shapes.vectors().len(), 20);
        assert_eq!(shapes.of(&other).expect("another").size.x, 20.0);
    }
}
