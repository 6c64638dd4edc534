//! How forces that grow with the inverse of a triangle's altitudes vanish with its area.
//!
//! An energy is multiplied by φ(a), a the ratio of current to rest area:
//!
//! ```text
//! φ = 1 for a ≥ a₀,  t²(3 − 2t) with t = a/a₀ below,  a₀ = 0.1
//! ```
//!
//! φ/a and φ′ are bounded, and so are the forces; they remain the gradient of an energy.

use pliant_constitutive::Real;

/// a₀.
const AREA_RATIO: f64 = 0.1;

/// φ and what its derivatives need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fading<T> {
    /// φ.
    pub(crate) factor: T,
    /// φ/a.
    pub(crate) factor_by_ratio: T,
    /// φ′.
    pub(crate) slope: T,
}

impl<T: Real> Fading<T> {
    #[inline(always)]
    pub(crate) fn of(area_ratio: T) -> Self {
        let start = T::of(AREA_RATIO);
        if area_ratio >= start {
            return Self {
                factor: T::one(),
                factor_by_ratio: T::one() / area_ratio,
                slope: T::zero(),
            };
        }
        let t = area_ratio / start;
        let by_t = t * (T::of(3.0) - T::of(2.0) * t);
        Self {
            factor: by_t * t,
            factor_by_ratio: by_t / start,
            slope: T::of(6.0) * t * (T::one() - t) / start,
        }
    }

    /// Whether φ is not constant here.
    pub(crate) fn fades(&self) -> bool {
        self.factor < T::one()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_that_of_the_factor_and_both_are_continuous() {
        for k in 0..30 {
            let a = 0.005 * f64::from(k);
            let (step, here) = (1e-7, Fading::of(a));
            let slope = (Fading::of(a + step).factor - Fading::of(a - step).factor) / (2.0 * step);
            assert!((slope - here.slope).abs() < 1e-4, "{a}");
            assert!((here.factor - a * here.factor_by_ratio).abs() < 1e-15);
        }
        assert_eq!(Fading::of(0.1).factor, 1.0);
        assert!(Fading::of(0.1 - 1e-9).slope < 1e-5);
    }
}
