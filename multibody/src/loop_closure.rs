//! Positions at which loops are closed and couplings hold, by Gauss-Newton iteration.

use nalgebra::{DMatrix, DVector, Isometry3, Vector3};

use crate::error::MultibodyError;
use crate::kinematics::PositionKinematics;
use crate::model::{DofIdx, LinkFrame, LoopConstraint, LoopKind, Model};

/// Loops are closed and couplings hold to this accuracy, m or rad.
const ACCURACY: f64 = 1e-10;
const ITERATIONS_MAX: usize = 200;
/// Longest change of a coordinate in an iteration, rad or m.
const CHANGE_MAX: f64 = 0.3;
/// Half the step of the central differences, rad or m: their error is 1e-10 of the lengths.
const DIFFERENCE: f64 = 1e-5;
/// Singular values below this share of the largest one count as zero: of redundant constraints.
const RANK: f64 = 1e-7;

impl LoopConstraint {
    /// The errors at poses of the anchors A and B: a rotation in rad, then a distance in m, both in B.
    fn errors(&self, X_WA: &Isometry3<f64>, X_WB: &Isometry3<f64>) -> (Vector3<f64>, Vector3<f64>) {
        let X_BA = X_WB.inverse() * X_WA;
        let distance = X_BA.translation.vector;
        match self.kind {
            LoopKind::Ball => (Vector3::zeros(), distance),
            LoopKind::Weld => (X_BA.rotation.scaled_axis(), distance),
            LoopKind::Revolute => {
                let z = X_BA.rotation * Vector3::z();
                let tilt = Vector3::z().cross(&z);
                let angle = tilt.norm().atan2(z.z);
                let direction = tilt.try_normalize(1e-300).unwrap_or_else(Vector3::x);
                (direction * angle, distance)
            }
            LoopKind::Prismatic => {
                let across = Vector3::new(distance.x, distance.y, 0.0);
                (X_BA.rotation.scaled_axis(), across)
            }
        }
    }
}

/// How far a loop is open.
///
/// ```
/// use std::path::Path;
/// use pliant_multibody::{RobotOptions, parse_robot};
///
/// // A ball on a slide, pinned to the world: at q = 0.2 the pin is 0.2 m away.
/// let mjcf = br#"<mujoco><worldbody><body name="b"><joint name="x" type="slide" axis="1 0 0"/><geom size="0.1"/></body></worldbody>
///   <equality><connect name="pin" body1="b" anchor="0 0 0"/></equality></mujoco>"#;
/// let model = parse_robot(mjcf, Path::new("pin.xml"), &RobotOptions::default())?.model;
/// assert_eq!(model.loop_openings(&[0.2])[0].distance_m, 0.2);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopOpening {
    /// Distance of the two frames in the directions that the constraint prevents, m.
    pub distance_m: f64,
    /// Angle between them about the axes that the constraint prevents, rad.
    pub angle: f64,
}

impl Model {
    /// How far each loop is open at the positions `q`, in the order of [`loops`](Self::loops).
    ///
    /// # Panics
    /// If `q` does not have n_q entries.
    pub fn loop_openings(&self, q: &[f64]) -> Vec<LoopOpening> {
        let mut positions = PositionKinematics::new(self);
        positions.update(self, q);
        let opening = |constraint: &LoopConstraint| {
            let (rotation, distance) = self.errors_of(constraint, &positions);
            LoopOpening {
                distance_m: distance.norm(),
                angle: rotation.norm(),
            }
        };
        self.loops.iter().map(opening).collect()
    }

    /// Moves joints until all loops are closed and all couplings hold, near the positions `q`. Degrees of freedom with `held` (n_v
    /// entries) keep their positions.
    ///
    /// # Errors
    /// [`MultibodyError::OpenLoop`] or [`MultibodyError::BrokenCoupling`] if there are no such positions within the limits of the
    /// joints; `q` is then unchanged.
    ///
    /// # Panics
    /// If an array has the wrong length.
    pub fn close_loops(&self, q: &mut [f64], held: &[bool]) -> Result<(), MultibodyError> {
        assert!(q.len() == self.n_q && held.len() == self.n_v());
        let free: Vec<usize> = (0..held.len()).filter(|&k| !held[k]).collect();
        let mut closure = Closure::new(self, free.clone());
        let mut at = q.to_vec();
        let mut residual = closure.residual(&at);
        for _ in 0..ITERATIONS_MAX {
            if residual.amax() <= ACCURACY {
                q.copy_from_slice(&at);
                return Ok(());
            }
            closure.free.clone_from(&free);
            let Some(change) = closure.change_within_limits(&at, &residual) else {
                break;
            };
            at = closure.moved(&at, &change);
            self.clamp_free(&mut at, held);
            residual = closure.residual(&at);
        }
        Err(self.open_loop(&at))
    }

    /// The velocities nearest to `v` at which loops stay closed and couplings hold at the positions `q`. Degrees of freedom with `held`
    /// keep their velocities.
    ///
    /// # Panics
    /// If an array has the wrong length.
    pub fn project_velocities(&self, q: &[f64], v: &mut [f64], held: &[bool]) {
        assert!(q.len() == self.n_q && v.len() == self.n_v() && held.len() == v.len());
        let all: Vec<usize> = (0..v.len()).collect();
        let free: Vec<usize> = all.iter().copied().filter(|&k| !held[k]).collect();
        let rates = Closure::new(self, all).jacobian(q) * DVector::from_column_slice(v);
        if rates.is_empty() || rates.amax() == 0.0 {
            return;
        }
        let mut closure = Closure::new(self, free);
        if let Some(change) = closure.change(q, &rates) {
            for (k, dv) in closure.free.iter().zip(change.iter()) {
                v[*k] += dv;
            }
        }
    }

