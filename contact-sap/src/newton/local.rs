//! The part of a large island in which the residual sits, solved with the rest held.
//!
//! In a heap of hundreds of bodies nearly all contacts are solved after a few iterations, or from the start; a body that lands
//! somewhere keeps the whole heap iterating. Minimising over the velocities of few participants lowers the same convex
//! cost, so that the iteration of the whole may go on from there: its limit stays, and its work grows with the heap only
//! as often as the heap as a whole has changed.
//!
//! Source: nonlinear elimination, Lanzkron, Rose, Wilkes (1996), "An analysis of approximate nonlinear elimination".

use crate::evaluation::{Evaluation, Residual};
use crate::friction_tangent::DualEstimates;
use crate::island::{Island, IslandProblem};
use crate::islands::IslandAnswer;
use crate::solver::StopCriteria;

/// How much of the residual may sit outside of the participants that a part grows from.
const LEFT_OUTSIDE: f64 = 0.05;

/// Neighbours of neighbours that a part takes in: what happens in its middle fades on the way to its border.
const RINGS: u8 = 2;

/// A part of this share of an island's participants is not worth the detour.
const SHARE_MAX: f64 = 0.3;

/// A part must have brought the residual down to this share, otherwise the whole moves next.
const REDUCTION: f64 = 0.3;

/// Iterations of a part.
const ITERATIONS_MAX: usize = 12;

/// A part of an island as an island of its own.
#[derive(Default)]
pub(crate) struct LocalPart {
    pub(crate) island: Island,
    /// When the part's own iteration stops.
    pub(crate) stop: StopCriteria,
    /// Where it begins and ends.
    pub(crate) answer: IslandAnswer,
    /// Of each basis of the part: its index in the whole.
    bases: Vec<usize>,
    /// Of each participant of the whole: ‖D∇ℓ‖² over its velocities.
    residual: Vec<f64>,
    order: Vec<usize>,
    /// Of each participant of the whole: the ring that it came in with.
    ring: Vec<Option<u8>>,
    /// Of each node of the whole: its participant.
    member_of_node: Vec<usize>,
    /// Of each participant of the whole: first velocity and node of it in the part minus those in the whole.
    moved: Vec<(isize, isize)>,
    /// The residual of the whole before the last part was solved.
    before: Option<f64>,
    /// Islands of fewer participants have no parts.
    members_min: usize,
}

impl LocalPart {
    /// Before the iteration of the whole begins; islands of fewer than `members_min` participants have no parts.
    pub(crate) fn begin(&mut self, p: &IslandProblem<'_>, members_min: usize) {
        self.before = None;
        self.members_min = members_min;
        self.member_of_node.clear();
        if p.island.members.len() < members_min {
            return;
        }
        let starts = &p.island.node_starts[..p.island.n_nodes()];
        let members = &p.island.members;
        self.member_of_node.extend(
            starts
                .iter()
                .map(|&dof| members.partition_point(|m| m.first_dof <= dof) - 1),
        );
    }

    /// The whole has moved by itself.
    pub(crate) fn forget(&mut self) {
        self.before = None;
    }

    /// Lays out the part in which the residual sits, the rest held at the velocities of `e`; false if there is none that is
    /// small enough, or the last one helped little.
    pub(crate) fn choose(
        &mut self,
        p: &IslandProblem<'_>,
        e: &Evaluation,
        residual: Residual,
        tolerance: f64,
    ) -> bool {
        let n = p.island.members.len();
        let stuck = self
            .before
            .is_some_and(|before| residual.norm > REDUCTION * before);
        if n < self.members_min || stuck {
            return false;
        }
        let most = (SHARE_MAX * n as f64) as usize;
        let Some(outside) = self.seed(p, e, residual.norm, tolerance, most) else {
            return false;
        };
        let mut n_taken = self.ring.iter().flatten().count();
        for ring in 1..=RINGS {
            for basis in &p.island.bases {
                let pieces = &p.island.pieces[basis.pieces.clone()];
                let touched = pieces.iter().any(|piece| {
                    self.ring[self.member_of_node[piece.node]].is_some_and(|r| r < ring)
                });
                for piece in pieces.iter().filter(|_| touched) {
                    let own = &mut self.ring[self.member_of_node[piece.node]];
                    if own.is_none() {
                        *own = Some(ring);
                        n_taken += 1;
                    }
                }
            }
            if n_taken > most {
                return false;
            }
        }
        self.lay_out(p, e);
        self.stop = StopCriteria {
            absolute_tolerance: f64::max(0.5 * outside, 0.3 * tolerance),
            relative_tolerance: 0.0,
            iterations_max: ITERATIONS_MAX,
        };
        self.before = Some(residual.norm);
        true
    }

