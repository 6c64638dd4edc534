//! Cell sums against BᵀKB, K = ΣΦᵀGΦ, of dense matrices.

use nalgebra::{DMatrix, Vector3};

use super::*;
use crate::cancellation::Cancellation;
use crate::constraint_set::ConstraintSet;
use crate::dynamics::{DenseDynamics, Dynamics};
use crate::island::{Island, Start};
use crate::law::{ContactLaw, ContactParameters, Dissipation, Lagged};
use crate::participant::ParticipantIdx;
use crate::problem::ContactProblem;
use crate::rows::Rows;
use crate::solver::SolveMode;

/// Points of a cell of a quadratic grid.
const POINTS: usize = 27;
const CONTACTS: usize = 4;

/// What the points are in contact with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Against {
    World,
    /// A body whose six velocities are its twist.
    FreeBody,
    /// A body with seven velocities that determine its twist.
    Arm,
}

fn wave(i: usize) -> f64 {
    (0.7 * i as f64 + 0.3).sin()
}

/// A body of `n` velocities whose A is 2 on the diagonal.
fn body(n: usize) -> DenseDynamics {
    let mut a = vec![0.0; n * n];
    (0..n).for_each(|i| a[i * (n + 1)] = 2.0);
    DenseDynamics::new(a, vec![0.0; n])
}

/// Rows of a twist for `n` velocities, column-major.
fn twist_rows(n: usize) -> Vec<f64> {
    (0..6 * n).map(|i| wave(3 * i + 1)).collect()
}

fn law(normal: Vector3<f64>) -> ContactLaw {
    let parameters = ContactParameters {
        time_step: 0.01.into(),
        signed_distance: -1e-3,
        start_velocity: 0.0,
        stiffness: 1e4,
        dissipation: Dissipation::HuntCrossley(1.0),
        friction: 0.5,
        stiction_speed: 1e-2,
        inverse_inertia: 1.0,
        near_rigid: 0.1,
    };
    ContactLaw::Lagged(Lagged::new(&parameters, normal, 0.3))
}

/// The contacts of one cell, whose points are the velocities of participant 0 in reverse order.
fn cell(against: Against, set: &mut ConstraintSet) -> Vec<DenseDynamics> {
    let n = 3 * POINTS;
    let mut bodies = vec![body(n)];
    let mut rows = Rows::default();
    rows.reset(n);
    for k in 0..POINTS {
        rows.identity(3 * k, n - 3 * (k + 1), 3);
    }
    let twist = if against == Against::World { 0 } else { TWIST };
    set.basis(n + twist).rows(ParticipantIdx(0), &rows, 0, 1.0);
    rows.reset(6);
    match against {
        Against::World => {}
        Against::FreeBody => {
            bodies.push(body(6));
            rows.identity(0, 0, 6);
        }
        Against::Arm => {
            bodies.push(body(7));
            rows.dense(0, 6, 0, 7).copy_from_slice(&twist_rows(7));
        }
    }
    if twist > 0 {
        set.last_basis().rows(ParticipantIdx(1), &rows, n, 1.0);
    }
    for c in 0..CONTACTS {
        let weights = (0..POINTS).map(|k| 0.1 * wave(c + 5 * k));
        let p = Vector3::from_fn(|i, _| wave(7 * c + i));
        let normal = Vector3::from_fn(|i, _| wave(2 * c + i)).normalize();
        let p = (twist > 0).then_some(p);
        set.last_basis()
            .stencil_contact(weights, p, Vector3::zeros(), law(normal));
    }
    bodies
}

