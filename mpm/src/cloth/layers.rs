//! The energy between layers: of the distance r₃₃ to the next layer and of the shear s = (r₁₃, r₂₃) against it.
//!
//! ```text
//! ψ_n = k/3 e³,  e = −ln r₃₃           for r₃₃ < 1, otherwise zero        pressure π = −ψ_n′ = k e²/r₃₃
//! ψ_s = γ/2 |s|²                       for γ|s| ≤ b,  b|s| − b²/(2γ) beyond
//! ```
//!
//! Jiang, Gast, Teran (2017) have k/3 (1 − r₃₃)³, the same to leading order. The stress that the grid receives, π r₃₃ = k (1 − r₃₃)² r₃₃, then
//! has a maximum of 4k/27 at r₃₃ = 1/3, and layers under more pressure go through each other. Here it is k e², which grows without bound,
//! and ψ_n is convex in r₃₃. Below [`LEAST_NORMAL`] the energy continues quadratically.
//!
//! b is the bound of friction c_F π: of the present state in explicit substeps, where the return mapping keeps γ|s| below it, and of the
//! start of the step in implicit ones. With b fixed, ψ_s is the incremental potential of perfect plasticity, convex in s.

use nalgebra::{Vector2, Vector3};
use pliant_constitutive::Real;

use super::surface_frame::SurfaceFrame;

/// Least r₃₃ after the return mapping: a normal of length zero could never grow again, and an inverted one would pull layers together.
pub(crate) const LEAST_NORMAL: f64 = 0.1;

/// Constants of the energy between layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Layers<T> {
    /// k, Pa.
    pub(crate) normal: T,
    /// γ, Pa.
    pub(crate) shear: T,
    /// c_F.
    pub(crate) friction: T,
}

/// ψ_n and its derivatives with respect to r₃₃.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Normal<T> {
    pub(crate) energy: T,
    /// π, Pa.
    pub(crate) pressure: T,
    /// ψ_n″ ≥ 0, Pa.
    pub(crate) stiffness: T,
}

/// ψ_n + ψ_s and its derivatives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transverse<T> {
    pub(crate) normal: Normal<T>,
    /// J/m³.
    pub(crate) energy: T,
    /// ∂ψ/∂(r₁₃, r₂₃, r₃₃), Pa.
    pub(crate) stress: Vector3<T>,
    /// |∂ψ_s/∂s|/|s|, Pa: γ, or b/|s| where layers slip.
    pub(crate) shear_secant: T,
    /// What a tilt of the surface against d₃ = (r₁₃, r₂₃, r₃₃) costs: −∂ψ/∂q₃ = `tilt` d₃.
    pub(crate) tilt: T,
}

impl<T: Real> Layers<T> {
    #[inline(always)]
    pub(crate) fn normal(&self, r33: T) -> Normal<T> {
        let (zero, one) = (T::zero(), T::one());
        // The negation keeps NaN.
        if r33 >= one {
            return Normal {
                energy: zero,
                pressure: zero,
                stiffness: zero,
            };
        }
        let least = T::of(LEAST_NORMAL);
        let (r, excess) = match r33 < least {
            true => (least, least - r33),
            false => (r33, zero),
        };
        let strain = -r.ln();
        let k = self.normal;
        let energy = k * strain * strain * strain / T::of(3.0);
        let pressure = k * strain * strain / r;
        let stiffness = k * strain * (T::of(2.0) + strain) / (r * r);
        Normal {
            energy: energy + excess * (pressure + T::of(0.5) * stiffness * excess),
            pressure: pressure + stiffness * excess,
            stiffness,
        }
    }

    /// b at r₃₃, Pa.
    #[inline(always)]
    pub(crate) fn friction_bound(&self, r33: T) -> T {
        self.friction * self.normal(r33).pressure
    }

    /// With the shear traction bounded by `bound`, which may be infinite.
    #[inline(always)]
    pub(crate) fn transverse(&self, frame: &SurfaceFrame<T>, bound: T) -> Transverse<T> {
        let half = T::of(0.5);
        let normal = self.normal(frame.normal);
        let length = frame.shear.norm();
        let traction = self.shear * length;
        let (of_shear, shear_secant) = if !(bound > T::zero()) {
            (T::zero(), T::zero())
        } else if traction > bound {
            let slip = bound * length - half * bound * bound / self.shear;
            (slip, bound / length)
        } else {
            (half * traction * length, self.shear)
        };
        let shear: Vector2<T> = frame.shear * shear_secant;
        Transverse {
            normal,
            energy: normal.energy + of_shear,
            stress: Vector3::new(shear.x, shear.y, -normal.pressure),
            shear_secant,
            tilt: shear_secant * frame.normal + normal.pressure,
        }
    }

    /// The return mapping of (r₁₃, r₂₃, r₃₃): see [`ClothLaw::return_normal`](super::ClothLaw::return_normal).
    #[inline(always)]
    pub(crate) fn return_frame(&self, frame: &mut SurfaceFrame<T>) {
        if !(frame.area_ratio > T::zero()) {
            return;
        }
        // `min` and `max` would make a number of NaN.
        if frame.normal > T::one() {
            frame.normal = T::one();
        } else if frame.normal < T::of(LEAST_NORMAL) {
            frame.normal = T::of(LEAST_NORMAL);
        }
        if !(self.shear > T::zero()) {
            frame.shear = Vector2::zeros();
            return;
        }
        let bound = self.friction_bound(frame.normal);
        let traction = self.shear * frame.shear.norm();
        if traction > bound {
            frame.shear *= bound / traction;
        }
    }
}
