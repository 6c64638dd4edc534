//! Internal edges: whether a contact is on the exposed surface of several shapes that lie flush, or between them.
//!
//! A ball of radius ρ that touches a shape T at p has its centre at c = p + ρ n. If a neighbour T' is nearer to c than T, the ball
//! cannot be there. It is moved out of T' until it clears T' by half of its radius:
//!
//! ```text
//!   wall: T continues above T'        flush: T ends at T'
//!          | T                              o c'
//!       o c'                              ↑
//!       ↑  |                        ------|--.--------
//!   ----|---                          T'  c  p  T
//!    T' c  p
//! ```
//!
//! If it still touches T, so can other shapes. On a ramp it does not, but the nearest point of T moves with the ball and the normal stays.
//! Beside an edge the normal turns by ℓ/ρ for a shift ℓ across it, where a round surface of radius R turns it by ℓ/(R + ρ). A step of up
//! to ρ/2 counts as flush.

use nalgebra::{Point3, Vector3};

use crate::posed::RigidShape;
use crate::{Aabb, Shape};

/// ρ, as a fraction of the size of the smaller shape.
const PROBE: f64 = 1e-4;
/// Clearance to which the ball is moved, in units of ρ.
const CLEARED: f64 = 1.5;
/// T' is nearer than T if it is nearer than ρ by more than this fraction.
const NEARER: f64 = 1e-9;
/// Turn of the normal beyond which the contact was at an edge: as a fraction of ℓ/ρ, and at most, rad.
const TURN: f64 = 0.25;
const TURN_MAX: f64 = 0.5;
/// Several neighbours may have to be cleared one after the other; a ball that never gets clear is between them.
const ROUNDS_MAX: usize = 8;
/// How often the distance at which a neighbour is examined is doubled, from ρ on.
const DOUBLINGS_MAX: usize = 12;

/// Whether `touched` can be touched at `p_W` (world, m) along the outward unit normal `normal_W`, which is false where `neighbours` cover
/// that part of its surface. A point off the surface stands for the nearest one on it.
///
/// `size` (m) is the size of the shape that touches it; steps of up to 1/20,000 of the smaller one of both count as flush. Neighbours are
/// the shapes that the touching shape also touches; a neighbour may be `touched` itself, if that is a mesh.
///
/// ```
/// use nalgebra::{Isometry3, Point3, Vector3};
/// use pliant_hydroelastic::{RigidShape, Shape, is_exposed};
///
/// // Two tiles of 0.1 m side by side, and a box that slides over them towards +x, 1 µm deep.
/// let tile = Shape::cuboid(Vector3::repeat(0.1))?;
/// let at = |x: f64, z: f64| RigidShape::at_rest(&tile, Isometry3::translation(x, 0.0, z));
/// let (p_W, normal_W) = (Point3::new(0.05, 0.0, 0.05 - 1e-6), -Vector3::x());
/// assert!(!is_exposed(&at(0.1, 0.0), &p_W, &normal_W, [at(0.0, 0.0)].into_iter(), 0.1));
/// // Were the second 1 mm higher, the box would hit it.
/// assert!(is_exposed(&at(0.1, 1e-3), &p_W, &normal_W, [at(0.0, 0.0)].into_iter(), 0.1));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[must_use]
pub fn is_exposed<'a>(
    touched: &RigidShape<'_>,
    p_W: &Point3<f64>,
    normal_W: &Vector3<f64>,
    neighbours: impl Iterator<Item = RigidShape<'a>> + Clone,
    size: f64,
) -> bool {
    let own = touched.shape.size();
    let rho = PROBE * if own > 0.0 { own.min(size) } else { size };
    let (phi, gradient) = distance(touched, p_W);
    let start = p_W - gradient * phi + normal_W * rho;
    let mut c = start;
    for _ in 0..ROUNDS_MAX {
        let Some((nearest, phi)) = nearest(neighbours.clone(), &c, (1.0 - NEARER) * rho) else {
            let moved = c - start;
            let across = (moved - normal_W * normal_W.dot(&moved)).norm();
            if across <= NEARER * rho {
                return true;
            }
            let (phi, gradient) = distance(touched, &c);
            let turn = (gradient - normal_W).norm();
            return phi <= rho || turn <= (TURN * across / rho).min(TURN_MAX);
        };
        c += way_out(&nearest, phi, &c, normal_W, rho);
    }
    false
}

