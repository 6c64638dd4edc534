//! Corotated laws under rotation, also under the rotation of a step.

use pliant_constitutive::Tensor;

use super::*;
use crate::material::linear_corotated::rotated_stretch;

#[test]
fn the_rotated_stretch_solves_equation_26_up_to_sixty_degrees() {
    let mut draw = Draw::new(7);
    for degrees in [0.0_f64, 1e-7, 10.0, 59.0, 61.0, 89.999, 90.0, 90.001, 180.0] {
        let axis = Vector3::new(draw.number(), draw.number(), draw.number()).normalize();
        let q = Rotation3::new(axis * degrees.to_radians()).into_inner();
        let s = Matrix3::identity() + symmetric_part(&draw.matrix(0.3));
        let (v, is_near) = rotated_stretch(&Tensor::from(&q), &Tensor::from(&s));
        assert_eq!(is_near, degrees < 60.0);
        if is_near {
            assert!((symmetric_part(&(q * Matrix3::from(v))) - s).norm() < 1e-13);
        }
    }
}

#[test]
fn a_rotation_near_ninety_degrees_within_a_step_leaves_a_positive_volume() {
    let elastic = LinearCorotated::new(Lame::from_young_poisson(1e5, 0.4).unwrap());
    let material = elastic.with_yield_stress(1e3).unwrap();
    for degrees in [60.0_f64, 85.0, 89.9, 90.0, 95.0, 120.0] {
        let rotation =
            Rotation3::new(Vector3::new(0.3, 0.9, 0.1).normalize() * degrees.to_radians());
        let strain = Strain {
            f: Matrix3::identity(),
            internal: [0.0; 2],
        };
        let g = rotation.into_inner() * Matrix3::from_diagonal(&Vector3::new(1.2, 0.9, 0.95))
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
fn the_rotation_target_makes_a_rotation_free_of_stress() {
    let material = LinearCorotated::new(Lame::from_young_poisson(1e5, 0.4).unwrap());
    let strain = Strain {
        f: Matrix3::identity(),
        internal: [0.0; 2],
    };
    let rotation = Rotation3::new(Vector3::new(0.1, 0.2, 0.0)).into_inner() - Matrix3::identity();
    let with = material.energy(&strain, &lagged(&material, &strain, &rotation), &rotation);
    let without = material.energy(
        &strain,
        &lagged(&material, &strain, &Matrix3::zeros()),
        &rotation,
    );
    assert!(with < 1e-20 && without > 1.0, "{with:e} {without:e}");
}

#[test]
fn the_lagged_rotation_of_a_rotated_stretch_is_its_rotation() {
    let mut draw = Draw::new(10);
    let material = LinearCorotated::new(Lame::from_young_poisson(1e5, 0.4).unwrap());
    let rotation = Rotation3::new(Vector3::new(1.5, -0.7, 0.4)).into_inner();
    let stretch = Matrix3::identity() + symmetric_part(&draw.matrix(0.2));
    assert!(stretch.symmetric_eigenvalues().min() > 0.0);
    let strain = Strain {
        f: rotation * stretch,
        internal: [0.0; 2],
    };
    let mut lagged = Lagged::default();
    Law::<f64>::lag(&material, &strain, None, &mut lagged);
    assert!((lagged.rotation - rotation).norm() < 1e-13);
    assert_eq!(lagged.target, Matrix3::identity());
}
