//! The rigid links in contact with particles: their motion through the substeps of a time step.

use nalgebra::{
    DMatrix, DVector, Isometry3, Matrix3, Matrix6, Translation3, UnitQuaternion, Vector3, Vector6,
};

/// Index of a link in [`RigidLinks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkIdx(pub usize);

/// Pose and velocity of a link at the start of a time step, and what changes the velocity during it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkMotion {
    /// X_WL.
    pub X_WL: Isometry3<f64>,
    /// (ω, v) of the link at its origin, rad/s and m/s, world axes.
    pub velocity: Vector6<f64>,
    /// Change of the velocity over the whole time step by all that is not contact with particles.
    pub change: Vector6<f64>,
}

/// Impulses of particles on a link in a time step: (moment about the link's origin, force) × time, world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkImpulse {
    /// Γ, N·m·s and N·s.
    pub total: Vector6<f64>,
    /// The mean over the substeps of the impulse up to and with each substep.
    pub mean: Vector6<f64>,
}

/// All links of a model's obstacles, and the response of their velocities to impulses.
#[derive(Clone, Debug, Default)]
pub struct RigidLinks {
    motions: Vec<LinkMotion>,
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
            velocities: DVector::from_iterator(n, velocities),
            free: DVector::zeros(n),
            impulses: vec![LinkImpulse::default(); motions.len()],
            substep: DVector::zeros(n),
            response: (0..motions.len()).map(of_link).collect(),
            motions,
        }
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

    /// Starts a substep of the share `share` of the time step.
    pub(crate) fn begin_substep(&mut self, share: f64) {
        self.substep.fill(0.0);
        for (l, motion) in self.motions.iter().enumerate() {
            let mut v = self.velocities.fixed_rows_mut::<6>(6 * l);
            v += motion.change * share;
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
            impulse.mean += impulse.total * share;
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
            change: Vector6::zeros(),
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
    fn a_prescribed_link_ignores_impulses_and_reports_them() {
        let mut links = links();
        links.begin_substep(0.5);
        let arm = Vector3::new(1.0, 0.0, 0.0);
        links.add_impulse(LinkIdx(1), &arm, &Vector3::z());
        links.end_substep(0.01, 0.5);
        assert_eq!(links.velocity(LinkIdx(1))[4], 2.0);
        assert_eq!(links.pose(LinkIdx(1)).translation.y, 0.2 + 0.02);
        let impulse = links.impulses()[1];
        assert_eq!(impulse.total[5], 1.0);
        assert_eq!(impulse.total[1], -1.0);
        assert_eq!(impulse.mean[5], 0.5);
    }
}
