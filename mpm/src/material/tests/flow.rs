//! Return mappings: onto the yield surface, once, with their change of volume.

use super::*;

#[test]
fn the_return_mapping_reaches_the_yield_surface_once_and_keeps_the_volume() {
    let mut draw = Draw::new(6);
    let elastic = LinearCorotated::new(Lame::from_young_poisson(1e5, 0.4).unwrap());
    let eta = 2e3;
    let bound = eta / (2.0 * elastic.lame().mu());
    for form in [ReturnForm::KeepRotation, ReturnForm::Additive] {
        let material = elastic
            .with_yield_stress(eta)
            .unwrap()
            .with_return_form(form);
        for round in 0..40 {
            let strain = Strain {
                f: draw.rotation(),
                internal: [0.0; 2],
            };
            let g = draw.matrix(0.3);
            let predicted = if round % 2 == 0 { Matrix3::zeros() } else { g };
            let lagged = lagged(&material, &strain, &predicted);
            let after: Strain<f64> = material.advance(&strain, &lagged, &g);
            let r0 = lagged.rotation;
            let s = |f: &Matrix3<f64>| symmetric_part(&(r0.transpose() * f));
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
fn logarithmic_flow_returns_to_the_surface_and_keeps_det_f() {
    let mut draw = Draw::new(8);
    let material = HenckyVonMises::new(Lame::from_young_poisson(1e5, 0.3).unwrap(), 2e3).unwrap();
    for _ in 0..40 {
        let strain = Strain {
            f: draw.rotation(),
            internal: [0.0; 2],
        };
        let g = draw.matrix(0.3);
        let after: Strain<f64> = material.advance(&strain, &Lagged::default(), &g);
        let trial = strain.f + g * strain.f;
        let before = Strain { f: trial, ..strain };
        assert!((after.f.determinant() / trial.determinant() - 1.0).abs() < 1e-12);
        let tau = material.kirchhoff(&after, &Lagged::default());
        let bound = (2.0_f64 / 3.0).sqrt() * 2e3;
        let trial_stress = deviator(&material.kirchhoff(&before, &Lagged::default())).norm();
        // On the surface where it flowed, untouched inside.
        let expected = trial_stress.min(bound);
        assert!((deviator(&tau).norm() / expected - 1.0).abs() < 1e-10);
        assert_eq!(after.internal[0] > 0.0, trial_stress > bound);
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

/// Shears sand in the plane at constant volume under pressure until it flows; the sine of the mobilised friction angle.
fn mobilised(angle: FrictionAngle) -> f64 {
    let material = Sand::new(Lame::from_young_poisson(1e6, 0.3).unwrap(), 30.0, angle).unwrap();
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

/// How far F is beyond the cone of fresh sand.
fn excess(material: &Sand, f: &Matrix3<f64>) -> f64 {
    let moduli = Lame::from_young_poisson(1e6, 0.3).unwrap();
    let logs = SignedSvd::of(f).stretches.map(f64::ln);
    let trace = logs.sum();
    let deviator = logs.add_scalar(-trace / 3.0).norm();
    let ratio = (3.0 * moduli.lambda() + 2.0 * moduli.mu()) / (2.0 * moduli.mu());
    deviator + material.cone_slope(0.0) * ratio * trace
}

#[test]
fn sand_returns_to_its_cone_and_recovers_the_volume_it_gained() {
    let mut draw = Draw::new(9);
    let mut sheared = 0;
    let material = Sand::new(
        Lame::from_young_poisson(1e6, 0.3).unwrap(),
        35.0,
        FrictionAngle::TriaxialCompression,
    )
    .unwrap();
    for _ in 0..40 {
        let strain = Strain {
            f: draw.rotation() * 0.97,
            internal: [0.0; 2],
        };
        let g = draw.matrix(0.05);
        let after: Strain<f64> = material.advance(&strain, &Lagged::default(), &g);
        let again: Strain<f64> = material.advance(&after, &Lagged::default(), &Matrix3::zeros());
        assert!((again.f - after.f).norm() < 1e-12);
        // |ε̂| + α (3λ + 2μ)/(2μ) tr ε: zero after shear flow, negative if elastic; no strain remains after separation.
        let (found, before) = (
            excess(&material, &after.f),
            excess(&material, &(strain.f + g * strain.f)),
        );
        sheared += usize::from(before > 0.0 && after.f.determinant() < 1.0 - 1e-9);
        if before > 0.0 {
            assert!(found.abs() < 1e-13, "{found} of {before}");
        } else {
            assert!((found - before).abs() < 1e-13);
        }
    }
    assert!(sheared >= 10, "{sheared}");
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
