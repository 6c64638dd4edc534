//! Finite differences, symmetries and limits of every material.

mod flow;
mod lanes;
mod limits;
mod past;
mod rotation;

use nalgebra::{Rotation3, SMatrix, SVector, Vector3};
use pliant_constitutive::{
    FixedCorotated, Hooke, Lame, NeoHookean, SignedSvd, deviator, polar_rotation, symmetric_part,
};

use super::*;
use crate::error::MpmError;
use crate::random::Random;

fn all() -> Vec<Box<dyn Material>> {
    let corotated = LinearCorotated::new(Lame::from_young_poisson(1e5, 0.4).unwrap());
    vec![
        Box::new(corotated),
        Box::new(corotated.with_yield_stress(2e3).unwrap()),
        Box::new(FixedCorotated::new(Lame::from_young_poisson(1e5, 0.3).unwrap()).unwrap()),
        Box::new(NeoHookean::new(Lame::from_young_poisson(1e5, 0.3).unwrap()).unwrap()),
        Box::new(HenckyVonMises::new(Lame::from_young_poisson(1e5, 0.3).unwrap(), 2e3).unwrap()),
        Box::new(
            Sand::new(
                Lame::from_young_poisson(1e5, 0.3).unwrap(),
                30.0,
                FrictionAngle::PlaneStrain,
            )
            .unwrap(),
        ),
        Box::new(Liquid::new(1e5, 7.0).unwrap().with_viscosity(50.0).unwrap()),
        Box::new(Liquid::new(1e5, 7.0).unwrap().with_tension(Tension::Full)),
    ]
}

struct Draw(Random);

impl Draw {
    fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }
    fn number(&mut self) -> f64 {
        2.0 * self.0.unit() - 1.0
    }
    fn matrix(&mut self, size: f64) -> Matrix3<f64> {
        Matrix3::from_fn(|_, _| size * self.number())
    }
    fn rotation(&mut self) -> Matrix3<f64> {
        Rotation3::from_euler_angles(
            3.0 * self.number(),
            3.0 * self.number(),
            3.0 * self.number(),
        )
        .into_inner()
    }
    fn strain(&mut self, material: &dyn Material, size: f64) -> Strain<f64> {
        let mut strain = Strain {
            f: self.rotation() * (Matrix3::identity() + self.matrix(size)),
            internal: material.fresh(),
        };
        strain.internal[0] *= 1.0 - size * self.0.unit();
        strain
    }
}

fn lagged(material: &dyn Material, strain: &Strain<f64>, predicted: &Matrix3<f64>) -> Lagged<f64> {
    let mut lagged = Lagged {
        time_s: 0.01,
        ..Lagged::default()
    };
    Law::<f64>::lag(material, strain, Some(predicted), &mut lagged);
    lagged
}

#[test]
fn stress_is_the_gradient_of_energy_and_tangent_that_of_stress() {
    let mut draw = Draw::new(1);
    for material in all() {
        let material = material.as_ref();
        // A liquid at J = 1 has a kink in its stiffness.
        let first = usize::from(material.name() == "liquid");
        for round in first..20 {
            // Round 0: undeformed, where singular values coincide.
            let size = if round == 0 { 0.0 } else { 0.2 };
            let strain = draw.strain(material, size);
            let lagged = lagged(material, &strain, &draw.matrix(0.1));
            let g = draw.matrix(0.5 * size) - Matrix3::identity() * (0.1 * size);
            let direction = draw.matrix(1.0);
            let h = 1e-5;
            let (up, down) = (g + direction * h, g - direction * h);
            let energy = |g| material.energy(&strain, &lagged, g);
            let stress = |g| material.stress(&strain, &lagged, g);
            let scale = material.wave_modulus();
            let slope = (energy(&up) - energy(&down)) / (2.0 * h);
            let error = (slope - stress(&g).dot(&direction)).abs();
            assert!(
                error < 1e-6 * scale,
                "{}: stress off by {error:e}",
                material.name()
            );
            let change = (stress(&up) - stress(&down)) / (2.0 * h);
            let tangent = material.tangent(&strain, &lagged, &g, Definiteness::Exact);
            let error = (change - tangent.apply(&direction)).norm();
            assert!(
                error < 2e-5 * scale,
                "{}: tangent off by {error:e} in round {round}",
                material.name()
            );
        }
    }
}

fn dense(tangent: &Tangent<f64>) -> SMatrix<f64, 9, 9> {
    let columns: Vec<_> = (0..9)
        .map(|k| {
            let e = Matrix3::from_fn(|i, j| if i + 3 * j == k { 1.0 } else { 0.0 });
            SVector::<f64, 9>::from_column_slice(tangent.apply(&e).as_slice())
        })
        .collect();
    SMatrix::from_columns(&columns)
}

