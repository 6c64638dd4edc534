//! Registers of 256 bits with fused multiply-add.

use pliant_constitutive::Packed;
use pulp::x86::V3;

use super::{LANES, Lanes};

/// AVX2 with fused multiply-add.
#[derive(Clone, Copy)]
pub(super) struct Wide(pub(super) V3);

/// Implements [`Lanes`] by registers of `$width` numbers of type `$scalar`.
macro_rules! wide_lanes {
    ($scalar:ty, $register:ident, $width:expr, $splat:ident, $add:ident, $mul:ident, $mul_add:ident) => {
        impl Lanes<$scalar> for Wide {
            type Row = [pulp::$register; LANES / $width];
            type Points = Packed<pulp::$register>;
            #[inline(always)]
            fn points(self, x: impl FnMut(usize) -> $scalar) -> Self::Points {
                Packed::<pulp::$register>::from_fn(self.0, x)
            }
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
                a.mul_add(b, c)
            }
        }
    };
}

wide_lanes!(
    f32,
    f32x8,
    8,
    splat_f32x8,
    add_f32x8,
    mul_f32x8,
    mul_add_f32x8
);
wide_lanes!(
    f64,
    f64x4,
    4,
    splat_f64x4,
    add_f64x4,
    mul_f64x4,
    mul_add_f64x4
);
