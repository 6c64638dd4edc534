//! The dynamics algorithms against each other, dense algebra and closed forms.

use crate::random_trees::{Dice, GRAVITY, assert_close, chain, welded};
use nalgebra::{DMatrix, DVector, Vector3};
use pliant_multibody::{
    DofIdx, ForwardDynamicsInput, GravityAction, HeldDofs, LinkIdx, LinkSpec, Model, ModelBuilder,
    Root, SpatialInertia, Workspace, Wrench, add_wrench, bias_forces, constrained_forward_dynamics,
    forward_dynamics, inverse_dynamics, kinetic_energy, mass_matrix, potential_energy,
};

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
        let full = &mass + DMatrix::from_diagonal(&DVector::from_column_slice(&diagonal));
        let free_dofs = held.free();
        let block = DMatrix::from_fn(m, m, |r, c| full[(free_dofs[r], free_dofs[c])]);
        let mut known = DVector::zeros(n);
        held.held().iter().for_each(|&k| known[k] = prescribed[k]);
        let rest =
            DVector::from_vec(pushed) - DVector::from_vec(bias_at(&model, &q, &v)) - &mass * known;
        let mut free = vec![0.0; m];
        held.gather(rest.as_slice(), &mut free);
        let expected = block
            .clone()
            .cholesky()
            .expect("positive definite")
            .solve(&DVector::from_vec(free));
        let mut found = vec![0.0; m];
        held.gather(&vdot, &mut found);
        assert_close(&found, expected.as_slice(), 1e-11);
        held.held()
            .iter()
            .for_each(|&k| assert_eq!(vdot[k], prescribed[k]));

        // The factorisation solves with the same block; held entries are zero.
        let mut x = dice.numbers(n);
        let mut b = vec![0.0; m];
        held.gather(&x, &mut b);
        w.articulated.solve(&model, &w.positions, &mut x);
        let mut solved = vec![0.0; m];
        held.gather(&x, &mut solved);
        assert_close((block * DVector::from_vec(solved)).as_slice(), &b, 1e-11);
        held.held().iter().for_each(|&k| assert_eq!(x[k], 0.0));
    }
}

#[test]
fn a_single_free_body_obeys_eulers_equations() {
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
    // The centre of mass falls freely; the origin moves about it.
    let arm = r * -brick.com;
    let origin = GRAVITY + alpha.cross(&arm) + omega.cross(&omega.cross(&arm));
    assert_close(
        &vdot,
        &[alpha.as_slice(), origin.as_slice()].concat(),
        1e-13,
    );
}

#[test]
fn a_distant_body_has_the_same_accuracy() {
    // Spatial quantities are about each body's own origin, so accuracy does not depend on the distance from the world origin.
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
fn gravity_can_be_disabled_for_one_model() {
    let mut builder = ModelBuilder::new("balanced");
    builder
        .root(Root::Floating)
        .gravity(GravityAction::Disabled);
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
fn dynamics_of_a_thousand_joints_need_no_dense_matrix() {
    let model = chain(1000);
    let n = model.n_v();
    let q: Vec<f64> = (0..n).map(|k| 0.01 * (k % 7) as f64).collect();
    let mut w = Workspace::new(&model);
    let (mut tau, mut back) = (vec![0.0; n], vec![0.0; n]);
    let vdot: Vec<f64> = (0..n).map(|k| 0.1 * ((k % 5) as f64 - 2.0)).collect();
    inverse_dynamics(&model, &q, &vec![0.0; n], &vdot, &GRAVITY, &mut w, &mut tau);
    forward_dynamics(&model, &q, &vec![0.0; n], &tau, &GRAVITY, &mut w, &mut back);
    // Torques at the root are 1e6 times those that accelerate the tip, so at most ten digits are lost to round-off.
    assert_close(&back, &vdot, 1e-5);
}
