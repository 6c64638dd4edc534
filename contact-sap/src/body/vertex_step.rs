//! Angular momentum of a step: internal forces have no torque.
//!
//! For a step q1 = q0 + δt(θ_vq v1 + (1 − θ_vq) v0) and any symmetric mass matrix
//!
//! ```text
//! L(q1, v1) − L(q0, v0) = Σ a × M(v1 − v0),     a = q0 + (1 − θ_vq) δt v0.
//! ```
//!
//! Internal impulses p that act at other places than a therefore change L, although their forces have no torque: backward Euler
//! evaluates them at q1, and a body that spins at ω loses (ω δt)² of L in a step. A rigid motion with the momentum that is missing
//! restores it:
//!
//! ```text
//! v1 += Φ(q1) x,     Φ(q1)ᵀ M Φ(q1) x = −Φ(a)ᵀ p,     Φ(q) (V, ω) = V + ω × (q − o).
//! ```
//!
//! Supports admit a part of the rigid motions: all of them without supports, rotations about a point or a line that is held, otherwise
//! none. Impulses of contacts, constraints and loads act at q0 and are not touched.
//!
//! The change of ω is at most 2(ω δt)²ω, twice the loss by the spin. Where a body changes its shape within a step, linearised forces
//! have torques of any size: without the bound, a ring of foam that springs open from a third of its height within a step is thrown about
//! at thousands of rad/s.

use nalgebra::{Cholesky, Matrix3, Matrix6, SymmetricEigen, Vector3, Vector6};

/// Largest change of ω, relative to (ω δt)²ω.
const CHANGE_MAX: f64 = 2.0;
/// Bodies that turn by less in a step (rad) keep their angular momentum to round-off.
const TURN_MIN: f64 = 1e-7;
/// Rigid motions are admitted whose squared speed at the supports is this small a part of the largest.
const HELD_TOLERANCE: f64 = 1e-12;

/// The vertices of a body in a step.
#[derive(Clone, Copy, Debug)]
pub struct VertexStep<'a> {
    /// a of every vertex, m.
    pub arms: &'a [Vector3<f64>],
    /// Position of every vertex at the end of the step, m.
    pub ends: &'a [Vector3<f64>],
    /// Velocity of every vertex at the end of the step, m/s.
    pub velocities: &'a [Vector3<f64>],
    /// Components of velocity that supports prescribe.
    pub held: &'a [[bool; 3]],
    /// Inertia of degrees of freedom of their own in a rigid rotation, such as the angles of a rod, kg m².
    pub rotational_inertia: Matrix3<f64>,
    /// Length of the step, s.
    pub length_s: f64,
}

/// Memory of [`VertexStep::missing_motion`], reused from step to step.
#[derive(Clone, Debug, Default)]
pub struct VertexFields {
    motion: Vec<Vector3<f64>>,
    momentum: Vec<Vector3<f64>>,
    impulses: Vec<Vector3<f64>>,
}

/// A rigid motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidMotion {
    /// A point of the body, m.
    pub origin: Vector3<f64>,
    /// Velocity of the origin, m/s.
    pub linear: Vector3<f64>,
    /// ω, rad/s.
    pub angular: Vector3<f64>,
}

impl RigidMotion {
    /// Velocity at a point, m/s.
    #[must_use]
    pub fn velocity_at(&self, p: &Vector3<f64>) -> Vector3<f64> {
        self.linear + self.angular.cross(&(p - self.origin))
    }
}

