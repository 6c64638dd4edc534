//! Trees that hang on nothing keep their linear momentum, wherever their root's origin lies.
//!
//! A floating joint has the velocity of its frame's origin O. Of a body that turns about another point that velocity
//! changes all the time, and a step that takes it for constant loses momentum at order δt. The velocity of the centre of
//! mass, v_C = P/m, changes by forces only. A step of such a tree is therefore one in (ω, v_C, q̇) in place of
//! (ω, v_O, q̇), whose linear part reads
//!
//! ```text
//! m (v_C − v_C0) = δt f        p_C = p_C0 + δt (θ_vq v_C + (1 − θ_vq) v_C0)
//! ```
//!
//! At one position either velocity follows from the other by a linear map, so A, J and the contact problem stay those of
//! v_O: v0 in the balance of momentum gains δt a, with a the acceleration of C at constant v, and what P of v0 differs
//! between q0 and where M is taken ([`FreeFlight::open`]); the solved v is turned into v_O at the new position
//! ([`FreeFlight::close`]). P is kept to rounding for any tree on a floating joint,
//! and the motion of a free body does not depend on where its origin was put. The same holds for a planar joint in its
//! plane. Angular momentum is kept to first order.

use std::ops::Range;

use nalgebra::Vector3;
use pliant_contact_sap::TimeStep;

use crate::body_inertias::BodyInertias;
use crate::dynamics::Workspace;
use crate::joint::JointKind;
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::Model;

/// Room for the state at the end of a step.
pub(super) struct Ahead {
    pub(super) positions: PositionKinematics,
    pub(super) velocities: VelocityKinematics,
    pub(super) inertias: BodyInertias,
}

impl Ahead {
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

/// A tree on a floating or planar joint to the world, with its centre of mass off the joint's origin.
pub(super) struct FreeFlight {
    bodies: Range<usize>,
    /// The degrees of freedom that shift all of it, along directions that are orthonormal and fixed in the world.
    shifts: Range<usize>,
    /// The entry of q that the first of them advances.
    q_start: usize,
    mass: f64,
    /// Whether none of `shifts` is held: otherwise what holds them takes up momentum.
    pub(super) is_free: bool,
    /// ∂P/∂v along each shift, n_v entries each: columns of M.
    momentum_rates: Vec<f64>,
    /// What v0 gains in the balance of momentum, m/s.
    pub(super) gains: [f64; 3],
    /// Of the start, along each shift: from the joint's origin to the centre of mass, m, and its velocity, m/s.
    centre: [f64; 3],
    centre_rate: [f64; 3],
}

impl FreeFlight {
    /// All of a model. A single body with its centre of mass at its origin is left out: its v_O is v_C.
    pub(super) fn all_of(model: &Model) -> Vec<Self> {
        let roots = (1..model.n_bodies()).filter(|&b| model.bodies[b].parent == 0);
        let of_root = |root: usize| {
            let body = &model.bodies[root];
            let shifts = match body.kind {
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
                momentum_rates: vec![0.0; shifts.len() * model.n_v()],
                shifts,
                q_start: body.q_start,
                mass,
                is_free: true,
                gains: [0.0; 3],
                centre: [0.0; 3],
                centre_rate: [0.0; 3],
            })
        };
        roots.filter_map(of_root).collect()
    }

    pub(super) fn shifts(&self) -> Range<usize> {
        self.shifts.clone()
    }

    /// Reads what the step needs: the state it starts from, and the columns of M and the bias k, where the step takes
    /// these, with the gravity that acts on the tree. At constant v the momentum changes by k without gravity, so
    /// a = k/m + g.
    pub(super) fn open<'a>(
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
        for (i, (rates, k)) in rates.zip(self.shifts.clone()).enumerate() {
            let direction = &start.positions.axes[k];
            rates.copy_from_slice(mass_column(k));
            self.centre[i] = direction.dot(&centre);
            self.centre_rate[i] = direction.dot(&momentum) / self.mass;
            let acceleration = bias[k] / self.mass + direction.dot(gravity);
            let moved = self.centre_rate[i] - dot(rates, v0) / self.mass;
            self.gains[i] = time_step_s * acceleration + moved;
        }
    }

    /// A prescribed velocity holds from the start of the step on, so by its `change` the centre of mass is faster at once.
    pub(super) fn jump(&mut self, dof: usize, change: f64) {
        let n_v = self.momentum_rates.len() / self.shifts.len();
        let rates = self.momentum_rates.chunks_exact(n_v);
        for (rate, rates) in self.centre_rate.iter_mut().zip(rates) {
            *rate += rates[dof] * change / self.mass;
        }
    }

    /// Puts the tree where its centre of mass comes to, and turns the solved `v` into the velocity of the origin there.
    /// `q` comes as moved by `v`, and `ahead` updated to both; `v` has all degrees of freedom.
    pub(super) fn close(
        &self,
        time_step: &TimeStep,
        q0: &[f64],
        ahead: &Ahead,
        q: &mut [f64],
        v: &mut [f64],
    ) {
        let centre = self.centre_from_origin(&ahead.positions, &ahead.inertias);
        let momentum = self.momentum(&ahead.velocities, &ahead.inertias);
        let mut kept = [0.0; 3];
        let rates = self.momentum_rates.chunks_exact(v.len());
        for (kept, rates) in kept.iter_mut().zip(rates) {
            *kept = dot(rates, v) / self.mass;
        }
        for (i, k) in self.shifts.clone().enumerate() {
            let direction = &ahead.positions.axes[k];
            let at = self.q_start + i;
            let turned = self.centre[i] - direction.dot(&centre);
            let rate = time_step.mean_velocity(self.centre_rate[i], kept[i]);
            q[at] = q0[at] + turned + time_step.length_s * rate;
            v[k] += kept[i] - direction.dot(&momentum) / self.mass;
        }
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
