//! Representation of a plane piece by a few points with the same force, moment, rotational stiffness and friction torque.

use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

use crate::patch::polygon::Moments;
use crate::patch::polygon::Sign;

/// A group whose second moment is less than this fraction of the patch's is one point, from twice that on three; in
/// between, the three points separate continuously.
const SMALL_GROUP: f64 = 0.01;

/// A group whose second moment is more than this fraction of the patch's may need two points on each spoke, from twice
/// that on fully: the friction torque of a smaller one depends on its distance from the centre of the patch.
const CENTRAL_GROUP: f64 = 0.1;

/// Closer points on a spoke (as a part of their mean distance from the centroid) are one.
const SPREAD_MIN: f64 = 0.05;

/// Points in one piece.
pub(crate) const POINTS_MAX: usize = 6;

/// Parts of a spoke's area at its inner and its outer point: the weights of the two-point Gauss rule on the radius of a
/// disk, so that the mean of 1/r, on which the friction of a spinning disk against slow translation depends, is exact too.
const PARTS: [f64; 2] = [0.211_324_865_405_187_1, 0.788_675_134_594_812_9];

/// Up to six points that represent a plane piece of a patch under a linear pressure.
#[derive(Clone, Copy)]
pub(crate) struct PiecePoints {
    pub(crate) count: u32,
    /// Fraction of the area at each point.
    pub(crate) parts: [f64; POINTS_MAX],
    /// From the centroid to the points.
    pub(crate) offsets: [Vector3<f64>; POINTS_MAX],
    /// From the centroid to the positions whose pressure the points have.
    pub(crate) arms: [Vector3<f64>; POINTS_MAX],
}

/// What determines the points besides the moments of the area.
pub(crate) struct PieceLoad<'a> {
    pub(crate) normal: &'a Vector3<f64>,
    /// Gradient of the pressure, Pa/m.
    pub(crate) gradient: &'a Vector3<f64>,
    /// Pressure at the centroid, Pa.
    pub(crate) mean: f64,
    pub(crate) sign: Sign,
    /// Trace of the second moment of the patch, m⁴.
    pub(crate) extent: f64,
}

impl PieceLoad<'_> {
    fn part_of_patch(&self, m: &Moments) -> f64 {
        m.second.trace() / self.extent
    }

    /// Whether the mean distance from the centroid has an influence.
    pub(crate) fn is_central(&self, m: &Moments) -> bool {
        self.sign == Sign::Loaded && self.part_of_patch(m) > CENTRAL_GROUP
    }
}

impl PiecePoints {
    /// Three spokes about the centroid with the second moments of the area, and the friction torque of its
    /// `mean_radius` (m, of the distance from the centroid; `None` if not known); a single point if the area is small
    /// compared with the patch.
    ///
    /// With the arms v of three equal points that have the second moments, the points at s₁v and s₂v, of parts w₁ and
    /// w₂, satisfy
    ///
    /// ```text
    /// w₁s₁² + w₂s₂² = 1        (w₁s₁ + w₂s₂) mean ‖v‖ = mean ‖x − c‖
    /// ```
    pub(crate) fn of(m: &Moments, load: &PieceLoad<'_>, mean_radius: Option<f64>) -> Self {
        let part = load.part_of_patch(m);
        let fraction = |from: f64| ((part - from) / from).clamp(0.0, 1.0).max(0.0);
        let mut separation = fraction(SMALL_GROUP);
        let second = m.second / m.area;
        let mut points = Self {
            count: 1,
            parts: [1.0; POINTS_MAX],
            offsets: [Vector3::zeros(); POINTS_MAX],
            arms: [Vector3::zeros(); POINTS_MAX],
        };
        if separation > 0.0 {
            points.place(
                &spokes(load.normal, &second),
                mean_radius,
                fraction(CENTRAL_GROUP),
            );
        }
        // A group in contact must have points with positive pressure only: points beyond a rim would pull on one side
        // and push too much on the other.
        let (mean, gradient) = (load.mean, load.gradient);
        let count = points.count as usize;
        for arm in &points.arms[..count] {
            let change = gradient.dot(arm);
            if mean * (mean + separation * change) < 0.0 {
                separation = -mean / change;
            }
        }
        // The moment not represented by the arms is represented by shifting all points towards the centre of pressure.
        let shift = match load.sign {
            Sign::Loaded if mean > 0.0 => {
                second * gradient * ((1.0 - separation * separation) / mean)
            }
            _ => Vector3::zeros(),
        };
        for k in 0..count {
            points.arms[k] *= separation;
            points.offsets[k] = points.arms[k] + shift;
        }
        points
    }

