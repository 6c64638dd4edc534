//! What a factor is computed in: f64, or f32 at half the time and memory.

use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use faer::traits::RealField;

/// f32 and f64.
pub(crate) trait Real:
    RealField
    + Copy
    + Default
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    const ZERO: Self;
    const ONE: Self;
    /// Rounded to this.
    fn of(x: f64) -> Self;
    fn root(self) -> Self;
    /// Positive and finite.
    fn is_pivot(self) -> bool;
}

macro_rules! real {
    ($scalar:ty) => {
        impl Real for $scalar {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            #[inline(always)]
            fn of(x: f64) -> Self {
                x as Self
            }

            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }

            #[inline(always)]
            fn is_pivot(self) -> bool {
                self > 0.0 && self.is_finite()
            }
        }
    };
}
real!(f32);
real!(f64);