#[test]
fn projected_tangents_are_symmetric_without_negative_eigenvalues_and_equal_to_exact_ones_where_those_are()
 {
    let mut draw = Draw::new(2);
    for material in all() {
        let material = material.as_ref();
        for size in [0.0, 0.05, 0.4] {
            let strain = draw.strain(material, size);
            let g = draw.matrix(size);
            if !material
                .energy(&strain, &lagged(material, &strain, &g), &g)
                .is_finite()
            {
                continue;
            }
            let lagged = lagged(material, &strain, &g);
            let at = |definiteness| dense(&material.tangent(&strain, &lagged, &g, definiteness));
            let (exact, projected) = (at(Definiteness::Exact), at(Definiteness::Projected));
            let scale = projected.norm().max(1.0);
            assert!((projected - projected.transpose()).norm() < 1e-13 * scale);
            let lowest = projected.symmetric_eigenvalues().min();
            assert!(lowest > -1e-12 * scale, "{}: {lowest:e}", material.name());
            if exact.symmetric_eigenvalues().min() > -1e-12 * scale {
                assert!(
                    (exact - projected).norm() < 1e-9 * scale,
                    "{}",
                    material.name()
                );
            }
        }
    }
}

#[test]
fn stresses_rotate_with_the_material() {
    let mut draw = Draw::new(3);
    for material in all() {
        let material = material.as_ref();
        let strain = draw.strain(material, 0.1);
        let rotation = draw.rotation();
        let rotated = Strain {
            f: rotation * strain.f,
            ..strain
        };
        let tau = material.kirchhoff(&strain, &Lagged::default());
        let tau_rotated = material.kirchhoff(&rotated, &Lagged::default());
        let error = (rotation * tau * rotation.transpose() - tau_rotated).norm();
        assert!(
            error < 1e-9 * material.wave_modulus(),
            "{}",
            material.name()
        );
        assert!((tau - tau.transpose()).norm() < 0.2 * tau.norm());
        // Undeformed material is free of stress in every orientation.
        let fresh = Strain {
            f: rotation,
            internal: material.fresh(),
        };
        let left = material.kirchhoff(&fresh, &Lagged::default()).norm();
        assert!(
            left < 1e-9 * material.wave_modulus(),
            "{}: {left:e}",
            material.name()
        );
    }
}

#[test]
fn both_precisions_agree() {
    let mut draw = Draw::new(4);
    for material in all() {
        let strain = draw.strain(material.as_ref(), 0.1);
        let narrow = Strain {
            f: strain.f.map(|x| x as f32),
            internal: strain.internal.map(|x| x as f32),
        };
        let wide = material.kirchhoff(&strain, &Lagged::default());
        let tau = material
            .kirchhoff(&narrow, &Lagged::default())
            .map(f64::from);
        assert!(
            (wide - tau).norm() < 1e-5 * material.wave_modulus(),
            "{}",
            material.name()
        );
    }
}

#[test]
fn small_strains_give_hookes_law() {
    let mut draw = Draw::new(5);
    let e = symmetric_part(&draw.matrix(1e-6));
    for material in all().iter().filter(|m| m.name() != "liquid") {
        let strain = Strain {
            f: Matrix3::identity(),
            internal: material.fresh(),
        };
        let lagged = lagged(material.as_ref(), &strain, &Matrix3::zeros());
        let found = material.stress(&strain, &lagged, &e);
        let nu = if material.name() == "linear_corotated" {
            0.4
        } else {
            0.3
        };
        let lame = Lame::from_young_poisson(1e5, nu).unwrap();
        let hooke = lame.hooke().stress(&e);
        assert!(
            (found - hooke).norm() < 1e-4 * hooke.norm(),
            "{}",
            material.name()
        );
    }
}

#[test]
fn a_liquid_of_advected_volume_without_tension_separates_without_memory() {
    let water = Liquid::new(1e5, 7.0).unwrap();
    let water = water.with_volume(VolumeForm::Advected).unwrap();
    let fresh = Strain {
        f: Matrix3::<f64>::identity(),
        internal: [1.0, 0.0],
    };
    let pull = Matrix3::identity() * 0.1;
    assert_eq!(water.energy(&fresh, &Lagged::default(), &pull), 0.0);
    assert_eq!(
        water.advance(&fresh, &Lagged::default(), &pull).internal[0],
        1.0
    );
    // Whatever lies around it.
    assert_eq!(Law::<f64>::packed(&water, &fresh, 1.2, 1e3), fresh);
    let full = water.with_tension(Tension::Full);
    assert!(
        full.pressure(&Strain {
            internal: [1.1, 0.0],
            ..fresh
        }) < 0.0
    );
    // κ = ρc²/γ.
    assert_eq!(water.wave_modulus(), 7e5);
}

