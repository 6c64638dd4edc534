//! Conservation of linear momentum of free-floating trees, independent of the position of the root's origin.
//!
//! The velocity of a floating joint is that of its frame's origin O. If the centre of mass C is elsewhere, this velocity
//! changes even without forces, and a step that treats it as constant has a momentum error of order δt. The velocity
//! v_C = P/m of the centre of mass changes by forces only. A step of such a tree therefore has the velocities (ω, v_C, q̇) in
//! place of (ω, v_O, q̇). Its linear part is
//!
//! ```text
//! m (v_C − v_C0) = δt f        p_C = p_C0 + δt (θ_vq v_C + (1 − θ_vq) v_C0)
//! ```
//!
//! At one position, either velocity is a linear function of the other, so A, J and the contact problem remain those of v_O.
//! Two corrections are made. [`FreeFlight::begin`] adds to v0 in the momentum balance δt a, with a the acceleration of C at
//! constant v, and the difference of P(v0)/m between q0 and the position at which M is evaluated. [`FreeFlight::finish`]
//! converts the solved v to v_O at the new position. P is then conserved to rounding for any tree on a floating joint, and
//! the motion of a free body does not depend on its choice of origin. The same holds for a planar joint in its plane.
//! Angular momentum is conserved to first order.

use std::ops::Range;

use nalgebra::Vector3;
use pliant_contact_sap::TimeStep;

use crate::body_inertias::BodyInertias;
use crate::dynamics::Workspace;
use crate::joint::JointKind;
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::Model;

/// Workspace for the state at the end of a step.
pub(super) struct EndState {
    pub(super) positions: PositionKinematics,
    pub(super) velocities: VelocityKinematics,
    pub(super) inertias: BodyInertias,
}

impl EndState {
    pub(super) fn new(model: &Model) -> Self {
        Self {
            positions: PositionKinematics::new(model),
            velocities: VelocityKinematics::new(model),
            inertias: BodyInertias::new(model),
        }
    }

    pub(super) fn update(&mut self, model: &Model, q: &[f64], v: &[f64]) {
        self.positions.update(model, q);
        self.velocities.update(model, &self.positions, v);
        self.inertias.update(model, &self.positions);
    }
}

/// A tree on a floating or planar joint to the world, with its centre of mass away from the joint's origin.
pub(super) struct FreeFlight {
    bodies: Range<usize>,
    /// The degrees of freedom that translate the whole tree, along orthonormal directions fixed in the world.
    translations: Range<usize>,
    /// The entry of q of the first of them.
    q_start: usize,
    mass: f64,
    /// Part of its weight that gravity compensation leaves.
    uncarried: f64,
    /// Whether none of `translations` is held; holding one transfers momentum to the world.
    pub(super) is_free: bool,
    /// ∂P/∂v along each translation, n_v entries each: columns of M.
    momentum_rates: Vec<f64>,
    /// Correction of v0 in the momentum balance, m/s.
    pub(super) gains: [f64; 3],
    /// At the start, along each translation: from the joint's origin to the centre of mass, m, and its velocity, m/s.
    centre: [f64; 3],
    centre_rate: [f64; 3],
}

impl FreeFlight {
    /// All of a model, except single bodies with their centre of mass at the origin, for which v_O = v_C.
    pub(super) fn all_of(model: &Model) -> Vec<Self> {
        let roots = (1..model.n_bodies()).filter(|&b| model.bodies[b].parent == 0);
        let of_root = |root: usize| {
            let body = &model.bodies[root];
            let translations = match body.kind {
                JointKind::Floating => body.v_start + 3..body.v_end,
                JointKind::Planar => body.v_start..body.v_start + 2,
                _ => return None,
            };
            let mut later = root + 1..model.n_bodies();
            let end = later
                .find(|&b| model.bodies[b].parent < root)
                .unwrap_or(later.end);
            let mass: f64 = model.bodies[root..end]
                .iter()
                .map(|b| b.inertia_B.mass)
                .sum();
            let is_centred = end == root + 1 && body.inertia_B.moment == Vector3::zeros();
            (mass > 0.0 && !is_centred).then(|| Self {
                bodies: root..end,
                momentum_rates: vec![0.0; translations.len() * model.n_v()],
                translations,
                q_start: body.q_start,
                mass,
                uncarried: 1.0 - model.compensated_mass(&(root..end)) / mass,
                is_free: true,
                gains: [0.0; 3],
                centre: [0.0; 3],
                centre_rate: [0.0; 3],
            })
        };
        roots.filter_map(of_root).collect()
    }

    pub(super) fn translations(&self) -> Range<usize> {
        self.translations.clone()
    }