    /// Marks the participants with the largest residuals as ring 0; returns the residual of the others, or `None` if it takes
    /// more than `most`.
    fn seed(
        &mut self,
        p: &IslandProblem<'_>,
        e: &Evaluation,
        norm: f64,
        tolerance: f64,
        most: usize,
    ) -> Option<f64> {
        let members = &p.island.members;
        self.residual.clear();
        self.residual.extend(members.iter().map(|m| {
            let own = e.gradient[m.dofs()].iter().zip(&e.scale[m.dofs()]);
            own.map(|(g, d)| (d * g) * (d * g)).sum::<f64>()
        }));
        self.order.clear();
        self.order.extend(0..members.len());
        let residual = &self.residual;
        self.order
            .sort_unstable_by(|&a, &b| residual[b].total_cmp(&residual[a]).then(a.cmp(&b)));
        let allowed = f64::max(LEFT_OUTSIDE * norm, 0.3 * tolerance).powi(2);
        // Accumulated from the small end, so that nothing cancels.
        let mut outside = 0.0;
        let mut kept = members.len();
        while kept > 0 && outside + residual[self.order[kept - 1]] <= allowed {
            outside += residual[self.order[kept - 1]];
            kept -= 1;
        }
        if kept == 0 || kept > most {
            return None;
        }
        self.ring.clear();
        self.ring.resize(members.len(), None);
        for &m in &self.order[..kept] {
            self.ring[m] = Some(0);
        }
        Some(outside.sqrt())
    }

    fn lay_out(&mut self, p: &IslandProblem<'_>, e: &Evaluation) {
        self.island.clear();
        self.bases.clear();
        self.moved.clear();
        let mut whole_node = 0;
        for (member, ring) in p.island.members.iter().zip(&self.ring) {
            let first_node = whole_node;
            while whole_node < p.island.n_nodes()
                && p.island.node_starts[whole_node] < member.dofs().end
            {
                whole_node += 1;
            }
            let nodes = first_node..whole_node;
            self.moved.push((
                self.island.n_dofs as isize - member.first_dof as isize,
                self.island.n_nodes() as isize - first_node as isize,
            ));
            if ring.is_some() {
                self.island.add_member_of(p.island, member, nodes);
            }
        }
        for b in 0..p.island.bases.len() {
            let home = |node: usize| {
                let member = self.member_of_node[node];
                self.ring[member].map(|_| self.moved[member])
            };
            if self.island.add_basis_of(p, b, &e.v, home) {
                self.bases.push(b);
            }
        }
    }

    /// Velocities and estimates of the whole, for the part to start from.
    pub(super) fn restrict(
        &mut self,
        p: &IslandProblem<'_>,
        e: &Evaluation,
        estimates: &DualEstimates,
        of_part: &mut DualEstimates,
    ) {
        let mut velocity = std::mem::take(&mut self.answer.velocity);
        velocity.resize(self.island.n_dofs, 0.0);
        self.for_each_member(p, |whole, part| {
            velocity[part].copy_from_slice(&e.v[whole]);
        });
        self.answer.velocity = velocity;
        of_part.resize(self.island.n_contacts);
        for (part, &b) in self.island.bases.iter().zip(&self.bases) {
            let whole = p.island.bases[b].first_contact;
            of_part.copy(part.first_contact, estimates, whole, part.contacts.len());
        }
    }

    /// The reverse of [`LocalPart::restrict`].
    pub(super) fn extend(
        &self,
        p: &IslandProblem<'_>,
        of_part: &DualEstimates,
        e: &mut Evaluation,
        estimates: &mut DualEstimates,
    ) {
        let v = e.velocities_mut();
        self.for_each_member(p, |whole, part| {
            v[whole].copy_from_slice(&self.answer.velocity[part]);
        });
        for (part, &b) in self.island.bases.iter().zip(&self.bases) {
            let whole = p.island.bases[b].first_contact;
            estimates.copy(whole, of_part, part.first_contact, part.contacts.len());
        }
    }

