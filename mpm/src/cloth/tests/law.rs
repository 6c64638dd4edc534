//! Energy, stress and return mapping as functions of F.

use nalgebra::{Matrix2, Matrix3x2, Vector2};
use pliant_constitutive::{
    FixedCorotated, Lame, PrincipalLaw, SignedSvd, StVenantKirchhoff, axial_vector,
};

use super::super::surface_frame::SurfaceFrame;
use super::*;

/// F = QR with a random Q; the branches of the energy in turn.
fn gradients(draw: &mut Draw) -> Vec<Matrix3<f64>> {
    let mut all = Vec::new();
    for r33 in [0.4, 0.95, 1.3, 0.05, -0.6] {
        for (r11, r22) in [(1.1, 0.9), (0.7, 1.4), (0.6, 0.3), (0.2, 1.2), (0.3, 0.1)] {
            let vary = 1.0 + 0.1 * draw.number();
            let R = Matrix3::new(
                r11 * vary,
                0.3 * draw.number(),
                0.3 * draw.number(),
                0.0,
                r22,
                0.3 * draw.number(),
                0.0,
                0.0,
                r33,
            );
            all.push(draw.rotation() * R);
        }
    }
    all
}

#[test]
fn the_frame_rebuilds_f() {
    let mut draw = Draw::new(1);
    let line = Vector3::new(0.3, -0.2, 0.5);
    let (zero, d3) = (Vector3::zeros(), Vector3::new(0.1, 0.9, 0.2));
    let mut all = gradients(&mut draw);
    // Collapsed to a line in three ways, along d₃, and to a point.
    for [d1, d2, d3] in [
        [line, line * 2.0, d3],
        [zero, line, d3],
        [line, zero, d3],
        [line, -line, line],
        [zero, zero, d3],
        [zero, zero, zero],
    ] {
        all.push(Matrix3::from_columns(&[d1, d2, d3]));
    }
    for F in all {
        let frame = SurfaceFrame::of(&F);
        let (r, s) = (frame.in_plane, frame.shear);
        let R = Matrix3::new(r.m11, r.m12, s.x, r.m21, r.m22, s.y, 0.0, 0.0, frame.normal);
        assert!((frame.q * R - F).norm() < 1e-14, "{F}");
        assert!((frame.q.tr_mul(&frame.q) - Matrix3::identity()).norm() < 1e-14);
        assert!((frame.q.determinant() - 1.0).abs() < 1e-14);
        assert!(r.m11 >= 0.0 && r.m22 >= 0.0 && r.m21 == 0.0);
    }
}

#[test]
fn stress_is_the_gradient_of_the_energy_in_every_branch() {
    let mut draw = Draw::new(2);
    for in_plane in LAWS {
        let law = material(in_plane).law::<f64>();
        for F in gradients(&mut draw) {
            let P = law.stress(&F);
            let h = 1e-7;
            let differences = Matrix3::from_fn(|i, j| {
                let (mut up, mut down) = (F, F);
                up[(i, j)] += h;
                down[(i, j)] -= h;
                (law.energy(&up) - law.energy(&down)) / (2.0 * h)
            });
            let error = (differences - P).norm();
            // The pressure below r₃₃ = 0.1 is of the order of 10⁸ Pa.
            assert!(
                error < 1e-6 * (1e5 + P.norm()),
                "{in_plane:?}: {error:e} of {:e} at {F}",
                P.norm()
            );
        }
    }
}

