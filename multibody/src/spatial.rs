//! Spatial vectors and inertias, in world axes about the origin of the body.
//!
//! From body to body only the reference point changes, not the axes. A shift costs one cross product, where a formulation
//! in link axes rotates every vector and inertia. A reference point on the body, not at the world origin, avoids loss of
//! accuracy far from the origin.

use nalgebra::{Matrix3, Vector3, Vector6};

/// Velocity of a frame, [ω; v]: angular velocity (rad/s) and velocity of the frame's origin (m/s).
///
/// The same pair holds accelerations (rad/s², m/s²); then `linear` is the *classical* acceleration of the origin, the
/// second derivative of its position, not Featherstone's spatial one.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_multibody::Twist;
///
/// // A wheel of 0.5 m that rolls at 2 m/s: where it touches the ground, it is at rest.
/// let hub = Twist { angular: Vector3::new(0.0, 4.0, 0.0), linear: Vector3::new(2.0, 0.0, 0.0) };
/// assert_eq!(hub.shifted(&Vector3::new(0.0, 0.0, -0.5)).linear, Vector3::zeros());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    /// Angular part ω, rad/s; of an acceleration α, rad/s².
    pub angular: Vector3<f64>,
    /// Linear part v, of the frame's origin, m/s; of an acceleration a, m/s².
    pub linear: Vector3<f64>,
}

impl Twist {
    /// The twist of a frame at rest.
    pub fn zero() -> Self {
        Self::default()
    }

    /// The twist of the same rigid motion at a point displaced by r = `offset` (world axes, m): v + ω × r.
    #[inline]
    pub fn shifted(&self, offset: &Vector3<f64>) -> Self {
        Self {
            angular: self.angular,
            linear: self.linear + self.angular.cross(offset),
        }
    }

    /// The vector [ω; v], angular part first.
    pub fn to_vector(&self) -> Vector6<f64> {
        let (w, v) = (&self.angular, &self.linear);
        Vector6::new(w.x, w.y, w.z, v.x, v.y, v.z)
    }

    /// From the vector [ω; v], angular part first.
    pub fn from_vector(stacked: &Vector6<f64>) -> Self {
        Self {
            angular: stacked.fixed_rows::<3>(0).into_owned(),
            linear: stacked.fixed_rows::<3>(3).into_owned(),
        }
    }
}

/// Torque (N m) about a point and force (N), in world axes.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_multibody::{Twist, Wrench};
///
/// // 3 N upwards on a point that rises at 2 m/s: 6 W.
/// let push = Wrench { torque: Vector3::zeros(), force: Vector3::new(0.0, 0.0, 3.0) };
/// let rise = Twist { angular: Vector3::zeros(), linear: Vector3::new(0.0, 0.0, 2.0) };
/// assert_eq!(push.power(&rise), 6.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// Torque n about the reference point, N m.
    pub torque: Vector3<f64>,
    /// Force f, N.
    pub force: Vector3<f64>,
}

impl Wrench {
    /// No torque, no force.
    pub fn zero() -> Self {
        Self::default()
    }

    /// The same wrench about the point displaced by −r, r = `offset` (world axes, m): torque n + r × f. The transpose of
    /// [`Twist::shifted`].
    #[inline]
    pub fn shifted_back(&self, offset: &Vector3<f64>) -> Self {
        Self {
            torque: self.torque + offset.cross(&self.force),
            force: self.force,
        }
    }

    /// Power n·ω + f·v of this wrench on a twist about the same point, W.
    pub fn power(&self, twist: &Twist) -> f64 {
        self.torque.dot(&twist.angular) + self.force.dot(&twist.linear)
    }
}

impl core::ops::AddAssign for Wrench {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.torque += other.torque;
        self.force += other.force;
    }
}

/// A symmetric 3×3 matrix by its six entries: half the work of a full one in the innermost loops.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Symmetric3 {
    pub(crate) xx: f64,
    pub(crate) xy: f64,
    pub(crate) xz: f64,
    pub(crate) yy: f64,
    pub(crate) yz: f64,
    pub(crate) zz: f64,
}

impl Symmetric3 {
    #[inline]
    pub(crate) fn scaled_identity(s: f64) -> Self {
        Self {
            xx: s,
            yy: s,
            zz: s,
            ..Self::default()
        }
    }

    pub(crate) fn from_matrix(m: &Matrix3<f64>) -> Self {
        Self {
            xx: m.m11,
            xy: 0.5 * (m.m12 + m.m21),
            xz: 0.5 * (m.m13 + m.m31),
            yy: m.m22,
            yz: 0.5 * (m.m23 + m.m32),
            zz: m.m33,
        }
    }

