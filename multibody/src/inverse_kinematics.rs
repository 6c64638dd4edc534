//! Differential inverse kinematics: joint velocities that carry a frame along a trajectory of poses, within limits.

use nalgebra::{Isometry3, Vector6};

use crate::bounded_least_squares::BoundedLeastSquares;
use crate::held::HeldDofs;
use crate::jacobian::jacobian_columns;
use crate::kinematics::PositionKinematics;
use crate::model::{DofIdx, Model, NamedFrame};
use crate::spatial::Twist;

/// λ in [`InverseKinematics::reach`], m: only keeps the normal matrix regular, its square is above round-off.
const REACH_DAMPING: f64 = 1e-6;

/// How joints share a motion, and when a pose counts as reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IkSettings {
    /// λ of damped least squares when following, m: joint motions that move the frame by less than this per radian are
    /// given up, so a singular arm stays slow. Half the square of the remaining error is added to λ², which keeps far
    /// targets stable.
    pub damping: f64,
    /// Time in which a joint that runs into a position limit brakes when following, s: it never moves faster than its
    /// distance from the limit over this time, so velocities have no jump there.
    pub braking_time_s: f64,
    /// Metres that count as much as a radian; 0 leaves the orientation free.
    pub rotation_weight: f64,
    /// Reached when the position is off by no more, m.
    pub position_tolerance: f64,
    /// Reached when the rotation is off by no more, rad.
    pub rotation_tolerance: f64,
    /// Steps [`InverseKinematics::reach`] may take.
    pub iterations_max: u32,
}

impl Default for IkSettings {
    fn default() -> Self {
        Self {
            damping: 1e-3, // a millimetre per radian: far below any arm's reach, far above round-off
            braking_time_s: 0.1, // ten steps of the slowest controllers, and little of a motion's length
            rotation_weight: 0.3, // about a forearm: a radian at the wrist moves the hand that far
            position_tolerance: 1e-9,
            rotation_tolerance: 1e-9,
            iterations_max: 200, // convergence takes 5 to 20 where the target can be reached
        }
    }
}

/// Why an iteration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IkStop {
    /// Both errors are within tolerance.
    Reached,
    /// Joint limits or the arm's reach allow no step that lessens the error.
    Stalled,
    /// Too many steps.
    IterationLimit,
}

/// What a call achieved.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct IkReport {
    /// Distance from the frame's origin to the target's, m.
    pub position_error: f64,
    /// Angle from the frame to the target, rad; also where the orientation is free.
    pub rotation_error: f64,
    /// Degrees of freedom stopped by a position or velocity limit in the last step.
    pub at_limit: u32,
    /// Steps taken.
    pub iterations: u32,
    /// Why it ended.
    pub stop: IkStop,
}

/// Damped least squares with joint limits for one frame of a model; keeps its workspace between calls.
#[derive(Clone, Debug)]
pub struct InverseKinematics {
    frame: NamedFrame,
    held: HeldDofs,
    settings: IkSettings,
    positions: PositionKinematics,
    columns: Vec<Vector6<f64>>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    step: Vec<f64>,
    next: Vec<f64>,
}

impl InverseKinematics {
    /// To move `frame` of `model`; held degrees of freedom don't take part.
    pub fn new(model: &Model, frame: NamedFrame, held: HeldDofs, settings: IkSettings) -> Self {
        let n = model.n_v();
        Self {
            frame,
            held,
            settings,
            positions: PositionKinematics::new(model),
            columns: vec![Vector6::zeros(); n],
            lower: vec![0.0; n],
            upper: vec![0.0; n],
            step: vec![0.0; n],
            next: vec![0.0; model.n_q()],
        }
    }

    /// Joint velocities `v` that bring the frame from where it is at `q` to `X_WT` in `time_step_s`, as far as position
    /// and velocity limits allow:
    ///
    /// ```text
    /// min ‖W (J Δq − e)‖² + λ² ‖Δq‖²,   v = Δq / δt,   |v| ≤ v_max,   (q_min − q)/τ ≤ v ≤ (q_max − q)/τ
    /// ```
    ///
    /// with τ the braking time, at least δt. The minimum is found exactly, so `v` is a continuous function of pose, target
    /// and bounds: where a joint comes to its limit the others take over without a jump. The report's errors are those
    /// before the step.
    ///
    /// # Source
    /// Nakamura and Hanafusa (1986); damping by the residual after Sugihara (2011); braking after Faverjon and Tournassoud
    /// (1987).
    pub fn velocity_towards(
        &mut self,
        model: &Model,
        q: &[f64],
        X_WT: &Isometry3<f64>,
        time_step_s: f64,
        v: &mut [f64],
    ) -> IkReport {
        self.bound(model, q, time_step_s);
        let error = self.error(model, q, X_WT);
        let at_limit = self.solve(model, &error, self.settings.damping);
        for (v, step) in v.iter_mut().zip(&self.step) {
            *v = step / time_step_s;
        }
        self.report(&error, at_limit, 1)
    }

