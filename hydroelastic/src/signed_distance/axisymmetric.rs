//! Cylinder and cone: φ in the half plane (ρ, z), revolved about the axis.

use nalgebra::{Matrix2, Matrix3, Point3, RealField, Vector2, Vector3};

use super::SignedDistance;

/// φ of the profile at (ρ, z), with derivatives in that half plane.
struct Profile<T: RealField + Copy> {
    value: T,
    gradient: Vector2<T>,
    hessian: Matrix2<T>,
}

impl<T: RealField + Copy> Profile<T> {
    fn line(value: T, gradient: Vector2<T>) -> Self {
        Self {
            value,
            gradient,
            hessian: Matrix2::zeros(),
        }
    }

    /// Distance to a corner of the profile, from offset `d`; `fallback` is the gradient at zero offset.
    fn corner(d: Vector2<T>, fallback: Vector2<T>) -> Self {
        let value = d.norm();
        if value <= T::zero() {
            return Self::line(value, fallback);
        }
        let gradient = d / value;
        Self {
            value,
            gradient,
            hessian: (Matrix2::identity() - gradient * gradient.transpose()) / value,
        }
    }

    /// Revolves the profile about z. With radial u, tangential t and axial z unit vectors:
    ///
    /// ```text
    /// ∇φ = φ_ρ u + φ_z z      ∇²φ = φ_ρρ uuᵀ + φ_ρz (uzᵀ + zuᵀ) + φ_zz zzᵀ + (φ_ρ/ρ) ttᵀ
    /// ```
    ///
    /// On the axis φ_ρ/ρ is φ_ρρ where φ is smooth (φ_ρ = 0), and dropped on the medial axis.
    fn spun(&self, p: &Point3<T>, rho: T) -> SignedDistance<T> {
        let radial = if rho > T::zero() {
            Vector3::new(p.x / rho, p.y / rho, T::zero())
        } else {
            Vector3::x()
        };
        let around = Vector3::new(-radial.y, radial.x, T::zero());
        let axial = Vector3::z();
        let h = &self.hessian;
        let hoop = if rho > T::zero() {
            self.gradient.x / rho
        } else if self.gradient.x.abs() <= T::default_epsilon() {
            h[(0, 0)]
        } else {
            T::zero()
        };
        let cross: Matrix3<T> = radial * axial.transpose() + axial * radial.transpose();
        SignedDistance {
            value: self.value,
            gradient: radial * self.gradient.x + axial * self.gradient.y,
            hessian: radial * radial.transpose() * h[(0, 0)]
                + cross * h[(0, 1)]
                + axial * axial.transpose() * h[(1, 1)]
                + around * around.transpose() * hoop,
        }
    }
}

/// φ of a cylinder about the origin along z, with `radius` r and `half_length` h (m). With ρ = √(x² + y²):
///
/// ```text
/// inside, beside, above    φ = max(ρ − r, |z| − h)
/// beyond the rim           φ = √((ρ − r)² + (|z| − h)²)
/// ```
///
/// Where side and end are equally near inside, the side is used; the gradient is +x for the side on the axis, and +z for the end on
/// the mid-plane.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::signed_distance::cylinder;
///
/// // 0.3 m beside and 0.4 m above the rim of a can of radius 1 m and height 2 m.
/// let phi = cylinder(&Point3::new(1.3_f64, 0.0, 1.4), 1.0, 1.0);
/// assert!((phi.value - 0.5).abs() < 1e-15 && (phi.gradient.x - 0.6).abs() < 1e-15);
/// ```
pub fn cylinder<T: RealField + Copy>(
    p: &Point3<T>,
    radius: T,
    half_length: T,
) -> SignedDistance<T> {
    let rho = p.x.hypot(p.y);
    let sign = if p.z < T::zero() { -T::one() } else { T::one() };
    let (out, up) = (rho - radius, p.z.abs() - half_length);
    let profile = if out > T::zero() && up > T::zero() {
        Profile::corner(Vector2::new(out, sign * up), Vector2::x())
    } else if out >= up {
        Profile::line(out, Vector2::x())
    } else {
        Profile::line(up, Vector2::new(T::zero(), sign))
    };
    profile.spun(p, rho)
}

/// φ of a cone along z: base disc of `radius` r at z = −h, apex at z = +h, with h = `half_height` (m). Where side and base are equally
/// near inside, the side is used; on the axis its gradient leans towards +x.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::signed_distance::cone;
///
/// // Above the apex, and in the middle of the axis: h r/√(r² + 4h²) below the side.
/// assert_eq!(cone(&Point3::new(0.0, 0.0, 1.5), 0.5, 1.0).value, 0.5);
/// assert!((cone(&Point3::origin(), 0.5, 1.0).value + 0.5 / 4.25_f64.sqrt()).abs() < 1e-15);
/// ```
pub fn cone<T: RealField + Copy>(p: &Point3<T>, radius: T, half_height: T) -> SignedDistance<T> {
    let rho = p.x.hypot(p.y);
    let q = Vector2::new(rho, p.z);
    let rim = Vector2::new(radius, -half_height);
    let apex = Vector2::new(T::zero(), half_height);
    let slant = apex - rim;
    let length = slant.norm();
    let normal = Vector2::new(slant.y, -slant.x) / length;
    let side = normal.dot(&(q - rim));
    let base = -p.z - half_height;
    let along = slant.dot(&(q - rim)) / length;
    let down = -Vector2::y();
    let profile = if base <= T::zero() && side <= T::zero() {
        if side >= base {
            Profile::line(side, normal)
        } else {
            Profile::line(base, down)
        }
    } else if base > T::zero() && rho <= radius {
        Profile::line(base, down)
    } else if along >= length {
        Profile::corner(q - apex, Vector2::y())
    } else if along > T::zero() {
        Profile::line(side, normal)
    } else {
        Profile::corner(q - rim, normal)
    };
    profile.spun(p, rho)
}
