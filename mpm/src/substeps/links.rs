//! The rigid links in contact with particles: their motion through the substeps of a time step.
//!
//! The links move with the rigid velocities v, V = J_r v. All forces among rigid bodies are linear in v within a time step: B is what the
//! rigid problem adds to the inertia A of the bodies, the implicit parts of actuators, limits and rigid contact. In a substep, 1/N of the step,
//!
//! ```text
//! (A + B/N)(v_{k+1} − v_k) = (c − B v_k)/N + J_rᵀγ
//! ```
//!
//! so that a body has its own inertia in the substeps, and stiff actuators and contacts act as dampers on it.

use nalgebra::{
    DMatrix, DVector, Isometry3, Matrix3, Matrix6, Translation3, UnitQuaternion, Vector3, Vector6,
};

/// Index of a link in [`RigidLinks`].
///
/// ```
/// use nalgebra::{DMatrix, Isometry3, Vector6};
/// use pliant_mpm::{LinkIdx, LinkMotion, RigidLinks};
///
/// // Two balls of 2 kg at rest, six numbers each; an impulse on the second moves the second.
/// let at_rest = LinkMotion { X_WL: Isometry3::identity(), velocity: Vector6::zeros() };
/// let mut links = RigidLinks::new(vec![at_rest, at_rest], DMatrix::identity(12, 12) * 0.5);
/// let mut impulses = [0.0; 12];
/// impulses[6 + 3] = 1.0; // N·s along x
/// links.replay_substep(&impulses, 0.01, 1.0);
/// assert_eq!([0, 1].map(|k| links.velocity(LinkIdx(k))[3]), [0.0, 0.5]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkIdx(pub usize);

/// Pose and velocity of a link at the start of a time step.
///
/// ```
/// use nalgebra::{DMatrix, Isometry3, Vector6};
/// use pliant_mpm::{LinkIdx, LinkMotion, RigidLinks};
///
/// // A paddle that turns at 2 rad/s about z and moves at 1 m/s along x, whatever the particles do to it.
/// let paddle = LinkMotion { X_WL: Isometry3::identity(), velocity: Vector6::new(0.0, 0.0, 2.0, 1.0, 0.0, 0.0) };
/// let mut links = RigidLinks::new(vec![paddle], DMatrix::zeros(6, 6));
/// links.replay_substep(&[0.0, 0.0, 0.0, -5.0, 0.0, 0.0], 0.01, 1.0);
/// let pose = links.pose(LinkIdx(0));
/// assert!((pose.translation.x - 0.01).abs() < 1e-12 && (pose.rotation.angle() - 0.02).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkMotion {
    /// X_WL.
    pub X_WL: Isometry3<f64>,
    /// (ω, v) of the link at its origin, rad/s and m/s, world axes.
    pub velocity: Vector6<f64>,
}

/// The rigid velocities v that move the links through N substeps.
///
/// ```
/// use nalgebra::{DMatrix, DVector, Isometry3, Vector6};
/// use pliant_mpm::{LinkIdx, LinkMotion, RigidLinks, RigidMotion};
///
/// // A mass A = 2 kg on x with an implicit actuator B = 500 N·s/m towards u = 0.3 m/s, c = B u, in one substep (N = 1).
/// let (a, b, u) = (2.0, 500.0, 0.3);
/// let rows = DMatrix::from_fn(6, 1, |i, _| if i == 3 { 1.0 } else { 0.0 });
/// let rigid = RigidMotion {
///     velocity: DVector::zeros(1),
///     columns: rows.transpose() / (a + b),
///     rows,
///     decay: DMatrix::from_element(1, 1, b / (a + b)),
///     drive: DVector::from_element(1, b * u / (a + b)),
/// };
/// let at_rest = LinkMotion { X_WL: Isometry3::identity(), velocity: Vector6::zeros() };
/// let mut links = RigidLinks::responding(vec![at_rest], rigid);
/// links.replay_substep(&[0.0; 6], 0.01, 1.0);
/// assert!((links.velocity(LinkIdx(0))[3] - b * u / (a + b)).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RigidMotion {
    /// v at the start of the time step.
    pub velocity: DVector<f64>,
    /// J_r: six rows for each link.
    pub rows: DMatrix<f64>,
    /// (A + B/N)⁻¹J_rᵀ.
    pub columns: DMatrix<f64>,
    /// (A + B/N)⁻¹B/N.
    pub decay: DMatrix<f64>,
    /// (A + B/N)⁻¹c/N.
    pub drive: DVector<f64>,
}

