//! Links at the end of a step: poses, Jacobians and their derivatives with respect to the end velocities.
//!
//! Positions advance by q₁ = q₀ ⊕ δt v, with the exponential map in ball and floating joints. A change of v moves the joints at q₁ by
//!
//! ```text
//! δt dv                  joints with coordinates           δt L(δt ω) dω          rotations
//! L(a) = 1 + (1 − cos t)/t² [a]× + (t − sin t)/t³ [a]×²,   t = |a|
//! ```
//!
//! and the links by the Jacobian J(q₁) of that. The impulse of a wrench (τ, f) at p on a degree of freedom with direction a through o is
//! a·(τ + (p − o) × f), or a·f if it translates, or of a screw the first and lead/2π times the second; its derivative follows from da = θ × a with θ the rotation of the parent, and from do.
//!
//! Trees on a floating or planar joint with their centre of mass C elsewhere move that by its own velocity (`free_flight`): all of their links are
//! shifted besides, by δt dv_C − d(C − O), with O the origin of the joint.

use std::ops::Range;

use nalgebra::{Isometry3, Matrix3, Vector3, Vector6};
use pliant_contact_sap::{BodyError, EndFrames};

use super::free_flight::FreeFlight;
use super::step::TreeStep;
use crate::body_inertias::BodyInertias;
use crate::jacobian::column;
use crate::joint::{DofKind, JointKind};
use crate::kinematics::PositionKinematics;
use crate::model::{BodyIdx, DofIdx, LinkIdx, Model};
use crate::spatial::{Twist, Wrench};

/// Kinematics at the end of a step.
#[derive(Clone, Debug)]
pub(super) struct EndPlace {
    q: Vec<f64>,
    v: Vec<f64>,
    positions: PositionKinematics,
    /// Rotation vector and displacement at q₁ of the child of each joint within its parent, by each degree of freedom, world axes.
    moves: Vec<Twist>,
    /// In use only where trees fly freely.
    inertias: BodyInertias,
    /// The displacement of all links of a free tree, besides, by each degree of freedom; with the tree's bodies.
    shifts: Vec<(Range<usize>, Vector3<f64>)>,
}

impl EndPlace {
    pub(super) fn new(model: &Model) -> Self {
        Self {
            q: vec![0.0; model.n_q()],
            v: Vec::new(),
            positions: PositionKinematics::new(model),
            moves: vec![Twist::zero(); model.n_v()],
            inertias: BodyInertias::new(model),
            shifts: vec![(0..0, Vector3::zeros()); model.n_v()],
        }
    }

    /// Fills `moves` at the positions of the last update.
    fn update_moves(&mut self, model: &Model, time_step_s: f64) {
        for body in &model.bodies[1..] {
            let dofs = body.v_start..body.v_end;
            let turns = match body.kind {
                JointKind::Ball | JointKind::Floating => {
                    let turn = Vector3::from_column_slice(&self.v[body.v_start..body.v_start + 3]);
                    rotation_rate(&(turn * time_step_s))
                }
                _ => Matrix3::identity(),
            };
            for k in dofs {
                let axes = &self.positions.axes;
                let (turning, advance) = model.dof_kind[k].shares();
                self.moves[k] = match model.dof_kind[k] {
                    DofKind::Angular if !body.kind.has_axis() => {
                        // The three directions are the columns of an orthonormal frame.
                        let first = body.v_start;
                        let parts = (0..3).map(|i| axes[first + i] * turns[(i, k - first)]);
                        Twist {
                            angular: parts.sum::<Vector3<f64>>() * time_step_s,
                            linear: Vector3::zeros(),
                        }
                    }
                    _ => Twist {
                        angular: axes[k] * (turning * time_step_s),
                        linear: axes[k] * (advance * time_step_s),
                    },
                };
            }
        }
    }

    /// Fills `shifts`, with `moves` as they are without flights, and takes the translations of flights out of `moves`.
    fn update_shifts(&mut self, model: &Model, flights: &[FreeFlight], time_step_s: f64) {
        for flight in flights.iter().filter(|flight| flight.is_free) {
            let bodies = flight.bodies();
            let dofs = model.bodies[bodies.start].v_start..model.bodies[bodies.end - 1].v_end;
            let mut turned = vec![Vector3::zeros(); dofs.len()];
            for k in flight.translations() {
                self.moves[k] = Twist::zero();
            }
            for b in bodies.clone() {
                let (own, origin) = (&self.inertias.bodies[b], self.positions.bodies[b].origin);
                if own.mass == 0.0 {
                    continue;
                }
                let p_WC = origin + own.moment / own.mass;
                for DofIdx(k) in model.support(BodyIdx(b)) {
                    let moved = self.move_at(model, k, &p_WC).linear;
                    turned[k - dofs.start] += moved * (own.mass / flight.mass());
                }
            }
            for (k, turned) in dofs.zip(turned) {
                let shift = flight.shift(&self.positions, time_step_s, k, &turned);
                self.shifts[k] = (bodies.clone(), shift);
            }
        }
    }

    /// The displacement of a body by degree of freedom `k` of its tree, beside that of its joints.
    fn shift(&self, k: usize, body: usize) -> Option<Vector3<f64>> {
        let (bodies, shift) = &self.shifts[k];
        bodies.contains(&body).then_some(*shift)
    }

    /// Rotation and displacement at `p_WQ`, a point of the body of degree of freedom `k` or of one that it carries.
    fn move_at(&self, model: &Model, k: usize, p_WQ: &Vector3<f64>) -> Twist {
        let origin = self.positions.bodies[model.dof_body[k]].origin;
        self.moves[k].shifted(&(p_WQ - origin))
    }
}

