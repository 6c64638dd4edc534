//! Closed forms from 6 % to a thousandfold stretch, quarter rotations, and published numbers.

use std::f64::consts::FRAC_PI_2;

use super::*;

fn fresh(material: &dyn Material) -> Strain<f64> {
    Strain {
        f: Matrix3::identity(),
        internal: material.fresh(),
    }
}

/// μ and λ of [`all`].
fn moduli(material: &dyn Material) -> (f64, f64) {
    let nu = if material.name() == "linear_corotated" {
        0.4
    } else {
        0.3
    };
    let moduli = Lame::from_young_poisson(1e5, nu).unwrap();
    (moduli.mu(), moduli.lambda())
}

#[test]
fn energy_of_a_uniform_stretch_is_its_closed_form_at_any_size() {
    for material in all() {
        let material = material.as_ref();
        let strain = fresh(material);
        let (mu, lambda) = moduli(material);
        for s in [0.06_f64, 0.1, 0.5, 1.0, 2.0, 30.0, 1e3] {
            let (d, log) = (s - 1.0, s.ln());
            let expected = match material.name() {
                "linear_corotated" => (3.0 * mu + 4.5 * lambda) * d * d,
                "fixed_corotated" => {
                    3.0 * mu * d * d + 0.5 * lambda * (s.powi(3) - 1.0) * (s.powi(3) - 1.0)
                }
                "neo_hookean" => {
                    1.5 * mu * (s * s - 1.0) - 3.0 * mu * log + 4.5 * lambda * log * log
                }
                "sand" | "hencky_von_mises" => (3.0 * mu + 4.5 * lambda) * log * log,
                _ => continue,
            };
            let lagged = lagged(material, &strain, &Matrix3::zeros());
            let found = material.energy(&strain, &lagged, &(Matrix3::identity() * d));
            assert!(
                (found - expected).abs() <= 1e-9 * expected.abs(),
                "{}: {found} for {expected} at {s}",
                material.name()
            );
        }
    }
}

#[test]
fn stress_of_a_pulled_bar_is_its_closed_form_at_any_length() {
    for material in all() {
        let material = material.as_ref();
        let (mu, lambda) = moduli(material);
        for s in [0.06_f64, 0.3, 0.9, 1.1, 3.0, 100.0] {
            let expected = match material.name() {
                "linear_corotated" | "fixed_corotated" => (2.0 * mu + lambda) * (s - 1.0) * s,
                "neo_hookean" => mu * (s * s - 1.0) + lambda * s.ln(),
                "sand" | "hencky_von_mises" => (2.0 * mu + lambda) * s.ln(),
                _ => continue,
            };
            let strain = Strain {
                f: Matrix3::from_diagonal(&Vector3::new(s, 1.0, 1.0)),
                internal: material.fresh(),
            };
            let tau = material.kirchhoff(&strain, &Lagged::default());
            assert!(
                (tau[(0, 0)] - expected).abs() < 1e-9 * expected.abs(),
                "{}: {} for {expected} at {s}",
                material.name(),
                tau[(0, 0)]
            );
        }
    }
}

#[test]
fn at_zero_volume_logarithmic_laws_are_infinite_and_corotated_laws_finite() {
    for material in all() {
        let material = material.as_ref();
        let strain = fresh(material);
        let lagged = lagged(material, &strain, &Matrix3::zeros());
        let at = |s: f64| material.energy(&strain, &lagged, &(Matrix3::identity() * (s - 1.0)));
        // It only ever gets harder.
        let sizes = [0.9, 0.5, 0.1, 1e-2, 1e-4, 1e-8];
        let densities = sizes.map(at);
        assert!(
            densities.is_sorted_by(|a, b| a < b),
            "{}: {densities:?}",
            material.name()
        );
        let (mu, lambda) = moduli(material);
        let expected = match material.name() {
            "linear_corotated" => 3.0 * mu + 4.5 * lambda,
            "fixed_corotated" => 3.0 * mu + 0.5 * lambda,
            "liquid" => continue,
            _ => {
                assert_eq!(at(0.0), f64::INFINITY, "{}", material.name());
                assert_eq!(at(-0.5), f64::INFINITY, "{}", material.name());
                continue;
            }
        };
        assert!((at(0.0) / expected - 1.0).abs() < 1e-12);
        assert!(at(-0.5).is_finite());
    }
}

