//! Generated meshes against the volume, area and inertia of the exact shapes.

use std::f64::consts::PI;

use super::*;

/// The mesh is closed and correctly oriented, and its volume and area converge at second order.
#[track_caller]
fn check_second_order(make: impl Fn(u32) -> TriMesh, volume: f64, area: f64, euler: i64) {
    let errors = [1, 2].map(|level| {
        let mesh = make(level);
        assert!(mesh.is_closed());
        assert_eq!((mesh.euler_number(), mesh.component_count()), (euler, 1));
        let found = mesh.solid_moments().unwrap();
        assert!(found.centroid.norm() < 1e-12);
        [volume - found.volume, area - mesh.area()]
    });
    for k in 0..2 {
        let order = (errors[0][k] / errors[1][k]).log2();
        assert!(
            errors[0][k] > 0.0 && (order - 2.0).abs() < 0.15,
            "order {order}, errors {errors:?}"
        );
    }
}

#[test]
fn sphere_converges_at_second_order() {
    check_second_order(
        |level| sphere(2.0, level + 1).unwrap(),
        32.0 / 3.0 * PI,
        16.0 * PI,
        2,
    );
}

#[test]
fn cylinder_converges_at_second_order() {
    let make = |level| cylinder(0.5, 1.0, 16_u32 << level).unwrap();
    check_second_order(make, PI / 2.0, PI / 2.0 + 2.0 * PI, 2);
}

#[test]
fn capsule_converges_at_second_order() {
    let make = |level| capsule(0.5, 1.0, 16_u32 << level).unwrap();
    check_second_order(make, PI / 2.0 + PI / 6.0, 2.0 * PI + PI, 2);
}

#[test]
fn torus_converges_at_second_order() {
    let make = |level| torus(1.0, 0.25, 24_u32 << level, 12_u32 << level).unwrap();
    check_second_order(make, 2.0 * PI * PI / 16.0, PI * PI, 0);
}

#[test]
fn cuboid_has_the_inertia_of_a_brick() {
    let half = Vector3::new(0.5, 1.0, 1.5);
    for moments in [
        cuboid(half).unwrap().solid_moments().unwrap(),
        tet_cuboid(half, [1, 2, 3]).unwrap().solid_moments(),
    ] {
        assert!((moments.volume - 6.0).abs() < 1e-14);
        let squares = 4.0 * half.component_mul(&half);
        for k in 0..3 {
            let expected = 6.0 / 12.0 * (squares.sum() - squares[k]);
            assert!((moments.inertia_about_centroid[(k, k)] - expected).abs() < 1e-13);
        }
    }
}

#[test]
fn sheet_is_open_with_one_loop_and_faces_up() {
    let mesh = sheet([2.0, 1.0], [4, 3]).unwrap();
    assert_eq!(
        (
            mesh.triangles().len(),
            mesh.euler_number(),
            mesh.boundary_loops().len()
        ),
        (24, 1, 1)
    );
    assert_eq!(mesh.boundary_loops()[0].len(), 14);
    assert!((mesh.area() - 2.0).abs() < 1e-15);
    assert!((0..24).all(|t| mesh.triangle_normal(t.into()).z > 0.999));
}

#[test]
fn impossible_sizes_are_refused_by_name() {
    for (result, name) in [
        (sphere(-1.0, 1), "radius"),
        (sphere(1.0, 9), "subdivisions"),
        (cuboid(Vector3::new(1.0, f64::NAN, 1.0)), "half extent"),
        (torus(1.0, 1.0, 8, 8), "major radius - minor radius"),
        (cylinder(1.0, 1.0, 2), "segments"),
    ] {
        let error = result.unwrap_err();
        assert!(
            matches!(error, MeshError::Setting(_)) && error.to_string().contains(name),
            "{error}"
        );
    }
}
