//! Sixteen numbers at once: three nodes of a grid row and a fourth that is padding, four values each.
//!
//! The same kernel is compiled for the baseline of the target and for processors with AVX2 and fused multiply-add, and the
//! better one is chosen at run time. Only the second may call [`Real::fused`].

use crate::scalar::Real;

/// Values of a row of nodes.
pub(crate) const LANES: usize = 16;

/// Arithmetic on rows in one instruction set.
pub trait Lanes<T: Real>: Copy {
    /// A row in registers.
    type Row: Copy;
    fn splat(self, x: T) -> Self::Row;
    fn load(self, x: &[T; LANES]) -> Self::Row;
    fn store(self, x: Self::Row, to: &mut [T; LANES]);
    fn add(self, a: Self::Row, b: Self::Row) -> Self::Row;
    fn mul(self, a: Self::Row, b: Self::Row) -> Self::Row;
    /// a·b + c.
    fn mul_add(self, a: Self::Row, b: Self::Row, c: Self::Row) -> Self::Row;
    /// a·b + c of single numbers, for loops that the compiler makes wide.
    fn one_mul_add(self, a: T, b: T, c: T) -> T;
}

/// Whatever the compiler makes of arrays.
#[derive(Clone, Copy)]
pub(crate) struct Baseline;

impl<T: Real> Lanes<T> for Baseline {
    type Row = [T; LANES];
    #[inline(always)]
    fn splat(self, x: T) -> Self::Row {
        [x; LANES]
    }
    #[inline(always)]
    fn load(self, x: &[T; LANES]) -> Self::Row {
        *x
    }
    #[inline(always)]
    fn store(self, x: Self::Row, to: &mut [T; LANES]) {
        *to = x;
    }
    #[inline(always)]
    fn add(self, a: Self::Row, b: Self::Row) -> Self::Row {
        std::array::from_fn(|k| a[k] + b[k])
    }
    #[inline(always)]
    fn mul(self, a: Self::Row, b: Self::Row) -> Self::Row {
        std::array::from_fn(|k| a[k] * b[k])
    }
    #[inline(always)]
    fn mul_add(self, a: Self::Row, b: Self::Row, c: Self::Row) -> Self::Row {
        std::array::from_fn(|k| a[k] * b[k] + c[k])
    }
    #[inline(always)]
    fn one_mul_add(self, a: T, b: T, c: T) -> T {
        a * b + c
    }
}

/// AVX2 with fused multiply-add.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
#[derive(Clone, Copy)]
pub(crate) struct Wide(pub(crate) pulp::x86::V3);

/// Implements [`Lanes`] by registers of `$width` numbers of type `$scalar`.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
macro_rules! wide_lanes {
    ($scalar:ty, $register:ident, $width:expr, $splat:ident, $add:ident, $mul:ident, $mul_add:ident) => {
        impl Lanes<$scalar> for Wide {
            type Row = [pulp::$register; LANES / $width];
            #[inline(always)]
            fn splat(self, x: $scalar) -> Self::Row {
                [self.0.$splat(x); LANES / $width]
            }
            #[inline(always)]
            fn load(self, x: &[$scalar; LANES]) -> Self::Row {
                pulp::cast(*x)
            }
            #[inline(always)]
            fn store(self, x: Self::Row, to: &mut [$scalar; LANES]) {
                *to = pulp::cast(x);
            }
            #[inline(always)]
            fn add(self, a: Self::Row, b: Self::Row) -> Self::Row {
                let mut out = a;
                for k in 0..LANES / $width {
                    out[k] = self.0.$add(a[k], b[k]);
                }
                out
            }
            #[inline(always)]
            fn mul(self, a: Self::Row, b: Self::Row) -> Self::Row {
                let mut out = a;
                for k in 0..LANES / $width {
                    out[k] = self.0.$mul(a[k], b[k]);
                }
                out
            }
            #[inline(always)]
            fn mul_add(self, a: Self::Row, b: Self::Row, c: Self::Row) -> Self::Row {
                let mut out = c;
                for k in 0..LANES / $width {
                    out[k] = self.0.$mul_add(a[k], b[k], c[k]);
                }
                out
            }
            #[inline(always)]
            fn one_mul_add(self, a: $scalar, b: $scalar, c: $scalar) -> $scalar {
                <$scalar as Real>::fused(a, b, c)
            }
        }
    };
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
wide_lanes!(
    f32,
    f32x8,
    8,
    splat_f32x8,
    add_f32x8,
    mul_f32x8,
    mul_add_f32x8
);
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
wide_lanes!(
    f64,
    f64x4,
    4,
    splat_f64x4,
    add_f64x4,
    mul_f64x4,
    mul_add_f64x4
);

/// Work that is written once for every instruction set.
pub trait LaneWork<T: Real> {
    fn run<L: Lanes<T>>(self, lanes: L);
}

/// Scalars that know their rows in every instruction set.
pub trait LaneScalar: Real {
    #[doc(hidden)]
    fn dispatch(work: impl LaneWork<Self>);
}

macro_rules! dispatch {
    ($scalar:ty) => {
        impl LaneScalar for $scalar {
            #[inline]
            fn dispatch(work: impl LaneWork<Self>) {
                #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
                if let Some(v3) = pulp::x86::V3::try_new() {
                    struct Vectorised<W>(W, pulp::x86::V3);
                    impl<W: LaneWork<$scalar>> pulp::NullaryFnOnce for Vectorised<W> {
                        type Output = ();
                        #[inline(always)]
                        fn call(self) {
                            self.0.run(Wide(self.1));
                        }
                    }
                    return v3.vectorize(Vectorised(work, v3));
                }
                work.run(Baseline);
            }
        }
    };
}
dispatch!(f32);
dispatch!(f64);

#[cfg(test)]
mod tests {
    use super::*;

    /// a·b + c, a + b, a·b and a splat, one after the other.
    struct All<'a, T> {
        inputs: [[T; LANES]; 3],
        out: &'a mut [[T; LANES]; 4],
    }

    impl<T: Real> LaneWork<T> for All<'_, T> {
        #[inline(always)]
        fn run<L: Lanes<T>>(self, lanes: L) {
            let [a, b, c] = [0, 1, 2].map(|k| lanes.load(&self.inputs[k]));
            lanes.store(lanes.mul_add(a, b, c), &mut self.out[0]);
            lanes.store(lanes.add(a, b), &mut self.out[1]);
            lanes.store(lanes.mul(a, b), &mut self.out[2]);
            lanes.store(lanes.splat(self.inputs[0][3]), &mut self.out[3]);
        }
    }

    fn check<T: LaneScalar>() {
        let inputs = [1.3, -0.7, 2.9].map(|s| std::array::from_fn(|k| T::of(s * (k as f64 + 0.1))));
        let (mut plain, mut wide) = ([[T::zero(); LANES]; 4], [[T::zero(); LANES]; 4]);
        All {
            inputs,
            out: &mut plain,
        }
        .run(Baseline);
        T::dispatch(All {
            inputs,
            out: &mut wide,
        });
        for (plain, wide) in plain.iter().flatten().zip(wide.iter().flatten()) {
            // One rounding or two.
            assert!(
                (*plain - *wide).abs()
                    <= T::of(4.0) * T::default_epsilon() * plain.abs().max(T::of(50.0))
            );
        }
    }

    #[test]
    fn every_instruction_set_does_the_same_arithmetic() {
        check::<f32>();
        check::<f64>();
    }
}
