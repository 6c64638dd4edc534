//! Elastoplastic solids with a yield stress, such as metal or dough, in logarithmic strain.

use nalgebra::Matrix3;
use pliant_constitutive::{Hencky, Lame, Mask, Number, Real, SignedSvds, Tensor};

use super::hyperelastic::{self, STRETCH_MIN, clamped_log};
use super::lane_law::is_flat;
use super::{
    Definiteness, EnergyForm, Lagged, LaneLaw, LaneMaterial, LaneStrain, Law, Material, ShaderLaw,
    Strain, Tangent,
};
use crate::error::{MpmError, positive};

/// Hencky elasticity with the von Mises yield surface |dev τ| ≤ √(2/3) σ_y; plastic flow preserves the volume exactly.
///
/// ```text
/// ε = ln σ,   if |2μ dev ε| > √(2/3) σ_y:   dev ε ← dev ε · √(2/3) σ_y / |2μ dev ε|
/// ```
///
/// `internal[0]` is the accumulated plastic strain √(2/3) Σ|Δε|. Source: Simo and Hughes (1998), "Computational
/// inelasticity", chapter 9; the form of Yu et al. (2025).
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::{Lame, deviator};
/// use pliant_mpm::{HenckyVonMises, Lagged, Law, Material, Strain};
///
/// // Sheared by 50 % within a step, it flows: |dev τ| = √(2/3) σ_y at the end, and the volume is kept.
/// let clay = HenckyVonMises::new(Lame::new(1e6, 1e6)?, 3e4)?;
/// let mut g = Matrix3::<f64>::zeros();
/// g[(0, 1)] = 0.5;
/// let at_rest = Strain { f: Matrix3::identity(), internal: clay.fresh() };
/// let strain = clay.advance(&at_rest, &Lagged::default(), &g);
/// let tau = clay.kirchhoff(&strain, &Lagged::default());
/// assert!((deviator(&tau).norm() - (2f64 / 3.0).sqrt() * 3e4).abs() < 1e-6);
/// assert!((strain.f.determinant() - 1.0).abs() < 1e-12 && clay.plastic_strain(&strain) > Some(0.2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HenckyVonMises {
    lame: Lame,
    yield_stress: f64,
}

impl HenckyVonMises {
    /// `yield_stress`: σ_y in uniaxial tension, Pa; infinite for an elastic solid.
    ///
    /// # Errors
    /// [`MpmError::Parameter`] unless the yield stress is positive.
    pub fn new(lame: Lame, yield_stress: f64) -> Result<Self, MpmError> {
        if yield_stress != f64::INFINITY {
            positive("Hencky von Mises", "yield_stress", yield_stress)?;
        }
        Ok(Self { lame, yield_stress })
    }
}

impl<T: Real> Law<T> for HenckyVonMises {
    fn energy(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> T {
        hyperelastic::energy(&Hencky::new(self.lame), strain, g)
    }
    fn stress(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> Matrix3<T> {
        hyperelastic::stress(&Hencky::new(self.lame), strain, g)
    }
    fn tangent(
        &self,
        strain: &Strain<T>,
        _: &Lagged<T>,
        g: &Matrix3<T>,
        definiteness: Definiteness,
    ) -> Tangent<T> {
        hyperelastic::tangent(&Hencky::new(self.lame), strain, g, definiteness)
    }

    fn advance(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> Strain<T> {
        let strain = LaneStrain::from(strain);
        self.lane_advance(&strain, &Tensor::from(g)).0.into()
    }
}

impl LaneLaw for HenckyVonMises {
    #[inline(always)]
    fn lane_kirchhoff<N: Number>(&self, strain: &LaneStrain<N>, _: &Tensor<N>) -> Tensor<N> {
        Hencky::new(self.lame).kirchhoff_stresses(&SignedSvds::of(&strain.f))
    }

    #[inline(always)]
    fn lane_advance<N: Number>(
        &self,
        strain: &LaneStrain<N>,
        g: &Tensor<N>,
    ) -> (LaneStrain<N>, N::Mask) {
        let f = strain.deformed(g);
        let svd = SignedSvds::of(&f);
        let e = clamped_log(&svd.stretches);
        let (zero, one) = (e[0].like(0.0), e[0].like(1.0));
        let mean = (e[0] + e[1] + e[2]) / e[0].like(3.0);
        let deviator = [e[0] - mean, e[1] - mean, e[2] - mean];
        let [a, b, c] = deviator;
        let norm = (a * a + b * b + c * c).root();
        let bound = norm.like((2.0_f64 / 3.0).sqrt() * self.yield_stress / (2.0 * self.lame.mu()));
        let yields = bound.below(norm);
        let is_flattened = svd.stretches[2].below(norm.like(STRETCH_MIN));
        let changes = yields.or(is_flattened);
        let crushed = is_flat(&f);
        let internal = strain.internal;
        if !changes.any() {
            return (LaneStrain { f, internal }, crushed);
        }
        let kept = N::select(yields, bound / norm, one);
        let flowed = norm * (one - kept) * norm.like((2.0_f64 / 3.0).sqrt());
        let rebuilt = svd.rebuild(&[
            a.mul_add(kept, mean).exponential(),
            b.mul_add(kept, mean).exponential(),
            c.mul_add(kept, mean).exponential(),
        ]);
        let next = LaneStrain {
            f: Tensor::select(changes, &rebuilt, &f),
            internal: [internal[0] + N::select(changes, flowed, zero), internal[1]],
        };
        (next, crushed)
    }
}

impl Material for HenckyVonMises {
    fn name(&self) -> &'static str {
        "hencky_von_mises"
    }
    fn energy_form(&self) -> EnergyForm {
        EnergyForm::General
    }
    fn shader_law(&self) -> Option<ShaderLaw> {
        Some(ShaderLaw::HenckyVonMises {
            lame: self.lame,
            yield_stress: self.yield_stress,
        })
    }
    fn wave_modulus(&self) -> f64 {
        self.lame.wave_modulus()
    }
    fn in_lanes(&self) -> Option<&dyn LaneMaterial> {
        Some(self)
    }
    fn plastic_strain(&self, strain: &Strain<f64>) -> Option<f64> {
        (self.yield_stress < f64::INFINITY).then_some(strain.internal[0])
    }
}