    #[inline]
    pub(crate) fn times(&self, v: &Vector3<f64>) -> Vector3<f64> {
        Vector3::new(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )
    }

    #[inline]
    pub(crate) fn add(&mut self, o: &Self) {
        self.xx += o.xx;
        self.xy += o.xy;
        self.xz += o.xz;
        self.yy += o.yy;
        self.yz += o.yz;
        self.zz += o.zz;
    }

    /// self − s u uᵀ, in place.
    #[inline]
    pub(crate) fn subtract_outer(&mut self, s: f64, u: &Vector3<f64>) {
        let su = u * s;
        self.xx -= su.x * u.x;
        self.xy -= su.x * u.y;
        self.xz -= su.x * u.z;
        self.yy -= su.y * u.y;
        self.yz -= su.y * u.z;
        self.zz -= su.z * u.z;
    }

    /// R self Rᵀ.
    #[inline]
    pub(crate) fn rotated(&self, r: &Matrix3<f64>) -> Self {
        // Rows of R self; each is self times a row of R since self is symmetric.
        let row = |i: usize| self.times(&Vector3::new(r[(i, 0)], r[(i, 1)], r[(i, 2)]));
        let (a, b, c) = (row(0), row(1), row(2));
        let dot = |u: &Vector3<f64>, i: usize| u.x * r[(i, 0)] + u.y * r[(i, 1)] + u.z * r[(i, 2)];
        Self {
            xx: dot(&a, 0),
            xy: dot(&a, 1),
            xz: dot(&a, 2),
            yy: dot(&b, 1),
            yz: dot(&b, 2),
            zz: dot(&c, 2),
        }
    }
}

/// A rigid body's inertia about its origin: mass m (kg), first moment h = m c (kg m), second moment J (kg m²).
///
/// Momentum of a twist: linear m v + ω × h, angular about the origin J ω + h × v.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OriginInertia {
    pub(crate) mass: f64,
    pub(crate) moment: Vector3<f64>,
    pub(crate) second: Symmetric3,
}

impl OriginInertia {
    #[inline]
    pub(crate) fn rotated(&self, r: &Matrix3<f64>) -> Self {
        Self {
            mass: self.mass,
            moment: rotate(r, &self.moment),
            second: self.second.rotated(r),
        }
    }

    /// Adds `child`, whose origin is at `r` from this one: h += h_c + m r,
    /// J += J_c + (h·r + r·h')1 − r hᵀ − h' rᵀ with h' = h_c + m r (the parallel-axis rule for origins).
    #[inline]
    pub(crate) fn add_shifted(&mut self, child: &Self, r: &Vector3<f64>) {
        let h = &child.moment;
        let h_here = h + r * child.mass;
        let trace = h.dot(r) + r.dot(&h_here);
        self.mass += child.mass;
        self.moment += h_here;
        self.second.add(&child.second);
        self.second.xx += trace - r.x * h.x - h_here.x * r.x;
        self.second.yy += trace - r.y * h.y - h_here.y * r.y;
        self.second.zz += trace - r.z * h.z - h_here.z * r.z;
        self.second.xy -= r.x * h.y + h_here.x * r.y;
        self.second.xz -= r.x * h.z + h_here.x * r.z;
        self.second.yz -= r.y * h.z + h_here.y * r.z;
    }

    /// Momentum of `twist`: angular momentum about the origin as `torque`, linear momentum as `force`.
    #[inline]
    pub(crate) fn momentum(&self, twist: &Twist) -> Wrench {
        Wrench {
            torque: self.second.times(&twist.angular) + self.moment.cross(&twist.linear),
            force: twist.linear * self.mass + twist.angular.cross(&self.moment),
        }
    }

    /// Newton-Euler equations: the wrench about the origin that causes `acceleration` at the angular velocity `angular`.
    ///
    /// ```text
    /// n = J α + ω × J ω + h × a        f = m a + α × h + ω × (ω × h)
    /// ```
    #[inline]
    pub(crate) fn newton_euler(&self, angular: &Vector3<f64>, acceleration: &Twist) -> Wrench {
        let w = angular;
        let (alpha, a) = (&acceleration.angular, &acceleration.linear);
        let h = &self.moment;
        Wrench {
            torque: self.second.times(alpha) + w.cross(&self.second.times(w)) + h.cross(a),
            force: a * self.mass + alpha.cross(h) + w.cross(&w.cross(h)),
        }
    }
}

