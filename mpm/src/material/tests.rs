//! Every material against differences, symmetries and limits.

use nalgebra::{Rotation3, SMatrix, SVector, Vector3};

use super::linear_corotated::turned_stretch;
use super::*;
use crate::random::Random;
use crate::rotation::{deviator, polar_rotation, sym};

fn all() -> Vec<Box<dyn Material>> {
    let corotated = LinearCorotated::new(1e5, 0.4).unwrap();
    vec![
        Box::new(corotated),
        Box::new(corotated.with_yield_stress(2e3).unwrap()),
        Box::new(Corotated::new(1e5, 0.3).unwrap()),
        Box::new(NeoHookean::new(1e5, 0.3).unwrap()),
        Box::new(HenckyVonMises::new(1e5, 0.3, 2e3).unwrap()),
        Box::new(Sand::new(1e5, 0.3, 30.0, FrictionAngle::PlaneStrain).unwrap()),
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
    fn turn(&mut self) -> Matrix3<f64> {
        Rotation3::from_euler_angles(
            3.0 * self.number(),
            3.0 * self.number(),
            3.0 * self.number(),
        )
        .into_inner()
    }
    fn strain(&mut self, material: &dyn Material, size: f64) -> Strain<f64> {
        let mut strain = Strain {
            f: self.turn() * (Matrix3::identity() + self.matrix(size)),
            internal: material.fresh(),
        };
        strain.internal[0] *= 1.0 - size * self.0.unit();
        strain
    }
}

fn lagged(material: &dyn Material, strain: &Strain<f64>, coming: &Matrix3<f64>) -> Lagged<f64> {
    let mut lagged = Lagged {
        time_s: 0.01,
        ..Lagged::default()
    };
    Law::<f64>::lag(material, strain, Some(coming), &mut lagged);
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
fn materials_do_not_feel_where_they_are_turned() {
    let mut draw = Draw::new(3);
    for material in all() {
        let material = material.as_ref();
        let strain = draw.strain(material, 0.1);
        let turn = draw.turn();
        let turned = Strain {
            f: turn * strain.f,
            ..strain
        };
        let tau = material.kirchhoff(&strain, &Lagged::default());
        let tau_turned = material.kirchhoff(&turned, &Lagged::default());
        let error = (turn * tau * turn.transpose() - tau_turned).norm();
        assert!(
            error < 1e-9 * material.wave_modulus(),
            "{}",
            material.name()
        );
        assert!((tau - tau.transpose()).norm() < 0.2 * tau.norm());
        // Undeformed material is without stress, however it is turned.
        let fresh = Strain {
            f: turn,
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
fn small_strains_find_hookes_law() {
    let mut draw = Draw::new(5);
    let e = sym(&draw.matrix(1e-6));
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
        let moduli = Moduli::new("", 1e5, nu).unwrap();
        let hooke = e * (2.0 * moduli.mu) + Matrix3::identity() * (moduli.lambda * e.trace());
        assert!(
            (found - hooke).norm() < 1e-4 * hooke.norm(),
            "{}",
            material.name()
        );
    }
}

#[test]
fn return_to_the_yield_surface_lands_on_it_once_and_keeps_the_volume() {
    let mut draw = Draw::new(6);
    let elastic = LinearCorotated::new(1e5, 0.4).unwrap();
    let eta = 2e3;
    let bound = eta / (2.0 * elastic.moduli().mu);
    for form in [ReturnForm::KeepRotation, ReturnForm::Additive] {
        let material = elastic
            .with_yield_stress(eta)
            .unwrap()
            .with_return_form(form);
        for round in 0..40 {
            let strain = Strain {
                f: draw.turn(),
                internal: [0.0; 2],
            };
            let g = draw.matrix(0.3);
            let coming = if round % 2 == 0 { Matrix3::zeros() } else { g };
            let lagged = lagged(&material, &strain, &coming);
            let after: Strain<f64> = material.advance(&strain, &lagged, &g);
            let r0 = lagged.rotation;
            let s = |f: &Matrix3<f64>| sym(&(r0.transpose() * f));
            let trial = s(&(strain.f + g * strain.f));
            let e = s(&after.f) - lagged.target;
            let flowed = deviator(&(trial - lagged.target)).norm() > bound;
            assert!(deviator(&e).norm() <= bound * (1.0 + 1e-12), "outside");
            assert!(
                (e.trace() - (trial - lagged.target).trace()).abs() < 1e-12,
                "volume"
            );
            assert_eq!(flowed, after.internal[0] > 0.0);
            assert!(after.f.determinant() > 0.0);
            if flowed {
                assert!((deviator(&e).norm() / bound - 1.0).abs() < 1e-12);
            }
            // Again, about the same frame: nothing more to do.
            let again: Strain<f64> = material.advance(&after, &lagged, &Matrix3::zeros());
            assert!((again.f - after.f).norm() < 1e-12, "not idempotent");
            // Free energy never rises through the mapping.
            let density = |f: Matrix3<f64>| {
                material.energy(
                    &Strain {
                        f,
                        internal: [0.0; 2],
                    },
                    &lagged,
                    &Matrix3::zeros(),
                )
            };
            assert!(density(after.f) <= density(strain.f + g * strain.f) + 1e-9);
        }
    }
}

#[test]
fn the_turned_stretch_solves_equation_26_up_to_sixty_degrees_and_says_when_not() {
    let mut draw = Draw::new(7);
    for degrees in [0.0_f64, 1e-7, 10.0, 59.0, 61.0, 89.999, 90.0, 90.001, 180.0] {
        let axis = Vector3::new(draw.number(), draw.number(), draw.number()).normalize();
        let q = Rotation3::new(axis * degrees.to_radians()).into_inner();
        let s = Matrix3::identity() + sym(&draw.matrix(0.3));
        match turned_stretch(&q, &s) {
            Some(v) => {
                assert!(degrees < 60.0);
                assert!((sym(&(q * v)) - s).norm() < 1e-13);
            }
            None => assert!(degrees > 60.0),
        }
    }
}

#[test]
fn a_turn_near_ninety_degrees_within_a_step_leaves_a_sound_particle() {
    let elastic = LinearCorotated::new(1e5, 0.4).unwrap();
    let material = elastic.with_yield_stress(1e3).unwrap();
    for degrees in [60.0_f64, 85.0, 89.9, 90.0, 95.0, 120.0] {
        let turn = Rotation3::new(Vector3::new(0.3, 0.9, 0.1).normalize() * degrees.to_radians());
        let strain = Strain {
            f: Matrix3::identity(),
            internal: [0.0; 2],
        };
        let g = turn.into_inner() * Matrix3::from_diagonal(&Vector3::new(1.2, 0.9, 0.95))
            - Matrix3::identity();
        let lagged = lagged(&material, &strain, &g);
        let after: Strain<f64> = material.advance(&strain, &lagged, &g);
        assert!(
            after.f.determinant() > 0.0 && after.f.norm() < 5.0,
            "{degrees}: {}",
            after.f
        );
    }
}

#[test]
fn the_rotation_target_makes_a_turn_free_of_stress() {
    let material = LinearCorotated::new(1e5, 0.4).unwrap();
    let strain = Strain {
        f: Matrix3::identity(),
        internal: [0.0; 2],
    };
    let turn = Rotation3::new(Vector3::new(0.1, 0.2, 0.0)).into_inner() - Matrix3::identity();
    let with = material.energy(&strain, &lagged(&material, &strain, &turn), &turn);
    let without = material.energy(
        &strain,
        &lagged(&material, &strain, &Matrix3::zeros()),
        &turn,
    );
    assert!(with < 1e-20 && without > 1.0, "{with:e} {without:e}");
}

#[test]
fn logarithmic_flow_lands_on_the_surface_and_keeps_det_f() {
    let mut draw = Draw::new(8);
    let material = HenckyVonMises::new(1e5, 0.3, 2e3).unwrap();
    for _ in 0..40 {
        let strain = Strain {
            f: draw.turn(),
            internal: [0.0; 2],
        };
        let g = draw.matrix(0.3);
        let after: Strain<f64> = material.advance(&strain, &Lagged::default(), &g);
        let trial = strain.f + g * strain.f;
        assert!((after.f.determinant() / trial.determinant() - 1.0).abs() < 1e-12);
        let tau = material.kirchhoff(&after, &Lagged::default());
        let bound = (2.0_f64 / 3.0).sqrt() * 2e3;
        assert!(deviator(&tau).norm() <= bound * (1.0 + 1e-10));
        let again: Strain<f64> = material.advance(&after, &Lagged::default(), &Matrix3::zeros());
        assert!((again.f - after.f).norm() < 1e-12);
    }
    // A bar in tension flows at the yield stress.
    let mut strain = Strain {
        f: Matrix3::<f64>::identity(),
        internal: [0.0; 2],
    };
    for _ in 0..200 {
        let g = Matrix3::from_diagonal(&Vector3::new(1e-3, -5e-4, -5e-4));
        strain = material.advance(&strain, &Lagged::default(), &g);
    }
    let tau = material.kirchhoff(&strain, &Lagged::default());
    assert!((tau[(0, 0)] - tau[(1, 1)] - 2e3).abs() < 1.0, "{tau}");
    assert!(
        (strain.internal[0] - (0.2 - 2e3 / (3.0 * 1e5 / 2.6))).abs() < 1e-3,
        "{}",
        strain.internal[0]
    );
}

/// Shears sand in the plane at constant volume under pressure until it flows; tan of the mobilised friction angle.
fn mobilised(angle: FrictionAngle) -> f64 {
    let material = Sand::new(1e6, 0.3, 30.0, angle).unwrap();
    let mut strain = Strain {
        f: Matrix3::<f64>::identity() * 0.99,
        internal: [0.0; 2],
    };
    for _ in 0..4000 {
        let g = Matrix3::new(0.0, 1e-3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        strain = material.advance(&strain, &Lagged::default(), &g);
    }
    let tau = material.kirchhoff(&strain, &Lagged::default());
    let shear = Vector3::new(0.5 * (tau[(0, 0)] - tau[(1, 1)]), tau[(0, 1)], 0.0).norm();
    -shear / (0.5 * (tau[(0, 0)] + tau[(1, 1)]))
}

#[test]
fn sand_mobilises_its_friction_angle_in_plane_strain() {
    // sin φ' of the Mohr circle.
    let plane = mobilised(FrictionAngle::PlaneStrain);
    assert!((plane - 0.5).abs() < 1e-3, "{plane}");
    let triaxial = mobilised(FrictionAngle::TriaxialCompression);
    let expected = 2.0 * 3.0_f64.sqrt() * 0.5 / 2.5;
    assert!(
        (triaxial - expected).abs() < 1e-3,
        "{triaxial} for {expected}"
    );
}

#[test]
fn sand_lands_on_its_cone_and_gives_back_the_volume_it_gained() {
    let mut draw = Draw::new(9);
    let material = Sand::new(1e6, 0.3, 35.0, FrictionAngle::TriaxialCompression).unwrap();
    for _ in 0..40 {
        let strain = Strain {
            f: draw.turn() * 0.97,
            internal: [0.0; 2],
        };
        let g = draw.matrix(0.05);
        let after: Strain<f64> = material.advance(&strain, &Lagged::default(), &g);
        let again: Strain<f64> = material.advance(&after, &Lagged::default(), &Matrix3::zeros());
        assert!((again.f - after.f).norm() < 1e-12);
    }
    // Blown up by 3% it is loose; squeezed by 3% again it is where it was, not harder.
    let fresh = Strain {
        f: Matrix3::<f64>::identity(),
        internal: [0.0; 2],
    };
    let grown = Matrix3::identity() * 0.01;
    let loose: Strain<f64> = material.advance(&fresh, &Lagged::default(), &grown);
    assert!(material.kirchhoff(&loose, &Lagged::default()).norm() < 1e-9);
    assert!((loose.internal[0] - 3.0 * 1.01_f64.ln()).abs() < 1e-14);
    let mut back = loose;
    for _ in 0..100 {
        let squeeze = Matrix3::identity() * (1.01_f64.powf(-0.01) - 1.0);
        back = material.advance(&back, &Lagged::default(), &squeeze);
    }
    assert!(
        back.internal[0].abs() < 1e-12 && (back.f - fresh.f).norm() < 1e-12,
        "{back:?}"
    );
}

#[test]
fn a_liquid_parts_without_tension_and_forgets_it() {
    let water = Liquid::new(1e5, 7.0).unwrap();
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
    assert!(
        water
            .energy(&fresh, &Lagged::default(), &(Matrix3::identity() * -0.4))
            .is_infinite()
    );
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
fn parameters_out_of_range_are_refused_by_name() {
    let said = |error: MpmError, words: [&str; 2]| {
        let text = error.to_string();
        assert!(words.iter().all(|w| text.contains(w)), "{text}");
    };
    let solid = LinearCorotated::new(1e5, 0.3).unwrap();
    said(
        solid.with_yield_stress(-1.0).unwrap_err(),
        ["linear corotated", "yield_stress = -1"],
    );
    said(
        Liquid::new(0.0, 7.0).unwrap_err(),
        ["liquid", "bulk_modulus"],
    );
    said(Liquid::new(1.0, 1.0).unwrap_err(), ["liquid", "exponent"]);
    said(
        Sand::new(1e5, 0.3, 90.0, FrictionAngle::PlaneStrain).unwrap_err(),
        ["sand", "angle"],
    );
    said(
        HenckyVonMises::new(1e5, 0.3, f64::NAN).unwrap_err(),
        ["Hencky", "yield"],
    );
    said(
        NeoHookean::new(f64::INFINITY, 0.3).unwrap_err(),
        ["neo-Hookean", "youngs_modulus"],
    );
    for preset in Preset::ALL {
        assert!(preset.material().wave_modulus() > 0.0 && preset.density() > 0.0);
    }
}

use crate::error::MpmError;

#[test]
fn rotations_found_by_corotated_laws_are_those_of_the_deformation() {
    let mut draw = Draw::new(10);
    let material = LinearCorotated::new(1e5, 0.4).unwrap();
    let strain = draw.strain(&material, 0.2);
    let mut lagged = Lagged::default();
    Law::<f64>::lag(&material, &strain, None, &mut lagged);
    assert!((lagged.rotation - polar_rotation(&strain.f)).norm() < 1e-14);
    assert_eq!(lagged.target, Matrix3::identity());
}