#[test]
fn a_quarter_rotation_within_a_step_leaves_no_stress_in_laws_of_the_current_rotation() {
    for material in all() {
        let material = material.as_ref();
        // The linear model's rest strain follows up to 73 degrees, and a liquid takes tr G for its change of volume.
        if matches!(material.name(), "linear_corotated" | "liquid") {
            continue;
        }
        for axis in [Vector3::x(), Vector3::y(), Vector3::new(1.0, -2.0, 0.5)] {
            for angle in [FRAC_PI_2 - 1e-9, FRAC_PI_2, FRAC_PI_2 + 1e-9, 3.1] {
                let rotation = Rotation3::new(axis.normalize() * angle).into_inner();
                let strain = fresh(material);
                let g = rotation - Matrix3::identity();
                let lagged = lagged(material, &strain, &g);
                let scale = material.wave_modulus();
                assert!(material.energy(&strain, &lagged, &g).abs() < 1e-12 * scale);
                assert!(material.stress(&strain, &lagged, &g).norm() < 1e-12 * scale);
                let after: Strain<f64> = material.advance(&strain, &lagged, &g);
                assert!(
                    (after.f - rotation).norm() < 1e-12,
                    "{} at {angle}",
                    material.name()
                );
                let tau = material.kirchhoff(&after, &Lagged::default());
                assert!(tau.norm() < 1e-11 * scale, "{} at {angle}", material.name());
            }
        }
    }
}

#[test]
fn the_rest_strain_of_the_linear_model_follows_rotations_up_to_seventy_degrees() {
    let material = LinearCorotated::new(Lame::from_young_poisson(1e5, 0.4).unwrap());
    let strain = fresh(&material);
    let energy = |degrees: f64| {
        let rotation =
            Rotation3::new(Vector3::new(2.0, -1.0, 0.3).normalize() * degrees.to_radians());
        let g = rotation.into_inner() - Matrix3::identity();
        material.energy(&strain, &lagged(&material, &strain, &g), &g)
    };
    assert!([1.0, 30.0, 70.0].map(energy).iter().all(|e| *e < 1e-9));
    // Beyond, it strains, and stays finite.
    let beyond = [75.0, 89.999, 90.0, 90.001].map(energy);
    assert!(beyond.is_sorted() && beyond[0] > 1.0, "{beyond:?}");
}

#[test]
fn a_sheared_liquid_has_the_stress_and_dissipation_of_its_viscosity() {
    let (viscosity, rate, time_s) = (3.0, 0.7, 0.01);
    let liquid = Liquid::new(1e5, 7.0)
        .unwrap()
        .with_viscosity(viscosity)
        .unwrap();
    let mut shear = Matrix3::zeros();
    shear[(0, 1)] = rate;
    let lagged = Lagged {
        time_s,
        ..Lagged::default()
    };
    let at = fresh(&liquid);
    let g = shear * time_s;
    // Newton: τ_xy = μ ∂u/∂y.
    let tau: Matrix3<f64> = liquid.stress(&at, &lagged, &g);
    assert!((tau[(0, 1)] / (viscosity * rate) - 1.0).abs() < 1e-13);
    assert!((tau[(1, 0)] / (viscosity * rate) - 1.0).abs() < 1e-13);
    assert!(tau.diagonal().norm() < 1e-13);
    // Half of the power τ:D over the step: the potential of a stress that is linear in the rate.
    let energy: f64 = liquid.energy(&at, &lagged, &g);
    assert!((energy / (0.5 * viscosity * rate * rate * time_s) - 1.0).abs() < 1e-13);
    // Explicit steps take the rate from the particle's velocity gradient.
    let explicit = Lagged {
        velocity_gradient: shear,
        ..Lagged::default()
    };
    assert!((liquid.kirchhoff(&at, &explicit) - tau).norm() < 1e-13);
    // Spread over the volume there is now.
    let dense = Strain {
        internal: [0.9, 0.0],
        ..at
    };
    let denser = liquid.kirchhoff(&dense, &explicit);
    assert!((denser[(0, 1)] / (0.9 * viscosity * rate) - 1.0).abs() < 1e-13);
}