/// Impulses of particles on a link in a time step: (moment about the link's origin, force) × time, world axes.
///
/// ```
/// use nalgebra::{DMatrix, Isometry3, Vector6};
/// use pliant_mpm::{LinkMotion, RigidLinks};
///
/// // Two substeps, with 1 and 2 N·s along x on a link of prescribed motion.
/// let at_rest = LinkMotion { X_WL: Isometry3::identity(), velocity: Vector6::zeros() };
/// let mut links = RigidLinks::new(vec![at_rest], DMatrix::zeros(6, 6));
/// links.replay_substep(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0], 0.01, 0.5);
/// links.replay_substep(&[0.0, 0.0, 0.0, 2.0, 0.0, 0.0], 0.01, 0.5);
/// assert_eq!(links.impulses()[0].total[3], 3.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkImpulse {
    /// Γ, N·m·s and N·s.
    pub total: Vector6<f64>,
}

/// All links of a model's obstacles, and the response of their velocities to impulses.
///
/// ```
/// use nalgebra::{DMatrix, Isometry3, Vector6};
/// use pliant_mpm::{LinkIdx, LinkMotion, RigidLinks};
///
/// // A free ball of 2 kg at rest: an impulse of 1 N·s moves it at 0.5 m/s.
/// let at_rest = LinkMotion { X_WL: Isometry3::identity(), velocity: Vector6::zeros() };
/// let mut links = RigidLinks::new(vec![at_rest], DMatrix::identity(6, 6) * 0.5);
/// links.replay_substep(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0], 0.01, 1.0);
/// assert_eq!(links.velocity(LinkIdx(0))[3], 0.5);
/// assert_eq!(links.pose(LinkIdx(0)).translation.x, 0.005);
/// assert_eq!(links.impulses()[0].total[3], 1.0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct RigidLinks {
    motions: Vec<LinkMotion>,
    /// `None` with links whose velocity only impulses change.
    rigid: Option<RigidMotion>,
    /// V − J_r v: by joints with prescribed motion.
    prescribed: DVector<f64>,
    /// The mean of v over the substeps so far, times their share of the time step.
    mean: DVector<f64>,
    impulses: Vec<LinkImpulse>,
    /// The blocks of Λ that are not zero: of each link, the links that impulses on it move.
    response: Vec<Vec<(usize, Matrix6<f64>)>>,
    /// Velocities of all links, the unknowns of a substep.
    velocities: DVector<f64>,
    /// V*: velocities of the present substep without its impulses.
    free: DVector<f64>,
    /// Impulses on all links in the present substep.
    substep: DVector<f64>,
    /// C with C Cᵀ = Λ, as many columns as Λ has rank.
    root: DMatrix<f64>,
}

impl RigidLinks {
    /// `motions` with the response Λ, 6n × 6n for n links: V changes by Λ Γ where Γ stacks the impulses (moment about the link's origin,
    /// force) of all links. A zero Λ prescribes the motion.
    ///
    /// # Panics
    /// If Λ has another size.
    #[must_use]
    pub fn new(motions: Vec<LinkMotion>, response: DMatrix<f64>) -> Self {
        let n = 6 * motions.len();
        assert_eq!(response.shape(), (n, n), "six rows and columns a link");
        let velocities = motions.iter().flat_map(|m| m.velocity.iter().copied());
        let of_link = |l: usize| -> Vec<(usize, Matrix6<f64>)> {
            (0..motions.len())
                .map(|m| (m, response.fixed_view::<6, 6>(6 * m, 6 * l).into_owned()))
                .filter(|(_, block)| *block != Matrix6::zeros())
                .collect()
        };
        Self {
            root: root_of(&response),
            rigid: None,
            prescribed: DVector::zeros(0),
            mean: DVector::zeros(0),
            velocities: DVector::from_iterator(n, velocities),
            free: DVector::zeros(n),
            impulses: vec![LinkImpulse::default(); motions.len()],
            substep: DVector::zeros(n),
            response: (0..motions.len()).map(of_link).collect(),
            motions,
        }
    }

    /// `motions` of links that move with the rigid velocities `rigid`, and with what `motions` have beside J_r v throughout; Λ = J_r (A + B/N)⁻¹J_rᵀ.
    ///
    /// # Panics
    /// If there are not six rows for each link.
    #[must_use]
    pub fn responding(motions: Vec<LinkMotion>, rigid: RigidMotion) -> Self {
        let response = &rigid.rows * &rigid.columns;
        let symmetric = (&response + response.transpose()) * 0.5;
        let links = Self::new(motions, symmetric);
        Self {
            prescribed: &links.velocities - &rigid.rows * &rigid.velocity,
            mean: DVector::zeros(rigid.velocity.len()),
            rigid: Some(rigid),
            ..links
        }
    }