#[test]
fn energy_stress_and_return_mapping_turn_with_the_cloth() {
    let mut draw = Draw::new(3);
    for in_plane in LAWS {
        let law = material(in_plane).law::<f64>();
        let mut all = gradients(&mut draw);
        // An area of a hundredth: the transverse stress fades.
        all.push(draw.rotation() * Matrix3::new(0.9, 0.2, 0.1, 0.0, 0.01, 0.3, 0.0, 0.0, 0.7));
        for F in all {
            let U = draw.rotation();
            let (energy, P) = (law.energy(&F), law.stress(&F));
            assert!((law.energy(&(U * F)) - energy).abs() < 1e-12 * (1e5 + energy));
            assert!((law.stress(&(U * F)) - U * P).norm() < 1e-10 * (1e5 + P.norm()));
            let returned = law.return_normal(&(U * F)) - U * law.return_normal(&F);
            assert!(returned.norm() < 1e-11);
            // P Fᵀ is symmetric.
            assert!(axial_vector(&(P * F.transpose())).norm() < 1e-11 * (1e5 + P.norm()));
        }
    }
}

#[test]
fn any_rotation_is_at_rest() {
    let mut draw = Draw::new(4);
    for in_plane in LAWS {
        let law = material(in_plane).law::<f64>();
        for _ in 0..10 {
            let F = draw.rotation();
            assert!(law.energy(&F) < 1e-24 * 1e5);
            assert!(law.stress(&F).norm() < 1e-14 * 1e5);
            assert!((law.return_normal(&F) - F.column(2)).norm() < 1e-14);
        }
    }
}

/// The laws of solids at R₂ ⊕ 1 have no energy across: with the λ of plane stress they are the laws of the sheet.
#[test]
fn in_the_plane_the_law_is_that_of_the_solid() {
    let mut draw = Draw::new(5);
    let solids: [Box<dyn PrincipalLaw<f64>>; 2] = {
        let hooke = material(LAWS[0]).plane_stress();
        let lame = Lame::new(hooke.mu, hooke.lambda).unwrap();
        [
            Box::new(FixedCorotated::new(lame).unwrap()),
            Box::new(StVenantKirchhoff::new(lame)),
        ]
    };
    for (in_plane, solid) in LAWS.into_iter().zip(solids) {
        let law = material(in_plane).law::<f64>();
        for _ in 0..20 {
            let mut F = Matrix3::identity();
            F.fixed_view_mut::<2, 2>(0, 0)
                .copy_from(&(Matrix2::identity() + draw.matrix(0.5).fixed_view::<2, 2>(0, 0)));
            if F.determinant() < 0.05 {
                continue;
            }
            let SignedSvd { U, stretches, V } = SignedSvd::of(&F);
            let stress = U * Matrix3::from_diagonal(&solid.stresses(&stretches)) * V.transpose();
            let difference = (law.stress(&F) - stress).fixed_columns::<2>(0).norm();
            assert!(difference < 1e-9, "{in_plane:?}: {difference:e}");
            assert!((law.energy(&F) - solid.energy(&stretches)).abs() < 1e-9);
        }
    }
}

#[test]
fn collapsed_triangles_have_finite_stress() {
    let mut draw = Draw::new(6);
    for in_plane in LAWS {
        let law = material(in_plane).law::<f64>();
        let single = material(in_plane).law::<f32>();
        let line = draw.vector(1.0);
        for [a, b] in [[1.0, 2.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, -1.0]] {
            for size in [0.0, 1e-20, 1e-9, 1e-3] {
                let d3 = draw.vector(1.0);
                let d2 = line * b + draw.vector(size);
                let F = Matrix3::from_columns(&[line * a, d2, d3]);
                let P = law.stress(&F);
                // Of the order of ψ_n″ |d₃| at r₃₃ = 0.1, 2·10⁸ Pa, times 15, the largest slope of φ.
                assert!(P.norm() < 1e10, "{size:e}: {P}");
                assert!(law.energy(&F).is_finite());
                assert!(law.return_normal(&F).norm() < d3.norm().max(1.0) + 0.1);
                let F = F.map(f32::of);
                assert!(single.stress(&F).norm() < 1e10, "{size:e} in f32");
                assert!(single.return_normal(&F).norm() <= 1.85);
            }
        }
    }
}

