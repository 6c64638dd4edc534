//! Where a plane cuts a tetrahedron.
//!
//! Planes often pass exactly through vertices, edges and faces of a mesh: two equal bodies on one axis are enough. Then
//! neighbouring tetrahedra must agree on which of them has the polygon. Values at the vertices decide, as they are the
//! same for all tetrahedra at a vertex; one within round-off of zero counts as negative. A polygon in a shared face
//! therefore belongs to the tetrahedron on the positive side, and to no other. Where the function vanishes in whole
//! tetrahedra (next to the sides of two equal boxes, one exactly above the other), it changes sign where they end on the
//! positive side.

use nalgebra::Vector3;

use super::polygon::{ON_FACE, Polygon};
use crate::field::{Affine, OUTSIDE, PressureField};
use crate::patch_geometry::Slab;

/// Values up to this fraction of the largest terms of a linear function count as zero: well above their round-off, and
/// too small to move the rim of a patch on a field much stiffer than its partner.
const AT_ZERO: f64 = 1e-13;

/// Edges up to this fraction of the scale are too short for a direction.
const SHORT: f64 = 1e-13;

/// The polygon on which a linear function vanishes in a tetrahedron. It may be a corner or an edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice {
    pub(crate) polygon: Polygon,
    /// Whether it counts: a polygon in a shared face does so in one of the two tetrahedra.
    pub(crate) counts: bool,
}

impl Slice {
    /// The zero set of the linear function with values `h` at the corners of a tetrahedron. Face k of the tetrahedron is
    /// face k of the polygon, whose orientation is arbitrary.
    ///
    /// `across`: the neighbours; absolute values up to `zero` count as zero. `None` without a zero, or if the function
    /// vanishes everywhere.
    pub(crate) fn of(
        corners: &[Vector3<f64>; 4],
        h: &[f64; 4],
        across: &[u32; 4],
        zero: f64,
    ) -> Option<Self> {
        let (mut above, mut below, mut on) = ([0; 4], [0; 4], [0; 4]);
        let (mut n_above, mut n_below, mut n_on) = (0, 0, 0);
        for (i, &height) in h.iter().enumerate() {
            if height > zero {
                above[n_above] = i;
                n_above += 1;
            } else if height < -zero {
                below[n_below] = i;
                n_below += 1;
            } else {
                on[n_on] = i;
                n_on += 1;
            }
        }
        if n_on == 0 && (n_above == 0 || n_below == 0) || n_on == 4 {
            return None;
        }
        let mut polygon = Polygon::EMPTY;
        for &i in &on[..n_on] {
            polygon.push(corners[i], 0b1111 & !(1 << i));
        }
        let mut cross = |i: usize, j: usize| {
            let t = h[i] / (h[i] - h[j]);
            let x = corners[i] + (corners[j] - corners[i]) * t;
            polygon.push(x, 0b1111 & !(1 << i) & !(1 << j));
        };
        // Consecutive crossings share a corner, so that the four of a two-two split are in cyclic order.
        for (k, &i) in above[..n_above].iter().enumerate() {
            for l in 0..n_below {
                let j = if k == 0 { l } else { n_below - 1 - l };
                cross(i, below[j]);
            }
        }
        let owned = n_above > 0 || across[below[0]] == OUTSIDE;
        let counts = polygon.corners().len() >= 3 && owned;
        Some(Self { polygon, counts })
    }
}

/// Lengths and pressures relative to which those of a pair are small.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Scale {
    /// m.
    pub(crate) length: f64,
    /// Absolute values of the cutting function up to this count as zero; in its unit.
    pub(crate) zero: f64,
}

impl Scale {
    /// Of the difference of two pressures.
    pub(crate) fn of_fields(first: &PressureField, second: &PressureField) -> Self {
        let slopes = first.slope() + second.slope();
        Self {
            length: first.depth().min(second.depth()),
            zero: AT_ZERO * slopes * (first.reach() + second.reach()),
        }
    }