    /// The mean of the rigid velocities over the substeps of a time step; `None` for links that do not have them.
    #[must_use]
    pub fn mean_velocity(&self) -> Option<&DVector<f64>> {
        self.rigid.as_ref().map(|_| &self.mean)
    }

    /// Number of links.
    #[must_use]
    pub fn len(&self) -> usize {
        self.motions.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.motions.is_empty()
    }

    /// Impulses since the start of the time step.
    #[must_use]
    pub fn impulses(&self) -> &[LinkImpulse] {
        &self.impulses
    }

    /// Pose of a link now.
    #[must_use]
    pub fn pose(&self, link: LinkIdx) -> &Isometry3<f64> {
        &self.motions[link.0].X_WL
    }

    /// (ω, v) of a link now.
    #[must_use]
    pub fn velocity(&self, link: LinkIdx) -> Vector6<f64> {
        self.velocities.fixed_rows::<6>(6 * link.0).into_owned()
    }

    /// Velocity of the point of a link at `arm` from its origin, m/s, world axes.
    pub(crate) fn point_velocity(&self, link: LinkIdx, arm: &Vector3<f64>) -> Vector3<f64> {
        let v = self.velocities.fixed_rows::<6>(6 * link.0);
        let omega = v.fixed_rows::<3>(0).into_owned();
        v.fixed_rows::<3>(3) + omega.cross(arm)
    }

    /// J_r Λ J_rᵀ of the point at `arm`, 1/kg: its velocity change by an impulse on it.
    pub(crate) fn point_response(&self, link: LinkIdx, arm: &Vector3<f64>) -> Matrix3<f64> {
        let blocks = &self.response[link.0];
        let Some((_, block)) = blocks.iter().find(|(l, _)| *l == link.0) else {
            return Matrix3::zeros();
        };
        let p = arm.cross_matrix();
        let (aa, al) = (
            block.fixed_view::<3, 3>(0, 0).into_owned(),
            block.fixed_view::<3, 3>(0, 3).into_owned(),
        );
        let (la, ll) = (
            block.fixed_view::<3, 3>(3, 0).into_owned(),
            block.fixed_view::<3, 3>(3, 3).into_owned(),
        );
        // J_r = [−P, I].
        ll - la * p.transpose() - p * al + p * aa * p.transpose()
    }

    /// Λ, 6n × 6n for n links.
    #[must_use]
    pub fn response(&self) -> DMatrix<f64> {
        let n = 6 * self.motions.len();
        let mut response = DMatrix::zeros(n, n);
        for (l, blocks) in self.response.iter().enumerate() {
            for (m, block) in blocks {
                let mut place = response.fixed_view_mut::<6, 6>(6 * m, 6 * l);
                place.copy_from(block);
            }
        }
        response
    }

    /// The rigid velocities that move the links, and V − J_r v; `None` for links whose velocity only impulses change.
    #[must_use]
    pub fn rigid(&self) -> Option<(&RigidMotion, &DVector<f64>)> {
        self.rigid.as_ref().map(|rigid| (rigid, &self.prescribed))
    }

    /// Moves all links through a substep of `length_s`, which is `share` of the time step, with the impulses on them that a device found:
    /// (moment about the link's origin, force) × time of each link.
    ///
    /// # Panics
    /// If there are not six numbers for each link.
    pub fn replay_substep(&mut self, impulses: &[f64], length_s: f64, share: f64) {
        self.begin_substep();
        self.substep.copy_from_slice(impulses);
        let n = self.motions.len();
        for (l, blocks) in self.response.iter().enumerate().take(n) {
            let wrench = self.substep.fixed_rows::<6>(6 * l).into_owned();
            for (m, block) in blocks {
                let mut v = self.velocities.fixed_rows_mut::<6>(6 * m);
                v += block * wrench;
            }
        }
        self.end_substep(length_s, share);
    }

    /// Starts a substep: the links move on without impulses.
    pub(crate) fn begin_substep(&mut self) {
        self.substep.fill(0.0);
        if let Some(rigid) = &mut self.rigid {
            let mut change = rigid.drive.clone();
            change.gemv(-1.0, &rigid.decay, &rigid.velocity, 1.0);
            rigid.velocity += change;
            self.velocities.copy_from(&self.prescribed);
            self.velocities.gemv(1.0, &rigid.rows, &rigid.velocity, 1.0);
        }
        self.free.clone_from(&self.velocities);
    }

