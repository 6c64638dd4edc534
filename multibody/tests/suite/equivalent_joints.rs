//! A joint of several degrees of freedom is equivalent to a chain of simple joints.

use crate::random_trees::{Dice, GRAVITY, assert_close, massless};
use nalgebra::{Isometry3, Vector3};
use pliant_multibody::{
    JointKind, JointSpec, LinkSpec, Model, ModelBuilder, Workspace, forward_dynamics,
    kinetic_energy,
};

/// A joint of several degrees of freedom, and the equivalent chain of simple joints.
fn joint_and_chain(kind: JointKind, parts: &[(JointKind, Vector3<f64>)]) -> (Model, Model) {
    let mut dice = Dice::new(60);
    let (base, first, second) = (dice.inertia(), dice.inertia(), dice.inertia());
    let (at, next) = (dice.pose(), dice.pose());
    let tail = |builder: &mut ModelBuilder| {
        builder
            .link(LinkSpec::new("b", first))
            .link(LinkSpec::new("c", second));
        builder.joint(
            JointSpec::new("tail", JointKind::Revolute, "b", "c")
                .at(next)
                .about(Vector3::y()),
        );
    };
    let lead = |builder: &mut ModelBuilder| {
        builder
            .link(LinkSpec::new("base", base))
            .link(LinkSpec::new("a", base));
        builder.joint(
            JointSpec::new("lead", JointKind::Revolute, "base", "a")
                .at(next)
                .about(Vector3::z()),
        );
    };
    let mut whole = ModelBuilder::new("whole");
    lead(&mut whole);
    tail(&mut whole);
    whole.joint(
        JointSpec::new("joint", kind, "a", "b")
            .at(at)
            .about(Vector3::z()),
    );
    let mut split = ModelBuilder::new("split");
    lead(&mut split);
    tail(&mut split);
    let mut parent = "a".to_owned();
    for (i, (kind, axis)) in parts.iter().enumerate() {
        let child = if i + 1 == parts.len() {
            "b".to_owned()
        } else {
            format!("between{i}")
        };
        if i + 1 < parts.len() {
            split.link(LinkSpec::new(&*child, massless()));
        }
        let pose = if i == 0 { at } else { Isometry3::identity() };
        split.joint(
            JointSpec::new(format!("part{i}"), *kind, &*parent, &*child)
                .at(pose)
                .about(*axis),
        );
        parent = child;
    }
    let build = |builder: &ModelBuilder| builder.build().unwrap_or_else(|error| panic!("{error}"));
    (build(&whole), build(&split))
}

/// Accelerations of the last link under gravity and zero joint force, from both models at matching states.
#[track_caller]
fn check_same_motion(whole: (&Model, &[f64], &[f64]), split: (&Model, &[f64], &[f64])) {
    let of = |(model, q, v): (&Model, &[f64], &[f64])| {
        let mut w = Workspace::new(model);
        let mut vdot = vec![0.0; model.n_v()];
        forward_dynamics(
            model,
            q,
            v,
            &vec![0.0; model.n_v()],
            &GRAVITY,
            &mut w,
            &mut vdot,
        );
        let link = model.link_named("c").expect("link c");
        let at = w.positions.link_position(model, link);
        let twist = w.velocities.link_twist(model, &w.positions, link);
        let acceleration =
            w.accelerations
                .acceleration_at(model, &w.positions, &w.velocities, link, &at);
        let energy = kinetic_energy(model, &w.velocities, &w.inertias);
        let numbers = [
            at.as_slice(),
            &<[f64; 6]>::from(twist.to_vector()),
            &<[f64; 6]>::from(acceleration.to_vector()),
            &[energy],
        ];
        numbers.concat()
    };
    assert_close(&of(whole), &of(split), 1e-11);
}

#[test]
fn a_planar_joint_equals_two_prismatic_and_a_revolute_joint() {
    let parts = [
        (JointKind::Prismatic, Vector3::x()),
        (JointKind::Prismatic, Vector3::y()),
        (JointKind::Continuous, Vector3::z()),
    ];
    let (whole, split) = joint_and_chain(JointKind::Planar, &parts);
    // Both number: lead, the joint's three, tail.
    let (q, v) = ([0.4, 0.3, -0.2, 0.8, 0.5], [0.7, -1.1, 0.6, 1.3, -0.9]);
    check_same_motion((&whole, &q, &v), (&split, &q, &v));
}

/// R = Rz(a) Ry(b) Rx(c), and the angular velocity of its rates in the fixed axes.
fn zyx(angles: [f64; 3], rates: [f64; 3]) -> ([f64; 4], Vector3<f64>) {
    use nalgebra::UnitQuaternion as Q;
    let (x, y, z) = (Vector3::x_axis(), Vector3::y_axis(), Vector3::z_axis());
    let (ra, rb) = (
        Q::from_axis_angle(&z, angles[0]),
        Q::from_axis_angle(&y, angles[1]),
    );
    let r = ra * rb * Q::from_axis_angle(&x, angles[2]);
    let omega = z.into_inner() * rates[0]
        + ra * y.into_inner() * rates[1]
        + ra * rb * x.into_inner() * rates[2];
    ([r.w, r.i, r.j, r.k], omega)
}

#[test]
fn a_ball_joint_equals_three_revolute_joints_away_from_their_singularity() {
    let hinge = JointKind::Continuous;
    let parts = [
        (hinge, Vector3::z()),
        (hinge, Vector3::y()),
        (hinge, Vector3::x()),
    ];
    let (whole, split) = joint_and_chain(JointKind::Ball, &parts);
    let (angles, rates) = ([0.7, -0.4, 0.9], [1.2, -0.8, 0.5]);
    let (quat, omega) = zyx(angles, rates);
    let q = [&[0.4], &quat[..], &[0.5]].concat();
    let v = [&[0.7], omega.as_slice(), &[-0.9]].concat();
    let q_split = [&[0.4], &angles[..], &[0.5]].concat();
    let v_split = [&[0.7], &rates[..], &[-0.9]].concat();
    check_same_motion((&whole, &q, &v), (&split, &q_split, &v_split));
}

#[test]
fn a_floating_joint_equals_three_prismatic_and_three_revolute_joints() {
    let (slide, hinge) = (JointKind::Prismatic, JointKind::Continuous);
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
    let parts = [
        (slide, x),
        (slide, y),
        (slide, z),
        (hinge, z),
        (hinge, y),
        (hinge, x),
    ];
    let (whole, split) = joint_and_chain(JointKind::Floating, &parts);
    let (angles, rates) = ([0.7, -0.4, 0.9], [1.2, -0.8, 0.5]);
    let (place, speed) = ([0.2, -0.3, 0.6], [0.4, 0.9, -0.7]);
    let (quat, omega) = zyx(angles, rates);
    let q = [&[0.4], &place[..], &quat[..], &[0.5]].concat();
    let v = [&[0.7], omega.as_slice(), &speed[..], &[-0.9]].concat();
    let q_split = [&[0.4], &place[..], &angles[..], &[0.5]].concat();
    let v_split = [&[0.7], &speed[..], &rates[..], &[-0.9]].concat();
    check_same_motion((&whole, &q, &v), (&split, &q_split, &v_split));
}
