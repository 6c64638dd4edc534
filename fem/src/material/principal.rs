//! Implements [`Material`] for the isotropic laws of `pliant-constitutive`.

use std::sync::Arc;

use nalgebra::Matrix3;
use pliant_constitutive::{Domain, Lame, PrincipalLaw, SignedSvd};

use super::{Lag, Material, Principal, Tangent};

impl<L: PrincipalLaw + 'static> Material for L {
    fn energy_density(&self, F: &Matrix3<f64>, _: &Lag) -> f64 {
        self.strain_energy(F)
    }

    fn first_piola(&self, F: &Matrix3<f64>, _: &Lag) -> Matrix3<f64> {
        self.piola_stress(F)
    }

    fn tangent(&self, F: &Matrix3<f64>, _: &Lag) -> Tangent {
        let SignedSvd { U, stretches, V } = SignedSvd::of(F);
        let spectrum = self.spectrum(&stretches);
        Tangent::Principal(Principal { U, V, spectrum })
    }

    fn principal_law(&self) -> Option<&dyn PrincipalLaw> {
        Some(self)
    }

    fn lame(&self) -> Lame {
        PrincipalLaw::lame(self)
    }

    fn with_zero_lambda(&self) -> Option<Arc<dyn Material>> {
        let law = PrincipalLaw::with_zero_lambda(self)?;
        Some(Arc::new(law))
    }

    fn domain(&self) -> Domain {
        PrincipalLaw::domain(self)
    }
}
