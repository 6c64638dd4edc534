//! The dynamics algorithms against each other, against equivalent trees, and against conservation laws.

mod random_trees;

use nalgebra::{DMatrix, DVector, Isometry3, Vector3};
use pliant_multibody::{
    DofIdx, Drive, ForwardDynamicsInput, GravityAction, HeldDofs, JointKind, JointSpec, LinkIdx,
    LinkSpec, Model, ModelBuilder, PassiveForces, Root, SpatialInertia, Workspace, Wrench,
    add_wrench, bias_forces, constrained_forward_dynamics, forward_dynamics, inverse_dynamics,
    joint_reactions, kinetic_energy, mass_matrix, momentum, potential_energy,
};
use random_trees::{Dice, chain, massless, welded};

const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    for (f, e) in found.iter().zip(expected) {
        assert!(
            (f - e).abs() <= tolerance * scale,
            "found {found:?}, expected {expected:?}"
        );
    }
}

fn mass_at(model: &Model, q: &[f64]) -> DMatrix<f64> {
    let mut mass = DMatrix::zeros(model.n_v(), model.n_v());
    mass_matrix(model, q, &mut Workspace::new(model), &mut mass);
    mass
}

fn bias_at(model: &Model, q: &[f64], v: &[f64]) -> Vec<f64> {
    let mut bias = vec![0.0; model.n_v()];
    bias_forces(model, q, v, &GRAVITY, &mut Workspace::new(model), &mut bias);
    bias
}

#[test]
fn forward_dynamics_is_the_inverse_of_inverse_dynamics() {
    for seed in 20..30 {
        let mut dice = Dice::new(seed);
        let root = if seed % 2 == 0 {
            welded()
        } else {
            Root::Floating
        };
        let model = dice.tree(15, root);
        let n = model.n_v();
        let (q, v, vdot) = (dice.positions(&model), dice.numbers(n), dice.numbers(n));
        let mut w = Workspace::new(&model);
        let (mut tau, mut back) = (vec![0.0; n], vec![0.0; n]);
        inverse_dynamics(&model, &q, &v, &vdot, &GRAVITY, &mut w, &mut tau);
        forward_dynamics(&model, &q, &v, &tau, &GRAVITY, &mut w, &mut back);
        // Condition numbers of these mass matrices reach 1e4.
        assert_close(&back, &vdot, 1e-11);
    }
}

#[test]
fn inverse_dynamics_is_mass_times_acceleration_plus_bias() {
    for seed in 30..40 {
        let mut dice = Dice::new(seed);
        let root = if seed % 2 == 0 {
            welded()
        } else {
            Root::Floating
        };
        let model = dice.tree(15, root);
        let n = model.n_v();
        let (q, v, vdot) = (dice.positions(&model), dice.numbers(n), dice.numbers(n));
        let mut tau = vec![0.0; n];
        inverse_dynamics(
            &model,
            &q,
            &v,
            &vdot,
            &GRAVITY,
            &mut Workspace::new(&model),
            &mut tau,
        );
        let expected = mass_at(&model, &q) * DVector::from_vec(vdot)
            + DVector::from_vec(bias_at(&model, &q, &v));
        assert_close(&tau, expected.as_slice(), 1e-13);
    }
}

#[test]
fn mass_matrix_is_the_hessian_of_kinetic_energy() {
    let mut dice = Dice::new(41);
    let model = dice.tree(12, Root::Floating);
    let n = model.n_v();
    let q = dice.positions(&model);
    let mass = mass_at(&model, &q);
    assert!((&mass - mass.transpose()).norm() == 0.0);
    assert!(mass.clone().cholesky().is_some());
    let mut w = Workspace::new(&model);
    for _ in 0..10 {
        let v = dice.numbers(n);
        w.update(&model, &q, &v);
        let energy = kinetic_energy(&model, &w.velocities, &w.inertias);
        let v = DVector::from_vec(v);
        assert!((energy - 0.5 * v.dot(&(&mass * &v))).abs() < 1e-13 * energy);
    }
}