    /// Of the difference of the pressures of a field and a compliant half space.
    pub(crate) fn of_slab(field: &PressureField, slab: &Slab) -> Self {
        Self {
            length: field.depth().min(slab.thickness()),
            zero: AT_ZERO * (field.slope() + slab.stiffness()) * field.reach(),
        }
    }

    /// Of heights above a rigid surface of this extent (m).
    pub(crate) fn of_heights(field: &PressureField, extent: f64) -> Self {
        Self {
            length: field.depth().min(extent),
            zero: AT_ZERO * field.reach(),
        }
    }
}

/// The part of a plane triangle in a tetrahedron of a field, with the triangle's edges as faces 4 to 6. `normal`: of the
/// triangle; zero without area.
///
/// `None` where they do not touch.
pub(crate) fn in_tetrahedron(
    triangle: &[Vector3<f64>; 3],
    normal: &Vector3<f64>,
    (field, i): (&PressureField, u32),
    scale: &Scale,
) -> Option<Slice> {
    let (tet, corners) = (field.functions_of(i), field.corner_points(i));
    let mut polygon = Polygon::triangle(triangle);
    if polygon.lies_beyond(&tet.sides) {
        return None;
    }
    let mut counts = false;
    if *normal != Vector3::zeros() {
        let h = corners.map(|x| normal.dot(&(x - triangle[0])));
        let slice = Slice::of(&corners, &h, field.across(i), scale.zero)?;
        counts = slice.counts;
        if counts {
            let remains = polygon.clip_to_polygon(&slice.polygon, normal, scale.length);
            return remains.then_some(Slice { polygon, counts });
        }
    }
    let remains = polygon.clip_to(&tet.sides, 0);
    remains.then_some(Slice { polygon, counts })
}

impl Polygon {
    /// Clips to another polygon in the same plane. `normal`: of the plane, of any length; `length`: scale of the
    /// tolerance, m. Returns whether anything remains.
    pub(crate) fn clip_to_polygon(
        &mut self,
        other: &Self,
        normal: &Vector3<f64>,
        length: f64,
    ) -> bool {
        let inwards = match other.area_vector().dot(normal) >= 0.0 {
            true => *normal,
            false => -normal,
        };
        let shortest = SHORT * length * normal.norm();
        let n = other.corners().len();
        for i in 0..n {
            let j = if i + 1 == n { 0 } else { i + 1 };
            let (from, to) = (other.corners()[i], other.corners()[j]);
            let across = inwards.cross(&(to - from));
            let size = across.norm();
            if size <= shortest {
                continue;
            }
            let gradient = across / (size * length);
            let side = Affine {
                gradient,
                offset: -gradient.dot(&from),
            };
            if !self.clip(&side, other.mask(i) & other.mask(j)) {
                return false;
            }
        }
        self.mark(other.common_faces());
        true
    }

    /// Whether it lies entirely beyond one of the faces.
    pub(crate) fn lies_beyond(&self, sides: &[Affine; 4]) -> bool {
        let beyond = |side: &Affine| self.corners().iter().all(|x| side.at(x) < -ON_FACE);
        sides.iter().any(beyond)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Tetrahedron;
    use crate::test_support::{random_point, random_tet};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn a_slice_lies_in_the_plane_and_in_the_faces_that_its_mask_names() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut counts = [0; 5];
        for _ in 0..500 {
            let x = random_tet(&mut rng);
            let plane = Affine {
                gradient: random_point(&mut rng),
                offset: rng.random_range(-0.3..0.3),
            };
            let Some(slice) = Slice::of(&x, &x.map(|c| plane.at(&c)), &[0; 4], 1e-13) else {
                counts[0] += 1;
                continue;
            };
            let polygon = slice.polygon;
            assert!(slice.counts);
            counts[polygon.corners().len()] += 1;
            let tet = Tetrahedron::new(&x, &[0.0; 4]);
            for (i, c) in polygon.corners().iter().enumerate() {
                assert!(plane.at(c).abs() < 1e-12);
                for k in 0..4 {
                    let height = tet.sides[k].at(c);
                    assert!(height > -1e-12);
                    assert_eq!(polygon.mask(i) >> k & 1 == 1, height < 1e-9, "{height}");
                }
            }
            if polygon.corners().len() == 4 {
                // Convex and in order: every corner has the same orientation.
                let normal = polygon.area_vector();
                for i in 0..4 {
                    let c = |j: usize| polygon.corners()[(i + j) % 4];
                    assert!((c(1) - c(0)).cross(&(c(2) - c(1))).dot(&normal) > 0.0);
                }
            }
        }
        assert!(
            counts[0] > 20 && counts[3] > 20 && counts[4] > 20,
            "{counts:?}"
        );
    }

