//! Choice between patch, points and refusal; speculative contacts.

use super::*;

#[test]
fn pairs_without_a_patch_are_refused_by_name_or_left_to_points() {
    let (box_, floor) = (
        Shape::cuboid(Vector3::repeat(0.1)).unwrap(),
        Shape::half_space(),
    );
    let c = compliance(0.0);
    let all = [
        Some(PatchGeometry::compliant(&box_, &c).unwrap()),
        Some(PatchGeometry::compliant(&floor, &c).unwrap()),
        Some(PatchGeometry::rigid(&box_, 0.1).unwrap()),
        Some(PatchGeometry::rigid(&floor, 0.1).unwrap()),
        None,
    ];
    let table = [
        [true, true, true, true, false],
        [true, false, true, false, false],
        [true, true, false, false, false],
        [true, false, false, false, false],
        [false; 5],
    ];
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate() {
            let found = PatchGeometry::check_pair(("left", a.as_ref()), ("right", b.as_ref()));
            assert_eq!(found.is_ok(), table[i][j], "{i} {j}");
            if let Err(e) = found {
                let text = e.to_string();
                assert!(
                    text.contains("\"left\"") && text.contains("\"right\""),
                    "{text}"
                );
            }
        }
    }
    let stiff = Body::rigid(box_);
    let posed = || stiff.at(Isometry3::identity());
    let mut q = Query::new(1e-3, 9.81).unwrap();
    let mut out = Vec::new();
    assert!(
        PatchContact
            .collide(
                posed(),
                posed(),
                &q,
                &mut ContactWorkspace::default(),
                &mut out
            )
            .is_none()
    );
    q.choice = ContactChoice::Patch;
    let answer = PatchContact.collide(
        posed(),
        posed(),
        &q,
        &mut ContactWorkspace::default(),
        &mut out,
    );
    assert!(matches!(answer, Some(Err(GeometryError::NoPatch { .. }))));
    let soft = Body::compliant(Shape::sphere(0.1).unwrap(), 0.0);
    q.choice = ContactChoice::Point;
    let answer = PatchContact.collide(
        soft.at(Isometry3::identity()),
        posed(),
        &q,
        &mut ContactWorkspace::default(),
        &mut out,
    );
    assert!(answer.is_none() && out.is_empty());
}

#[test]
fn a_body_that_would_pass_through_within_the_step_gets_speculative_points() {
    let ball = Body::compliant(Shape::sphere(0.02).unwrap(), 1e-4);
    let wall = Body::rigid(Shape::cuboid(Vector3::new(1.0, 1.0, 0.01)).unwrap());
    let mut out = Vec::new();
    for (speed, met) in [(1.0, false), (100.0, true)] {
        let moving = Posed::Rigid(RigidShape {
            V_WG: Twist {
                angular: Vector3::zeros(),
                linear: Vector3::z() * -speed,
            },
            ..match ball.at(Isometry3::translation(0.1, 0.1, 0.05)) {
                Posed::Rigid(r) => r,
                Posed::Deforming(_) | Posed::Filament(_) => unreachable!("a rigid body"),
            }
        });
        out.clear();
        let q = Query::new(1e-3, 9.81).unwrap();
        PatchContact
            .collide(
                moving,
                wall.at(Isometry3::identity()),
                &q,
                &mut ContactWorkspace::default(),
                &mut out,
            )
            .unwrap()
            .unwrap();
        assert_eq!(!out.is_empty(), met, "{speed}");
        assert!(out.iter().all(|c| c.entry > 0.0));
    }
}

#[test]
fn only_contacts_that_close_within_the_step_are_speculative() {
    let cube = Body::compliant(Shape::cuboid(Vector3::repeat(0.1)).unwrap(), 1e-3);
    let floor = Body::rigid(Shape::half_space());
    let found = |gap: f64, speed: f64| {
        let moving = match cube.at(Isometry3::translation(0.2, 0.1, 0.05 + gap)) {
            Posed::Rigid(r) => Posed::Rigid(RigidShape {
                V_WG: Twist {
                    angular: Vector3::zeros(),
                    linear: Vector3::z() * -speed,
                },
                ..r
            }),
            Posed::Deforming(_) | Posed::Filament(_) => unreachable!("a rigid body"),
        };
        let q = Query::new(1e-3, 9.81).unwrap();
        let mut out = Vec::new();
        PatchContact
            .collide(
                moving,
                floor.at(Isometry3::identity()),
                &q,
                &mut ContactWorkspace::default(),
                &mut out,
            )
            .unwrap()
            .unwrap();
        assert!(out.iter().all(|c| (c.signed_distance - gap).abs() < 1e-9));
        out.len()
    };
    // The margin of the query is 2 g dt² = 2e-5 m, that of the field 1e-3 m.
    assert_eq!(found(1e-5, 0.0), 3);
    assert_eq!(found(5e-4, 0.0), 0);
    assert_eq!(found(5e-4, 0.6), 3);
    assert_eq!(found(1.1e-3, 2.0), 0);
}

#[test]
fn bad_poses_are_refused_and_leave_the_list_alone() {
    let (a, b) = (
        Body::compliant(Shape::sphere(0.1).unwrap(), 0.0),
        Body::rigid(Shape::half_space()),
    );
    let lost = Isometry3::from_parts(
        Translation3::new(f64::NAN, 0.0, 0.0),
        UnitQuaternion::identity(),
    );
    let mut out = Vec::new();
    let q = Query::new(1e-3, 9.81).unwrap();
    let answer = PatchContact.collide(
        a.at(lost),
        b.at(Isometry3::identity()),
        &q,
        &mut ContactWorkspace::default(),
        &mut out,
    );
    assert!(matches!(
        answer,
        Some(Err(GeometryError::NotFinite { side: 'a', .. }))
    ));
    assert!(out.is_empty());
}

#[test]
fn an_enclosed_body_is_separated_by_points() {
    let ball = Body::compliant(Shape::sphere(0.02).unwrap(), 1e-4);
    let hard_box = Body::rigid(Shape::cuboid(Vector3::repeat(0.2)).unwrap());
    let floor = Body::rigid(Shape::half_space());
    let hard_ball = Body {
        shape: Shape::sphere(0.1).unwrap(),
        patch: PatchGeometry::compliant(
            &Shape::sphere(0.1).unwrap(),
            &Compliance {
                hydroelastic_modulus: 1e9,
                ..compliance(1e-4)
            },
        )
        .unwrap(),
    };
    for (other, depth) in [(&hard_box, 0.05), (&floor, 0.05), (&hard_ball, 0.05)] {
        let top = if std::ptr::eq(other, &floor) {
            0.0
        } else {
            0.1
        };
        let X = Isometry3::translation(0.001, 0.002, top - depth);
        let (a, b) = (ball.at(X), other.at(Isometry3::identity()));
        assert!(patch(a, b).polygons().is_empty(), "{}", other.shape.name());
        let found = points(a, b);
        let deepest = found
            .iter()
            .min_by(|c, d| c.signed_distance.total_cmp(&d.signed_distance))
            .unwrap_or_else(|| panic!("{}: it would be lost", other.shape.name()));
        assert!(deepest.normal_W.z > 0.9);
        assert!(
            (deepest.signed_distance + depth + 0.02).abs() < 1e-3,
            "{deepest:?}"
        );
        // No contact beside it.
        let beside = Isometry3::translation(0.3, 0.0, 0.13);
        assert!(points(ball.at(beside), b).is_empty());
    }
}