#[test]
fn a_liquid_of_packed_volume_closes_without_pressure_and_tends_to_the_packing() {
    let water = Liquid::new(1e5, 7.0).unwrap();
    let fresh = Strain {
        f: Matrix3::<f64>::identity(),
        internal: [1.0, 0.0],
    };
    let advance = |strain: &Strain<f64>, rate: f64| {
        let g = Matrix3::identity() * (rate / 3.0);
        Law::<f64>::advance(&water, strain, &Lagged::default(), &g)
    };
    // It separates by a tenth and closes again; only then there is pressure.
    let apart = advance(&fresh, 0.1);
    assert_eq!(
        (water.pressure(&apart), water.volume_ratio(&apart)),
        (0.0, 1.0)
    );
    let closed = advance(&apart, 1.0 / 1.1 - 1.0);
    assert!(water.pressure(&closed).abs() < 1e-8);
    assert!(water.pressure(&advance(&closed, -0.01)) > 0.0);
    // Drops that fly apart are not remembered as larger than a bound.
    let far = (0..100).fold(fresh, |strain, _| advance(&strain, 0.1));
    assert_eq!(far.internal[0], 1.5);
    // ln J tends to −ln(packing) by 1 − 1/e in the time of 100 crossings.
    let packed = Law::<f64>::packed(&water, &fresh, 1.1, 100.0);
    let share = packed.internal[0].ln() / -(1.1_f64.ln());
    assert!((share - (1.0 - (-1.0_f64).exp())).abs() < 1e-12, "{share}");
    // In two steps as in one.
    let half = Law::<f64>::packed(&water, &fresh, 1.1, 50.0);
    let twice = Law::<f64>::packed(&water, &half, 1.1, 50.0);
    assert!((twice.internal[0] - packed.internal[0]).abs() < 1e-14);
}

/// J(1 + tr G) from −0.2 to 0.76, across a half, below which the pressure is linear.
#[test]
fn a_liquid_compressed_beyond_its_range_has_the_derivatives_of_its_energy() {
    let water = Liquid::new(1e5, 7.0).unwrap();
    let fresh = Strain {
        f: Matrix3::<f64>::identity(),
        internal: [1.0, 0.0],
    };
    let lagged = Lagged::default();
    let crushed = |trace: f64| Matrix3::identity() * (trace / 3.0);
    for k in 0..25 {
        let (trace, e) = (-1.21 + 0.04 * f64::from(k), 1e-6);
        let energy = |trace| water.energy(&fresh, &lagged, &crushed(trace));
        let stress = |trace| water.stress(&fresh, &lagged, &crushed(trace)).trace() / 3.0;
        let slope = (energy(trace + e) - energy(trace - e)) / (2.0 * e);
        assert!((slope / stress(trace) - 1.0).abs() < 1e-6, "{trace}");
        let tangent = water.tangent(&fresh, &lagged, &crushed(trace), Definiteness::Exact);
        let Tangent::Isotropic {
            hooke: Hooke { lambda, .. },
            ..
        } = tangent
        else {
            panic!("a liquid is isotropic");
        };
        let slope = (stress(trace + e) - stress(trace - e)) / (2.0 * e);
        assert!(
            (slope / lambda - 1.0).abs() < 1e-5,
            "{trace}: {slope} {lambda}"
        );
        assert!(lambda <= 7e5 * 256.000_1, "{trace}");
    }
}

#[test]
fn parameters_out_of_range_are_rejected_by_name() {
    let check_message = |error: MpmError, words: [&str; 2]| {
        let text = error.to_string();
        assert!(words.iter().all(|w| text.contains(w)), "{text}");
    };
    let solid = LinearCorotated::new(Lame::from_young_poisson(1e5, 0.3).unwrap());
    check_message(
        solid.with_yield_stress(-1.0).unwrap_err(),
        ["linear corotated", "yield_stress = -1"],
    );
    check_message(
        Liquid::new(0.0, 7.0).unwrap_err(),
        ["liquid", "bulk_modulus"],
    );
    check_message(Liquid::new(1.0, 1.0).unwrap_err(), ["liquid", "exponent"]);
    check_message(
        Sand::new(
            Lame::from_young_poisson(1e5, 0.3).unwrap(),
            90.0,
            FrictionAngle::PlaneStrain,
        )
        .unwrap_err(),
        ["sand", "angle"],
    );
    check_message(
        HenckyVonMises::new(Lame::from_young_poisson(1e5, 0.3).unwrap(), f64::NAN).unwrap_err(),
        ["Hencky", "yield"],
    );
    for preset in Preset::ALL {
        assert!(preset.material().wave_modulus() > 0.0 && preset.density() > 0.0);
    }
}