impl VertexStep<'_> {
    /// The rigid motion that keeps the angular momentum, to add to the velocities at the end. None if the body does not turn, supports
    /// admit no rigid motion, or all mass lies on a line.
    ///
    /// `mass_product` writes M x for a field x over the vertices. `impulses` is called if the body turns: it writes p of every vertex, N s,
    /// where those of held components don't count, and returns the sum of the impulses on degrees of freedom of rotation, N m s.
    ///
    /// ```
    /// use nalgebra::{Matrix3, Rotation3, Vector3};
    /// use pliant_contact_sap::{VertexFields, VertexStep};
    ///
    /// // Masses of 1 kg at the ends of a cross of 2 m turn by 0.1 rad in a step of 0.1 s. It pulls along its directions at the end.
    /// let arms = [Vector3::x(), Vector3::y(), -Vector3::x(), -Vector3::y()];
    /// let turned = arms.map(|arm| Rotation3::from_scaled_axis(Vector3::z() * 0.1) * arm);
    /// let step = VertexStep {
    ///     arms: &arms,
    ///     ends: &turned,
    ///     velocities: &std::array::from_fn::<_, 4, _>(|i| (turned[i] - arms[i]) / 0.1),
    ///     held: &[[false; 3]; 4],
    ///     rotational_inertia: Matrix3::zeros(),
    ///     length_s: 0.1,
    /// };
    /// let impulses = |p: &mut [Vector3<f64>]| {
    ///     p.copy_from_slice(&turned.map(|end| -0.1 * end));
    ///     Vector3::zeros()
    /// };
    /// let mut memory = VertexFields::default();
    /// let motion = step.missing_motion(&mut memory, |x, y| y.copy_from_slice(x), impulses).unwrap();
    /// // The pulls have a torque of 0.4 N m s sin 0.1 about the middle, and the inertia is 4 kg m².
    /// assert!((motion.angular.z - 0.1 * 0.1_f64.sin()).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn missing_motion(
        &self,
        memory: &mut VertexFields,
        mass_product: impl Fn(&[Vector3<f64>], &mut [Vector3<f64>]),
        impulses: impl FnOnce(&mut [Vector3<f64>]) -> Vector3<f64>,
    ) -> Option<RigidMotion> {
        let modes = self.admitted()?;
        let [at_arms, at_ends] = [self.arms, self.ends].map(|q| (q, self.origin(q)));
        let VertexFields {
            motion,
            momentum,
            impulses: p,
        } = memory;
        for field in [&mut *motion, &mut *momentum, &mut *p] {
            field.resize(self.ends.len(), Vector3::zeros());
        }
        let (mut momenta, mut inertia) = (Vector6::zeros(), Matrix6::identity());
        for (k, mode) in modes
            .iter()
            .enumerate()
            .filter(|(_, mode)| mode.is_admitted())
        {
            for (i, motion) in motion.iter_mut().enumerate() {
                *motion = self.velocity(mode, at_ends, i);
            }
            mass_product(motion, momentum);
            let products = momentum.iter().zip(self.velocities);
            momenta[k] = products.map(|(p, v)| p.dot(v)).sum::<f64>();
            for (l, other) in modes.iter().enumerate().take(k + 1) {
                let turning = other.angular.dot(&(self.rotational_inertia * mode.angular));
                inertia[(k, l)] = self.work(other, at_ends, momentum) + turning;
                inertia[(l, k)] = inertia[(k, l)];
            }
        }
        let inertia = Cholesky::new(inertia)?;
        let spin = sum(&modes, &inertia.solve(&momenta)).angular.norm();
        let turn = spin * self.length_s;
        if turn < TURN_MIN {
            return None;
        }
        let couple = impulses(p);
        for (missing, mode) in momenta.iter_mut().zip(&modes) {
            *missing = -self.work(mode, at_arms, p) - mode.angular.dot(&couple);
        }
        let missing = sum(&modes, &inertia.solve(&momenta));
        let share = (CHANGE_MAX * turn * turn * spin / missing.angular.norm()).min(1.0);
        Some(RigidMotion {
            origin: at_ends.1,
            linear: missing.linear * share,
            angular: missing.angular * share,
        })
    }

    /// A point that moves with the supports; the mean of all vertices without.
    fn origin(&self, q: &[Vector3<f64>]) -> Vector3<f64> {
        match self.held.iter().position(|held| held.contains(&true)) {
            Some(vertex) => q[vertex],
            None => q.iter().sum::<Vector3<f64>>() / q.len() as f64,
        }
    }

    /// Velocities of the free components of a vertex in a rigid motion.
    fn velocity(&self, mode: &Mode, (q, origin): Places<'_>, vertex: usize) -> Vector3<f64> {
        let v = mode.linear + mode.angular.cross(&(q[vertex] - origin));
        let held = self.held[vertex];
        Vector3::from_fn(|k, _| if held[k] { 0.0 } else { v[k] })
    }

    /// Work of impulses in a rigid motion.
    fn work(&self, mode: &Mode, places: Places<'_>, impulses: &[Vector3<f64>]) -> f64 {
        let works = impulses.iter().enumerate();
        works
            .map(|(i, p)| p.dot(&self.velocity(mode, places, i)))
            .sum()
    }

    /// A basis of the rigid motions that supports admit, filled up with zeros; none if there are none.
    fn admitted(&self) -> Option<[Mode; 6]> {
        let origin = self.origin(self.ends);
        let squared = self.ends.iter().map(|q| (q - origin).norm_squared());
        let length = squared.fold(0.0, f64::max).sqrt();
        if length == 0.0 || !length.is_finite() {
            return None;
        }
        let mut held = Matrix6::zeros();
        for (q, axes) in self.ends.iter().zip(self.held) {
            for k in (0..3).filter(|k| axes[*k]) {
                // e·(V + ω × r) = e·V + (r × e)·ω, with ω in units of 1/length.
                let axis = Vector3::ith(k, 1.0);
                let turn = (q - origin).cross(&axis) / length;
                let row = Vector6::from_iterator(axis.iter().chain(turn.iter()).copied());
                held += row * row.transpose();
            }
        }
        let mode = |v: Vector6<f64>| Mode {
            linear: v.fixed_rows::<3>(0).into(),
            angular: v.fixed_rows::<3>(3) / length,
        };
        if held == Matrix6::zeros() {
            return Some([0, 1, 2, 3, 4, 5].map(|k| mode(Vector6::ith(k, 1.0))));
        }
        let eigen = SymmetricEigen::new(held);
        let least = HELD_TOLERANCE * eigen.eigenvalues.max();
        let modes = [0, 1, 2, 3, 4, 5].map(|k| match eigen.eigenvalues[k] < least {
            true => mode(eigen.eigenvectors.column(k).into()),
            false => mode(Vector6::zeros()),
        });
        modes.iter().any(Mode::is_admitted).then_some(modes)
    }
}