    /// Takes the impulses of the present substep back.
    pub(crate) fn restart_substep(&mut self) {
        self.substep.fill(0.0);
        self.velocities.clone_from(&self.free);
    }

    /// C with C Cᵀ = Λ.
    pub(crate) fn response_root(&self) -> &DMatrix<f64> {
        &self.root
    }

    /// V of all links now.
    pub(crate) fn velocities(&self) -> &DVector<f64> {
        &self.velocities
    }

    /// V*.
    pub(crate) fn velocities_without_impulses(&self) -> &DVector<f64> {
        &self.free
    }

    /// Impulses on all links in the present substep.
    pub(crate) fn substep_impulses(&self) -> &DVector<f64> {
        &self.substep
    }

    /// Sets the velocities to V* + `change`.
    pub(crate) fn set_change(&mut self, change: &DVector<f64>) {
        self.velocities.clone_from(&self.free);
        self.velocities += change;
    }

    /// Adds an impulse (N·s) on the point of a link at `arm`: all links change their velocities.
    pub(crate) fn add_impulse(
        &mut self,
        link: LinkIdx,
        arm: &Vector3<f64>,
        impulse: &Vector3<f64>,
    ) {
        let moment = arm.cross(impulse);
        let wrench = Vector6::new(
            moment.x, moment.y, moment.z, impulse.x, impulse.y, impulse.z,
        );
        let first = 6 * link.0;
        let mut sum = self.substep.fixed_rows_mut::<6>(first);
        sum += wrench;
        for (l, block) in &self.response[link.0] {
            let mut v = self.velocities.fixed_rows_mut::<6>(6 * l);
            v += block * wrench;
        }
    }

    /// Ends a substep of length `length_s`: poses move with the velocities, impulses are summed. `share` is that of the time step.
    pub(crate) fn end_substep(&mut self, length_s: f64, share: f64) {
        for (l, (motion, impulse)) in self.motions.iter_mut().zip(&mut self.impulses).enumerate() {
            let v = self.velocities.fixed_rows::<6>(6 * l).into_owned();
            let omega = v.fixed_rows::<3>(0).into_owned();
            let X = &motion.X_WL;
            motion.X_WL = Isometry3::from_parts(
                Translation3::from(X.translation.vector + v.fixed_rows::<3>(3) * length_s),
                UnitQuaternion::from_scaled_axis(omega * length_s) * X.rotation,
            );
            impulse.total += self.substep.fixed_rows::<6>(6 * l);
        }
        if let Some(rigid) = &mut self.rigid {
            rigid.velocity.gemv(1.0, &rigid.columns, &self.substep, 1.0);
            self.mean.axpy(share, &rigid.velocity, 1.0);
        }
    }
}