/// Whether a face of the mesh `touched` within a thousandth of its size of `p_W` (world, m) faces `normal_W` to within 60°: contact there is
/// with that face, or with an edge or vertex beside it. False for other shapes.
///
/// ```
/// use nalgebra::{Isometry3, Point3, Vector3};
/// use pliant_hydroelastic::{RigidShape, Shape, is_faced};
///
/// // A corner of a cube: a slope faces (1, 1, 1), and the ground faces down.
/// let corners = [Point3::origin(), Point3::new(1.0, 0.0, 0.0), Point3::new(0.0, 1.0, 0.0), Point3::new(0.0, 0.0, 1.0)];
/// let solid = Shape::mesh(&corners, &[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])?;
/// let solid = RigidShape::at_rest(&solid, Isometry3::identity());
/// let below = Point3::new(0.2, 0.2, 0.0);
/// assert!(is_faced(&solid, &below, &-Vector3::z()));
/// assert!(!is_faced(&solid, &below, &Vector3::x()));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[must_use]
pub fn is_faced(touched: &RigidShape<'_>, p_W: &Point3<f64>, normal_W: &Vector3<f64>) -> bool {
    let Shape::Mesh(mesh) = touched.shape else {
        return false;
    };
    let p = touched.X_WG.inverse_transform_point(p_W);
    let normal = touched.X_WG.inverse_transform_vector(normal_W);
    let reach = 1e-3 * touched.shape.size();
    let mut found = false;
    mesh.triangles_in(&Aabb::from_points([&p]).inflated(reach), |t| {
        let n = mesh.normal(t);
        let above = n.dot(&(p - mesh.corners(t)[0]));
        found |= above.abs() <= reach && n.dot(&normal) > 0.5;
    });
    found
}

/// φ, m, and its gradient in the world.
type Distance = (f64, Vector3<f64>);

fn distance(shape: &RigidShape<'_>, p_W: &Point3<f64>) -> Distance {
    let local = shape
        .shape
        .signed_distance(&shape.X_WG.inverse_transform_point(p_W));
    (local.value, shape.X_WG.rotation * local.gradient)
}

/// The neighbour nearest to `p_W`, if it is nearer than `reach`.
fn nearest<'a>(
    neighbours: impl Iterator<Item = RigidShape<'a>>,
    p_W: &Point3<f64>,
    reach: f64,
) -> Option<(RigidShape<'a>, Distance)> {
    let all = neighbours.map(|n| (n, distance(&n, p_W)));
    all.filter(|(_, phi)| phi.0 < reach)
        .min_by(|x, y| x.1.0.total_cmp(&y.1.0))
}

/// The shift that takes a ball at `c` out of a neighbour.
///
/// Deep between two flush shapes the nearest surface of the neighbour is the one that they share, which leads out of neither. Further away
/// from that surface it is another one.
fn way_out(
    neighbour: &RigidShape<'_>,
    at_c: Distance,
    c: &Point3<f64>,
    normal_W: &Vector3<f64>,
    rho: f64,
) -> Vector3<f64> {
    let mut reach = rho;
    let (mut phi, mut gradient) = at_c;
    for _ in 0..DOUBLINGS_MAX {
        if gradient.dot(normal_W) > -0.5 {
            break;
        }
        reach *= 2.0;
        let further = distance(neighbour, &(c + normal_W * reach));
        if further.0 > 0.0 {
            break;
        }
        (phi, gradient) = further;
    }
    gradient * (CLEARED * rho - phi)
}

#[cfg(test)]
mod tests;