/// L(a): exp([a + da]×) = exp([L(a) da]×) exp([a]×) to first order.
fn rotation_rate(a: &Vector3<f64>) -> Matrix3<f64> {
    let t = a.norm();
    let (first, second) = if t < 1e-3 {
        let square = t * t;
        (
            0.5 - square / 24.0 + square * square / 720.0,
            1.0 / 6.0 - square / 120.0 + square * square / 5040.0,
        )
    } else {
        ((1.0 - t.cos()) / (t * t), (t - t.sin()) / (t * t * t))
    };
    let cross = a.cross_matrix();
    Matrix3::identity() + cross * first + cross * cross * second
}

impl EndFrames for TreeStep {
    fn move_to(&mut self, v: &[f64]) -> Result<(), BodyError> {
        let mut place = self
            .end_place
            .take()
            .unwrap_or_else(|| Box::new(EndPlace::new(&self.model)));
        self.full_velocity(v, &mut place.v);
        let length_s = self.time_step.length_s;
        self.model
            .integrate(&self.q, &place.v, length_s, &mut place.q);
        place.positions.update(&self.model, &place.q);
        place.update_moves(&self.model, length_s);
        place.shifts.fill((0..0, Vector3::zeros()));
        if self.flights.iter().any(|flight| flight.is_free) {
            let EndPlace {
                q,
                v,
                positions,
                inertias,
                ..
            } = &mut *place;
            inertias.update(&self.model, positions);
            for flight in self.flights.iter().filter(|flight| flight.is_free) {
                flight.place(&self.time_step, &self.q, positions, inertias, v, q);
            }
            positions.update(&self.model, q);
            place.update_shifts(&self.model, &self.flights, length_s);
        }
        self.end_place = Some(place);
        Ok(())
    }

    fn pose(&self, frame: u32) -> Isometry3<f64> {
        self.positions_at_end()
            .link_pose(&self.model, LinkIdx(frame as usize))
    }

    fn jacobian(&self, frame: u32, out: &mut Vec<f64>) {
        let (model, positions) = (&*self.model, self.positions_at_end());
        self.columns(frame, out, |k, p_WF| {
            let arm = p_WF - positions.bodies[model.dof_body[k]].origin;
            column(model.dof_kind[k], &positions.axes[k], &arm)
        });
    }

    fn displacement(&self, frame: u32, out: &mut Vec<f64>) {
        let model = &*self.model;
        let Some(place) = &self.end_place else {
            return self.jacobian(frame, out);
        };
        self.columns(frame, out, |k, p_WF| place.move_at(model, k, p_WF));
        let body = model.links[frame as usize].body.0;
        for (k, &i) in self.free_of.iter().enumerate() {
            if let (Some(i), Some(shift)) = (i, place.shift(k, body)) {
                (out[6 * i + 3..6 * i + 6].iter_mut().zip(shift.iter())).for_each(|(o, s)| *o += s);
            }
        }
    }

    fn add_impulse_derivative(&self, frame: u32, w: &Vector6<f64>, out: &mut [f64]) {
        let Some(place) = &self.end_place else {
            return;
        };
        let (model, n) = (&*self.model, self.start.len());
        let link = LinkIdx(frame as usize);
        let p_WF = place.positions.link_position(model, link);
        let wrench = Wrench {
            torque: w.fixed_rows::<3>(0).into_owned(),
            force: w.fixed_rows::<3>(3).into_owned(),
        };
        for DofIdx(k) in model.support(model.links[link.0].body) {
            let Some(row) = self.free_of[k] else {
                continue;
            };
            let body = model.dof_body[k];
            let axis = place.positions.axes[k];
            let origin = place.positions.bodies[body].origin;
            let torque = wrench.torque + (p_WF - origin).cross(&wrench.force);
            let (turning, advance) = model.dof_kind[k].shares();
            if turning != 0.0 {
                for (j, &column) in self.free_of.iter().enumerate() {
                    if let (Some(column), Some(shift)) = (column, place.shift(j, body)) {
                        out[row + n * column] -= turning * axis.dot(&shift.cross(&wrench.force));
                    }
                }
            }
            for DofIdx(j) in model.support(BodyIdx(body)) {
                let Some(column) = self.free_of[j] else {
                    continue;
                };
                let own_joint = model.dof_body[j] == body;
                let turned = if own_joint {
                    Vector3::zeros()
                } else {
                    place.moves[j].angular.cross(&axis)
                };
                out[row + n * column] += advance * turned.dot(&wrench.force);
                if turning != 0.0 {
                    let moved = place.move_at(model, j, &origin).linear;
                    out[row + n * column] +=
                        turning * (turned.dot(&torque) - axis.dot(&moved.cross(&wrench.force)));
                }
            }
        }
    }
}

impl TreeStep {
    fn positions_at_end(&self) -> &PositionKinematics {
        let place = self.end_place.as_ref();
        place.map_or(&self.workspace.positions, |place| &place.positions)
    }

    /// Columns of the free degrees of freedom that move a link, each from `of` its number and the link's origin.
    fn columns(&self, frame: u32, out: &mut Vec<f64>, of: impl Fn(usize, &Vector3<f64>) -> Twist) {
        let model = &*self.model;
        let link = LinkIdx(frame as usize);
        let p_WF = self.positions_at_end().link_position(model, link);
        out.clear();
        out.resize(6 * self.start.len(), 0.0);
        for DofIdx(k) in model.support(model.links[link.0].body) {
            if let Some(i) = self.free_of[k] {
                let column = of(k, &p_WF).to_vector();
                out[6 * i..6 * i + 6].copy_from_slice(column.as_slice());
            }
        }
    }
}
