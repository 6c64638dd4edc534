//! The energy density of a domain of integration: a law, or its volumetric part.

use std::sync::Arc;

use nalgebra::Matrix3;
use pliant_constitutive::{Domain, Hooke, SignedSvd};

use crate::material::{Lag, Linearity, Material, Principal, Tangent};

/// A part of a law's energy: `share` Ψ + `rest_share` Ψ₀, with Ψ₀ the same law with λ = 0.
#[derive(Clone, Debug)]
pub(crate) struct DomainLaw {
    material: Arc<dyn Material>,
    share: f64,
    rest: Option<Arc<dyn Material>>,
    rest_share: f64,
    /// At small strain.
    pub(crate) hooke: Hooke,
}

impl DomainLaw {
    pub(crate) fn whole(material: Arc<dyn Material>) -> Self {
        Self {
            hooke: material.lame().hooke(),
            material,
            share: 1.0,
            rest: None,
            rest_share: 0.0,
        }
    }

    /// The law with λ of at most `ratio_max` μ, and the volumetric part that it lacks: Ψ₀ + w (Ψ − Ψ₀) and (1 − w)(Ψ − Ψ₀). None if it lacks nothing, or the
    /// law has no such part.
    pub(crate) fn split(material: &Arc<dyn Material>, ratio_max: f64) -> Option<[Self; 2]> {
        let lame = material.lame();
        let (mu, lambda) = (lame.mu(), lame.lambda());
        if lambda <= ratio_max * mu {
            return None;
        }
        let rest = material.with_zero_lambda()?;
        let share = ratio_max * mu / lambda;
        let volumetric = Self {
            material: Arc::clone(material),
            share: 1.0 - share,
            rest: Some(Arc::clone(&rest)),
            rest_share: share - 1.0,
            hooke: Hooke {
                mu: 0.0,
                lambda: (1.0 - share) * lambda,
            },
        };
        if share == 0.0 {
            return Some([Self::whole(rest), volumetric]);
        }
        let pointwise = Self {
            material: Arc::clone(material),
            share,
            rest: Some(rest),
            rest_share: 1.0 - share,
            hooke: Hooke {
                mu,
                lambda: share * lambda,
            },
        };
        Some([pointwise, volumetric])
    }

    /// Whether the energy of inverted domains is infinite.
    pub(crate) fn has_barrier(&self) -> bool {
        self.material.domain() == Domain::PositiveVolume
    }

    /// Ψ, J per m³ of rest volume.
    pub(crate) fn energy_density(&self, F: &Matrix3<f64>, lag: &Lag) -> f64 {
        if self.has_barrier() && F.determinant() <= 0.0 {
            return f64::INFINITY;
        }
        let energy = self.material.energy_density(F, lag);
        match &self.rest {
            Some(rest) => self.share * energy + self.rest_share * rest.energy_density(F, lag),
            None => energy,
        }
    }

    /// P = ∂Ψ/∂F, Pa.
    pub(crate) fn first_piola(&self, F: &Matrix3<f64>, lag: &Lag) -> Matrix3<f64> {
        let stress = self.material.first_piola(F, lag);
        match &self.rest {
            Some(rest) => stress * self.share + rest.first_piola(F, lag) * self.rest_share,
            None => stress,
        }
    }

    /// P of a nonlinear law at F, whose decomposition is `svd`.
    pub(crate) fn stress_at(&self, F: &Matrix3<f64>, svd: &SignedSvd) -> Matrix3<f64> {
        let Some(law) = self.material.principal_law() else {
            return self.first_piola(F, &Lag::default());
        };
        let mut stresses = law.stresses(&svd.stretches);
        if let Some(rest) = self.rest_law() {
            stresses = stresses * self.share + rest.stresses(&svd.stretches) * self.rest_share;
        }
        svd.rebuild(&stresses)
    }

    /// ∂P/∂F of a nonlinear law at F, whose decomposition is `svd`.
    pub(crate) fn tangent_at(&self, F: &Matrix3<f64>, svd: &SignedSvd) -> Tangent {
        let Some(law) = self.material.principal_law() else {
            let tangent = self.material.tangent(F, &Lag::default());
            return match &self.rest {
                Some(rest) => {
                    let rest = rest.tangent(F, &Lag::default()).to_matrix();
                    let whole = tangent.to_matrix();
                    Tangent::Full(Box::new(whole * self.share + rest * self.rest_share))
                }
                None => tangent,
            };
        };
        let SignedSvd { U, stretches, V } = *svd;
        let mut spectrum = law.spectrum(&stretches);
        if let Some(rest) = self.rest_law() {
            spectrum = spectrum * self.share + rest.spectrum(&stretches) * self.rest_share;
        }
        Tangent::Principal(Principal { U, V, spectrum })
    }

    /// ∂P/∂F of a law that is linear within a step.
    pub(crate) fn linear_tangent(&self, rotation: Matrix3<f64>) -> Tangent {
        debug_assert_ne!(self.material.linearity(), Linearity::Nonlinear);
        Tangent::Hooke {
            rotation,
            hooke: self.hooke,
        }
    }

