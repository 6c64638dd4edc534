//! Friction of an attachment.
//!
//! Anisotropic friction has the elliptic cone
//!
//! ```text
//! √(rᵀM r) ≤ μ d        M = I + (1/ρ² − 1) e eᵀ
//! ```
//!
//! where r is the offset of the attachment in the tangential plane: the coefficient is μ across the axis e and ρ μ along it.

use nalgebra::{RealField, Unit, Vector3};

/// Coefficients of Coulomb friction of an attachment.
///
/// An attachment that the force holds within the cone of `sticking` stays where it is; any other slides to the cone of `sliding`.
///
/// ```
/// use nalgebra::{Unit, Vector3};
/// use pliant_hydroelastic::{FrictionAxis, SlidingFriction};
///
/// // Half the friction along x, as on brushed metal: an offset along x counts twice against the cone.
/// let axis = FrictionAxis { direction: Unit::new_normalize(Vector3::x()), ratio: 0.5 };
/// let friction = SlidingFriction { axis: Some(axis), ..SlidingFriction::coulomb(0.8) };
/// assert_eq!(friction.stretched(&Vector3::new(1.0, 1.0, 0.0)), Vector3::new(2.0, 1.0, 0.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlidingFriction<T: RealField + Copy> {
    /// Static coefficient μ_s, dimensionless, not less than `sliding`.
    pub sticking: T,
    /// Kinetic coefficient μ_k, dimensionless, not negative.
    pub sliding: T,
    /// The axis along which both coefficients differ from those across it; `None` for friction that is the same in all directions.
    pub axis: Option<FrictionAxis<T>>,
}

/// The axis of anisotropic friction, in the frame in which attachments are relaxed.
///
/// ```
/// use nalgebra::{Point3, Unit, Vector3};
/// use pliant_hydroelastic::{FrictionAxis, Shape, Slide, SlidingFriction, relax_on_level_set};
///
/// // Grooves along x: μ = 0.8 across them, half of it along them. 1 mm deep, attachments stay 0.8 mm and 0.4 mm behind.
/// let grooves = FrictionAxis { direction: Unit::new_normalize(Vector3::x()), ratio: 0.5 };
/// let friction = SlidingFriction { axis: Some(grooves), ..SlidingFriction::coulomb(0.8) };
/// let (floor, particle) = (Shape::half_space(), Point3::new(0.0, 0.0, -0.001));
/// let behind = |old: Point3<f64>| {
///     let relaxed = relax_on_level_set(|p| floor.signed_distance(p), friction, Slide::Planar, &old, &particle);
///     relaxed.attachment.coords.norm()
/// };
/// assert!((behind(Point3::new(0.01, 0.0, 0.0)) - 0.4e-3).abs() < 1e-12);
/// assert!((behind(Point3::new(0.0, 0.01, 0.0)) - 0.8e-3).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionAxis<T: RealField + Copy> {
    /// Direction e of the axis.
    pub direction: Unit<Vector3<T>>,
    /// ρ, positive: the coefficient along e is ρ times the one across it.
    pub ratio: T,
}

impl<T: RealField + Copy> SlidingFriction<T> {
    /// One coefficient μ for both, the same in all directions.
    #[must_use]
    pub fn coulomb(mu: T) -> Self {
        Self {
            sticking: mu,
            sliding: mu,
            axis: None,
        }
    }

    /// √(rᵀM r).
    pub(super) fn length(&self, r: &Vector3<T>) -> T {
        self.stretched(r).norm()
    }

    /// The derivative of [`SlidingFriction::length`], M r/√(rᵀM r), where that is `length` and not zero.
    pub(super) fn length_slope(&self, r: &Vector3<T>, length: T) -> Vector3<T> {
        match &self.axis {
            None => r / length,
            Some(axis) => {
                let e = axis.direction.into_inner();
                let excess = T::one() / (axis.ratio * axis.ratio) - T::one();
                (r + e * (e.dot(r) * excess)) / length
            }
        }
    }

    /// M^½ r of an offset r (m): its norm is at most μ d where the force is in the cone. M^½ = I + (1/ρ − 1) e eᵀ.
    #[must_use]
    pub fn stretched(&self, r: &Vector3<T>) -> Vector3<T> {
        match &self.axis {
            None => *r,
            Some(axis) => {
                let e = axis.direction.into_inner();
                r + e * (e.dot(r) * (T::one() / axis.ratio - T::one()))
            }
        }
    }
}