    /// Moves `q` until the frame is at `X_WT` or no step brings it nearer; velocity limits play no part.
    pub fn reach(&mut self, model: &Model, q: &mut [f64], X_WT: &Isometry3<f64>) -> IkReport {
        let mut error = self.error(model, q, X_WT);
        let mut at_limit = 0;
        for iteration in 0..self.settings.iterations_max {
            let report = self.report(&error, at_limit, iteration);
            if report.stop == IkStop::Reached {
                return report;
            }
            self.bound(model, q, f64::INFINITY);
            // The line search below guards a singular arm, and constant damping would slow the last digits.
            at_limit = self.solve(model, &error, REACH_DAMPING);
            let mut next = core::mem::take(&mut self.next);
            // The linearisation may overshoot: halve until the error falls.
            let mut fraction = 1.0;
            let shorter = loop {
                model.integrate(q, &self.step, fraction, &mut next);
                let tried = self.error(model, &next, X_WT);
                if self.weighted(&tried).norm() < self.weighted(&error).norm() * (1.0 - 1e-9) {
                    break Some(tried);
                }
                fraction *= 0.5;
                if fraction < 1e-3 {
                    break None;
                }
            };
            if shorter.is_some() {
                q.copy_from_slice(&next);
            }
            self.next = next;
            match shorter {
                Some(shorter) => error = shorter,
                None => {
                    return IkReport {
                        stop: IkStop::Stalled,
                        ..self.report(&error, at_limit, iteration)
                    };
                }
            }
        }
        self.report(&error, at_limit, self.settings.iterations_max)
    }

    fn report(&self, error: &Twist, at_limit: u32, iterations: u32) -> IkReport {
        let settings = &self.settings;
        let (position_error, rotation_error) = (error.linear.norm(), error.angular.norm());
        let oriented =
            settings.rotation_weight == 0.0 || rotation_error <= settings.rotation_tolerance;
        IkReport {
            position_error,
            rotation_error,
            at_limit,
            iterations,
            stop: if oriented && position_error <= settings.position_tolerance {
                IkStop::Reached
            } else {
                IkStop::IterationLimit
            },
        }
    }

    /// The motion still missing, in world axes: rotation vector and displacement of the frame's origin.
    fn error(&mut self, model: &Model, q: &[f64], X_WT: &Isometry3<f64>) -> Twist {
        self.positions.update(model, q);
        let X_WF = self.positions.frame_pose(model, &self.frame);
        Twist {
            angular: (X_WT.rotation * X_WF.rotation.inverse()).scaled_axis(),
            linear: X_WT.translation.vector - X_WF.translation.vector,
        }
    }

    fn weighted(&self, twist: &Twist) -> Vector6<f64> {
        Twist {
            angular: twist.angular * self.settings.rotation_weight,
            linear: twist.linear,
        }
        .to_vector()
    }

    /// Bounds of each step: to the position limit, braking on the way where time counts, and at the speed limit.
    fn bound(&mut self, model: &Model, q: &[f64], time_step_s: f64) {
        let (share, speed_share) = if time_step_s.is_finite() {
            let braking_s = self.settings.braking_time_s.max(time_step_s);
            (time_step_s / braking_s, time_step_s)
        } else {
            (1.0, f64::INFINITY)
        };
        for joint in model.joints() {
            for k in joint.dofs() {
                if self.held.contains(DofIdx(k)) {
                    (self.lower[k], self.upper[k]) = (0.0, 0.0);
                    continue;
                }
                let (lower, upper) = if joint.kind.n_v() == 1 {
                    let at = q[joint.positions().start];
                    // Outside its limits already: it may come back but not go further.
                    (
                        (joint.limits.lower - at).min(0.0) * share,
                        (joint.limits.upper - at).max(0.0) * share,
                    )
                } else {
                    (f64::NEG_INFINITY, f64::INFINITY)
                };
                let fastest = if joint.limits.velocity == 0.0 {
                    0.0
                } else {
                    joint.limits.velocity * speed_share
                };
                self.lower[k] = lower.max(-fastest);
                self.upper[k] = upper.min(fastest);
            }
        }
    }

    /// Fills `step` at the position of the last [`error`](Self::error); returns how many degrees of freedom ended at
    /// a bound.
    fn solve(&mut self, model: &Model, error: &Twist, damping: f64) -> u32 {
        let origin = self
            .positions
            .frame_pose(model, &self.frame)
            .translation
            .vector;
        self.columns.fill(Vector6::zeros());
        for (DofIdx(k), column) in
            jacobian_columns(model, &self.positions, self.frame.link, &origin)
        {
            self.columns[k] = self.weighted(&column);
        }
        let target = self.weighted(error);
        let bounded = BoundedLeastSquares {
            columns: &self.columns,
            lower: &self.lower,
            upper: &self.upper,
            target,
            damping: damping * damping + 0.5 * target.norm_squared(),
        };
        bounded.solve(&mut self.step);
        let stopped = |k: &usize| {
            let at = self.step[*k];
            (at == self.lower[*k] || at == self.upper[*k]) && self.lower[*k] < self.upper[*k]
        };
        (0..self.step.len()).filter(stopped).count() as u32
    }
}
