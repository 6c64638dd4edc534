//! Constraints of a participant with itself: limits, actuators, couplers.

use core::borrow::Borrow;

use super::ConstraintSet;
use super::labels::{ConstraintLabel, RowIdx};
use crate::block_factors::BlockFactors;
use crate::law::RowLaw;
use crate::participant::ParticipantIdx;

/// Adds the constraints of a body with itself.
///
/// ```
/// use pliant_contact_sap::*;
///
/// // A gear: joint 1 turns at twice the speed of joint 0, v_c = v_1 − 2 v_0 = 0.
/// let tree = DenseDynamics::diagonal(&[0.5, 0.1], vec![0.0; 2]);
/// let mut factors = BlockFactors::default();
/// factors.factor(&[&tree as &dyn Dynamics])?;
/// let mut set = ConstraintSet::default();
/// let mut own = set.internal(ParticipantIdx(0), &factors);
/// let w = own.inverse_inertia(1) + 4.0 * own.inverse_inertia(0);
/// assert!((w - 18.0).abs() < 1e-12); // 1/0.1 + 2²/0.5, 1/(kg·m²)
/// let law = RowLaw::Bilateral(Bilateral::near_rigid(0.01, 0.0, w));
/// let label = ConstraintLabel { kind: RowKind::Coupler, index: 1 };
/// let row = own.combination(&[(0, -2.0), (1, 1.0)], 0.0, law, label);
/// assert_eq!(set.row_label(row), label);
/// # Ok::<(), SolveError>(())
/// ```
#[derive(Debug)]
pub struct InternalConstraints<'a> {
    pub(super) set: &'a mut ConstraintSet,
    pub(super) participant: ParticipantIdx,
    pub(super) factors: &'a BlockFactors,
}

impl InternalConstraints<'_> {
    /// Adds a scalar row on velocity `dof`.
    pub fn velocity(&mut self, dof: usize, law: RowLaw, label: ConstraintLabel) -> RowIdx {
        let mut rows = std::mem::take(&mut self.set.scratch);
        rows.reset(1);
        rows.identity(0, dof, 1);
        let mut basis = self.set.basis(1);
        basis.rows(self.participant, &rows, 0, 1.0);
        let row = basis.coordinate(0, law, label);
        self.set.scratch = rows;
        row
    }

    /// Adds a scalar row that combines velocities: v_c = Σ coefficient · v_dof + bias.
    pub fn combination(
        &mut self,
        terms: impl IntoIterator<Item = impl Borrow<(usize, f64)>>,
        bias: f64,
        law: RowLaw,
        label: ConstraintLabel,
    ) -> RowIdx {
        let mut rows = std::mem::take(&mut self.set.scratch);
        rows.reset(1);
        for term in terms {
            let &(dof, coefficient): &(usize, f64) = term.borrow();
            rows.dense(0, 1, dof, 1)[0] = coefficient;
        }
        rows.bias_mut()[0] = bias;
        let mut basis = self.set.basis(1);
        basis.rows(self.participant, &rows, 0, 1.0);
        let row = basis.coordinate(0, law, label);
        self.set.scratch = rows;
        row
    }

    /// w of velocity `dof`: the diagonal of the inverse of its diagonal block of A, 1/kg or 1/(kg·m²).
    #[must_use]
    pub fn inverse_inertia(&self, dof: usize) -> f64 {
        self.factors.inverse_diagonal(self.participant, dof)
    }
}