/// Positions of all vertices, and of the origin.
type Places<'a> = (&'a [Vector3<f64>], Vector3<f64>);

/// A direction of rigid motion.
#[derive(Clone, Copy, Debug)]
struct Mode {
    linear: Vector3<f64>,
    angular: Vector3<f64>,
}

impl Mode {
    fn is_admitted(&self) -> bool {
        self.linear != Vector3::zeros() || self.angular != Vector3::zeros()
    }
}

fn sum(modes: &[Mode; 6], amounts: &Vector6<f64>) -> Mode {
    let mut sum = Mode {
        linear: Vector3::zeros(),
        angular: Vector3::zeros(),
    };
    for (mode, amount) in modes.iter().zip(amounts.iter()) {
        sum.linear += mode.linear * *amount;
        sum.angular += mode.angular * *amount;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector() -> impl Strategy<Value = Vector3<f64>> {
        prop::array::uniform3(-1.0..1.0).prop_map(Vector3::from)
    }

    proptest! {
        /// A body that spins and is pulled by internal impulses smaller than those of its spin keeps both momenta.
        #[test]
        fn the_missing_motion_restores_the_angular_momentum(
            points in prop::collection::vec((vector(), vector(), 0.1..2.0_f64), 4..12),
            spin in vector(),
            drift in vector(),
            step in 0.01..0.1_f64,
            theta_vq in prop::sample::select(vec![0.5, 1.0]),
        ) {
            prop_assume!(spin.norm() > 0.1);
            let n = points.len();
            let masses: Vec<f64> = points.iter().map(|p| p.2).collect();
            let start: Vec<_> = points.iter().map(|p| p.0).collect();
            let before: Vec<_> = start.iter().map(|q| drift + spin.cross(q)).collect();
            let mean: Vector3<f64> = points.iter().map(|p| p.1).sum::<Vector3<f64>>() / n as f64;
            let size = 1e-3 * step.powi(2) * spin.norm().powi(3);
            let impulses: Vec<_> = points.iter().map(|p| (p.1 - mean) * size).collect();
            let mut after: Vec<_> = (0..n).map(|i| before[i] + impulses[i] / masses[i]).collect();
            let arms: Vec<_> = (0..n).map(|i| start[i] + before[i] * (1.0 - theta_vq) * step).collect();
            let ends: Vec<_> = (0..n).map(|i| arms[i] + after[i] * theta_vq * step).collect();
            let vertices = VertexStep {
                arms: &arms,
                ends: &ends,
                velocities: &after,
                held: &vec![[false; 3]; n],
                rotational_inertia: Matrix3::zeros(),
                length_s: step,
            };
            let motion = vertices.missing_motion(
                &mut VertexFields::default(),
                |x, y| (0..n).for_each(|i| y[i] = x[i] * masses[i]),
                |p| {
                    p.copy_from_slice(&impulses);
                    Vector3::zeros()
                },
            );
            // Points that happen to lie on the axis barely turn with it.
            prop_assume!(motion.is_some());
            let motion = motion.unwrap();
            (0..n).for_each(|i| after[i] += motion.velocity_at(&ends[i]));
            let momentum = |q: &[Vector3<f64>], v: &[Vector3<f64>]| -> [Vector3<f64>; 2] {
                let p: Vec<Vector3<f64>> = (0..n).map(|i| v[i] * masses[i]).collect();
                [p.iter().sum(), q.iter().zip(&p).map(|(q, p)| q.cross(p)).sum()]
            };
            let (at_start, at_end) = (momentum(&start, &before), momentum(&ends, &after));
            for (before, after) in at_start.iter().zip(&at_end) {
                prop_assert!((after - before).norm() < 1e-12, "{before} {after}");
            }
        }
    }

    fn motion(held: &[usize], size: f64) -> Option<RigidMotion> {
        let corners = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
        let mut components = [[false; 3]; 4];
        held.iter().for_each(|i| components[*i] = [true; 3]);
        let spin = Vector3::repeat(1.0);
        let vertices = VertexStep {
            arms: &corners,
            ends: &corners,
            velocities: &corners.map(|q| spin.cross(&q)),
            held: &components,
            rotational_inertia: Matrix3::zeros(),
            length_s: 0.1,
        };
        let pulls = [Vector3::zeros(), Vector3::z(), Vector3::x(), Vector3::y()];
        let impulses = |p: &mut [Vector3<f64>]| {
            p.copy_from_slice(&pulls.map(|p| p * size));
            Vector3::zeros()
        };
        let mut memory = VertexFields::default();
        vertices.missing_motion(&mut memory, |x, y| y.copy_from_slice(x), impulses)
    }

    #[test]
    fn supports_admit_rotations_about_a_point_or_a_line_and_none_about_a_triangle() {
        // The torque of the pulls about the first corner is −size (1, 1, 1), the inertia 2 about each axis.
        let size = 1e-3;
        let about_a_point = motion(&[0], size).unwrap();
        assert!(about_a_point.linear.norm() < 1e-15);
        assert!((about_a_point.angular - Vector3::repeat(size / 2.0)).norm() < 1e-15);
        let about_a_line = motion(&[0, 1], size).unwrap();
        assert!((about_a_line.angular - Vector3::x() * (size / 2.0)).norm() < 1e-15);
        assert_eq!(motion(&[0, 1, 2], size), None);
    }

    #[test]
    fn the_change_is_at_most_twice_that_of_the_spin() {
        let spin = 3.0_f64.sqrt();
        let change = motion(&[0], 1e3).unwrap().angular.norm();
        assert!((change - 2.0 * (0.1 * spin).powi(2) * spin).abs() < 1e-12);
    }
}