    fn rest_law(&self) -> Option<&dyn pliant_constitutive::PrincipalLaw> {
        self.rest.as_deref().and_then(|rest| rest.principal_law())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;
    use pliant_constitutive::{Lame, MooneyRivlin};

    use crate::LawKind;

    /// Every law that can be split, with its name.
    fn laws() -> Vec<(&'static str, Arc<dyn Material>)> {
        let lame = Lame::from_young_poisson(1e5, 0.45).unwrap();
        let named = LawKind::ALL.map(|law| (law.name(), law.of(lame).unwrap()));
        let rubber: Arc<dyn Material> = Arc::new(MooneyRivlin::new(1.2e4, 0.7e4, 3e5).unwrap());
        named
            .into_iter()
            .chain([("mooney-rivlin", rubber)])
            .collect()
    }

    #[test]
    fn the_two_parts_of_a_law_sum_to_it_and_each_is_free_of_stress_at_rest() {
        for (name, law) in laws() {
            for ratio in [0.0, 1.5] {
                check_parts(name, &law, &DomainLaw::split(&law, ratio).unwrap());
            }
        }
    }

    fn check_parts(name: &str, law: &Arc<dyn Material>, parts: &[DomainLaw; 2]) {
        let F = Matrix3::new(1.2, 0.3, -0.1, 0.0, 0.8, 0.2, 0.3, 0.1, 1.1);
        let lag = Lag::default();
        let hooke = law.lame().hooke::<f64>();
        assert_eq!([parts[0].hooke.mu, parts[1].hooke.mu], [hooke.mu, 0.0]);
        let lambda = parts[0].hooke.lambda + parts[1].hooke.lambda;
        assert!((lambda / hooke.lambda - 1.0).abs() < 1e-15);
        let energy: f64 = parts.iter().map(|p| p.energy_density(&F, &lag)).sum();
        assert!(
            (energy / law.energy_density(&F, &lag) - 1.0).abs() < 1e-12,
            "{name}"
        );
        let stress: Matrix3<f64> = parts.iter().map(|p| p.first_piola(&F, &lag)).sum();
        let whole = law.first_piola(&F, &lag);
        assert!((stress - whole).norm() < 1e-12 * whole.norm(), "{name}");
        for part in parts {
            let rest = part.first_piola(&Matrix3::identity(), &lag);
            assert!(rest.norm() < 1e-9, "{name}: {rest}");
            // Hooke's law of the part.
            let strain = Matrix3::new(1e-6, 2e-6, 0.0, 2e-6, -3e-6, 1e-6, 0.0, 1e-6, 5e-6);
            let small = part.first_piola(&(Matrix3::identity() + strain), &lag);
            let expected = part.hooke.stress(&strain);
            assert!((small - expected).norm() < 2e-5 * expected.norm(), "{name}");
        }
    }

    #[test]
    fn stress_and_tangent_of_a_part_are_derivatives_of_its_energy() {
        let F = Matrix3::new(1.2, 0.3, -0.1, 0.0, 0.8, 0.2, 0.3, 0.1, 1.1);
        let dF = Matrix3::new(0.3, -0.2, 0.5, 0.7, 0.1, -0.4, -0.6, 0.2, 0.9);
        for (name, law) in laws() {
            if law.linearity() != Linearity::Nonlinear {
                continue;
            }
            let parts = [0.0, 1.5].map(|ratio| DomainLaw::split(&law, ratio).unwrap());
            for part in parts.into_iter().flatten() {
                let at = |F: &Matrix3<f64>| part.stress_at(F, &SignedSvd::of(F));
                let h = 1e-5;
                let (up, down) = (F + dF * h, F - dF * h);
                let lag = Lag::default();
                let slope = part.energy_density(&up, &lag) - part.energy_density(&down, &lag);
                let stress = at(&F);
                let error = (slope / (2.0 * h) - stress.dot(&dF)).abs();
                assert!(error < 1e-6 * (1.0 + stress.norm()), "{name}: {error}");
                let change = (at(&up) - at(&down)) / (2.0 * h);
                let found = part.tangent_at(&F, &SignedSvd::of(&F)).apply(&dF);
                assert!((found - change).norm() < 1e-6 * change.norm(), "{name}");
            }
        }
    }

    #[test]
    fn inverted_domains_of_a_barrier_law_have_infinite_energy_in_both_parts() {
        let lame = Lame::from_young_poisson(1e5, 0.45).unwrap();
        let law = LawKind::NeoHookean.of(lame).unwrap();
        let inverted = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, -0.2));
        for part in DomainLaw::split(&law, 0.0).unwrap() {
            assert!(part.has_barrier());
            assert_eq!(
                part.energy_density(&inverted, &Lag::default()),
                f64::INFINITY
            );
        }
    }

    #[test]
    fn a_material_that_thins_when_compressed_has_no_volumetric_part() {
        let auxetic = LawKind::Corotational.of(Lame::from_young_poisson(1e5, -0.2).unwrap());
        assert!(DomainLaw::split(&auxetic.unwrap(), 0.0).is_none());
    }
}