    /// Computes the corrections to v0 from the initial state, and from the columns of M and the bias k at the position at which
    /// the step evaluates them. At constant v the rate of momentum is k without gravity, so a = k/m + g.
    pub(super) fn begin<'a>(
        &mut self,
        start: &Workspace,
        v0: &[f64],
        mass_column: impl Fn(usize) -> &'a [f64],
        bias: &[f64],
        gravity: &Vector3<f64>,
        time_step_s: f64,
    ) {
        let centre = self.centre_from_origin(&start.positions, &start.inertias);
        let momentum = self.momentum(&start.velocities, &start.inertias);
        let rates = self.momentum_rates.chunks_exact_mut(v0.len());
        for (i, (rates, k)) in rates.zip(self.translations.clone()).enumerate() {
            let direction = &start.positions.axes[k];
            rates.copy_from_slice(mass_column(k));
            self.centre[i] = direction.dot(&centre);
            self.centre_rate[i] = direction.dot(&momentum) / self.mass;
            let acceleration = bias[k] / self.mass + self.uncarried * direction.dot(gravity);
            let difference = self.centre_rate[i] - dot(rates, v0) / self.mass;
            self.gains[i] = time_step_s * acceleration + difference;
        }
    }

    /// Adds the change of a prescribed velocity, which holds from the start of the step, to the velocity of the centre of
    /// mass.
    pub(super) fn add_prescribed_change(&mut self, dof: usize, change: f64) {
        let n_v = self.momentum_rates.len() / self.translations.len();
        let rates = self.momentum_rates.chunks_exact(n_v);
        for (rate, rates) in self.centre_rate.iter_mut().zip(rates) {
            *rate += rates[dof] * change / self.mass;
        }
    }

    /// Moves the tree so that its centre of mass has its final position, and converts the velocity of the origin, `v` as `solved`, to that
    /// there. `q` is the position after a step by `solved`, `end_state` the kinematics at `q` and `v`; both have all degrees of freedom.
    pub(super) fn finish(
        &self,
        time_step: &TimeStep,
        q0: &[f64],
        end_state: &EndState,
        solved: &[f64],
        q: &mut [f64],
        v: &mut [f64],
    ) {
        self.place(
            time_step,
            q0,
            &end_state.positions,
            &end_state.inertias,
            solved,
            q,
        );
        let momentum = self.momentum(&end_state.velocities, &end_state.inertias);
        let rates = self.momentum_rates.chunks_exact(solved.len());
        let mut changes = [0.0; 3];
        for ((change, rates), k) in changes.iter_mut().zip(rates).zip(self.translations.clone()) {
            let direction = &end_state.positions.axes[k];
            *change = (dot(rates, solved) - direction.dot(&momentum)) / self.mass;
        }
        for (k, change) in self.translations.clone().zip(changes) {
            v[k] += change;
        }
    }

    /// Moves the tree so that its centre of mass is where the velocity of that takes it; `q` has its orientation and joints.
    pub(super) fn place(
        &self,
        time_step: &TimeStep,
        q0: &[f64],
        positions: &PositionKinematics,
        inertias: &BodyInertias,
        v: &[f64],
        q: &mut [f64],
    ) {
        let centre = self.centre_from_origin(positions, inertias);
        let rates = self.momentum_rates.chunks_exact(v.len());
        for (i, (rates, k)) in rates.zip(self.translations.clone()).enumerate() {
            let at = self.q_start + i;
            let rotation = self.centre[i] - positions.axes[k].dot(&centre);
            let rate = time_step.mean_velocity(self.centre_rate[i], dot(rates, v) / self.mass);
            q[at] = q0[at] + rotation + time_step.length_s * rate;
        }
    }

    /// The displacement of the joint's origin that [`FreeFlight::place`] adds, by the velocity of degree of freedom `dof`, in a step of backward
    /// Euler: that of the centre of mass by its velocity, less that by `turned`, the displacement of the centre of mass relative to the origin.
    pub(super) fn shift(
        &self,
        positions: &PositionKinematics,
        time_step_s: f64,
        dof: usize,
        turned: &Vector3<f64>,
    ) -> Vector3<f64> {
        let n_v = positions.axes.len();
        let rates = self.momentum_rates.chunks_exact(n_v);
        let along = rates.zip(self.translations.clone()).map(|(rates, k)| {
            let direction = positions.axes[k];
            direction * (time_step_s * rates[dof] / self.mass - direction.dot(turned))
        });
        along.sum()
    }

    pub(super) fn bodies(&self) -> Range<usize> {
        self.bodies.clone()
    }

    pub(super) fn mass(&self) -> f64 {
        self.mass
    }

    fn momentum(&self, velocities: &VelocityKinematics, inertias: &BodyInertias) -> Vector3<f64> {
        let of_body = |b: usize| inertias.bodies[b].momentum(&velocities.bodies[b]).force;
        self.bodies.clone().map(of_body).sum()
    }

    /// From the joint's origin to the tree's centre of mass, world axes.
    fn centre_from_origin(
        &self,
        positions: &PositionKinematics,
        inertias: &BodyInertias,
    ) -> Vector3<f64> {
        let origin = positions.bodies[self.bodies.start].origin;
        let moments = self.bodies.clone().map(|b| {
            let own = &inertias.bodies[b];
            own.moment + (positions.bodies[b].origin - origin) * own.mass
        });
        moments.sum::<Vector3<f64>>() / self.mass
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