#[test]
fn nan_is_not_repaired() {
    let law = material(LAWS[0]).law::<f64>();
    for k in 0..9 {
        let mut F = Draw::new(10).rotation();
        F[k] = f64::NAN;
        assert!(law.stress(&F).norm().is_nan());
        assert_eq!(law.return_normal(&F).norm().is_nan(), k >= 6);
    }
}

/// (r₁₃, r₂₃, r₃₃) before and after, in the frame of F.
fn returned(law: &ClothLaw<f64>, across: [f64; 3]) -> [f64; 3] {
    let F = Matrix3::new(
        1.1, 0.2, across[0], 0.0, 0.8, across[1], 0.0, 0.0, across[2],
    );
    law.return_normal(&F).into()
}

#[test]
fn layers_separate_slip_and_are_not_inverted() {
    let law = material(InPlaneLaw::FixedCorotated).law::<f64>();
    let close = |found: [f64; 3], expected: [f64; 3]| {
        let error = (Vector3::from(found) - Vector3::from(expected)).norm();
        assert!(error < 1e-14, "{found:?}, not {expected:?}");
    };
    close(returned(&law, [0.3, 0.1, 1.2]), [0.0, 0.0, 1.0]);
    close(returned(&law, [0.0, 0.0, -0.5]), [0.0, 0.0, 0.1]);
    close(returned(&law, [0.0, 0.0, 0.0]), [0.0, 0.0, 0.1]);
    // The bound at r₃₃ = e^(−½) is c_F k √e/(4γ) = 0.4 √e.
    let r33 = (-0.5_f64).exp();
    let bound = 0.4 / r33;
    close(
        returned(&law, [0.6 * bound, 0.8 * bound, r33]),
        [0.6 * bound, 0.8 * bound, r33],
    );
    close(
        returned(&law, [0.9 * bound, 1.2 * bound, r33]),
        [0.6 * bound, 0.8 * bound, r33],
    );
    let free = ClothMaterial::new(InPlaneLaw::FixedCorotated, 1e5, 0.3, 1000.0, 5e-4).unwrap();
    close(returned(&free.law(), [0.3, 0.1, 0.5]), [0.0, 0.0, 0.5]);
    close(returned(&free.law(), [0.3, 0.1, 1.5]), [0.0, 0.0, 1.0]);
}

#[test]
fn returned_states_lie_within_the_cone_and_cost_no_more_energy() {
    let mut draw = Draw::new(7);
    let law = material(InPlaneLaw::FixedCorotated).law::<f64>();
    for round in 0..300 {
        let size = if round % 2 == 0 { 0.3 } else { 2.0 };
        let mut F = draw.rotation() * (Matrix3::identity() + draw.matrix(0.2));
        F.set_column(2, &(F.column(2) + draw.vector(size)));
        let before = law.energy(&F);
        F.set_column(2, &law.return_normal(&F));
        let frame = SurfaceFrame::of(&F);
        assert!((0.1 - 1e-14..=1.0 + 1e-14).contains(&frame.normal));
        let strain = frame.normal.ln();
        let bound = 0.4 * 2e5 * strain * strain / frame.normal;
        assert!(5e4 * frame.shear.norm() <= bound * (1.0 + 1e-12) + 1e-8);
        assert!(law.energy(&F) <= before * (1.0 + 1e-12) + 1e-8);
        let again = law.return_normal(&F);
        assert!((again - F.column(2)).norm() < 1e-14);
    }
}

/// The pressure on the grid, −τ₃₃ of a sheet at rest in its plane.
#[test]
fn the_pressure_between_layers_never_softens() {
    let law = material(InPlaneLaw::FixedCorotated).law::<f64>();
    let pressure =
        |r33: f64| -law.kirchhoff(&Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, r33)))[(2, 2)];
    let mut last = 0.0;
    for k in 1..90 {
        let next = pressure(1.0 - 0.01 * f64::from(k));
        assert!(next > last, "{next} after {last}");
        last = next;
    }
    // k (1 − r₃₃)² for small compression (Jiang, Gast, Teran 2017).
    assert!((pressure(0.999) / (2e5 * 1e-6) - 1.0).abs() < 2e-3);
}

