//! The history of a particle: its plastic strain and its volume.

use super::*;

fn fresh(material: &dyn Material) -> Strain<f64> {
    Strain {
        f: Matrix3::identity(),
        internal: material.fresh(),
    }
}

#[test]
fn plastic_strain_of_a_long_shear_is_the_shear_less_its_elastic_part() {
    let step = 1e-3;
    // Simple shear γ has |D| = γ/√2. Von Mises flow counts √(2/3) of it, which is γ/√3, sand all of it.
    let (mises, sand) = (1.0 / 3.0_f64.sqrt(), 0.5_f64.sqrt());
    for material in all() {
        let material = material.as_ref();
        let elastic = LinearCorotated::new(Lame::from_young_poisson(1e5, 0.4).unwrap());
        let expected = match material.name() {
            "hencky_von_mises" => Some(mises),
            "sand" => Some(sand),
            "linear_corotated" => {
                let flows = format!("{material:?}") != format!("{elastic:?}");
                flows.then_some(mises)
            }
            _ => None,
        };
        let mut strain = fresh(material);
        // Sand resists shear under pressure only; compression is elastic.
        let squeezed = material.advance(
            &strain,
            &lagged(material, &strain, &Matrix3::zeros()),
            &(Matrix3::identity() * -0.01),
        );
        assert_eq!(
            material.plastic_strain(&squeezed),
            expected.map(|_| 0.0),
            "{material:?}"
        );
        strain = squeezed;
        let mut g = Matrix3::zeros();
        g[(0, 1)] = step;
        for _ in 0..2000 {
            let lagged = lagged(material, &strain, &Matrix3::zeros());
            strain = material.advance(&strain, &lagged, &g);
        }
        match (material.plastic_strain(&strain), expected) {
            (Some(found), Some(share)) => {
                let elastic_at_most = 0.05;
                let expected = share * 2.0;
                assert!(
                    found < expected * 1.001 && found > expected - elastic_at_most,
                    "{material:?}: {found} of {expected}"
                );
            }
            (found, expected) => assert_eq!(found, expected, "{material:?}"),
        }
    }
}

#[test]
fn the_volume_ratio_is_the_product_of_all_steps_with_flow() {
    let mut draw = Draw::new(21);
    for material in all() {
        let material = material.as_ref();
        let mut strain = fresh(material);
        assert_eq!(material.volume_ratio(&strain), 1.0);
        let (mut expected, mut widest): (f64, f64) = (1.0, 1.0);
        for k in 0..200 {
            // It swells, and is squeezed again.
            let swelling = if k < 100 { 2e-3 } else { -6e-3 };
            let g = draw.matrix(0.02) + Matrix3::identity() * swelling;
            let lagged = lagged(material, &strain, &g);
            strain = material.advance(&strain, &lagged, &g);
            expected *= match material.name() {
                "liquid" => 1.0 + g.trace(),
                _ => (Matrix3::identity() + g).determinant(),
            };
            widest = widest.max(expected);
            let found = material.volume_ratio(&strain);
            // Space in which a liquid has separated is not liquid.
            let separates = format!("{material:?}").contains("tension: None");
            let filled = if separates {
                expected.min(1.0)
            } else {
                expected
            };
            assert!(
                (found / filled - 1.0).abs() < 1e-10,
                "{material:?}: {found} for {expected} after {k}"
            );
        }
        assert!(widest > 1.2 && expected < 0.9, "{widest} {expected}");
    }
}
