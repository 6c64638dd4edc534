//! Swept tetrahedral meshes: a disc of triangles swept along a line gives a cylinder, around an axis a torus.

use std::f64::consts::{PI, TAU};

use nalgebra::Vector3;

use super::{positive, within};
use crate::mesh::error::MeshError;
use crate::mesh::options::TetOptions;
use crate::mesh::tet_mesh::TetMesh;

/// A cylinder of tetrahedra about the origin along z: `layers` of prisms, each divided into three tetrahedra.
///
/// `radius`, `half_length` in m. Its cross-section has a central vertex and `rings` rings about it, the k-th with
/// `sides` · k vertices: 1 + `sides` · `rings` (`rings` + 1)/2 vertices in all, inscribed in the circle.
///
/// # Errors
/// [`MeshError::Setting`] unless both lengths are positive, `sides` lies in 3..=64, `rings` in 1..=256 and `layers` in
/// 1..=4096.
pub fn tet_cylinder(
    radius: f64,
    half_length: f64,
    sides: u32,
    rings: u32,
    layers: u32,
) -> Result<TetMesh, MeshError> {
    positive("half length", half_length)?;
    within("layers", layers, 1, 4096)?;
    let disc = Disc::new(radius, sides, rings)?;
    let position = |[x, y]: [f64; 2], layer: u32| {
        let z = half_length * (2.0 * f64::from(layer) / f64::from(layers) - 1.0);
        Vector3::new(x, y, z)
    };
    disc.swept(layers + 1, layers, position)
}

/// A torus of tetrahedra about the origin around z: `segments` of prisms, each divided into three tetrahedra.
///
/// `major_radius` R from the centre to the centreline of the tube, `minor_radius` r of the tube, in m; r < R. The
/// tube's cross-section is that of [`tet_cylinder`]; the mesh has `segments` (1 + `sides` · `rings` (`rings` + 1)/2)
/// vertices. Four sides and one ring give a tube of square cross-section standing on its corner.
///
/// # Errors
/// [`MeshError::Setting`] unless 0 < r < R, `segments` lies in 3..=4096, `sides` in 3..=64 and `rings` in 1..=256.
///
/// ```
/// use pliant_hydroelastic::mesh::generate;
///
/// // A ring whose section has 1 + 6 vertices.
/// let ring = generate::tet_torus(0.3, 0.1, 40, 6, 1)?;
/// assert_eq!(ring.vertices().len(), 40 * 7);
/// assert!((ring.bounds().max.x - 0.4).abs() < 1e-15);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
pub fn tet_torus(
    major_radius: f64,
    minor_radius: f64,
    segments: u32,
    sides: u32,
    rings: u32,
) -> Result<TetMesh, MeshError> {
    positive("major radius", major_radius)?;
    positive("major radius - minor radius", major_radius - minor_radius)?;
    within("segments", segments, 3, 4096)?;
    let disc = Disc::new(minor_radius, sides, rings)?;
    let position = |[x, y]: [f64; 2], segment: u32| {
        let angle = TAU * f64::from(segment) / f64::from(segments);
        let distance = major_radius + x;
        Vector3::new(distance * angle.cos(), distance * angle.sin(), y)
    };
    disc.swept(segments, segments, position)
}

/// A disc of triangles about the origin: a central vertex, then ring by ring.
struct Disc {
    vertices: Vec<[f64; 2]>,
    triangles: Vec<[u32; 3]>,
}

impl Disc {
    fn new(radius: f64, sides: u32, rings: u32) -> Result<Self, MeshError> {
        positive("radius", radius)?;
        within("sides", sides, 3, 64)?;
        within("rings", rings, 1, 256)?;
        let mut vertices = vec![[0.0; 2]];
        let mut triangles = Vec::new();
        for ring in 1..=rings {
            let count = sides * ring;
            let inner_first = vertices.len() as u32 - (sides * (ring - 1)).max(1);
            let outer_first = vertices.len() as u32;
            let distance = radius * f64::from(ring) / f64::from(rings);
            for j in 0..count {
                // The first vertex is on the x axis; the corners of the sides have the same angles in every ring.
                let angle = 2.0 * PI * f64::from(j) / f64::from(count);
                vertices.push([distance * angle.cos(), distance * angle.sin()]);
            }
            let outer = |j: u32| outer_first + j % count;
            let inner = |i: u32| inner_first + i % (count - sides).max(1);
            for side in 0..sides {
                let (o, i) = (side * ring, side * (ring - 1));
                for k in 0..ring {
                    triangles.push([outer(o + k), outer(o + k + 1), inner(i + k)]);
                }
                for k in 0..ring - 1 {
                    triangles.push([outer(o + k + 1), inner(i + k + 1), inner(i + k)]);
                }
            }
        }
        Ok(Self {
            vertices,
            triangles,
        })
    }