/// R v, written out: faster than the generic product.
#[inline(always)]
pub(crate) fn rotate(r: &Matrix3<f64>, v: &Vector3<f64>) -> Vector3<f64> {
    Vector3::new(
        r.m11 * v.x + r.m12 * v.y + r.m13 * v.z,
        r.m21 * v.x + r.m22 * v.y + r.m23 * v.z,
        r.m31 * v.x + r.m32 * v.y + r.m33 * v.z,
    )
}

/// A B of two 3×3 matrices, written out as [`rotate`].
#[inline(always)]
pub(crate) fn product(a: &Matrix3<f64>, b: &Matrix3<f64>) -> Matrix3<f64> {
    let column = |j: usize| rotate(a, &Vector3::new(b[(0, j)], b[(1, j)], b[(2, j)]));
    Matrix3::from_columns(&[column(0), column(1), column(2)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::UnitQuaternion;

    fn full(s: &Symmetric3) -> Matrix3<f64> {
        Matrix3::new(s.xx, s.xy, s.xz, s.xy, s.yy, s.yz, s.xz, s.yz, s.zz)
    }

    fn example() -> (OriginInertia, Matrix3<f64>) {
        let j = Matrix3::new(2.0, 0.1, -0.2, 0.1, 3.0, 0.3, -0.2, 0.3, 4.0);
        let inertia = OriginInertia {
            mass: 1.7,
            moment: Vector3::new(0.3, -0.4, 0.9),
            second: Symmetric3::from_matrix(&j),
        };
        let r = UnitQuaternion::from_euler_angles(0.4, -1.1, 2.0).to_rotation_matrix();
        (inertia, *r.matrix())
    }

    #[test]
    fn rotating_a_symmetric_matrix_agrees_with_the_full_product() {
        let (inertia, r) = example();
        let expected = r * full(&inertia.second) * r.transpose();
        assert!(
            (full(&inertia.second.rotated(&r)) - expected).norm()
                < 20.0 * f64::EPSILON * expected.norm()
        );
        assert!(
            (product(&r, &expected) - r * expected).norm() < 20.0 * f64::EPSILON * expected.norm()
        );
    }

    #[test]
    fn shifted_inertia_gives_the_shifted_momentum() {
        let (child, _) = example();
        let r = Vector3::new(0.7, 0.2, -1.3);
        let mut parent = OriginInertia::default();
        parent.add_shifted(&child, &r);
        let at_parent = Twist {
            angular: Vector3::new(0.2, -0.7, 1.1),
            linear: Vector3::new(-0.4, 0.8, 0.1),
        };
        let direct = parent.momentum(&at_parent);
        let through_child = child.momentum(&at_parent.shifted(&r)).shifted_back(&r);
        assert!((direct.torque - through_child.torque).norm() < 1e-14);
        assert!((direct.force - through_child.force).norm() < 1e-14);
    }

    #[test]
    fn newton_euler_is_the_rate_of_change_of_momentum() {
        // Momentum about the moving origin in world axes: its rate is the wrench minus v × p.
        let (local, r0) = example();
        let twist = Twist {
            angular: Vector3::new(0.5, -0.3, 0.8),
            linear: Vector3::new(1.0, 0.2, -0.6),
        };
        let rate = Twist {
            angular: Vector3::new(-0.9, 0.4, 0.2),
            linear: Vector3::new(0.3, -1.2, 0.5),
        };
        let momentum_at = |t: f64| {
            let spin =
                UnitQuaternion::from_scaled_axis(twist.angular * t + rate.angular * (0.5 * t * t));
            let r = spin.to_rotation_matrix().matrix() * r0;
            let now = Twist {
                angular: twist.angular + rate.angular * t,
                linear: twist.linear + rate.linear * t,
            };
            local.rotated(&r).momentum(&now)
        };
        let eps = 1e-5;
        let (plus, minus) = (momentum_at(eps), momentum_at(-eps));
        let force = (plus.force - minus.force) / (2.0 * eps);
        let torque = (plus.torque - minus.torque) / (2.0 * eps)
            + twist.linear.cross(&momentum_at(0.0).force);
        let wrench = local.rotated(&r0).newton_euler(&twist.angular, &rate);
        // Central differences: O(eps²) truncation plus round-off over eps.
        assert!(
            (wrench.force - force).norm() < 1e-9,
            "{} {}",
            wrench.force,
            force
        );
        assert!((wrench.torque - torque).norm() < 1e-9);
    }
}
