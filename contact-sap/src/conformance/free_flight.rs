//! Bodies alone in space: what they must keep.

use nalgebra::{DMatrix, DVector, Vector3};

use crate::body::{BodyState, Control, DeformableModel, StepInput};
use crate::dynamics::Dynamics;

/// Changes of momentum.
pub(super) struct Momenta {
    pub(super) linear: Vector3<f64>,
    pub(super) angular: Vector3<f64>,
    /// Numbers of velocities met on the way, in ascending order, each once.
    pub(super) dofs: Vec<usize>,
}

/// A⁻¹b.
pub(super) fn free_velocity(dynamics: &dyn Dynamics) -> Vec<f64> {
    let n = dynamics.n_dofs();
    let mut a = DMatrix::zeros(n, n);
    let mut e = vec![0.0; n];
    for j in 0..n {
        e[j] = 1.0;
        dynamics.apply(&e, a.column_mut(j).as_mut_slice());
        e[j] = 0.0;
    }
    // Scaled to unit diagonal: grid nodes differ in mass by many decades.
    let d = a.diagonal().map(|a| 1.0 / a.sqrt());
    let scaled = DMatrix::from_fn(n, n, |i, j| d[i] * a[(i, j)] * d[j]);
    let b = DVector::from_column_slice(dynamics.right_hand_side()).component_mul(&d);
    let v = scaled.cholesky().expect("A is positive definite").solve(&b);
    v.component_mul(&d).data.into()
}

/// Lets a body fly without gravity.
pub(super) fn fly(
    model: &dyn DeformableModel,
    start: &BodyState,
    dt: f64,
    steps: usize,
) -> Momenta {
    let gravity = Vector3::zeros();
    let control = Control::default();
    let input = StepInput {
        time_step: dt.into(),
        gravity,
        control: &control,
    };
    let mut step = model.new_step();
    let (mut state, mut next) = (start.clone(), BodyState::default());
    let mut dofs = Vec::new();
    for _ in 0..steps {
        step.begin(&state, &input).unwrap();
        step.linearise_start(&mut Vec::new()).unwrap();
        dofs.push(step.start_velocity().len());
        let v = free_velocity(step.dynamics());
        let _ = step.advance(&v, &mut next).unwrap();
        std::mem::swap(&mut state, &mut next);
    }
    dofs.sort_unstable();
    dofs.dedup();
    let (before, after) = (
        model.energy(start, &gravity),
        model.energy(&state, &gravity),
    );
    Momenta {
        linear: after.linear_momentum_W - before.linear_momentum_W,
        angular: after.angular_momentum_W - before.angular_momentum_W,
        dofs,
    }
}
