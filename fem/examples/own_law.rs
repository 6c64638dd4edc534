//! A law of your own: Blatz and Ko's foam rubber (1962), Ψ = μ/2 (Σ1/σ_i² + 2J − 5), ν = 1/4, infinitely stiff towards J = 0.
#![allow(
    non_snake_case,
    reason = "the field's F and J are the notation of the theory"
)]

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::{Domain, Lame, ParameterError, PrincipalLaw, Spectrum, principal_pair};
use pliant_fem::conformance::{Violation, check_material};
use pliant_fem::{FemBuilder, FemError, Lag};
use pliant_hydroelastic::mesh::generate::tet_cuboid;

#[derive(Debug)]
struct BlatzKo {
    mu: f64,
    lame: Lame,
}

impl BlatzKo {
    fn new(mu: f64) -> Result<Self, ParameterError> {
        let lame = Lame::new(mu, mu)?;
        Ok(Self { mu, lame })
    }
}

impl PrincipalLaw for BlatzKo {
    fn energy(&self, s: &Vector3<f64>) -> f64 {
        0.5 * self.mu * (s.map(|s| 1.0 / (s * s)).sum() + 2.0 * s.product() - 5.0)
    }

    fn stresses(&self, s: &Vector3<f64>) -> Vector3<f64> {
        s.map(|x| self.mu * (s.product() / x - 1.0 / (x * x * x)))
    }

    fn spectrum(&self, s: &Vector3<f64>) -> Spectrum {
        let mu = self.mu;
        // σ_i⁻³ ∓ σ_j⁻³ over σ_i ∓ σ_j, without 0/0.
        let pair = |k: usize, sign: f64| {
            let (i, j) = principal_pair(k);
            let product = s[i] * s[j];
            sign * mu * ((s[i] * s[i] + sign * product + s[j] * s[j]) / product.powi(3) - s[k])
        };
        let stretching = Matrix3::from_fn(|i, j| match i == j {
            true => 3.0 * mu / s[i].powi(4),
            false => mu * s[3 - i - j],
        });
        Spectrum {
            stretching,
            symmetric: Vector3::from_fn(|k, _| pair(k, 1.0)),
            antisymmetric: Vector3::from_fn(|k, _| pair(k, -1.0)),
        }
    }

    fn lame(&self) -> Lame {
        self.lame
    }

    fn domain(&self) -> Domain {
        Domain::PositiveVolume
    }
}

/// Derivatives, symmetry, rest, and agreement with Hooke's law.
fn check(foam: &BlatzKo) -> Result<(), Violation> {
    let stretched = |s: [f64; 3]| (Matrix3::from_diagonal(&s.into()), Lag::default());
    let sheared = (
        Matrix3::new(1.1, 0.3, 0.0, -0.1, 0.9, 0.2, 0.0, 0.0, 1.2),
        Lag::default(),
    );
    check_material(
        foam,
        &[stretched([1.3, 0.8, 0.8]), stretched([0.5; 3]), sheared],
    )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let foam = BlatzKo::new(2e5)?;
    check(&foam)?;
    let built: Result<_, FemError> = FemBuilder::new(
        tet_cuboid(Vector3::repeat(0.05), [2, 2, 2])?,
        Arc::new(foam),
        300.0,
    )
    .build();
    let (cushion, _) = built?;
    eprintln!("a cushion of {:.3} kg", cushion.mass());
    Ok(())
}

#[test]
fn the_law_passes_the_conformance_checks() {
    check(&BlatzKo::new(2e5).unwrap()).unwrap();
}
