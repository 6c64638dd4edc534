//! Laws of mechanics that hold for any tree of links in any motion, on random trees with joints of every kind.

use std::sync::Arc;

use crate::random_trees::{GRAVITY, assert_close};
use nalgebra::{DMatrix, DVector, Isometry3, UnitQuaternion, Vector3};
use pliant_contact_sap::conformance::check_body;
use pliant_contact_sap::{BodyState, DeformableModel, StepInput};
use pliant_multibody::{
    JointKind, JointSpec, LinkIdx, LinkSpec, Model, ModelBuilder, RigidTree, Root, SpatialInertia,
    Workspace, Wrench, add_wrench, forward_dynamics, inverse_dynamics, kinetic_energy, mass_matrix,
    momentum, point_jacobian, potential_energy,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::rigid_tree::test_bench::Bench;

const DT: f64 = 2e-3;

/// The same cases in every run.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 32,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

/// A link and the joint to its parent.
#[derive(Clone, Debug)]
struct Limb {
    kind: JointKind,
    /// Which of the links before it.
    parent: prop::sample::Index,
    X_PJ: Isometry3<f64>,
    axis: Vector3<f64>,
    inertia: SpatialInertia,
    damping: f64,
}

/// What a random tree of up to seven links is made of, and its motion.
#[derive(Clone, Debug)]
struct Draw {
    /// Of the root.
    inertia: SpatialInertia,
    limbs: Vec<Limb>,
    /// From the neutral position, as a velocity over a second, and velocities of all degrees of freedom.
    displacement: Vec<f64>,
    velocity: Vec<f64>,
}

fn vector(size: f64) -> impl Strategy<Value = Vector3<f64>> {
    prop::array::uniform3(-size..size).prop_map(Vector3::from)
}

fn pose() -> impl Strategy<Value = Isometry3<f64>> {
    (vector(0.5), vector(2.0)).prop_map(|(p, turn)| Isometry3::new(p, turn))
}

/// An ellipsoid at a random pose.
fn inertia() -> impl Strategy<Value = SpatialInertia> {
    let radii = prop::array::uniform3(0.05..0.4_f64);
    (0.2..3.0, radii, pose()).prop_map(|(mass, radii, at)| {
        SpatialInertia::solid_ellipsoid(mass, radii.into()).expressed_in(&at)
    })
}

fn kind() -> impl Strategy<Value = JointKind> {
    prop::sample::select(vec![
        JointKind::Revolute,
        JointKind::Continuous,
        JointKind::Prismatic,
        JointKind::Screw { lead: -0.7 },
        JointKind::Planar,
        JointKind::Ball,
        JointKind::Fixed,
        JointKind::Floating,
    ])
}

fn limb() -> impl Strategy<Value = Limb> {
    let axis = vector(1.0).prop_filter("an axis has a direction", |axis| axis.norm() > 0.1);
    let joint = (kind(), any::<prop::sample::Index>(), pose(), axis);
    (joint, inertia(), 0.0..0.5).prop_map(|(joint, inertia, damping)| Limb {
        kind: joint.0,
        parent: joint.1,
        X_PJ: joint.2,
        axis: joint.3.normalize(),
        inertia,
        damping,
    })
}

fn draw() -> impl Strategy<Value = Draw> {
    // Six degrees of freedom a limb at most, and six of the root.
    let numbers = || prop::collection::vec(-1.0..1.0, 42);
    let limbs = prop::collection::vec(limb(), 1..=6);
    (inertia(), limbs, numbers(), numbers()).prop_map(|(inertia, limbs, displacement, velocity)| {
        Draw {
            inertia,
            limbs,
            displacement,
            velocity,
        }
    })
}

/// Free, or fixed to the world.
fn root(is_free: bool, X_WR: &Isometry3<f64>) -> Root {
    match is_free {
        true => Root::Floating,
        false => Root::Fixed(*X_WR),
    }
}

impl Draw {
    /// The tree, its limbs added in the order given.
    fn model(&self, root: Root, order: &[usize]) -> Arc<Model> {
        let mut builder = ModelBuilder::new("tree");
        builder.root(root);
        builder.link(LinkSpec::new("l0", self.inertia));
        for i in order {
            builder.link(LinkSpec::new(format!("l{}", i + 1), self.limbs[*i].inertia));
        }
        for i in order {
            let limb = &self.limbs[*i];
            let parent = format!("l{}", limb.parent.index(i + 1));
            let child = format!("l{}", i + 1);
            let mut joint = JointSpec::new(format!("j{i}"), limb.kind, parent, child);
            joint.passive.damping = limb.damping;
            builder.joint(joint.at(limb.X_PJ).about(limb.axis));
        }
        Arc::new(builder.build().unwrap())
    }

    fn plain(&self, is_free: bool) -> Arc<Model> {
        let order: Vec<usize> = (0..self.limbs.len()).collect();
        self.model(root(is_free, &Isometry3::identity()), &order)
    }

    /// Positions and velocities in order of the degrees of freedom.
    fn state(&self, model: &Model) -> (Vec<f64>, Vec<f64>) {
        let mut q = model.neutral_positions();
        let neutral = model.neutral_positions();
        model.integrate(&neutral, &self.displacement[..model.n_v()], 1.0, &mut q);
        (q, self.velocity[..model.n_v()].to_vec())
    }
}

/// The tree after `steps` steps.
fn moved(
    model: &Arc<Model>,
    q: &[f64],
    v: &[f64],
    gravity: Vector3<f64>,
    steps: usize,
) -> BodyState {
    let tree = RigidTree::new(Arc::clone(model)).starting_at(q, v);
    let mut bench = Bench::new(tree, DT, gravity);
    bench.tighten();
    bench.steps(steps);
    bench.state
}

fn link_pose(model: &Model, q: &[f64], name: &str) -> Isometry3<f64> {
    let mut w = Workspace::new(model);
    w.update_positions(model, q);
    w.positions
        .link_pose(model, model.link_named(name).unwrap())
}

/// Positions and rotations of links agree. Mass matrices of these trees have a condition of up to 1e6, which makes 2e-10 of the round-off of
/// an acceleration; a few steps of 2 ms turn that into less of a position.
#[track_caller]
fn same_pose(found: &Isometry3<f64>, expected: &Isometry3<f64>) {
    let off = (found.inverse() * expected).to_matrix() - nalgebra::Matrix4::identity();
    assert!(off.norm() < 1e-10, "{found} for {expected}");
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_rotated_world_has_the_rotated_motion(draw in draw(), is_free in any::<bool>(), X_WR in pose()) {
        let here = draw.plain(is_free);
        let order: Vec<usize> = (0..draw.limbs.len()).collect();
        let there = draw.model(root(is_free, &X_WR), &order);
        let (q, v) = draw.state(&here);
        let (mut turned_q, mut turned_v) = (q.clone(), v.clone());
        if is_free {
            // The root moves in world axes.
            let turn = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(q[3], q[4], q[5], q[6]));
            let pose = X_WR * Isometry3::from_parts(Vector3::new(q[0], q[1], q[2]).into(), turn);
            turned_q[..3].copy_from_slice(pose.translation.vector.as_slice());
            turned_q[3..7].copy_from_slice(&[pose.rotation.w, pose.rotation.i, pose.rotation.j, pose.rotation.k]);
            for k in [0, 3] {
                let own = X_WR * Vector3::from_column_slice(&v[k..k + 3]);
                turned_v[k..k + 3].copy_from_slice(own.as_slice());
            }
        }
        let end = moved(&here, &q, &v, GRAVITY, 3);
        let turned = moved(&there, &turned_q, &turned_v, X_WR * GRAVITY, 3);
        for link in here.links() {
            let expected = X_WR * link_pose(&here, &end.q, &link.name);
            same_pose(&link_pose(&there, &turned.q, &link.name), &expected);
        }
    }

    #[test]
    fn links_and_joints_in_another_order_move_the_same(
        draw in draw(),
        order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let order: Vec<usize> = order.into_iter().filter(|i| *i < draw.limbs.len()).collect();
        let here = draw.plain(false);
        let there = draw.model(root(false, &Isometry3::identity()), &order);
        let (q, v) = draw.state(&here);
        let (mut other_q, mut other_v) = (there.neutral_positions(), vec![0.0; there.n_v()]);
        for joint in here.joints() {
            let other = there.joint(there.joint_named(&joint.name).unwrap());
            other_q[other.positions()].copy_from_slice(&q[joint.positions()]);
            other_v[other.dofs()].copy_from_slice(&v[joint.dofs()]);
        }
        let end = moved(&here, &q, &v, GRAVITY, 3);
        let other = moved(&there, &other_q, &other_v, GRAVITY, 3);
        for link in here.links() {
            let expected = link_pose(&here, &end.q, &link.name);
            same_pose(&link_pose(&there, &other.q, &link.name), &expected);
        }
    }

    #[test]
    fn torques_of_joints_do_their_work_and_leave_the_momenta(
        draw in draw(),
        torques in prop::collection::vec(-3.0..3.0, 42),
    ) {
        let model = draw.plain(true);
        let (q, v) = draw.state(&model);
        let n = model.n_v();
        // The root is free: nothing acts on it.
        let tau: Vec<f64> = (0..n).map(|k| if k < 6 { 0.0 } else { torques[k] }).collect();
        let (mut w, mut vdot) = (Workspace::new(&model), vec![0.0; n]);
        let none = Vector3::zeros();
        forward_dynamics(&model, &q, &v, &tau, &none, &mut w, &mut vdot);
        let h = 1e-5;
        let mut at = |h: f64| {
            let mut next = q.clone();
            model.integrate(&q, &v, h, &mut next);
            let rates: Vec<f64> = v.iter().zip(&vdot).map(|(v, a)| v + h * a).collect();
            w.update(&model, &next, &rates);
            let energy = kinetic_energy(&model, &w.velocities, &w.inertias);
            (energy, momentum(&model, &w.positions, &w.velocities, &w.inertias))
        };
        let ((e_1, p_1), (e_0, p_0)) = (at(h), at(-h));
        let power: f64 = tau.iter().zip(&v).map(|(t, v)| t * v).sum();
        // Central differences: h² times a third derivative that grows with the accelerations, and round-off over h.
        let fast = 1.0 + vdot.iter().fold(0.0, |most: f64, a| most.max(a.abs()));
        let size = (1.0 + e_0.abs()) * fast;
        let tolerance = (h * h * fast * fast + f64::EPSILON / h) * 100.0 * size;
        let rate = (e_1 - e_0) / (2.0 * h);
        prop_assert!((rate - power).abs() <= tolerance, "{rate} W for {power} W, tolerance {tolerance:e}");
        let force = (p_1.linear - p_0.linear).norm() / (2.0 * h);
        let moment = (p_1.angular_about_origin - p_0.angular_about_origin).norm() / (2.0 * h);
        prop_assert!(force.max(moment) <= tolerance, "{force} N, {moment} N m, tolerance {tolerance:e}");
    }

    #[test]
    fn gravity_does_the_work_that_the_potential_loses(draw in draw(), is_free in any::<bool>()) {
        let model = draw.plain(is_free);
        let (q, v) = draw.state(&model);
        let (n, mut w) = (model.n_v(), Workspace::new(&model));
        let (mut at_rest, mut vdot) = (vec![0.0; n], vec![0.0; n]);
        let rest = vec![0.0; n];
        inverse_dynamics(&model, &q, &rest, &vdot, &GRAVITY, &mut w, &mut at_rest);
        let h = 1e-4;
        let mut at = |h: f64| {
            let mut next = q.clone();
            model.integrate(&q, &v, h, &mut next);
            w.update_positions(&model, &next);
            potential_energy(&model, &w.positions, &w.inertias, &GRAVITY)
        };
        let slope = (at(h) - at(-h)) / (2.0 * h);
        let power: f64 = at_rest.iter().zip(&v).map(|(t, v)| t * v).sum();
        // Third derivatives are a weight of up to 21 kg at a reach of a few metres times the cube of a few rad/s: h² times 1e5 at most.
        prop_assert!((slope - power).abs() <= 1e5 * h * h, "{slope} W for {power} W");
        // And the two recursions are inverse to each other.
        let tau: Vec<f64> = (0..n).map(|k| draw.displacement[n - 1 - k]).collect();
        forward_dynamics(&model, &q, &v, &tau, &GRAVITY, &mut w, &mut vdot);
        let mut found = vec![0.0; n];
        inverse_dynamics(&model, &q, &v, &vdot, &GRAVITY, &mut w, &mut found);
        let fast = vdot.iter().fold(1.0, |most: f64, a| most.max(a.abs()));
        assert_close(&found, &tau, 1e-11 * fast);
    }

    #[test]
    fn the_jacobian_of_a_point_is_its_motion_and_its_transpose_does_the_work_of_a_wrench(
        draw in draw(),
        is_free in any::<bool>(),
        link in any::<prop::sample::Index>(),
        p_LQ in vector(0.5),
        (force, torque) in (vector(10.0), vector(10.0)),
    ) {
        let model = draw.plain(is_free);
        let (q, v) = draw.state(&model);
        let link = LinkIdx(link.index(model.links().len()));
        let mut w = Workspace::new(&model);
        w.update(&model, &q, &v);
        let pose = w.positions.link_pose(&model, link);
        let p_WQ = w.positions.point(&model, link, &p_LQ);
        let mut jacobian = DMatrix::zeros(6, model.n_v());
        point_jacobian(&model, &w.positions, link, &p_WQ, &mut jacobian);
        let twist = &jacobian * DVector::from_column_slice(&v);
        let known = w.velocities.twist_at(&model, &w.positions, link, &p_WQ);
        prop_assert!((&twist - known.to_vector()).norm() <= 1e-13 * (1.0 + twist.norm()));
        let wrench = Wrench { torque, force };
        let mut tau = vec![0.0; model.n_v()];
        add_wrench(&model, &w.positions, link, &p_WQ, &wrench, &mut tau);
        let work: f64 = tau.iter().zip(&v).map(|(t, v)| t * v).sum();
        let size = 20.0 * (1.0 + twist.norm());
        prop_assert!((work - wrench.power(&known)).abs() <= 1e-13 * size, "{work} W");
        let h = 1e-5;
        let mut at = |h: f64| {
            let mut next = q.clone();
            model.integrate(&q, &v, h, &mut next);
            w.update_positions(&model, &next);
            let turn = w.positions.link_pose(&model, link).rotation * pose.rotation.inverse();
            (turn.scaled_axis(), w.positions.point(&model, link, &p_LQ))
        };
        let ((turn_1, p_1), (turn_0, p_0)) = (at(h), at(-h));
        let rates = [(turn_1 - turn_0) / (2.0 * h), (p_1 - p_0) / (2.0 * h)];
        let [spin, speed] = [known.angular - rates[0], known.linear - rates[1]];
        // Third derivatives: a reach of a few metres times the cube of a few rad/s, h² times 1e4 at most; round-off over h is smaller.
        prop_assert!(spin.norm().max(speed.norm()) <= 1e4 * h * h, "{spin} {speed}");
    }

    #[test]
    fn the_mass_matrix_is_symmetric_positive_definite_and_that_of_the_energy(draw in draw(), is_free in any::<bool>()) {
        let model = draw.plain(is_free);
        let (q, v) = draw.state(&model);
        let (n, mut w) = (model.n_v(), Workspace::new(&model));
        let mut mass = DMatrix::zeros(n, n);
        mass_matrix(&model, &q, &mut w, &mut mass);
        prop_assert_eq!(&mass, &mass.transpose());
        prop_assert!(n == 0 || mass.clone().cholesky().is_some());
        w.update(&model, &q, &v);
        let energy = kinetic_energy(&model, &w.velocities, &w.inertias);
        let v = DVector::from_vec(v);
        let half = 0.5 * v.dot(&(&mass * &v));
        prop_assert!((half - energy).abs() <= 1e-13 * mass.norm() * v.norm_squared(), "{half} J for {energy} J");
    }

    #[test]
    fn every_tree_conforms_in_any_motion(draw in draw(), is_free in any::<bool>()) {
        let model = draw.plain(is_free);
        let (q, v) = draw.state(&model);
        let tree = RigidTree::new(model).starting_at(&q, &v);
        let control = tree.default_control();
        let input = StepInput::new(DT, GRAVITY, &control);
        let checked = check_body(&tree, &tree.default_state(), &input);
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }

    #[test]
    fn a_number_that_is_not_finite_or_missing_is_an_error_wherever_it_is(
        draw in draw(),
        is_free in any::<bool>(),
        which in 0..4,
        place in any::<prop::sample::Index>(),
        bad in prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
        missing in any::<bool>(),
    ) {
        let model = draw.plain(is_free);
        prop_assume!(model.n_v() > 1);
        let (q, v) = draw.state(&model);
        let tree = RigidTree::new(model).starting_at(&q, &v);
        let (mut state, mut control) = (tree.default_state(), tree.default_control());
        control.effort.resize(v.len(), 0.0);
        let values = match which {
            0 => &mut state.q,
            1 => &mut state.v,
            2 => &mut control.effort,
            _ => {
                control.position.resize(v.len(), 0.0);
                &mut control.position
            }
        };
        let i = place.index(values.len());
        if missing {
            values.remove(i);
        } else {
            values[i] = bad;
        }
        prop_assert!(tree.check_state(&state, &control).is_err());
    }
}
