//! The scalar of transfers and materials: f64 for the implicit step, f32 where speed counts more than digits.

use nalgebra::RealField;

/// A floating-point number: `f64` or `f32`.
pub trait Real: RealField + Copy + Default + Send + Sync {
    /// The nearest value to `x`.
    fn of(x: f64) -> Self;
    /// As `f64`, exactly.
    fn wide(self) -> f64;
    /// ⌊x⌋ as an integer, saturating; 0 for NaN.
    fn floor_index(self) -> i32;
    /// a·b + c in one rounding. Only to be called where the processor has the instruction: elsewhere it is a library call
    /// thirty times as slow.
    fn fused(a: Self, b: Self, c: Self) -> Self;
}

impl Real for f64 {
    fn of(x: f64) -> Self {
        x
    }
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn floor_index(self) -> i32 {
        // The cast rounds towards zero; one less where that went up.
        let cut = self as i32;
        cut - i32::from(f64::from(cut) > self)
    }
    #[inline(always)]
    fn fused(a: Self, b: Self, c: Self) -> Self {
        a.mul_add(b, c)
    }
}

impl Real for f32 {
    fn of(x: f64) -> Self {
        x as f32
    }
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn floor_index(self) -> i32 {
        let cut = self as i32;
        cut - i32::from(cut as f32 > self)
    }
    #[inline(always)]
    fn fused(a: Self, b: Self, c: Self) -> Self {
        a.mul_add(b, c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_goes_down_below_zero_too() {
        for (x, expected) in [(1.5, 1), (-0.5, -1), (-2.0, -2), (0.0, 0), (f64::NAN, 0)] {
            assert_eq!(x.floor_index(), expected, "{x}");
            assert_eq!(f32::of(x).floor_index(), expected, "{x}");
        }
    }
}
