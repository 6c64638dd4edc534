//! Precision of a factor: f64, or f32 at half the time and memory.

use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use faer::traits::RealField;
use pulp::Simd;

/// Lanes of the widest register of any processor.
pub(crate) const LANES_MAX: usize = 16;

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
    /// A SIMD register.
    type Register<S: Simd>: Copy;
    /// `x` rounded to this precision.
    fn of(x: f64) -> Self;
    fn root(self) -> Self;
    /// Whether it is positive and finite.
    fn is_pivot(self) -> bool;

    /// Lanes of a register.
    #[inline(always)]
    fn lanes<S: Simd>() -> usize {
        size_of::<Self::Register<S>>() / size_of::<Self>()
    }
    /// The full registers of `x`.
    fn registers<S: Simd>(x: &[Self]) -> &[Self::Register<S>];
    fn registers_mut<S: Simd>(x: &mut [Self]) -> &mut [Self::Register<S>];
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Register<S>;
    /// a − b.
    fn minus<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// a b.
    fn times<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// c + a b, fused if the processor has the instruction.
    fn plus_product<S: Simd>(
        simd: S,
        c: Self::Register<S>,
        a: Self::Register<S>,
        b: Self::Register<S>,
    ) -> Self::Register<S>;
    /// c − a b, fused likewise.
    fn minus_product<S: Simd>(
        simd: S,
        c: Self::Register<S>,
        a: Self::Register<S>,
        b: Self::Register<S>,
    ) -> Self::Register<S>;
    /// The first `count` lanes of a, the others of b.
    fn first_of<S: Simd>(
        simd: S,
        count: usize,
        a: Self::Register<S>,
        b: Self::Register<S>,
    ) -> Self::Register<S>;
}

/// Implements [`Real`] with the functions of pulp.
macro_rules! real {
    ($scalar:ty, $register:ident, $registers:ident, $registers_mut:ident, $splat:ident, $sub:ident, $mul:ident,
        $mul_add:ident, $negate_mul_add:ident, $less_than:ident, $select:ident) => {
        impl Real for $scalar {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            type Register<S: Simd> = S::$register;

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

            #[inline(always)]
            fn registers<S: Simd>(x: &[Self]) -> &[S::$register] {
                S::$registers(x).0
            }

            #[inline(always)]
            fn registers_mut<S: Simd>(x: &mut [Self]) -> &mut [S::$register] {
                S::$registers_mut(x).0
            }

            #[inline(always)]
            fn splat<S: Simd>(simd: S, x: Self) -> S::$register {
                simd.$splat(x)
            }

            #[inline(always)]
            fn minus<S: Simd>(simd: S, a: S::$register, b: S::$register) -> S::$register {
                simd.$sub(a, b)
            }

            #[inline(always)]
            fn times<S: Simd>(simd: S, a: S::$register, b: S::$register) -> S::$register {
                simd.$mul(a, b)
            }

            #[inline(always)]
            fn plus_product<S: Simd>(
                simd: S,
                c: S::$register,
                a: S::$register,
                b: S::$register,
            ) -> S::$register {
                simd.$mul_add(a, b, c)
            }

            #[inline(always)]
            fn minus_product<S: Simd>(
                simd: S,
                c: S::$register,
                a: S::$register,
                b: S::$register,
            ) -> S::$register {
                simd.$negate_mul_add(a, b, c)
            }

            #[inline(always)]
            fn first_of<S: Simd>(
                simd: S,
                count: usize,
                a: S::$register,
                b: S::$register,
            ) -> S::$register {
                const INDICES: [$scalar; LANES_MAX] = {
                    let mut indices = [0.0; LANES_MAX];
                    let mut i = 0;
                    while i < LANES_MAX {
                        indices[i] = i as $scalar;
                        i += 1;
                    }
                    indices
                };
                let is_first =
                    simd.$less_than(S::$registers(&INDICES).0[0], simd.$splat(count as $scalar));
                simd.$select(is_first, a, b)
            }
        }
    };
}

#[rustfmt::skip]
real!(f32, f32s, as_simd_f32s, as_mut_simd_f32s, splat_f32s, sub_f32s, mul_f32s, mul_add_e_f32s, negate_mul_add_e_f32s,
    less_than_f32s, select_f32s);
#[rustfmt::skip]
real!(f64, f64s, as_simd_f64s, as_mut_simd_f64s, splat_f64s, sub_f64s, mul_f64s, mul_add_e_f64s, negate_mul_add_e_f64s,
    less_than_f64s, select_f64s);
