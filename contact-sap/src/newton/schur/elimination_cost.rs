//! Whether elimination is cheaper than factors of the whole Hessian.
//!
//! Cheap bounds are tested first, as the Schur complement of a body with contacts nearly everywhere would be a huge full matrix.

use super::{Condensed, Member};
use crate::dynamics::Assembled;
use crate::island::IslandProblem;

impl Condensed {
    /// Whether there is a sparse body of at least 300 velocities.
    pub(in crate::newton) fn has_large_sparse_body(&self, p: &IslandProblem<'_>) -> bool {
        const DOFS_MIN: usize = 300;
        let sparse =
            |member: &Member| matches!(p.dynamics(member).assembled(), Some(Assembled::Sparse(_)));
        let members = &p.island.members;
        members.iter().any(|m| m.n_dofs >= DOFS_MIN && sparse(m))
    }

    /// [`Condensed::begin`] if elimination is cheaper by the estimates below.
    pub(in crate::newton) fn begin_if_cheaper(&mut self, p: &IslandProblem<'_>) -> bool {
        /// Systems per elimination: a time step with friction bound iterations solves ten and more.
        const SYSTEMS: f64 = 10.0;
        /// Cost of a system without elimination as a share of a double-precision factor, as later systems reuse
        /// single-precision factors.
        const SHARE_OF_FACTOR: f64 = 2.0 / 3.0;
        /// Largest work to factor the complements as a share of the work to factor the bodies.
        const WORK_SHARE: f64 = 0.3;
        /// Largest share of velocities kept.
        const KEPT_SHARE: f64 = 0.5;
        /// Fewest velocities for which sparse complements are laid out.
        const SPARSE_DOFS_MIN: usize = 1500;
        self.find_participating(p);
        let reduced = || self.bodies.iter().filter(|body| body.is_reduced);
        let n_dofs: usize = reduced().map(|body| body.n_dofs).sum();
        let n_kept: usize = reduced().map(|body| body.n_kept).sum();
        if n_dofs == 0 || n_kept as f64 > KEPT_SHARE * n_dofs as f64 {
            return false;
        }
        self.update_graphs(p);
        let reduced = || self.bodies.iter().filter(|body| body.is_reduced);
        let in_full: f64 = reduced().map(|b| (b.n_kept as f64).powi(3) / 6.0).sum();
        let of_whole: f64 = reduced().map(|b| b.body.factor_work).sum();
        if in_full >= WORK_SHARE * of_whole && n_dofs < SPARSE_DOFS_MIN {
            return false;
        }
        let mut reduced: Vec<_> = self.bodies.iter_mut().filter(|b| b.is_reduced).collect();
        for body in &mut reduced {
            let nodes = body.first_node..body.first_node + body.n_nodes;
            body.find_cliques(&self.participating[nodes]);
        }
        let at_least: f64 = reduced.iter().map(|b| b.complement_work_min()).sum();
        if at_least >= WORK_SHARE * of_whole {
            return false;
        }
        let of_reduced = reduced
            .iter_mut()
            .map(|b| b.lay_out_complement().factor_work());
        let of_reduced: f64 = of_reduced.sum();
        if of_reduced >= WORK_SHARE * of_whole {
            return false;
        }
        self.lay_out(p);
        let symbolic = self.bodies.iter().filter(|b| b.is_reduced);
        let symbolic = symbolic.filter_map(|b| b.symbolic.as_ref());
        let of_elimination: f64 = symbolic.map(|s| s.fronts.work()).sum();
        of_elimination + SYSTEMS * of_reduced < SYSTEMS * SHARE_OF_FACTOR * of_whole
    }
}
