//! Axis-aligned bounding boxes.

use nalgebra::{Isometry3, Point3, Vector3};

/// An axis-aligned box. Infinite entries are allowed (half space); `min > max` means empty.
///
/// ```
/// use nalgebra::{Isometry3, Point3, Vector3};
/// use pliant_hydroelastic::Aabb;
///
/// // A cube of 2 m moves by 3 m along x: its box during the motion.
/// let cube = Aabb::from_half_extents(Point3::origin(), Vector3::repeat(1.0));
/// let swept = cube.swept(&Vector3::new(3.0, 0.0, 0.0));
/// assert_eq!((swept.min.x, swept.max.x), (-1.0, 4.0));
/// // Turned by 45° about z, it is √2 times as wide.
/// let turned = cube.transformed(&Isometry3::rotation(Vector3::z() * std::f64::consts::FRAC_PI_4));
/// assert!((turned.max.x - 2f64.sqrt()).abs() < 1e-15 && turned.max.z == 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Lower corner, m.
    pub min: Point3<f64>,
    /// Upper corner, m.
    pub max: Point3<f64>,
}

impl Aabb {
    /// The box that contains nothing; the neutral element of [`merged`](Self::merged).
    pub const EMPTY: Self = Self {
        min: Point3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
        max: Point3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
    };

    /// The box that contains everything.
    pub const ALL: Self = Self {
        min: Point3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
        max: Point3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
    };

    /// The box with the given centre (m) and half edge lengths (m).
    pub fn from_half_extents(center: Point3<f64>, half: Vector3<f64>) -> Self {
        Self {
            min: center - half,
            max: center + half,
        }
    }

    /// The smallest box around some points; [`EMPTY`](Self::EMPTY) without points.
    pub fn from_points<'a>(points: impl IntoIterator<Item = &'a Point3<f64>>) -> Self {
        points.into_iter().fold(Self::EMPTY, |b, p| b.with_point(p))
    }

    /// The smallest box that also contains `p`.
    pub fn with_point(&self, p: &Point3<f64>) -> Self {
        Self {
            min: self.min.inf(p),
            max: self.max.sup(p),
        }
    }

    /// The smallest box around both.
    pub fn merged(&self, other: &Self) -> Self {
        Self {
            min: self.min.inf(&other.min),
            max: self.max.sup(&other.max),
        }
    }

    /// The box grown by `distance` (m) on every side.
    pub fn inflated(&self, distance: f64) -> Self {
        let d = Vector3::repeat(distance);
        Self {
            min: self.min - d,
            max: self.max + d,
        }
    }

    /// The smallest box around this box during a straight translation by `displacement` (m).
    pub fn swept(&self, displacement: &Vector3<f64>) -> Self {
        let zero = Vector3::zeros();
        Self {
            min: self.min + displacement.inf(&zero),
            max: self.max + displacement.sup(&zero),
        }
    }

    /// The smallest box around this box expressed in another frame; `X_NB` maps this box's frame B into the new frame
    /// N.
    pub fn transformed(&self, X_NB: &Isometry3<f64>) -> Self {
        if !self.is_bounded() {
            return if self.is_empty() { *self } else { Self::ALL };
        }
        let center = X_NB * self.center();
        let rotation = X_NB.rotation.to_rotation_matrix();
        let half = rotation.matrix().abs() * self.half_extents();
        Self::from_half_extents(center, half)
    }

    /// Midpoint, m (meaningful for bounded boxes).
    pub fn center(&self) -> Point3<f64> {
        nalgebra::center(&self.min, &self.max)
    }

    /// Half edge lengths, m.
    pub fn half_extents(&self) -> Vector3<f64> {
        (self.max - self.min) * 0.5
    }

    /// Whether the point is in the box or on it.
    pub fn contains(&self, p: &Point3<f64>) -> bool {
        (0..3).all(|k| self.min[k] <= p[k] && p[k] <= self.max[k])
    }

    /// Whether the boxes share a point; touching counts.
    pub fn intersects(&self, other: &Self) -> bool {
        self.min.x <= other.max.x
            && other.min.x <= self.max.x
            && self.min.y <= other.max.y
            && other.min.y <= self.max.y
            && self.min.z <= other.max.z
            && other.min.z <= self.max.z
    }

    /// Whether both corners are finite.
    pub fn is_bounded(&self) -> bool {
        self.min
            .iter()
            .chain(self.max.iter())
            .all(|x| x.is_finite())
    }

    /// Whether the box contains no point.
    pub fn is_empty(&self) -> bool {
        self.min.x > self.max.x || self.min.y > self.max.y || self.min.z > self.max.z
    }
}