#[test]
fn bias_forces_follow_from_the_mass_matrix_by_lagrange() {
    // For joints whose v is q̇: k = Ṁ v − ½ ∂(vᵀMv)/∂q + ∂V/∂q, by central differences.
    let model = chain(5);
    let mut dice = Dice::new(42);
    let (q, v) = (dice.numbers(5), DVector::from_vec(dice.numbers(5)));
    let eps = 1e-5;
    let shifted = |k: usize, by: f64| {
        let mut q = q.clone();
        q[k] += by;
        q
    };
    let potential = |q: &[f64]| {
        let mut w = Workspace::new(&model);
        w.update_positions(&model, q);
        potential_energy(&model, &w.positions, &w.inertias, &GRAVITY)
    };
    let along: Vec<f64> = q.iter().zip(&v).map(|(q, v)| q + eps * v).collect();
    let against: Vec<f64> = q.iter().zip(&v).map(|(q, v)| q - eps * v).collect();
    let mass_rate = (mass_at(&model, &along) - mass_at(&model, &against)) / (2.0 * eps);
    let mut expected = mass_rate * &v;
    for k in 0..5 {
        let (plus, minus) = (shifted(k, eps), shifted(k, -eps));
        let kinetic = |q: &[f64]| 0.5 * v.dot(&(mass_at(&model, q) * &v));
        expected[k] +=
            (potential(&plus) - potential(&minus) - kinetic(&plus) + kinetic(&minus)) / (2.0 * eps);
    }
    assert_close(
        &bias_at(&model, &q, v.as_slice()),
        expected.as_slice(),
        1e-8,
    );
}

#[test]
fn a_solve_with_a_diagonal_and_held_joints_agrees_with_the_dense_block() {
    for seed in 50..56 {
        let mut dice = Dice::new(seed);
        let model = dice.tree(15, Root::Floating);
        let n = model.n_v();
        let (q, v, tau) = (dice.positions(&model), dice.numbers(n), dice.numbers(n));
        let diagonal: Vec<f64> = (0..n).map(|_| dice.number(0.0, 2.0)).collect();
        let held = HeldDofs::of(
            &model,
            (0..n).filter(|_| dice.number(0.0, 1.0) < 0.4).map(DofIdx),
        );
        let prescribed = dice.numbers(n);
        let external: Vec<Wrench> = (0..model.n_bodies())
            .map(|_| Wrench {
                torque: dice.vector(),
                force: dice.vector(),
            })
            .collect();
        let mut w = Workspace::new(&model);
        w.update(&model, &q, &v);
        let input = ForwardDynamicsInput {
            tau: &tau,
            external: &external,
            diagonal: &diagonal,
            held: &held,
            held_acceleration: &prescribed,
            gravity: GRAVITY,
        };
        let mut vdot = vec![0.0; n];
        constrained_forward_dynamics(&model, &input, &mut w, &mut vdot);

        // (M_ff + D_ff) v̇_f = τ_f + (Jᵀ F)_f − k_f − M_fh v̇_h, dense.
        let mut pushed = tau.clone();
        for (l, link) in model.links().iter().enumerate() {
            let first = model
                .links()
                .iter()
                .position(|other| other.body == link.body)
                == Some(l);
            if first && link.body.0 != 0 {
                let joint = link.parent_joint.expect("a moving body has a joint");
                assert_eq!(
                    model.joint(joint).child,
                    LinkIdx(l),
                    "a body's first link is where its joint is"
                );
                let at = w.positions.link_position(&model, LinkIdx(l));
                add_wrench(
                    &model,
                    &w.positions,
                    LinkIdx(l),
                    &at,
                    &external[link.body.0],
                    &mut pushed,
                );
            }
        }
        let mass = mass_at(&model, &q);
        let m = held.free().len();
        let mut block = DMatrix::zeros(m, m);
        held.gather_block(
            &(&mass + DMatrix::from_diagonal(&DVector::from_column_slice(&diagonal))),
            &mut block,
        );
        let mut known = DVector::zeros(n);
        held.held().iter().for_each(|&k| known[k] = prescribed[k]);
        let rest =
            DVector::from_vec(pushed) - DVector::from_vec(bias_at(&model, &q, &v)) - &mass * known;
        let mut free = vec![0.0; m];
        held.gather(rest.as_slice(), &mut free);
        let expected = block
            .cholesky()
            .expect("positive definite")
            .solve(&DVector::from_vec(free));
        let mut found = vec![0.0; m];
        held.gather(&vdot, &mut found);
        assert_close(&found, expected.as_slice(), 1e-11);
        held.held()
            .iter()
            .for_each(|&k| assert_eq!(vdot[k], prescribed[k]));

        // The factor left behind solves with the same block, and nothing moves where held.
        let mut x = dice.numbers(n);
        let mut b = vec![0.0; m];
        held.gather(&x, &mut b);
        w.articulated.solve(&model, &w.positions, &mut x);
        let mut solved = vec![0.0; m];
        held.gather(&x, &mut solved);
        let mut again = DMatrix::zeros(m, m);
        held.gather_block(
            &(&mass + DMatrix::from_diagonal(&DVector::from_column_slice(&diagonal))),
            &mut again,
        );
        assert_close((again * DVector::from_vec(solved)).as_slice(), &b, 1e-11);
        held.held().iter().for_each(|&k| assert_eq!(x[k], 0.0));
    }
}