    fn clamp_free(&self, q: &mut [f64], held: &[bool]) {
        let single = self.joints.iter().filter(|joint| joint.kind.n_v() == 1);
        for joint in single.filter(|joint| !held[joint.v_start]) {
            let x = &mut q[joint.q_start];
            *x = x.max(joint.limits.lower).min(joint.limits.upper);
        }
    }

    fn errors_of(
        &self,
        constraint: &LoopConstraint,
        positions: &PositionKinematics,
    ) -> (Vector3<f64>, Vector3<f64>) {
        let pose = |end: &LinkFrame| positions.link_pose(self, end.link) * end.X_LF;
        constraint.errors(&pose(&constraint.a), &pose(&constraint.b))
    }

    /// The error that names the worst loop or coupling at `q`.
    fn open_loop(&self, q: &[f64]) -> MultibodyError {
        let openings = self.loop_openings(q).into_iter().zip(&self.loops);
        let size = |opening: &LoopOpening| opening.distance_m.max(opening.angle);
        let worst = openings.max_by(|(a, _), (b, _)| size(a).total_cmp(&size(b)));
        let broken = self.couplers.iter().map(|coupler| {
            let x = coupler.source.map_or(0.0, |j| q[self.joint(j).q_start]);
            let error = coupler.error(q[self.joint(coupler.joint).q_start], x);
            (error.abs(), coupler)
        });
        let broken = broken.max_by(|(a, _), (b, _)| a.total_cmp(b));
        match (worst, broken) {
            (Some((opening, constraint)), broken)
                if broken.is_none_or(|(error, _)| error <= size(&opening)) =>
            {
                MultibodyError::OpenLoop {
                    name: constraint.name.clone(),
                    distance_m: opening.distance_m,
                    angle: opening.angle,
                }
            }
            (_, Some((error, coupler))) => MultibodyError::BrokenCoupling {
                joint: self.joint(coupler.joint).name.clone(),
                error,
            },
            (_, None) => unreachable!("without loops and couplings the residual is zero"),
        }
    }
}

/// Errors of all loops and couplings as a function of the positions of free joints.
struct Closure<'a> {
    model: &'a Model,
    free: Vec<usize>,
    positions: PositionKinematics,
}

impl<'a> Closure<'a> {
    fn new(model: &'a Model, free: Vec<usize>) -> Self {
        Self {
            model,
            free,
            positions: PositionKinematics::new(model),
        }
    }

    fn residual(&mut self, q: &[f64]) -> DVector<f64> {
        let model = self.model;
        self.positions.update(model, q);
        let mut all = Vec::with_capacity(6 * model.loops.len() + model.couplers.len());
        for constraint in &model.loops {
            let (rotation, distance) = model.errors_of(constraint, &self.positions);
            all.extend(rotation.iter().chain(distance.iter()));
        }
        for coupler in &model.couplers {
            let x = coupler.source.map_or(0.0, |j| q[model.joint(j).q_start]);
            all.push(coupler.error(q[model.joint(coupler.joint).q_start], x));
        }
        DVector::from_vec(all)
    }

    /// Derivative of the residual by the free velocities.
    fn jacobian(&mut self, q: &[f64]) -> DMatrix<f64> {
        let n_rows = 6 * self.model.loops.len() + self.model.couplers.len();
        let mut jacobian = DMatrix::zeros(n_rows, self.free.len());
        for column in 0..self.free.len() {
            let mut change = DVector::zeros(self.free.len());
            change[column] = DIFFERENCE;
            let after = self.moved(q, &change);
            change[column] = -DIFFERENCE;
            let before = self.moved(q, &change);
            let difference = self.residual(&after) - self.residual(&before);
            jacobian.set_column(column, &(difference / (2.0 * DIFFERENCE)));
        }
        jacobian
    }

    /// The shortest change of the free velocities that removes the residual to first order.
    fn change(&mut self, q: &[f64], residual: &DVector<f64>) -> Option<DVector<f64>> {
        let jacobian = self.jacobian(q);
        if jacobian.ncols() == 0 {
            return None;
        }
        let svd = jacobian.svd(true, true);
        let least = RANK * svd.singular_values.max();
        svd.solve(&-residual, least).ok()
    }

    /// As [`change`](Self::change), without the degrees of freedom that it would move out of their limits; they leave the free ones.
    fn change_within_limits(&mut self, q: &[f64], residual: &DVector<f64>) -> Option<DVector<f64>> {
        loop {
            let change = self.change(q, residual)?;
            let leaves = |(&k, dv): (&usize, &f64)| {
                let joint = self.model.joint(self.model.joint_of_dof(DofIdx(k)));
                let x = q[joint.q_start];
                let (lower, upper) = (joint.limits.lower, joint.limits.upper);
                joint.kind.n_v() == 1 && ((x <= lower && *dv < 0.0) || (x >= upper && *dv > 0.0))
            };
            let stays = self.free.iter().zip(change.iter());
            let kept: Vec<usize> = stays.filter(|p| !leaves(*p)).map(|(k, _)| *k).collect();
            if kept.len() == self.free.len() {
                return Some(change);
            }
            self.free = kept;
        }
    }

    /// `q` after unit time at the free velocities `change`, shortened to what the linearisation can be trusted for.
    fn moved(&self, q: &[f64], change: &DVector<f64>) -> Vec<f64> {
        let scale = (CHANGE_MAX / change.amax()).min(1.0);
        let mut v = vec![0.0; self.model.n_v()];
        for (k, dv) in self.free.iter().zip(change.iter()) {
            v[*k] = *dv;
        }
        let mut next = q.to_vec();
        self.model.integrate(q, &v, scale, &mut next);
        next
    }
}
