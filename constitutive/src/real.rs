//! The scalar of every formula.

use nalgebra::RealField;

/// A floating-point number: `f64` or `f32`.
///
/// ```
/// use pliant_constitutive::Real;
///
/// /// A formula of both precisions.
/// fn half<T: Real>(x: T) -> T { x * T::of(0.5) }
/// assert_eq!((half(3.0_f64), half(3.0_f32)), (1.5, 1.5));
/// assert_eq!(f32::of(0.1).wide(), f64::from(0.1_f32)); // rounded once
/// ```
pub trait Real: RealField + Copy + Default + Send + Sync {
    /// The nearest value to `x`.
    fn of(x: f64) -> Self;
    /// The same value as `f64`; exact.
    fn wide(self) -> f64;
}

impl Real for f64 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

impl Real for f32 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        x as f32
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}