    /// `slices` copies of the disc, with prisms in `gaps` of the gaps between successive copies (the last gap leads
    /// back to the first copy).
    ///
    /// The diagonal of a prism's side runs from its corner of lower index in this slice to the one of higher index in
    /// the next, so that neighbours conform, including around a ring.
    fn swept(
        &self,
        slices: u32,
        gaps: u32,
        position: impl Fn([f64; 2], u32) -> Vector3<f64>,
    ) -> Result<TetMesh, MeshError> {
        let size = self.vertices.len() as u32;
        let vertices: Vec<Vector3<f64>> = (0..slices)
            .flat_map(|slice| self.vertices.iter().map(move |v| (*v, slice)))
            .map(|(v, slice)| position(v, slice))
            .collect();
        let mut tets = Vec::with_capacity(3 * (gaps as usize) * self.triangles.len());
        for gap in 0..gaps {
            let (here, next) = (gap * size, (gap + 1) % slices * size);
            for triangle in &self.triangles {
                let mut corners = *triangle;
                corners.sort_unstable();
                let [a, b, c] = corners;
                for mut tet in [
                    [here + a, here + b, here + c, next + c],
                    [here + a, here + b, next + b, next + c],
                    [here + a, next + a, next + b, next + c],
                ] {
                    let [o, p, q, r] = tet.map(|v| vertices[v as usize]);
                    if (p - o).cross(&(q - o)).dot(&(r - o)) < 0.0 {
                        tet.swap(2, 3);
                    }
                    tets.push(tet);
                }
            }
        }
        Ok(TetMesh::build(vertices, tets, &TetOptions::default())?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts, connectivity, a manifold boundary of the given Euler number, and a volume that converges at second
    /// order.
    #[track_caller]
    fn check(make: impl Fn(u32) -> TetMesh, counts: [usize; 2], volume: f64, euler: i64) {
        let coarse = make(1);
        assert_eq!([coarse.vertices().len(), coarse.tets().len()], counts);
        let errors = [2, 4].map(|level| {
            let mesh = make(level);
            let (surface, _) = mesh.boundary_surface().unwrap();
            assert_eq!((mesh.component_count(), surface.euler_number()), (1, euler));
            assert!(mesh.min_quality().1 > 0.1, "{:?}", mesh.min_quality());
            volume - mesh.solid_moments().volume
        });
        let order = (errors[0] / errors[1]).log2();
        assert!((order - 2.0).abs() < 0.15, "order {order}, {errors:?}");
    }

    #[test]
    fn torus_of_the_chain_has_its_count_and_converges() {
        check(
            |k| tet_torus(0.3, 0.06, 60 * k, 4, k).unwrap(),
            [300, 720],
            2.0 * PI * PI * 0.3 * 0.06 * 0.06,
            0,
        );
    }

    #[test]
    fn cylinder_converges() {
        check(
            |k| tet_cylinder(0.2, 0.3, 6, 2 * k, 4 * k).unwrap(),
            [19 * 5, 24 * 3 * 4],
            PI * 0.04 * 0.6,
            2,
        );
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        assert!(tet_torus(0.1, 0.2, 60, 4, 1).is_err());
        assert!(tet_torus(0.3, 0.1, 2, 4, 1).is_err());
        assert!(tet_cylinder(0.3, 0.0, 4, 1, 1).is_err());
        assert!(tet_cylinder(0.3, 0.1, 4, 0, 1).is_err());
    }
}