#[test]
fn damping_takes_energy_from_stretch_and_none_from_rotation() {
    let mut draw = Draw::new(8);
    let damped = material(InPlaneLaw::FixedCorotated)
        .with_damping_time(1e-3)
        .unwrap();
    let law = damped.law::<f64>();
    for F in gradients(&mut draw) {
        let spin = draw.matrix(1.0);
        let rigid = (spin - spin.transpose()) * F;
        let rate: Matrix3x2<f64> = rigid.fixed_columns::<2>(0).into_owned();
        assert!(law.viscous_stress(&F, &rate).norm() < 1e-12 * 1e5);
        let rate: Matrix3x2<f64> = draw.matrix(1.0).fixed_columns::<2>(0).into_owned();
        let stress = law.viscous_stress(&F, &rate);
        assert!(stress.dot(&rate) >= 0.0);
        // No torque: P F₁₂ᵀ is symmetric.
        let torque = axial_vector(&(stress * F.fixed_columns::<2>(0).transpose()));
        assert!(torque.norm() < 1e-13 * 1e3);
    }
    // Pulled along one axis at 1/s: β (2μ + λ) and β λ.
    let hooke = damped.plane_stress();
    let rate = Matrix3x2::new(1.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    let stress = law.viscous_stress(&Matrix3::identity(), &rate);
    let expected = Vector2::new(2.0 * hooke.mu + hooke.lambda, hooke.lambda) * 1e-3;
    assert!((Vector2::new(stress.m11, stress.m22) - expected).norm() < 1e-10);
}

#[test]
fn the_transferred_affine_velocity_keeps_its_rotation() {
    let C = Draw::new(9).matrix(3.0);
    for b in [0.0, 0.2, 1.0] {
        let law = material(LAWS[0]).with_affine_fraction(b).unwrap().law();
        let kept = law.transferred_affine(&C);
        assert!((axial_vector(&kept) - axial_vector(&C)).norm() < 1e-14);
        let strain = |C: &Matrix3<f64>| C + C.transpose();
        assert!((strain(&kept) - strain(&C) * b).norm() < 1e-14);
    }
}

#[test]
fn parameters_out_of_range_are_named() {
    let new = |E, nu, rho, t| ClothMaterial::new(InPlaneLaw::FixedCorotated, E, nu, rho, t);
    let message = |result: Result<ClothMaterial, crate::MpmError>| result.unwrap_err().to_string();
    let named = |result, parameter: &str| {
        let text = message(result);
        assert!(
            text.starts_with(&format!("cloth: {parameter} = ")),
            "{text}"
        );
    };
    named(new(0.0, 0.3, 1.0, 1.0), "youngs_modulus");
    named(new(f64::NAN, 0.3, 1.0, 1.0), "youngs_modulus");
    named(new(1.0, 0.51, 1.0, 1.0), "poissons_ratio");
    named(new(1.0, -0.1, 1.0, 1.0), "poissons_ratio");
    named(new(1.0, 0.3, -1.0, 1.0), "density");
    named(new(1.0, 0.3, 1.0, 0.0), "thickness");
    let good = new(1.0, 0.3, 1.0, 1.0).unwrap();
    named(good.with_normal_stiffness(0.0), "normal_stiffness");
    named(good.with_shear_stiffness(-1.0), "shear_stiffness");
    named(good.with_friction(f64::INFINITY), "friction");
    named(good.with_damping_time(-1e-9), "damping_time");
    named(good.with_affine_fraction(1.1), "affine_fraction");
    named(good.with_bending_stiffness(f64::NAN), "bending_stiffness");
    // St. Venant-Kirchhoff takes every stable sheet.
    let auxetic = ClothMaterial::new(InPlaneLaw::StVenantKirchhoff, 1.0, -0.9, 1.0, 1.0).unwrap();
    let hooke = auxetic.plane_stress();
    assert!(hooke.lambda + hooke.mu > 0.0);
}
