//! The scalar of every formula.

use nalgebra::RealField;

/// A floating-point number: `f64` or `f32`.
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
