//! Differential inverse kinematics: joint velocities that move a frame along a trajectory of poses, within limits.

use nalgebra::{Isometry3, Vector6};

use crate::bounded_least_squares::BoundedLeastSquares;
use crate::held::HeldDofs;
use crate::jacobian::jacobian_columns;
use crate::kinematics::PositionKinematics;
use crate::model::{DofIdx, Model, NamedFrame};
use crate::spatial::Twist;

/// λ in [`InverseKinematics::reach`], m: regularises the normal matrix; its square is above round-off.
const REACH_DAMPING: f64 = 1e-6;

/// Damping, weights and tolerances of [`InverseKinematics`].
///
/// ```
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// # let mut builder = ModelBuilder::new("arm");
/// # for name in ["base", "upper", "lower"] {
/// #     builder.link(LinkSpec::new(name, SpatialInertia::solid_sphere(1.0, 0.1)));
/// # }
/// # builder.joint(JointSpec::new("shoulder", JointKind::Continuous, "base", "upper").about(Vector3::z()));
/// # let elbow = JointSpec::new("elbow", JointKind::Continuous, "upper", "lower").about(Vector3::z());
/// # builder.joint(elbow.at(Isometry3::translation(1.0, 0.0, 0.0)));
/// # builder.frame("hand", "lower", Isometry3::translation(1.0, 0.0, 0.0));
/// # let model = builder.build()?;
/// use pliant_multibody::{HeldDofs, IkSettings, InverseKinematics};
///
/// # let hand = model.frame_named("hand")?;
/// // More damping, slower joints: near a target the velocity falls by 1/(1 + λ²/σ²) with the singular values σ of the Jacobian.
/// let speed = |damping: f64| {
///     let settings = IkSettings { damping, rotation_weight: 0.0, ..IkSettings::default() };
///     let mut ik = InverseKinematics::new(&model, hand.clone(), HeldDofs::none(&model), settings);
///     let mut v = [0.0; 2];
///     let _ = ik.velocity_towards(&model, &[0.0, 1.5], &Isometry3::translation(1.0, 1.0, 0.0), 0.01, &mut v);
///     v[0].hypot(v[1])
/// };
/// assert!(speed(0.5) < speed(0.001));
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IkSettings {
    /// λ of damped least squares in [`InverseKinematics::velocity_towards`], m: joint motions that move the frame by less than
    /// this per radian are suppressed, so velocities stay bounded near singularities. Half the squared error is added to λ²,
    /// which stabilises distant targets.
    pub damping: f64,
    /// Braking time before a position limit in [`InverseKinematics::velocity_towards`], s: a joint's speed is at most its
    /// distance from the limit over this time, so velocities are continuous there.
    pub braking_time_s: f64,
    /// Weight of rotation errors, m/rad; 0 leaves the orientation free.
    pub rotation_weight: f64,
    /// Tolerance on the position error, m.
    pub position_tolerance: f64,
    /// Tolerance on the rotation error, rad.
    pub rotation_tolerance: f64,
    /// Largest number of steps of [`InverseKinematics::reach`].
    pub iterations_max: u32,
}

impl Default for IkSettings {
    fn default() -> Self {
        Self {
            damping: 1e-3, // a millimetre per radian: far below the size of an arm, far above round-off
            braking_time_s: 0.1, // ten steps of a slow controller, short compared with a motion
            rotation_weight: 0.3, // about the length of a forearm
            position_tolerance: 1e-9,
            rotation_tolerance: 1e-9,
            iterations_max: 200, // 5 to 20 are usual for a reachable target
        }
    }
}

