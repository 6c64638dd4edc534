//! Positions and velocities of a model: neutral position, integration, differences, projection to limits.

use super::{DofIdx, Model};

impl Model {
    /// The neutral position: all joints at zero, identity quaternions. Joint limits are ignored.
    pub fn neutral_positions(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.n_q];
        for joint in &self.joints {
            joint.kind.write_neutral(&mut q[joint.positions()]);
        }
        q
    }

    /// The position in which the model starts: that of each joint's `initial`, otherwise the neutral one. Joint limits are
    /// ignored.
    pub fn initial_positions(&self) -> Vec<f64> {
        let mut q = self.neutral_positions();
        for joint in &self.joints {
            if let Some(initial) = &joint.initial {
                q[joint.positions()].copy_from_slice(initial);
            }
        }
        q
    }

    /// `next` = q ⊕ δt v: the position after `time_step_s` (s) at constant joint velocities. Rotations follow the exponential
    /// map; quaternions keep unit length. `q` and `next` have n_q entries, `v` has n_v.
    ///
    /// ```text
    /// x ← x + δt v        R ← exp(δt [ω]×) R
    /// ```
    ///
    /// # Panics
    /// If an array has the wrong length.
    pub fn integrate(&self, q: &[f64], v: &[f64], time_step_s: f64, next: &mut [f64]) {
        assert!(q.len() == self.n_q && next.len() == self.n_q && v.len() == self.n_v());
        for body in &self.bodies[1..] {
            let (qs, vs) = (
                body.q_start..body.q_start + body.kind.n_q(),
                body.v_start..body.v_end,
            );
            body.kind
                .integrate(&q[qs.clone()], &v[vs], time_step_s, &mut next[qs]);
        }
    }

    /// The velocity `v` from `q` to `to` in unit time, along the shortest rotations; the inverse of [`integrate`](Self::integrate).
    /// `v` has n_v entries, rad/s or m/s.
    ///
    /// # Panics
    /// If an array has the wrong length.
    pub fn difference(&self, q: &[f64], to: &[f64], v: &mut [f64]) {
        assert!(q.len() == self.n_q && to.len() == self.n_q && v.len() == self.n_v());
        for body in &self.bodies[1..] {
            let (qs, vs) = (
                body.q_start..body.q_start + body.kind.n_q(),
                body.v_start..body.v_end,
            );
            body.kind.difference(&q[qs.clone()], &to[qs], &mut v[vs]);
        }
    }

    /// The places of the quaternions of ball joints and free links in q.
    pub(crate) fn quaternions(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.bodies[1..].iter().filter_map(|body| {
            let start = match body.kind.n_q() {
                4 => body.q_start,
                7 => body.q_start + 3,
                _ => return None,
            };
            Some(start..start + 4)
        })
    }

    /// Normalises every quaternion in `q`; one of length zero becomes the identity.
    pub fn normalise(&self, q: &mut [f64]) {
        for place in self.quaternions() {
            let quat = &mut q[place];
            let unit = crate::joint::rotation_from_wxyz(quat);
            crate::joint::write_wxyz(&unit, quat);
        }
    }

    /// Clamps joints of one degree of freedom to their [admissible ranges](Self::admissible_ranges), then moves coupled joints to
    /// where their source joints allow them.
    ///
    /// # Panics
    /// If `q` does not have n_q entries.
    pub fn make_admissible(&self, q: &mut [f64]) {
        assert_eq!(q.len(), self.n_q, "q must have n_q entries");
        let ranges = self.admissible_ranges();
        let joints = self.joints.iter().zip(&ranges);
        for (joint, range) in joints.filter(|(j, _)| j.kind.n_v() == 1) {
            q[joint.q_start] = range.clamp(q[joint.q_start]);
        }
        // Couplers are sorted: that of a source comes first.
        for c in &self.couplers {
            let from = c.source.map_or(0.0, |source| q[self.joint(source).q_start]);
            let follower = self.joint(c.joint).q_start;
            q[follower] = c.admit(q[follower], from);
        }
    }

    /// The entry of q whose rate is this degree of freedom; `None` for rotations of ball and floating joints.
    pub fn position_of_dof(&self, dof: DofIdx) -> Option<usize> {
        use crate::joint::JointKind::{Ball, Floating};
        let joint = &self.joints[self.dof_joint[dof.0]];
        let k = dof.0 - joint.v_start;
        match joint.kind {
            Ball => None,
            Floating => (k >= 3).then(|| joint.q_start + k - 3),
            _ => Some(joint.q_start + k),
        }
    }
}
