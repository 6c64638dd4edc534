//! A material that Python computes, as one of material points: energies and stresses as functions of G with F = (I + G)F₀.

use nalgebra::{Matrix3, SMatrix, SymmetricEigen};
use pliant_constitutive::{Domain, Real, SignedSvd};
use pliant_mpm::{Definiteness, EnergyForm, Lagged, Law, Material, Strain, Tangent};

use super::material::OwnMaterial;

/// Least principal stretch after a step, of laws that need a positive volume.
const STRETCH_MIN: f64 = 0.05;

/// F₀ and (I + G)F₀.
fn deformed<T: Real>(strain: &Strain<T>, g: &Matrix3<T>) -> [Matrix3<f64>; 2] {
    let start = strain.f.map(T::wide);
    [start, start + g.map(T::wide) * start]
}

/// vec(G F₀) = B vec G, column by column.
fn right_product(start: &Matrix3<f64>) -> SMatrix<f64, 9, 9> {
    SMatrix::from_fn(|row, column| match row % 3 == column % 3 {
        true => start[(column / 3, row / 3)],
        false => 0.0,
    })
}

/// The closest positive semidefinite matrix.
fn semidefinite(matrix: SMatrix<f64, 9, 9>) -> SMatrix<f64, 9, 9> {
    let mut eigen = SymmetricEigen::new(matrix);
    if eigen.eigenvalues.min() >= 0.0 {
        return matrix;
    }
    eigen.eigenvalues.apply(|value| *value = value.max(0.0));
    eigen.recompose()
}

impl<T: Real> Law<T> for OwnMaterial {
    fn energy(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> T {
        let [_, F] = deformed(strain, g);
        match self.domain {
            Domain::PositiveVolume if F.determinant() <= 0.0 => T::of(f64::INFINITY),
            _ => T::of(self.energy_of(&F)),
        }
    }

    fn stress(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> Matrix3<T> {
        let [start, F] = deformed(strain, g);
        (self.stress_of(&F) * start.transpose()).map(T::of)
    }

    fn tangent(
        &self,
        strain: &Strain<T>,
        _: &Lagged<T>,
        g: &Matrix3<T>,
        definiteness: Definiteness,
    ) -> Tangent<T> {
        let [start, F] = deformed(strain, g);
        let by_g = right_product(&start);
        let exact = by_g.transpose() * self.tangent_of(&F) * by_g;
        let tangent = match definiteness {
            Definiteness::Exact => exact,
            Definiteness::Projected | Definiteness::Touching => semidefinite(exact),
        };
        Tangent::General(Box::new(tangent.map(T::of)))
    }

    fn advance(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> Strain<T> {
        let [_, mut F] = deformed(strain, g);
        if self.domain == Domain::PositiveVolume {
            let svd = SignedSvd::of(&F);
            if svd.stretches[2] < STRETCH_MIN {
                F = svd.rebuild(&svd.stretches.map(|stretch| stretch.max(STRETCH_MIN)));
            }
        }
        let [plastic, ratio] = strain.internal.map(T::wide);
        let (F, plastic) = self.flowed(&F, plastic);
        let growth = (Matrix3::identity() + g.map(T::wide)).determinant();
        Strain {
            f: F.map(T::of),
            internal: [plastic, ratio * growth].map(T::of),
        }
    }
}

/// The internal variables are the accumulated plastic strain and the volume over that at rest.
impl Material for OwnMaterial {
    fn name(&self) -> &'static str {
        self.name
    }

    fn energy_form(&self) -> EnergyForm {
        EnergyForm::General
    }

    fn wave_modulus(&self) -> f64 {
        self.lame.wave_modulus()
    }

    fn fresh(&self) -> [f64; 2] {
        [0.0, 1.0]
    }

    fn plastic_strain(&self, strain: &Strain<f64>) -> Option<f64> {
        self.flow.is_some().then_some(strain.internal[0])
    }

    fn volume_ratio(&self, strain: &Strain<f64>) -> f64 {
        strain.internal[1]
    }
}