/// Why the iteration stopped.
///
/// ```
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// # let mut builder = ModelBuilder::new("arm");
/// # for name in ["base", "upper", "lower"] {
/// #     builder.link(LinkSpec::new(name, SpatialInertia::solid_sphere(1.0, 0.1)));
/// # }
/// # builder.joint(JointSpec::new("shoulder", JointKind::Continuous, "base", "upper").about(Vector3::z()));
/// # let elbow = JointSpec::new("elbow", JointKind::Continuous, "upper", "lower").about(Vector3::z());
/// # builder.joint(elbow.at(Isometry3::translation(1.0, 0.0, 0.0)));
/// # builder.frame("hand", "lower", Isometry3::translation(1.0, 0.0, 0.0));
/// # let model = builder.build()?;
/// use pliant_multibody::{HeldDofs, IkSettings, IkStop, InverseKinematics};
///
/// // A planar arm of 1 m + 1 m with a held elbow at 90° turns its hand on a circle of √2 m.
/// let hand = model.frame_named("hand")?;
/// let mut held = HeldDofs::none(&model);
/// held.hold(&model, model.joint_named("elbow")?);
/// let stop = |target: [f64; 2], iterations_max: u32| {
///     let settings = IkSettings { rotation_weight: 0.0, iterations_max, ..IkSettings::default() };
///     let mut ik = InverseKinematics::new(&model, hand.clone(), held.clone(), settings);
///     let mut q = [0.5, std::f64::consts::FRAC_PI_2];
///     ik.reach(&model, &mut q, &Isometry3::translation(target[0], target[1], 0.0)).stop
/// };
/// assert_eq!(stop([1.0, 1.0], 200), IkStop::Reached);
/// assert_eq!(stop([1.0, 1.0], 1), IkStop::IterationLimit);
/// assert_eq!(stop([0.5, 0.5], 200), IkStop::Stalled);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IkStop {
    /// Both errors are within tolerance.
    Reached,
    /// Joint limits or the arm's reach allow no step that lessens the error.
    Stalled,
    /// The largest number of steps was reached.
    IterationLimit,
}

/// Result of an inverse kinematics call.
///
/// ```
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// # let mut builder = ModelBuilder::new("arm");
/// # for name in ["base", "upper", "lower"] {
/// #     builder.link(LinkSpec::new(name, SpatialInertia::solid_sphere(1.0, 0.1)));
/// # }
/// # builder.joint(JointSpec::new("shoulder", JointKind::Continuous, "base", "upper").about(Vector3::z()));
/// # let elbow = JointSpec::new("elbow", JointKind::Continuous, "upper", "lower").about(Vector3::z());
/// # builder.joint(elbow.at(Isometry3::translation(1.0, 0.0, 0.0)));
/// # builder.frame("hand", "lower", Isometry3::translation(1.0, 0.0, 0.0));
/// # let model = builder.build()?;
/// use pliant_multibody::{HeldDofs, IkSettings, IkStop, InverseKinematics};
///
/// # let hand = model.frame_named("hand")?;
/// # let settings = IkSettings { rotation_weight: 0.0, ..IkSettings::default() };
/// # let mut ik = InverseKinematics::new(&model, hand, HeldDofs::none(&model), settings);
/// # let mut q = [0.1, 0.8];
/// // A planar arm of 2 m cannot reach 3 m: it stops stretched out, 1 m short.
/// let report = ik.reach(&model, &mut q, &Isometry3::translation(3.0, 0.0, 0.0));
/// assert!(report.stop != IkStop::Reached);
/// assert!((report.position_error - 1.0).abs() < 1e-6);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct IkReport {
    /// Distance from the frame's origin to the target's, m.
    pub position_error: f64,
    /// Angle from the frame to the target, rad; computed also if the orientation is free.
    pub rotation_error: f64,
    /// Number of degrees of freedom at a position or velocity limit in the last step.
    pub at_limit: u32,
    /// Steps taken.
    pub iterations: u32,
    /// Why the iteration stopped.
    pub stop: IkStop,
}