/// One joint of several degrees of freedom and the chain of simple joints it should equal.
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
fn a_planar_joint_equals_two_slides_and_a_hinge() {
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
fn a_ball_joint_equals_three_hinges_away_from_their_singularity() {
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
fn a_floating_joint_equals_three_slides_and_three_hinges() {
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

/// Classical Runge-Kutta for q̇ = v in the exponential chart of each step's start, forces zero.
fn runge_kutta(
    model: &Model,
    q: &mut Vec<f64>,
    v: &mut [f64],
    time_step_s: f64,
    w: &mut Workspace,
) {
    let n = model.n_v();
    let slope = |q: &[f64], v: &[f64], w: &mut Workspace| {
        let mut vdot = vec![0.0; n];
        forward_dynamics(model, q, v, &vec![0.0; n], &GRAVITY, w, &mut vdot);
        vdot
    };
    let ahead = |x: &[f64], by: &[f64], h: f64| -> Vec<f64> {
        x.iter().zip(by).map(|(x, d)| x + h * d).collect()
    };
    let moved = |by: &[f64], h: f64| {
        let mut next = q.clone();
        model.integrate(q, by, h, &mut next);
        next
    };
    let h = time_step_s;
    let (v1, a1) = (v.to_vec(), slope(q, v, w));
    let v2 = ahead(v, &a1, 0.5 * h);
    let a2 = slope(&moved(&v1, 0.5 * h), &v2, w);
    let v3 = ahead(v, &a2, 0.5 * h);
    let a3 = slope(&moved(&v2, 0.5 * h), &v3, w);
    let v4 = ahead(v, &a3, h);
    let a4 = slope(&moved(&v3, h), &v4, w);
    let mean = |k: [&[f64]; 4]| -> Vec<f64> {
        (0..n)
            .map(|i| (k[0][i] + 2.0 * (k[1][i] + k[2][i]) + k[3][i]) / 6.0)
            .collect()
    };
    *q = moved(&mean([&v1, &v2, &v3, &v4]), h);
    let change = mean([&a1, &a2, &a3, &a4]);
    v.iter_mut().zip(change).for_each(|(v, a)| *v += h * a);
}

fn total_energy(model: &Model, q: &[f64], v: &[f64]) -> f64 {
    let mut w = Workspace::new(model);
    w.update(model, q, v);
    kinetic_energy(model, &w.velocities, &w.inertias)
        + potential_energy(model, &w.positions, &w.inertias, &GRAVITY)
}

/// Largest change of total energy over a second, integrated in steps of `time_step_s`.
fn energy_drift(model: &Model, q: &[f64], v: &[f64], steps: u32) -> f64 {
    let (mut q, mut v) = (q.to_vec(), v.to_vec());
    let start = total_energy(model, &q, &v);
    let mut w = Workspace::new(model);
    let mut worst: f64 = 0.0;
    for _ in 0..steps {
        runge_kutta(model, &mut q, &mut v, 1.0 / f64::from(steps), &mut w);
        worst = worst.max((total_energy(model, &q, &v) - start).abs());
    }
    worst
}

#[test]
fn energy_of_a_swinging_chain_is_conserved_to_fourth_order() {
    let model = chain(4);
    let (q, v) = ([0.5, -0.3, 0.8, 0.2], [0.4, -0.9, 0.7, 1.5]);
    let (coarse, fine) = (
        energy_drift(&model, &q, &v, 500),
        energy_drift(&model, &q, &v, 1000),
    );
    let order = (coarse / fine).log2();
    assert!(
        (3.5..=5.5).contains(&order),
        "drift {coarse} then {fine}: order {order}"
    );
    assert!(fine < 1e-6, "{fine}");
}

#[test]
fn energy_of_a_tree_with_every_joint_is_conserved_as_steps_shrink() {
    // The chart of ball joints is used to second order only, so the drift falls with the square of the step or better.
    let mut dice = Dice::new(70);
    let model = dice.tree(10, welded());
    let (q, v) = (dice.positions(&model), dice.numbers(model.n_v()));
    let (coarse, fine) = (
        energy_drift(&model, &q, &v, 500),
        energy_drift(&model, &q, &v, 1000),
    );
    assert!(coarse / fine > 3.5, "drift {coarse} then {fine}");
    assert!(fine < 1e-3 * total_energy(&model, &q, &v).abs(), "{fine}");
}

#[test]
fn free_flight_keeps_both_momenta() {
    let mut dice = Dice::new(71);
    let model = dice.tree(9, Root::Floating);
    let (mut q, mut v) = (dice.positions(&model), dice.numbers(model.n_v()));
    let mut w = Workspace::new(&model);
    let momenta = |q: &[f64], v: &[f64], w: &mut Workspace| {
        w.update(&model, q, v);
        momentum(&model, &w.positions, &w.velocities, &w.inertias)
    };
    // In the falling frame: take the known effect of gravity out of the rate of change at one instant.
    let n = model.n_v();
    let before = momenta(&q, &v, &mut w);
    let mut vdot = vec![0.0; n];
    forward_dynamics(
        &model,
        &q,
        &v,
        &vec![0.0; n],
        &Vector3::zeros(),
        &mut w,
        &mut vdot,
    );
    let eps = 1e-6;
    let step = |h: f64, w: &mut Workspace| {
        let mut next = q.clone();
        model.integrate(&q, &v, h, &mut next);
        let rates: Vec<f64> = v.iter().zip(&vdot).map(|(v, a)| v + h * a).collect();
        momenta(&next, &rates, w)
    };
    let (plus, minus) = (step(eps, &mut w), step(-eps, &mut w));
    let linear = (plus.linear - minus.linear) / (2.0 * eps);
    let angular = (plus.angular_about_origin - minus.angular_about_origin) / (2.0 * eps);
    let scale = before.linear.norm() + before.angular_about_origin.norm();
    assert!(linear.norm() < 1e-7 * (1.0 + scale), "{linear}");
    assert!(angular.norm() < 1e-7 * (1.0 + scale), "{angular}");
    // And over a second of flight under gravity: p(t) = p(0) + m g t.
    for _ in 0..2000 {
        runge_kutta(&model, &mut q, &mut v, 5e-4, &mut w);
    }
    let after = momenta(&q, &v, &mut w);
    let expected = before.linear + GRAVITY * model.moving_mass();
    assert!(
        (after.linear - expected).norm() < 1e-5 * expected.norm(),
        "{} {expected}",
        after.linear
    );
}

#[test]
fn a_single_free_body_spins_as_eulers_equations_say() {
    let mut builder = ModelBuilder::new("brick");
    let mut brick = SpatialInertia::solid_box(2.0, Vector3::new(0.1, 0.3, 0.5));
    brick.com = Vector3::new(0.02, -0.03, 0.04);
    builder
        .root(Root::Floating)
        .link(LinkSpec::new("brick", brick));
    let model = builder.build().unwrap_or_else(|error| panic!("{error}"));
    let q = [1.0, 2.0, 3.0, 0.5, 0.5, -0.5, 0.5];
    let v = [0.7, -1.2, 2.0, 0.3, 0.4, -0.5];
    let mut w = Workspace::new(&model);
    let mut vdot = vec![0.0; 6];
    forward_dynamics(&model, &q, &v, &[0.0; 6], &GRAVITY, &mut w, &mut vdot);
    let r = nalgebra::UnitQuaternion::new_normalize(nalgebra::Quaternion::new(0.5, 0.5, -0.5, 0.5))
        .to_rotation_matrix();
    let inertia = r.matrix() * brick.rotational * r.matrix().transpose();
    let omega = Vector3::new(v[0], v[1], v[2]);
    let alpha = inertia.try_inverse().expect("regular") * -omega.cross(&(inertia * omega));
    // The centre falls freely; the origin moves about it.
    let arm = r * -brick.com;
    let origin = GRAVITY + alpha.cross(&arm) + omega.cross(&omega.cross(&arm));
    assert_close(
        &vdot,
        &[alpha.as_slice(), origin.as_slice()].concat(),
        1e-13,
    );
}

#[test]
fn a_far_away_body_loses_no_digits() {
    // World-axis quantities are taken about each body's own origin, so distance from the world's origin costs nothing.
    let mut dice = Dice::new(72);
    let model = dice.tree(12, Root::Floating);
    let (q, v) = (dice.positions(&model), dice.numbers(model.n_v()));
    let mut far = q.clone();
    far[0] += 1e8;
    let accelerations = |q: &[f64]| {
        let mut vdot = vec![0.0; model.n_v()];
        forward_dynamics(
            &model,
            q,
            &v,
            &vec![0.0; model.n_v()],
            &GRAVITY,
            &mut Workspace::new(&model),
            &mut vdot,
        );
        vdot
    };
    assert_eq!(accelerations(&q), accelerations(&far));
}

#[test]
fn gravity_can_be_absent_for_one_model() {
    let mut builder = ModelBuilder::new("balanced");
    builder.root(Root::Floating).gravity(GravityAction::Absent);
    builder.link(LinkSpec::new(
        "ball",
        SpatialInertia::solid_sphere(1.0, 0.1),
    ));
    let model = builder.build().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        bias_at(&model, &model.neutral_positions(), &[0.0; 6]),
        [0.0; 6]
    );
}

#[test]
fn implicit_damper_and_spring_take_effect_at_the_end_of_the_step() {
    let mut builder = ModelBuilder::new("slider");
    builder.gravity(GravityAction::Absent);
    builder.link(LinkSpec::new("base", SpatialInertia::zero()));
    builder.link(LinkSpec::new(
        "mass",
        SpatialInertia::solid_sphere(2.0, 0.1),
    ));
    let mut joint = JointSpec::new("slide", JointKind::Prismatic, "base", "mass");
    joint.passive = PassiveForces {
        damping: 3.0,
        dry_friction: 0.0,
        spring_stiffness: 50.0,
        spring_rest: 0.1,
    };
    joint.drive = Drive {
        rotor_inertia: 1e-4,
        gear_ratio: 100.0,
    };
    builder.joint(joint);
    let model = builder.build().unwrap_or_else(|error| panic!("{error}"));
    let (q0, v0, h) = (0.4, -0.7, 0.05);
    let (mut diagonal, mut tau) = ([0.0], [0.0]);
    model.implicit_diagonal(h, &mut diagonal);
    model.add_passive_forces(&[q0], &[v0], h, &mut tau);
    let mut w = Workspace::new(&model);
    w.update(&model, &[q0], &[v0]);
    let held = HeldDofs::none(&model);
    let input = ForwardDynamicsInput {
        tau: &tau,
        external: &[],
        diagonal: &diagonal,
        held: &held,
        held_acceleration: &[],
        gravity: GRAVITY,
    };
    let mut vdot = [0.0];
    constrained_forward_dynamics(&model, &input, &mut w, &mut vdot);
    let v = v0 + h * vdot[0];
    // (m + n² I)(v − v0) / h = −d v − k (q0 + h v − rest), the mass 2 kg and the rotor's 1 kg.
    let residual = (2.0 + 1.0) * (v - v0) / h + 3.0 * v + 50.0 * (q0 + h * v - 0.1);
    assert!(residual.abs() < 1e-12, "{residual}");
    assert!((model.spring_energy(&[q0]) - 0.5 * 50.0 * 0.09).abs() < 1e-14);
}

#[test]
fn reactions_balance_weight_and_reach_through_fixed_joints() {
    // A post carries a beam by a fixed joint; the beam's end carries a motor on a hinge. All at rest.
    let mut builder = ModelBuilder::new("crane");
    let mut beam = SpatialInertia::solid_box(3.0, Vector3::new(1.0, 0.1, 0.1));
    beam.com = Vector3::new(0.5, 0.0, 0.0);
    builder.link(LinkSpec::new("post", SpatialInertia::zero()));
    builder.link(LinkSpec::new("beam", beam));
    let mut load = SpatialInertia::solid_sphere(2.0, 0.1);
    load.com = Vector3::new(0.0, 0.0, -0.3);
    builder.link(LinkSpec::new("load", load));
    builder.joint(
        JointSpec::new("weld", JointKind::Fixed, "post", "beam")
            .at(Isometry3::translation(0.0, 0.0, 2.0)),
    );
    let hinge = JointSpec::new("hinge", JointKind::Revolute, "beam", "load");
    builder.joint(
        hinge
            .at(Isometry3::translation(1.0, 0.0, 0.0))
            .about(Vector3::y()),
    );
    let model = builder.build().unwrap_or_else(|error| panic!("{error}"));
    let mut w = Workspace::new(&model);
    let mut vdot = [0.0];
    forward_dynamics(&model, &[0.0], &[0.0], &[0.0], &GRAVITY, &mut w, &mut vdot);
    assert!(vdot[0].abs() < 1e-14, "the load hangs straight down");
    let reactions = joint_reactions(&model, &w.positions, &w.velocities, &w.accelerations, &[]);
    let (weld, hinge) = (
        model.joint_named("weld").expect("weld"),
        model.joint_named("hinge").expect("hinge"),
    );
    assert!((reactions[hinge.0].force - Vector3::new(0.0, 0.0, 2.0 * 9.81)).norm() < 1e-12);
    assert!((reactions[weld.0].force - Vector3::new(0.0, 0.0, 5.0 * 9.81)).norm() < 1e-12);
    // About the beam's origin: 3 kg at 0.5 m and 2 kg at 1 m; r × F of +z forces at +x turns about −y.
    let torque = Vector3::new(0.0, -(3.0 * 0.5 + 2.0) * 9.81, 0.0);
    assert!(
        (reactions[weld.0].torque - torque).norm() < 1e-12,
        "{}",
        reactions[weld.0].torque
    );
}

#[test]
fn reactions_along_free_joints_are_the_joint_forces() {
    let mut dice = Dice::new(73);
    let model = dice.tree(14, Root::Floating);
    let n = model.n_v();
    let (q, v, tau) = (dice.positions(&model), dice.numbers(n), dice.numbers(n));
    let mut w = Workspace::new(&model);
    let mut vdot = vec![0.0; n];
    forward_dynamics(&model, &q, &v, &tau, &GRAVITY, &mut w, &mut vdot);
    let reactions = joint_reactions(&model, &w.positions, &w.velocities, &w.accelerations, &[]);
    for (joint, reaction) in model.joints().iter().zip(&reactions) {
        let at = w.positions.link_position(&model, joint.child);
        for k in joint.dofs() {
            let mut columns =
                pliant_multibody::jacobian_columns(&model, &w.positions, joint.child, &at);
            let (_, column) = columns
                .find(|(dof, _)| dof.0 == k)
                .expect("its own degree of freedom");
            assert!(
                (reaction.power(&column) - tau[k]).abs() < 1e-10,
                "joint {}",
                joint.name
            );
        }
    }
}

#[test]
fn the_dynamics_calls_need_no_dense_matrix_for_a_thousand_joints() {
    let model = chain(1000);
    let n = model.n_v();
    let q: Vec<f64> = (0..n).map(|k| 0.01 * (k % 7) as f64).collect();
    let mut w = Workspace::new(&model);
    let (mut tau, mut back) = (vec![0.0; n], vec![0.0; n]);
    let vdot: Vec<f64> = (0..n).map(|k| 0.1 * ((k % 5) as f64 - 2.0)).collect();
    inverse_dynamics(&model, &q, &vec![0.0; n], &vdot, &GRAVITY, &mut w, &mut tau);
    forward_dynamics(&model, &q, &vec![0.0; n], &tau, &GRAVITY, &mut w, &mut back);
    // Torques at the root are 1e6 times what accelerates the tip, so ten digits are lost to round-off at most.
    assert_close(&back, &vdot, 1e-5);
}