/// D BᵀKB D by dense matrices.
fn expected(against: Against, set: &ConstraintSet, e: &Evaluation, scale: &[f64]) -> DMatrix<f64> {
    let n = 3 * POINTS;
    let r = n + if against == Against::World { 0 } else { TWIST };
    let mut b = DMatrix::zeros(r, scale.len());
    for k in 0..n {
        b[(k, n - 3 * (k / 3 + 1) + k % 3)] = 1.0;
    }
    let own = scale.len() - n;
    let twist = match against {
        Against::Arm => DMatrix::from_column_slice(6, own, &twist_rows(own)),
        _ => DMatrix::identity(own, own),
    };
    b.view_mut((n, n), (r - n, own)).copy_from(&twist);
    let mut k = DMatrix::zeros(r, r);
    for (contact, g) in set.contacts.iter().zip(&e.tangents) {
        let ContactInterpolation::Stencil { weights, p, .. } = contact.interpolation else {
            panic!("all are stencils")
        };
        let mut phi = DMatrix::zeros(3, r);
        for (j, w) in set.interpolation_values[weights..weights + POINTS]
            .iter()
            .enumerate()
        {
            phi.view_mut((0, 3 * j), (3, 3)).fill_with_identity();
            phi.view_mut((0, 3 * j), (3, 3)).scale_mut(*w);
        }
        if let Some(p) = p {
            phi.view_mut((0, n), (3, 3)).copy_from(&-p.cross_matrix());
            phi.view_mut((0, n + 3), (3, 3)).fill_with_identity();
        }
        k += phi.transpose() * g * phi;
    }
    let d = DMatrix::from_diagonal(&nalgebra::DVector::from_column_slice(scale));
    &d * b.transpose() * k * b * &d
}

#[track_caller]
fn check(against: Against) {
    let mut set = ConstraintSet::default();
    let bodies = cell(against, &mut set);
    let dynamics: Vec<&dyn Dynamics> = bodies.iter().map(|d| d as &dyn Dynamics).collect();
    let problem = ContactProblem {
        dynamics: &dynamics,
        constraints: &set,
    };
    let mut island = Island::default();
    let mut first = Vec::new();
    for (p, dynamics) in dynamics.iter().enumerate() {
        let dof = island.n_dofs;
        first.push(island.add_participant(ParticipantIdx(p), *dynamics, dof));
    }
    island.add_basis(&set, 0, |p| first[p.0]);
    let p = IslandProblem {
        island: &island,
        problem: &problem,
        reduced: &[],
        generation: 1,
        start: Start::Cold(SolveMode::Full),
        cancellation: &Cancellation::default(),
    };
    let mut e = Evaluation::default();
    e.begin(&p);
    for (i, v) in e.v.iter_mut().enumerate() {
        *v = 1e-3 * wave(i);
    }
    e.update_impulses(&p);
    e.update_aggregates(&p, |_, law, v_c| {
        use crate::potential::Potential;
        law.hessian(v_c)
    });
    assert!(
        e.tangents
            .iter()
            .filter(|g| **g != Matrix3::zeros())
            .count()
            >= 2
    );

    let n = island.n_dofs;
    let scale: Vec<f64> = (0..n).map(|i| 1.5 + wave(i)).collect();
    let mut sum = CellSum::<f64>::default();
    let basis = &island.bases[0];
    assert!(sum.sum(&p, &e, basis, &scale));
    let mut h = vec![0.0; n * n];
    for a in &island.pieces {
        for b in &island.pieces {
            let location = BlockLocation {
                offset: a.dof + b.dof * n,
                stride: n,
            };
            if sum.is_point(a) && !sum.is_point(b) {
                sum.begin_row(&p, b);
                sum.add(
                    &p,
                    (b, a),
                    &scale,
                    Orientation::Transposed,
                    location,
                    &mut h,
                );
            } else {
                sum.begin_row(&p, a);
                sum.add(&p, (a, b), &scale, Orientation::Plain, location, &mut h);
            }
        }
    }
    let expected = expected(against, &set, &e, &scale);
    let found = DMatrix::from_column_slice(n, n, &h);
    assert!(expected.norm() > 1.0);
    assert!(
        (&found - &expected).norm() < 1e-13 * expected.norm(),
        "{against:?}: off by {:e} of {:e}",
        (found - &expected).norm(),
        expected.norm()
    );

    // Assembled into H in single precision, it agrees to that precision.
    let mut rough = CellSum::<f32>::default();
    assert!(rough.sum(&p, &e, basis, &scale));
    let off = (rough.points.iter().zip(&sum.points)).map(|(a, b)| (f64::from(*a) - b).abs());
    assert!(off.fold(0.0, f64::max) < 1e-5 * expected.amax());
}

#[test]
fn contacts_of_a_cell_with_the_world_sum_up_to_their_congruence() {
    check(Against::World);
}

#[test]
fn contacts_of_a_cell_with_a_body_sum_up_to_their_congruence() {
    check(Against::FreeBody);
    check(Against::Arm);
}