/// Inverse kinematics of one frame of a model by damped least squares with joint limits; contains its workspace.
///
/// ```
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// # let mut builder = ModelBuilder::new("arm");
/// # for name in ["base", "upper", "lower"] {
/// #     builder.link(LinkSpec::new(name, SpatialInertia::solid_sphere(1.0, 0.1)));
/// # }
/// # builder.joint(JointSpec::new("shoulder", JointKind::Continuous, "base", "upper").about(Vector3::z()));
/// # let elbow = JointSpec::new("elbow", JointKind::Continuous, "upper", "lower").about(Vector3::z());
/// # builder.joint(elbow.at(Isometry3::translation(1.0, 0.0, 0.0)));
/// # builder.frame("hand", "lower", Isometry3::translation(1.0, 0.0, 0.0));
/// # let model = builder.build()?;
/// use pliant_multibody::{HeldDofs, IkSettings, IkStop, InverseKinematics};
///
/// // A planar arm of 1 m + 1 m reaches (1, 1) with its elbow at a right angle.
/// let hand = model.frame_named("hand")?;
/// let settings = IkSettings { rotation_weight: 0.0, ..IkSettings::default() };
/// let mut ik = InverseKinematics::new(&model, hand, HeldDofs::none(&model), settings);
/// let mut q = [0.1, 0.8];
/// let report = ik.reach(&model, &mut q, &Isometry3::translation(1.0, 1.0, 0.0));
/// assert_eq!(report.stop, IkStop::Reached);
/// assert!((q[1] - std::f64::consts::FRAC_PI_2).abs() < 1e-6);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
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
    /// For `frame` of `model`; held degrees of freedom are not moved.
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

    /// Joint velocities `v` that move the frame from its pose at `q` to `X_WT` in `time_step_s`, as far as position and
    /// velocity limits allow:
    ///
    /// ```text
    /// min ‖W (J Δq − e)‖² + λ² ‖Δq‖²,   v = Δq / δt,   |v| ≤ v_max,   (q_min − q)/τ ≤ v ≤ (q_max − q)/τ
    /// ```
    ///
    /// with τ the braking time, at least δt. The minimum is exact, so `v` is a continuous function of pose, target and bounds,
    /// also where a joint reaches its limit. The errors in the report are those before the step.
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

    /// Iterates `q` until the frame is at `X_WT`, or no step reduces the error. Velocity limits are ignored.
    pub fn reach(&mut self, model: &Model, q: &mut [f64], X_WT: &Isometry3<f64>) -> IkReport {
        let mut error = self.error(model, q, X_WT);
        let mut at_limit = 0;
        for iteration in 0..self.settings.iterations_max {
            let report = self.report(&error, at_limit, iteration);
            if report.stop == IkStop::Reached {
                return report;
            }
            self.bound(model, q, f64::INFINITY);
            // The line search handles singularities; larger damping would slow the final convergence.
            at_limit = self.solve(model, &error, REACH_DAMPING);
            let mut next = core::mem::take(&mut self.next);
            // The linearised step may overshoot: halve it until the error decreases.
            let mut fraction = 1.0;
            let reduced = loop {
                model.integrate(q, &self.step, fraction, &mut next);
                let trial = self.error(model, &next, X_WT);
                if self.weighted(&trial).norm() < self.weighted(&error).norm() * (1.0 - 1e-9) {
                    break Some(trial);
                }
                fraction *= 0.5;
                if fraction < 1e-3 {
                    break None;
                }
            };
            if reduced.is_some() {
                q.copy_from_slice(&next);
            }
            self.next = next;
            match reduced {
                Some(reduced) => error = reduced,
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

    /// The error, in world axes: rotation vector and displacement from the frame to the target.
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

    /// Bounds of a step by position limits, with braking for finite time steps, and by velocity limits.
    fn bound(&mut self, model: &Model, q: &[f64], time_step_s: f64) {
        let (position_factor, velocity_factor) = if time_step_s.is_finite() {
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
                    // A joint outside its limits may return but not move further out.
                    (
                        (joint.limits.lower - at).min(0.0) * position_factor,
                        (joint.limits.upper - at).max(0.0) * position_factor,
                    )
                } else {
                    (f64::NEG_INFINITY, f64::INFINITY)
                };
                let fastest = if joint.limits.velocity == 0.0 {
                    0.0
                } else {
                    joint.limits.velocity * velocity_factor
                };
                self.lower[k] = lower.max(-fastest);
                self.upper[k] = upper.min(fastest);
            }
        }
    }

    /// Solves for `step` at the position of the last [`error`](Self::error). Returns the number of degrees of freedom at a
    /// bound.
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
        let at_bound = |k: &usize| {
            let at = self.step[*k];
            (at == self.lower[*k] || at == self.upper[*k]) && self.lower[*k] < self.upper[*k]
        };
        (0..self.step.len()).filter(at_bound).count() as u32
    }
}