/// C with C Cᵀ = Λ by the eigenvalues of Λ that are not round-off.
fn root_of(response: &DMatrix<f64>) -> DMatrix<f64> {
    let n = response.nrows();
    if n == 0 {
        return DMatrix::zeros(0, 0);
    }
    // In units in which Λ has a unit diagonal: angular and linear velocities differ.
    let scale = response.diagonal().map(|x| x.max(0.0).sqrt());
    let inverse = scale.map(|x| if x > 0.0 { 1.0 / x } else { 0.0 });
    let scaled = DMatrix::from_fn(n, n, |i, j| response[(i, j)] * inverse[i] * inverse[j]);
    let eigen = scaled.symmetric_eigen();
    let largest = eigen.eigenvalues.iter().copied().fold(0.0, f64::max);
    let kept: Vec<usize> = (0..n)
        .filter(|&k| eigen.eigenvalues[k] > 1e-14 * largest)
        .collect();
    DMatrix::from_fn(n, kept.len(), |i, k| {
        scale[i] * eigen.eigenvectors[(i, kept[k])] * eigen.eigenvalues[kept[k]].sqrt()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A free ball of 2 kg and 0.3 kg·m², and a prescribed link.
    fn links() -> RigidLinks {
        let motion = |v: [f64; 6]| LinkMotion {
            X_WL: Isometry3::translation(0.1, 0.2, 0.3),
            velocity: Vector6::from(v),
        };
        let mut response = DMatrix::zeros(12, 12);
        for k in 0..6 {
            response[(k, k)] = if k < 3 { 1.0 / 0.3 } else { 0.5 };
        }
        RigidLinks::new(
            vec![motion([0.0; 6]), motion([0.0, 0.0, 1.0, 0.0, 2.0, 0.0])],
            response,
        )
    }

    #[test]
    fn an_impulse_changes_the_point_by_the_response() {
        let mut links = links();
        let arm = Vector3::new(0.3, -0.1, 0.2);
        let impulse = Vector3::new(0.5, 1.0, -0.7);
        let w = links.point_response(LinkIdx(0), &arm);
        let before = links.point_velocity(LinkIdx(0), &arm);
        links.add_impulse(LinkIdx(0), &arm, &impulse);
        let after = links.point_velocity(LinkIdx(0), &arm);
        assert!((after - before - w * impulse).norm() < 1e-14);
        let v = links.velocity(LinkIdx(0));
        assert!((v.fixed_rows::<3>(3) - impulse * 0.5).norm() < 1e-15);
    }

    #[test]
    fn replayed_impulses_move_the_links_as_the_impulses_did() {
        let (mut links, mut replayed) = (links(), links());
        for k in 0..3 {
            links.begin_substep();
            let arm = Vector3::new(0.2, 0.1 * f64::from(k), -0.3);
            links.add_impulse(LinkIdx(0), &arm, &Vector3::new(0.4, -0.1, 0.7));
            links.add_impulse(LinkIdx(1), &arm, &Vector3::z());
            let impulses = links.substep_impulses().clone();
            links.end_substep(0.01, 0.25);
            replayed.replay_substep(impulses.as_slice(), 0.01, 0.25);
        }
        for l in [LinkIdx(0), LinkIdx(1)] {
            assert!((links.velocity(l) - replayed.velocity(l)).norm() < 1e-14);
            let apart = links.pose(l).inverse() * replayed.pose(l);
            assert!(apart.translation.vector.norm() < 1e-14);
        }
        assert_eq!(links.impulses(), replayed.impulses());
    }

    #[test]
    fn a_prescribed_link_ignores_impulses_and_reports_them() {
        let mut links = links();
        links.begin_substep();
        let arm = Vector3::new(1.0, 0.0, 0.0);
        links.add_impulse(LinkIdx(1), &arm, &Vector3::z());
        links.end_substep(0.01, 0.5);
        assert_eq!(links.velocity(LinkIdx(1))[4], 2.0);
        assert_eq!(links.pose(LinkIdx(1)).translation.y, 0.2 + 0.02);
        let impulse = links.impulses()[1];
        assert_eq!(impulse.total[5], 1.0);
        assert_eq!(impulse.total[1], -1.0);
    }

    #[test]
    fn a_driven_body_reaches_the_speed_at_which_its_actuator_holds_the_force() {
        // A mass A = 2 with an implicit actuator B = 500, c = B u: u is reached, whatever N, in less than a step, and never exceeded.
        for substeps in [1, 7, 100] {
            let share = 1.0 / f64::from(substeps);
            let (a, b, u) = (2.0, 500.0, 0.3);
            let inverse = 1.0 / (a + b * share);
            let axis = DMatrix::from_fn(6, 1, |i, _| f64::from(u8::from(i == 3)));
            let rigid = RigidMotion {
                velocity: DVector::zeros(1),
                columns: axis.transpose() * inverse,
                rows: axis,
                decay: DMatrix::from_element(1, 1, inverse * b * share),
                drive: DVector::from_element(1, inverse * b * u * share),
            };
            let motion = LinkMotion {
                X_WL: Isometry3::identity(),
                velocity: Vector6::new(0.0, 0.0, 0.0, 0.0, 0.7, 0.0),
            };
            let mut links = RigidLinks::responding(vec![motion], rigid);
            for _ in 0..substeps {
                links.begin_substep();
                links.end_substep(0.01 * share, share);
            }
            let v = links.velocity(LinkIdx(0))[3];
            assert!(v <= u && v > 0.99 * u, "{v} of {u} in {substeps}");
            // A v_N + B v̄ = c: the balance of the whole step.
            let mean = links.mean_velocity().expect("it has one")[0];
            assert!((a * v + b * mean - b * u).abs() < 1e-12, "{v} {mean}");
            let moved = links.pose(LinkIdx(0)).translation.vector;
            assert!((moved.x - 0.01 * mean).abs() < 1e-15);
            // A joint with prescribed motion goes on.
            assert!((moved.y - 0.007).abs() < 1e-15);
        }
    }
}