/// |dev(P Rᵀ)| at which a preset flows in simple shear.
fn flow_stress(material: &dyn Material) -> f64 {
    let mut strain = fresh(material);
    let mut g = Matrix3::zeros();
    g[(0, 1)] = 1e-4;
    for _ in 0..5000 {
        let lagged = lagged(material, &strain, &Matrix3::zeros());
        strain = material.advance(&strain, &lagged, &g);
    }
    let tau = material.kirchhoff(&strain, &Lagged::default());
    let untransposed = strain.f.try_inverse().unwrap().transpose();
    deviator(&symmetric_part(
        &(tau * untransposed * polar_rotation(&strain.f).transpose()),
    ))
    .norm()
}

#[test]
fn presets_have_the_values_of_their_sources() {
    // E, ν, ρ: Zong (2024) VII-B, C, E; Klár (2016) table 3.
    for (preset, youngs_modulus, nu, density) in [
        (Preset::CookieDough, 1e5, 0.4, 1000.0),
        (Preset::PizzaDough, 2e4, 0.4, 1000.0),
        (Preset::FoamCube, 1e5, 0.4, 400.0),
        (Preset::DrySand, 3.537e5, 0.3, 2200.0),
    ] {
        let expected = youngs_modulus * (1.0 - nu) / ((1.0 + nu) * (1.0 - 2.0 * nu));
        let found = preset.material().wave_modulus();
        assert!((found / expected - 1.0).abs() < 1e-12, "{preset:?}");
        assert_eq!(preset.density(), density);
    }
    for (preset, eta) in [(Preset::CookieDough, 6e3), (Preset::PizzaDough, 1e3)] {
        let found = flow_stress(preset.material().as_ref());
        assert!((found / eta - 1.0).abs() < 0.05, "{preset:?}: {found}");
    }
    // Fresh, its angle of friction is h0 − h3 = 25 degrees; worked long, h0 = 35.
    let sand = Sand::hardening(
        Lame::from_young_poisson(3.537e5, 0.3).unwrap(),
        [35.0, 9.0, 0.2, 10.0],
        FrictionAngle::TriaxialCompression,
    )
    .unwrap();
    assert_eq!(
        format!("{:?}", Preset::DrySand.material()),
        format!("{sand:?}")
    );
    for (q, degrees) in [(0.0, 25.0_f64), (1e3, 35.0)] {
        let sine = degrees.to_radians().sin();
        let slope = (2.0_f64 / 3.0).sqrt() * 2.0 * sine / (3.0 - sine);
        assert!((sand.cone_slope(q) / slope - 1.0).abs() < 1e-12);
    }
    // ρc² = 200 ρ g H at 20 cm; water of 20 °C has 10⁻³ Pa·s.
    let water = Preset::ShallowWater.material();
    let expected = 200.0 * 1000.0 * 9.81 * 0.2;
    assert!((water.wave_modulus() / expected - 1.0).abs() < 1e-12);
    let mut shear = Matrix3::zeros();
    shear[(0, 1)] = 1.0;
    let lagged = Lagged {
        velocity_gradient: shear,
        ..Lagged::default()
    };
    let tau = Law::<f64>::kirchhoff(water.as_ref(), &fresh(water.as_ref()), &lagged);
    assert!((tau[(0, 1)] / 1e-3 - 1.0).abs() < 1e-12);
}
