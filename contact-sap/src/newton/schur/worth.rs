//! Whether elimination pays, by what constraints touch first, then by what it costs: a surface that is touched nearly everywhere leaves a
//! dense matrix that nobody can hold.

use super::{Condensed, Member};
use crate::dynamics::Assembled;
use crate::island::IslandProblem;

impl Condensed {
    /// Whether there is a sparse body large enough for its elimination to matter.
    pub(in crate::newton) fn is_worth_a_look(&self, p: &IslandProblem<'_>) -> bool {
        const DOFS_MIN: usize = 300;
        let sparse =
            |member: &Member| matches!(p.dynamics(member).assembled(), Some(Assembled::Sparse(_)));
        let members = &p.island.members;
        members.iter().any(|m| m.n_dofs >= DOFS_MIN && sparse(m))
    }

    /// [`Condensed::begin`] where elimination promises to pay, by what is touched first, then by what it costs.
    pub(in crate::newton) fn begin_if_it_pays(&mut self, p: &IslandProblem<'_>) -> bool {
        /// Elimination pays for itself over so many systems: a step whose limits of friction settle solves ten and more,
        const SYSTEMS: f64 = 10.0;
        /// each of which costs this part of a factor otherwise: the first is exact, later ones are refined or rough.
        const SHARE_OF_FACTOR: f64 = 2.0 / 3.0;
        /// Reduced matrices of this share of the work of the bodies' own factors are no gain.
        const WORK_SHARE: f64 = 0.3;
        /// Nor are bodies of which more than this share stays.
        const KEPT_SHARE: f64 = 0.5;
        self.find_touched(p);
        let reduced = || self.bodies.iter().filter(|body| body.is_reduced);
        let n_dofs: usize = reduced().map(|body| body.n_dofs).sum();
        let n_kept: usize = reduced().map(|body| body.n_kept).sum();
        if n_dofs == 0 || n_kept as f64 > KEPT_SHARE * n_dofs as f64 {
            return false;
        }
        self.update_graphs(p);
        let reduced = || self.bodies.iter().filter(|body| body.is_reduced);
        let of_reduced: f64 = reduced().map(|b| (b.n_kept as f64).powi(3) / 6.0).sum();
        let of_whole: f64 = reduced().map(|b| b.body.factor_work).sum();
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