    #[test]
    fn a_slice_through_a_face_counts_in_the_tetrahedron_on_the_positive_side() {
        let x = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
        for top in [1.0, -1.0] {
            let face = Slice::of(&x, &[0.0, 1e-14, -1e-14, top], &[0; 4], 1e-13).unwrap();
            let polygon = face.polygon;
            assert_eq!(
                (polygon.corners().len(), polygon.common_faces()),
                (3, 0b1000)
            );
            assert_eq!(face.counts, top > 0.0);
            let on_skin = Slice::of(&x, &[0.0, 0.0, 0.0, top], &[0, 0, 0, OUTSIDE], 1e-13);
            assert!(on_skin.unwrap().counts);
        }
        let edge = Slice::of(&x, &[0.0, 0.0, 1.0, 1.0], &[0; 4], 1e-13).unwrap();
        assert_eq!((edge.polygon.corners().len(), edge.counts), (2, false));
        assert!(Slice::of(&x, &[0.0; 4], &[0; 4], 1e-13).is_none());
    }

    /// In one plane and in one tilted by less than round-off of its clipping: the two parts of a triangle in a face
    /// shared by two tetrahedra add up to it.
    #[test]
    fn a_triangle_in_or_near_a_shared_face_counts_once() {
        let apices = [Vector3::z(), -Vector3::z() * 0.1];
        let mut vertices = vec![Vector3::zeros(), Vector3::x(), Vector3::y()];
        vertices.extend(apices);
        let mesh = crate::mesh::TetMesh::assemble(vertices, &[[0, 1, 2, 3], [0, 2, 1, 4]]);
        let field = PressureField::from_vertex_pressures(&mesh, &[0.0, 0.0, 0.0, 1.0, 1.0]);
        let field = field.unwrap();
        let scale = Scale::of_heights(&field, f64::INFINITY);
        for height in [0.0, 1e-16, 1e-14, 1e-13, 1e-12, 3e-11, 1e-10, 3e-10, 1e-9] {
            for (shift, tilt) in [(1.0, 0.0), (-1.0, 0.0), (-0.3, 1.0), (0.0, -1.0)] {
                let at =
                    |x: f64, y: f64| Vector3::new(x, y, height * (shift + 4.0 * tilt * (x - 0.3)));
                let triangle = [at(0.1, 0.1), at(0.6, 0.2), at(0.2, 0.6)];
                let normal = (triangle[1] - triangle[0]).cross(&(triangle[2] - triangle[0]));
                let mut sum = 0.0;
                for i in 0..2 {
                    let found = in_tetrahedron(&triangle, &normal.normalize(), (&field, i), &scale);
                    if let Some(part) = found.filter(|part| part.counts) {
                        sum += part.polygon.area_vector().norm();
                    }
                }
                let whole = 0.5 * normal.norm();
                assert!(
                    (sum - whole).abs() < 1e-8 * whole,
                    "{height} {shift} {tilt}: {}",
                    sum / whole
                );
            }
        }
    }
}
