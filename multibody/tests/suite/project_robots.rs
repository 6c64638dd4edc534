//! The project's own robots load without warnings and have the documented properties.

use std::path::Path;

use nalgebra::{Isometry3, Vector3};
use pliant_multibody::RobotOptions;
use pliant_multibody::urdf::read_urdf;
use pliant_multibody::{
    CouplerLaw, GeometryDescription, JointKind, LinkIdx, Model, PositionKinematics, Root,
    Workspace, centre_of_mass, forward_dynamics,
};

fn load(name: &str) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../robots")
        .join(name);
    let loaded =
        read_urdf(path, &RobotOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert!(loaded.report.entries.is_empty(), "{}", loaded.report);
    for link in loaded.model.links() {
        for collision in &link.collisions {
            assert!(
                !matches!(collision.geometry, GeometryDescription::Mesh { .. }),
                "primitive shapes only"
            );
            assert!(
                collision.proximity.mu_dynamic.is_some(),
                "{} has no friction",
                collision.name
            );
        }
        assert!(
            link.visuals.iter().all(|v| v.rgba.is_some()),
            "{} has no colour",
            link.name
        );
    }
    loaded.model
}

fn flange_height(model: &Model, q: &[f64]) -> f64 {
    let mut positions = PositionKinematics::new(model);
    positions.update(model, q);
    positions
        .frame_pose(model, &model.frame_named("flange").expect("a flange"))
        .translation
        .z
}

#[test]
fn arm7_points_straight_up_at_zero() {
    let arm = load("arm7.urdf");
    assert_eq!((arm.n_q(), arm.n_v()), (7, 7));
    assert!((flange_height(&arm, &[0.0; 7]) - 1.266).abs() < 1e-12);
    assert!((arm.moving_mass() - 22.11193).abs() < 1e-9);
    assert!(
        arm.joints()
            .iter()
            .all(|j| j.limits.effort >= 40.0 && j.limits.velocity < 3.2)
    );
    // Elbow at a right angle: the forearm and hand lie 0.526 m out at the elbow's height.
    let bent = [0.0, 0.0, 0.0, core::f64::consts::FRAC_PI_2, 0.0, 0.0, 0.0];
    assert!((flange_height(&arm, &bent) - 0.74).abs() < 1e-12);
    let mut reflected = vec![0.0; 7];
    arm.add_reflected_inertia(&mut reflected);
    assert!((reflected[0] - 7.17188e-05 * 160.0 * 160.0).abs() < 1e-12);
}

#[test]
fn gripper2_fingers_are_coupled_and_closed_at_zero() {
    let gripper = load("gripper2.urdf");
    assert_eq!(gripper.n_v(), 2);
    let [coupler] = gripper.couplers() else {
        panic!("one coupler")
    };
    assert_eq!(coupler.law, CouplerLaw::linear(1.0, 0.0));
    let mut positions = PositionKinematics::new(&gripper);
    // The inner faces of the fingers are at their links' x = 0 plane.
    let mut gap = |q: f64| {
        positions.update(&gripper, &[q, q]);
        let x = |name: &str| {
            positions
                .link_position(&gripper, gripper.link_named(name).expect("a finger"))
                .x
        };
        x("right_finger") - x("left_finger")
    };
    assert_eq!(gap(0.0), 0.0);
    assert!((gap(0.055) - 0.11).abs() < 1e-15);
    assert!((gripper.links().iter().map(|l| l.inertia.mass).sum::<f64>() - 1.088882).abs() < 1e-12);
}

#[test]
fn hand16_has_sixteen_joints_and_four_tips() {
    let hand = load("hand16.urdf");
    assert_eq!(hand.n_v(), 16);
    assert_eq!(
        hand.links()
            .iter()
            .filter(|l| l.name.ends_with("_tip"))
            .count(),
        4
    );
    let fixed = hand
        .joints()
        .iter()
        .filter(|j| j.kind == JointKind::Fixed)
        .count();
    assert_eq!(fixed, 5);
    let mass: f64 = hand.links().iter().map(|l| l.inertia.mass).sum();
    // The facts say 0.955 kg in all.
    assert!((mass - 0.955).abs() < 1e-3, "{mass}");
    let pair = |a: &str, b: &str| {
        let (a, b) = (
            hand.link_named(a).expect("a link"),
            hand.link_named(b).expect("a link"),
        );
        (a.min(b), a.max(b))
    };
    assert!(hand.filtered_links().contains(&pair("palm", "thumb_2")));
    assert!(!hand.filtered_links().contains(&pair("palm", "thumb_3")));
    assert!(hand.adjacent_links().contains(&pair("palm", "index_1")));
    assert!(!hand.adjacent_links().contains(&pair("index_1", "middle_1")));
}

#[test]
fn a_gripper_welded_to_the_arm_is_one_tree_with_the_mass_of_both() {
    let (arm, gripper) = (load("arm7.urdf"), load("gripper2.urdf"));
    let mut builder = arm.to_builder();
    builder.attach(
        &gripper,
        "gripper/",
        "link_7",
        Isometry3::translation(0.0, 0.0, 0.045),
    );
    let both = builder.build().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(both.n_v(), 9);
    assert_eq!(both.couplers().len(), 1);
    assert!((both.moving_mass() - arm.moving_mass() - 1.088882).abs() < 1e-12);
    let mut positions = PositionKinematics::new(&both);
    positions.update(&both, &[0.0; 9]);
    let grasp = positions.frame_pose(
        &both,
        &both.frame_named("gripper/grasp").expect("the grasp"),
    );
    assert!((grasp.translation.vector - Vector3::new(0.0, 0.0, 1.266 + 0.1345)).norm() < 1e-12);
    assert!(both.adjacent_links().contains(&(
        both.link_named("link_7").expect("link 7"),
        both.link_named("gripper/palm").expect("the palm")
    )));
}

#[test]
fn a_floating_hand_falls_freely() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../robots/hand16.urdf");
    let options = RobotOptions {
        root: Root::Floating,
        ..RobotOptions::default()
    };
    let hand = read_urdf(path, &options)
        .unwrap_or_else(|error| panic!("{error}"))
        .model;
    let n = hand.n_v();
    assert_eq!((n, hand.link(LinkIdx(0)).name.as_str()), (22, "wrist"));
    let mut w = Workspace::new(&hand);
    let mut vdot = vec![0.0; n];
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    forward_dynamics(
        &hand,
        &hand.neutral_positions(),
        &vec![0.0; n],
        &vec![0.0; n],
        &gravity,
        &mut w,
        &mut vdot,
    );
    assert!((vdot[5] + 9.81).abs() < 1e-11);
    assert!(
        vdot.iter()
            .enumerate()
            .all(|(k, a)| k == 5 || a.abs() < 1e-9),
        "{vdot:?}"
    );
    assert!((centre_of_mass(&hand, &w.positions, &w.inertias).mass - 0.955).abs() < 1e-3);
}