    /// Calls `each` with the velocities of every participant of the part: in the whole, and in the part.
    fn for_each_member(
        &self,
        p: &IslandProblem<'_>,
        mut each: impl FnMut(std::ops::Range<usize>, std::ops::Range<usize>),
    ) {
        let taken = p.island.members.iter().zip(&self.ring);
        let taken = taken.filter(|(_, ring)| ring.is_some());
        for ((whole, _), part) in taken.zip(&self.island.members) {
            each(whole.dofs(), part.dofs());
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::Vector3;

    use crate::constraint_set::ConstraintSet;
    use crate::dynamics::{DenseDynamics, Dynamics};
    use crate::law::{ContactLaw, ContactParameters, Dissipation, Lagged};
    use crate::newton::Newton;
    use crate::newton_cg::NewtonCg;
    use crate::problem::{ContactProblem, ParticipantIdx};
    use crate::rows::Rows;
    use crate::solver::{ConvexContactSolver, Solution, StopReason};

    const N: usize = 300;

    /// A row of point masses on a floor, pressed against each other; one of them is struck.
    fn row_of_masses(struck: Vector3<f64>) -> (Vec<DenseDynamics>, ConstraintSet) {
        let bodies = (0..N).map(|i| {
            let mut a = vec![0.0; 9];
            (0..3).for_each(|k| a[4 * k] = 1.0);
            let v = if i == N / 3 {
                struck
            } else {
                Vector3::new(0.0, 0.0, -0.1)
            };
            DenseDynamics::new(a, v.as_slice().to_vec())
        });
        let mut set = ConstraintSet::default();
        let mut rows = Rows::default();
        rows.reset(3);
        rows.identity(0, 0, 3);
        let mut touch = |i: usize, other: Option<usize>, normal: Vector3<f64>| {
            let parameters = ContactParameters {
                time_step: 0.01.into(),
                signed_distance: -1e-3,
                start_velocity: 0.0,
                stiffness: 1e3,
                dissipation: Dissipation::HuntCrossley(1.0),
                friction: 0.5,
                stiction_speed: 1e-3,
                inverse_inertia: 1.0,
                near_rigid: 0.1,
            };
            let mut basis = set.basis(3);
            basis.rows(ParticipantIdx(i), &rows, 0, 1.0);
            if let Some(other) = other {
                basis.rows(ParticipantIdx(other), &rows, 0, -1.0);
            }
            let law = ContactLaw::Lagged(Lagged::new(&parameters, normal, 0.1));
            basis.stencil_contact([1.0], None, Vector3::zeros(), law);
        };
        for i in 0..N {
            touch(i, None, Vector3::z());
            if i > 0 {
                touch(i, Some(i - 1), Vector3::x());
            }
        }
        (bodies.collect(), set)
    }

    #[test]
    fn a_stroke_in_a_long_row_is_solved_where_it_falls() {
        let solve = |solver: &mut dyn ConvexContactSolver, struck, guess: &[f64]| {
            let (bodies, set) = row_of_masses(struck);
            let dynamics: Vec<&dyn Dynamics> = bodies.iter().map(|d| d as &dyn Dynamics).collect();
            let problem = ContactProblem {
                dynamics: &dynamics,
                constraints: &set,
            };
            let mut solution = Solution::default();
            let report = solver.solve(&problem, guess, &mut solution);
            (report.expect("a legal problem"), solution)
        };
        let mut newton = Newton::default();
        let (rest, at_rest) = solve(&mut newton, Vector3::new(0.0, 0.0, -0.1), &[0.0; 3 * N]);
        assert_eq!(rest.stop, StopReason::Converged);

        let struck = Vector3::new(0.6, 0.3, -2.0);
        let (report, found) = solve(&mut newton, struck, &at_rest.velocity);
        assert_eq!(report.stop, StopReason::Converged);
        assert!(report.inner_iterations > 0, "{report:?}");
        assert!(report.iterations < report.inner_iterations, "{report:?}");
        let (_, expected) = solve(&mut NewtonCg::default(), struck, &at_rest.velocity);
        let size = expected
            .velocity
            .iter()
            .map(|v| v.abs())
            .fold(0.0, f64::max);
        assert!(size > 0.1);
        for (found, expected) in found.velocity.iter().zip(&expected.velocity) {
            assert!((found - expected).abs() < 1e-4 * size);
        }
    }
}