    /// Places one or two points on each spoke.
    fn place(&mut self, spokes: &[Vector3<f64>; 3], mean_radius: Option<f64>, fraction: f64) {
        let [w_1, w_2] = PARTS;
        let of_spokes = spokes.iter().map(Vector3::norm).sum::<f64>() / 3.0;
        let mean = mean_radius.map_or(1.0, |r| (r / of_spokes).min(1.0));
        // s₂ − s₁; at most such that the inner points are at the centroid.
        let spread = fraction * ((1.0 - mean * mean) / (w_1 * w_2)).sqrt();
        let spread = spread.min(1.0 / w_2.sqrt());
        if spread.is_nan() || spread <= SPREAD_MIN {
            self.count = 3;
            self.parts = [1.0 / 3.0; POINTS_MAX];
            self.arms[..3].copy_from_slice(spokes);
            return;
        }
        self.count = 6;
        let mean = (1.0 - w_1 * w_2 * spread * spread).sqrt();
        for (k, spoke) in spokes.iter().enumerate() {
            self.arms[k] = spoke * (mean + w_1 * spread);
            self.arms[3 + k] = spoke * (mean - w_2 * spread);
            (self.parts[k], self.parts[3 + k]) = (w_2 / 3.0, w_1 / 3.0);
        }
    }
}

/// The arms of three equal points with the second moment `second` (m², of a unit area) perpendicular to the normal. The
/// first lies along the longest axis: a gradient of the pressure across it then leaves the friction torque unchanged.
fn spokes(normal: &Vector3<f64>, second: &Matrix3<f64>) -> [Vector3<f64>; 3] {
    /// Differences of the two second moments, relative to their sum, below which neither axis is the longer one: well
    /// above their round-off.
    const ROUND: f64 = 1e-9;
    let [t1, t2] = tangents(normal);
    let (s1, s2) = (second * t1, second * t2);
    let flat = Matrix2::new(t1.dot(&s1), t1.dot(&s2), t2.dot(&s1), t2.dot(&s2));
    let root = square_root(&flat) * std::f64::consts::SQRT_2;
    let double = Vector2::new(
        flat.m11 - flat.m22 + ROUND * flat.trace(),
        flat.m12 + flat.m21,
    );
    let (sin, cos) = (0.5 * double.y.atan2(double.x)).sin_cos();
    let turn = Matrix2::new(cos, -sin, sin, cos);
    let half_root_3 = 0.75_f64.sqrt();
    let third = Matrix2::new(-0.5, -half_root_3, half_root_3, -0.5);
    let first = turn * Vector2::x();
    [first, third * first, third * (third * first)].map(|u| {
        let u = root * u;
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

    fn moments(a: f64, b: f64) -> Moments {
        let area = a * b;
        Moments {
            area,
            centroid: Vector3::zeros(),
            second: Matrix3::from_diagonal(&Vector3::new(a * a, b * b, 0.0)) * (area / 12.0),
        }
    }

    fn flat(m: &Moments, mean_radius: Option<f64>) -> PiecePoints {
        let load = PieceLoad {
            normal: &Vector3::z(),
            gradient: &Vector3::zeros(),
            mean: 1.0,
            sign: Sign::Loaded,
            extent: m.second.trace(),
        };
        PiecePoints::of(m, &load, mean_radius)
    }

    fn mean_radius(points: &PiecePoints) -> f64 {
        let arms = points.arms[..points.count as usize].iter();
        arms.zip(&points.parts)
            .map(|(x, part)| part * x.norm())
            .sum()
    }

    #[test]
    fn a_line_has_the_mean_distance_of_a_quarter_of_its_length() {
        for m in [moments(2.0, 1e-6), moments(1e-6, 2.0)] {
            assert!((mean_radius(&flat(&m, Some(0.5))) - 0.5).abs() < 1e-5);
        }
    }

    /// Mean distance in a square of side 1: (√2 + ln(1 + √2))/6. In a disk of radius 1: 2/3; second moment 1/4.
    #[test]
    fn squares_and_disks_have_their_second_moments_and_mean_distances() {
        let of_square = (2.0_f64.sqrt() + (1.0 + 2.0_f64.sqrt()).ln()) / 6.0;
        let disk_side = 3.0_f64.sqrt();
        for (m, radius) in [
            (moments(1.0, 1.0), of_square),
            (moments(disk_side, disk_side), 2.0 / 3.0),
        ] {
            let points = flat(&m, Some(radius));
            assert_eq!(points.count, 6);
            assert!((mean_radius(&points) - radius).abs() < 1e-12);
            let mut second = Matrix3::zeros();
            for (x, part) in points.arms.iter().zip(&points.parts) {
                second += x * x.transpose() * *part;
            }
            assert!((second - m.second / m.area).norm() < 1e-12);
            assert!((points.parts.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

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
