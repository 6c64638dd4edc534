//! Poses at which planes coincide with faces, vertices lie in planes, or frames coincide.

use super::*;

/// Poses at which planes coincide with faces, vertices lie in planes, or frames coincide.
fn degenerate_poses() -> Vec<Isometry3<f64>> {
    let quarter = std::f64::consts::FRAC_PI_2;
    let mut poses = Vec::new();
    for rotation in [
        Vector3::zeros(),
        Vector3::x() * quarter,
        Vector3::y() * quarter,
        Vector3::z() * quarter,
        Vector3::z() * (0.5 * quarter),
        Vector3::x() * (2.0 * quarter),
        Vector3::new(1e-9, 0.0, 0.0),
        Vector3::new(1e-15, 2e-15, 0.0),
    ] {
        for shift in [
            Vector3::zeros(),
            Vector3::z() * 0.1,
            Vector3::z() * 0.05,
            Vector3::x() * 0.2,
            Vector3::new(0.2, 0.15, 0.1),
            Vector3::new(0.1, 0.075, 0.05),
            Vector3::z() * 1e-12,
            Vector3::z() * (0.1 - 1e-12),
            Vector3::new(0.0, 1e-16, 0.099),
        ] {
            poses.push(Isometry3::new(shift, rotation));
            poses.push(Isometry3::new(-shift, rotation));
        }
    }
    poses
}

#[test]
fn degenerate_poses_give_finite_answers() {
    for margin in [0.0, 1e-3] {
        for (a, b) in pairs(margin) {
            // Filled meshes have thousands of tetrahedra: a subset of the poses suffices.
            let every = if is_hollow(&a) || is_hollow(&b) { 9 } else { 1 };
            for X in degenerate_poses().into_iter().step_by(every) {
                let s = *patch(a.at(X), b.at(Isometry3::identity())).summary();
                assert!(
                    s.area.is_finite()
                        && s.force_W.sum().is_finite()
                        && s.moment_W.sum().is_finite()
                );
                for c in points(a.at(X), b.at(Isometry3::identity())) {
                    assert!(c.p_WC.coords.sum().is_finite() && c.signed_distance.is_finite());
                }
            }
        }
    }
}

/// A user-defined field may have zero pressure on some of its faces, half of the modulus on others, and zero in whole
/// tetrahedra in between: there a rim lies on the other's skin only. It was once found only in one order of the sides.
#[test]
fn a_rim_next_to_zero_interior_pressure_is_found_in_either_order() {
    let size = Vector3::new(0.02, 0.2, 0.1875858246550268);
    let mesh = crate::mesh::generate::tet_cuboid(0.5 * size, [2, 2, 2]).unwrap();
    let is_outside = |v: &Vector3<f64>| (0..3).any(|k| v[k].abs() > 0.49 * size[k]);
    let pressures: Vec<f64> = (0..)
        .zip(mesh.vertices())
        .map(|(i, v)| match (is_outside(v), i % 3) {
            (true, 0) => 5e6,
            (true, _) => 0.0,
            (false, _) => 1e7,
        })
        .collect();
    let field = PressureField::from_vertex_pressures(&mesh, &pressures).unwrap();
    let plate = Body {
        shape: Shape::cuboid(size).unwrap(),
        patch: PatchGeometry::Compliant(field),
    };
    let soft = Compliance {
        hydroelastic_modulus: 1e3,
        margin: 0.0,
        mesh_resolution_hint: 0.03,
        slab_thickness: None,
    };
    let shape = Shape::sphere(0.13157297306172241).unwrap();
    let ball = Body {
        patch: PatchGeometry::compliant(&shape, &soft).unwrap(),
        shape,
    };
    let quaternion = nalgebra::Quaternion::new(
        0.1613682733022553,
        0.49658399677796766,
        0.0,
        0.8528567373923172,
    );
    let X_WA = Isometry3::from_parts(
        Translation3::new(1e-9, 0.03171426711658232, 0.0674513672701602),
        UnitQuaternion::from_quaternion(quaternion),
    );
    let X_WB = Isometry3::translation(
        0.10653343732307609,
        0.03828987906539907,
        -0.0310830383641097,
    );
    let (there, back) = (
        *patch(plate.at(X_WA), ball.at(X_WB)).summary(),
        *patch(ball.at(X_WB), plate.at(X_WA)).summary(),
    );
    assert!(there.area > 0.0 && (there.area - back.area).abs() <= 1e-9 * back.area);
    assert!((there.force_W + back.force_W).norm() <= 1e-8 * back.force_W.norm());
}

/// Near the skin of a field 10⁷ times as stiff as its partner, all of the partner's pressures are small compared with
/// the stiff field's modulus. The tolerance for corners on the skin must not move the rim: the patch is the same in
/// either order.
#[test]
fn a_soft_body_on_one_ten_million_times_stiffer_has_the_same_patch_in_either_order() {
    let body = |shape: Shape, hydroelastic_modulus: f64, margin: f64, edge: f64| {
        let compliance = Compliance {
            hydroelastic_modulus,
            margin,
            mesh_resolution_hint: edge,
            slab_thickness: None,
        };
        let patch = PatchGeometry::compliant(&shape, &compliance).unwrap();
        Body { shape, patch }
    };
    let axes = Vector3::new(
        0.06171622952513648,
        0.11954893128724334,
        0.18361227154670678,
    );
    let soft = body(Shape::ellipsoid(axes).unwrap(), 1e3, 1e-4, 0.03);
    let capsule = Shape::capsule(0.2, 0.05662414846172971).unwrap();
    let hard = body(capsule, 1e10, 0.0, 0.16030539493047927);
    let X_WA = Isometry3::from_parts(
        Translation3::new(
            -0.12963047674485564,
            -0.16959436357716454,
            0.056762782254059306,
        ),
        UnitQuaternion::from_axis_angle(&Vector3::z_axis(), -2.0 * 0.1509237096),
    );
    let X_WB = Isometry3::from_parts(
        Translation3::new(-0.031820474791530794, 0.13122519851348505, 1e-9),
        UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI),
    );
    let (there, back) = (
        *patch(soft.at(X_WA), hard.at(X_WB)).summary(),
        *patch(hard.at(X_WB), soft.at(X_WA)).summary(),
    );
    let load = there.force_W.norm();
    assert!(load > 1e-3);
    assert!((there.force_W + back.force_W).norm() <= 1e-9 * load);
    assert!((there.area - back.area).abs() <= 1e-8 * there.area);
}

#[test]
fn all_facets_of_a_ten_micrometre_ball_in_a_soft_one_carry_load() {
    let soft = Body::compliant(Shape::sphere(0.17).unwrap(), 0.0);
    let grain = Body::rigid(Shape::sphere(1e-5).unwrap());
    let X = Isometry3::translation(0.03, 0.02, 0.0);
    let s = *patch(soft.at(Isometry3::identity()), grain.at(X)).summary();
    // Facets have full weight up to 112.5 degrees from the pressure gradient and none from 135: 0.69 and 0.85 of a
    // sphere.
    let ball = 4.0 * std::f64::consts::PI * 1e-10;
    assert!((0.6..0.9).contains(&(s.area / ball)), "{}", s.area / ball);
}
