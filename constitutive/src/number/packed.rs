//! Registers of 256 bits with fused multiply-add, as numbers of several material points.

use std::ops::{Add, Div, Mul, Neg, Sub};

use pulp::Simd;
use pulp::x86::V3;

use super::{Mask, Number};

/// A register with a number of each of several material points, and the proof that the processor has its instructions.
///
/// ```
/// use pliant_constitutive::{Mask, Number, Packed};
///
/// // The volume ratios of four material points, and the logarithms of those that are not inverted.
/// if let Some(simd) = pulp::x86::V3::try_new() {
///     let ratios = Packed::<pulp::f64x4>::from_fn(simd, |point| [1.0, 1.1, -0.2, 0.9][point]);
///     let inverted = ratios.below(ratios.like(0.0));
///     assert!(inverted.any() && !inverted.all() && inverted.lane(2));
///     let strains = Number::select(inverted, ratios.like(0.0), ratios.logarithm());
///     assert_eq!([0, 1, 2, 3].map(|point| strains.lane(point)), [0.0, 1.1_f64.ln(), 0.0, 0.9_f64.ln()]);
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Packed<R> {
    values: R,
    simd: V3,
}

/// Implements [`Number`] for registers of `$width` numbers of type `$scalar`.
macro_rules! packed {
    (
        $scalar:ty, $register:ident, $mask:ident, $width:expr, $splat:ident, $add:ident, $sub:ident, $mul:ident, $div:ident,
        $negate:ident, $mul_add:ident, $sqrt:ident, $max:ident, $less:ident, $select:ident, $and:ident, $or:ident, $not:ident,
        $signs:ident
    ) => {
        impl Packed<pulp::$register> {
            #[inline(always)]
            fn with_register(self, values: pulp::$register) -> Self {
                Self {
                    values,
                    simd: self.simd,
                }
            }
            /// `x` of every lane.
            #[inline(always)]
            #[must_use]
            pub fn from_fn(simd: V3, mut x: impl FnMut(usize) -> $scalar) -> Self {
                let mut values = [0.0; $width];
                for (lane, value) in values.iter_mut().enumerate() {
                    *value = x(lane);
                }
                Self {
                    values: pulp::cast(values),
                    simd,
                }
            }
            #[inline(always)]
            fn array(self) -> [$scalar; $width] {
                pulp::cast(self.values)
            }
        }
        impl Add for Packed<pulp::$register> {
            type Output = Self;
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.with_register(self.simd.$add(self.values, other.values))
            }
        }
        impl Sub for Packed<pulp::$register> {
            type Output = Self;
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.with_register(self.simd.$sub(self.values, other.values))
            }
        }
        impl Mul for Packed<pulp::$register> {
            type Output = Self;
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.with_register(self.simd.$mul(self.values, other.values))
            }
        }
        impl Div for Packed<pulp::$register> {
            type Output = Self;
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                self.with_register(self.simd.$div(self.values, other.values))
            }
        }
        impl Neg for Packed<pulp::$register> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                self.with_register(self.simd.$negate(self.values))
            }
        }
        impl Number for Packed<pulp::$register> {
            type Scalar = $scalar;
            type Mask = Packed<pulp::$mask>;
            const LANES: usize = $width;

            #[inline(always)]
            fn like(self, x: f64) -> Self {
                self.with_register(self.simd.$splat(x as $scalar))
            }
            #[inline(always)]
            fn round_off(self) -> Self {
                self.like(f64::from(<$scalar>::EPSILON))
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                self.with_register(self.simd.$mul_add(self.values, b.values, c.values))
            }
            #[inline(always)]
            fn root(self) -> Self {
                self.with_register(self.simd.$sqrt(self.values))
            }
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                self.with_register(self.simd.$max(self.values, other.values))
            }
            #[inline(always)]
            fn below(self, other: Self) -> Self::Mask {
                Packed {
                    values: self.simd.$less(self.values, other.values),
                    simd: self.simd,
                }
            }
            #[inline(always)]
            fn logarithm(self) -> Self {
                self.with_lanes(
                    #[inline(always)]
                    |lane| self.lane(lane).ln(),
                )
            }
            #[inline(always)]
            fn exponential(self) -> Self {
                self.with_lanes(
                    #[inline(always)]
                    |lane| self.lane(lane).exp(),
                )
            }
            #[inline(always)]
            fn power(self, exponent: f64) -> Self {
                self.with_lanes(
                    #[inline(always)]
                    |lane| self.lane(lane).powf(exponent as $scalar),
                )
            }
            #[inline(always)]
            fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
                no.with_register(no.simd.$select(mask.values, yes.values, no.values))
            }
            #[inline(always)]
            fn lane(self, lane: usize) -> $scalar {
                self.array()[lane]
            }
            #[inline(always)]
            fn with_lanes(self, x: impl FnMut(usize) -> $scalar) -> Self {
                Self::from_fn(self.simd, x)
            }
        }
        impl Packed<pulp::$mask> {
            /// One bit for each lane.
            #[inline(always)]
            fn bits(self) -> i32 {
                self.simd.avx.$signs(pulp::cast(self.values))
            }
        }
        impl Mask for Packed<pulp::$mask> {
            #[inline(always)]
            fn any(self) -> bool {
                self.bits() != 0
            }
            #[inline(always)]
            fn all(self) -> bool {
                self.bits() == (1 << $width) - 1
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                Self {
                    values: self.simd.$and(self.values, other.values),
                    simd: self.simd,
                }
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                Self {
                    values: self.simd.$or(self.values, other.values),
                    simd: self.simd,
                }
            }
            #[inline(always)]
            fn not(self) -> Self {
                Self {
                    values: self.simd.$not(self.values),
                    simd: self.simd,
                }
            }
            #[inline(always)]
            fn lane(self, lane: usize) -> bool {
                self.bits() >> lane & 1 == 1
            }
        }
    };
}

packed!(
    f32,
    f32x8,
    m32x8,
    8,
    splat_f32s,
    add_f32s,
    sub_f32s,
    mul_f32s,
    div_f32s,
    neg_f32s,
    mul_add_f32s,
    sqrt_f32s,
    max_f32s,
    less_than_f32s,
    select_f32s,
    and_m32s,
    or_m32s,
    not_m32s,
    _mm256_movemask_ps
);
packed!(
    f64,
    f64x4,
    m64x4,
    4,
    splat_f64s,
    add_f64s,
    sub_f64s,
    mul_f64s,
    div_f64s,
    neg_f64s,
    mul_add_f64s,
    sqrt_f64s,
    max_f64s,
    less_than_f64s,
    select_f64s,
    and_m64s,
    or_m64s,
    not_m64s,
    _mm256_movemask_pd
);
