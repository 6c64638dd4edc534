//! The number of formulas that are evaluated for one material point or for several side by side.

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod packed;
mod side_by_side;
mod tensor;

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::Real;

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub use packed::Packed;
pub use side_by_side::{SideBySide, side_by_side};
pub use tensor::Tensor;
pub(crate) use tensor::{cross, dot, norm};

/// A number: `f64`, `f32`, or as many of them as a register holds, one for each of several material points.
///
/// Every operation acts on each lane by itself, so that the result of a point does not depend on its neighbours. A formula for several points
/// has no branches: it selects by masks. Lanes need the proof that the processor has their instructions, which a value carries; constants are
/// therefore made from another value ([`like`](Self::like)).
///
/// ```
/// use pliant_constitutive::Number;
///
/// /// The positive part of √(x² + y²) − 1, of one point or of several side by side: selected by a mask, not by a branch.
/// fn beyond_unit_circle<N: Number>(x: N, y: N) -> N {
///     let distance = (x * x + y * y).root() - x.like(1.0);
///     N::select(distance.below(x.like(0.0)), x.like(0.0), distance)
/// }
/// assert_eq!(beyond_unit_circle(3.0_f64, 4.0), 4.0);
/// assert_eq!(beyond_unit_circle(0.3_f32, 0.4), 0.0);
/// ```
pub trait Number:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The number of one lane.
    type Scalar: Real;
    /// A truth value for each lane.
    type Mask: Mask;
    /// Number of lanes.
    const LANES: usize;

    /// The nearest number to `x` in every lane.
    fn like(self, x: f64) -> Self;
    /// The round-off of the scalar relative to one, in every lane.
    fn round_off(self) -> Self;
    /// a·b + c, rounded once where the processor can.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// √x.
    fn root(self) -> Self;
    /// The larger one.
    fn larger(self, other: Self) -> Self;
    /// Whether it is below `other`; false for NaN.
    fn below(self, other: Self) -> Self::Mask;
    /// ln x.
    fn logarithm(self) -> Self;
    /// eˣ.
    fn exponential(self) -> Self;
    /// xʸ.
    fn power(self, exponent: f64) -> Self;
    /// `yes` where `mask` is true, `no` elsewhere.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// The number of a lane.
    fn lane(self, lane: usize) -> Self::Scalar;
    /// `x` of every lane.
    fn with_lanes(self, x: impl FnMut(usize) -> Self::Scalar) -> Self;
}

/// A truth value for each lane.
///
/// ```
/// use pliant_constitutive::{Mask, Number};
///
/// /// x clamped to [−1, 1], of one point or of several side by side.
/// fn clamped<N: Number>(x: N) -> N {
///     let (one, minus_one) = (x.like(1.0), x.like(-1.0));
///     let (low, high) = (x.below(minus_one), one.below(x));
///     if low.or(high).not().all() {
///         return x; // no lane has to change
///     }
///     N::select(low, minus_one, N::select(high, one, x))
/// }
/// assert_eq!([-3.0, 0.5, 2.0].map(clamped::<f64>), [-1.0, 0.5, 1.0]);
/// ```
pub trait Mask: Copy {
    /// Whether it is true in any lane.
    fn any(self) -> bool;
    /// Whether it is true in every lane.
    fn all(self) -> bool;
    /// Where both are true.
    fn and(self, other: Self) -> Self;
    /// Where either is true.
    fn or(self, other: Self) -> Self;
    /// Where it is false.
    fn not(self) -> Self;
    /// The truth value of a lane.
    fn lane(self, lane: usize) -> bool;
}

impl Mask for bool {
    #[inline(always)]
    fn any(self) -> bool {
        self
    }
    #[inline(always)]
    fn all(self) -> bool {
        self
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn not(self) -> Self {
        !self
    }
    #[inline(always)]
    fn lane(self, _: usize) -> bool {
        self
    }
}

impl<T: Real> Number for T {
    type Scalar = T;
    type Mask = bool;
    const LANES: usize = 1;

    #[inline(always)]
    fn like(self, x: f64) -> Self {
        T::of(x)
    }
    #[inline(always)]
    fn round_off(self) -> Self {
        T::default_epsilon()
    }
    /// Rounded twice: without the instruction, the fused form is a slow library call.
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        self * b + c
    }
    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        self.max(other)
    }
    #[inline(always)]
    fn below(self, other: Self) -> bool {
        self < other
    }
    #[inline(always)]
    fn logarithm(self) -> Self {
        self.ln()
    }
    #[inline(always)]
    fn exponential(self) -> Self {
        self.exp()
    }
    #[inline(always)]
    fn power(self, exponent: f64) -> Self {
        self.powf(T::of(exponent))
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn lane(self, _: usize) -> T {
        self
    }
    #[inline(always)]
    fn with_lanes(self, mut x: impl FnMut(usize) -> T) -> Self {
        x(0)
    }
}
