//! Representation of a plane piece by three points, or one, with the same force, moment and rotational stiffness.

use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

use crate::patch::polygon::Moments;
use crate::patch::polygon::Sign;

/// A group whose second moment is less than this fraction of the patch's is one point, from twice that on three; in
/// between, the three points separate continuously.
const SMALL_GROUP: f64 = 0.01;

/// Up to three points that represent a plane piece of a patch under a linear pressure.
pub(crate) struct PiecePoints {
    pub(crate) count: u32,
    /// From the centroid to the points.
    pub(crate) offsets: [Vector3<f64>; 3],
    /// From the centroid to the positions whose pressure the points have.
    pub(crate) arms: [Vector3<f64>; 3],
}

impl PiecePoints {
    /// Three points about the centroid with the second moments of the area, or a single one if it is small compared
    /// with a patch of second moment `extent` (trace, m⁴). `mean`, `gradient`: of the pressure, at the centroid.
    pub(crate) fn of(
        m: &Moments,
        normal: &Vector3<f64>,
        gradient: &Vector3<f64>,
        mean: f64,
        sign: Sign,
        extent: f64,
    ) -> Self {
        let part = m.second.trace() / extent;
        let mut piece_points = ((part - SMALL_GROUP) / SMALL_GROUP)
            .clamp(0.0, 1.0)
            .max(0.0);
        let second = m.second / m.area;
        let arms = match piece_points > 0.0 {
            true => arms_of(normal, &second),
            false => [Vector3::zeros(); 3],
        };
        // A group in contact must have points with positive pressure only: points beyond a rim would pull on one side
        // and push too much on the other.
        for arm in &arms {
            let change = gradient.dot(arm);
            if mean * (mean + piece_points * change) < 0.0 {
                piece_points = -mean / change;
            }
        }
        // The moment not represented by the arms is represented by shifting all points towards the centre of pressure.
        let shift = match sign {
            Sign::Loaded if mean > 0.0 => {
                second * gradient * ((1.0 - piece_points * piece_points) / mean)
            }
            _ => Vector3::zeros(),
        };
        let arms = arms.map(|arm| arm * piece_points);
        Self {
            count: if piece_points > 0.0 { 3 } else { 1 },
            offsets: arms.map(|arm| arm + shift),
            arms,
        }
    }
}

/// The arms of three equal points with the second moment `second` (m², of a unit area) perpendicular to the normal.
fn arms_of(normal: &Vector3<f64>, second: &Matrix3<f64>) -> [Vector3<f64>; 3] {
    let [t1, t2] = tangents(normal);
    let (s1, s2) = (second * t1, second * t2);
    let flat = Matrix2::new(t1.dot(&s1), t1.dot(&s2), t2.dot(&s1), t2.dot(&s2));
    let root = square_root(&flat) * std::f64::consts::SQRT_2;
    let half_root_3 = 0.75_f64.sqrt();
    [(1.0, 0.0), (-0.5, half_root_3), (-0.5, -half_root_3)].map(|(x, y)| {
        let u = root * Vector2::new(x, y);
        t1 * u.x + t2 * u.y
    })
}

/// Two unit vectors perpendicular to the normal; the same two for the opposite normal, so that exchanging A and B gives
/// the same points.
fn tangents(normal: &Vector3<f64>) -> [Vector3<f64>; 2] {
    let magnitude = normal.abs();
    let axis = Vector3::ith_axis(magnitude.imin()).into_inner();
    let t1 = (axis - normal * normal.dot(&axis)).normalize();
    let upward = if normal[magnitude.imax()] < 0.0 {
        -normal
    } else {
        *normal
    };
    [t1, upward.cross(&t1)]
}

/// S with S² = M for a symmetric M ⪰ 0: (M + √det I)/√(tr + 2√det), by Cayley and Hamilton.
fn square_root(m: &Matrix2<f64>) -> Matrix2<f64> {
    let root = m.determinant().max(0.0).sqrt();
    let scale = (m.trace() + 2.0 * root).max(0.0).sqrt();
    if scale > 0.0 {
        (m + Matrix2::identity() * root) / scale
    } else {
        Matrix2::zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn square_root_squares_back_also_for_a_line() {
        for m in [
            Matrix2::new(3.0, 1.0, 1.0, 2.0),
            Matrix2::new(4.0, 2.0, 2.0, 1.0),
            Matrix2::zeros(),
        ] {
            let s = square_root(&m);
            assert!((s * s - m).norm() < 1e-14);
        }
    }

    #[test]
    fn tangents_are_the_same_for_the_opposite_normal() {
        let n = Vector3::new(0.3, -0.9, 0.2).normalize();
        let [t1, t2] = tangents(&n);
        assert_eq!([t1, t2], tangents(&-n));
        assert!(t1.dot(&n).abs() < 1e-15 && t2.dot(&n).abs() < 1e-15 && t1.dot(&t2).abs() < 1e-15);
        assert!((t2.norm() - 1.0).abs() < 1e-15);
    }
}
