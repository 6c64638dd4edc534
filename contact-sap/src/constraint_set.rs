//! All constraints of a step, grouped by basis, in flat memory that is reused between steps.

mod basis_builder;
mod internal;
mod labels;

use std::ops::Range;

use nalgebra::Vector3;

use crate::block_factors::BlockFactors;
use crate::law::{ContactLaw, RowLaw};
use crate::participant::ParticipantIdx;
use crate::rows::{Entries, RowBlock, Rows};

pub use basis_builder::BasisBuilder;
pub use internal::InternalConstraints;
pub use labels::{BasisId, ConstraintLabel, ContactIdx, RowIdx, RowKind};

/// The constraints of one step. Filled basis by basis, then read by a solver.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::{Bilateral, RowKind, ConstraintLabel, ConstraintSet, ParticipantIdx, RowLaw, Rows};
///
/// // Dry friction of 0.2 N·m·s impulse bound on the only velocity of participant 0.
/// let mut rows = Rows::default();
/// rows.reset(1);
/// rows.identity(0, 0, 1);
/// let mut set = ConstraintSet::default();
/// let mut basis = set.basis(1);
/// basis.rows(ParticipantIdx(0), &rows, 0, 1.0);
/// let label = ConstraintLabel { kind: RowKind::DryFriction, index: 0 };
/// basis.coordinate(0, RowLaw::Bilateral(Bilateral::dry_friction(0.2, 1e-3)), label);
/// assert_eq!(set.n_rows(), 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ConstraintSet {
    pub(crate) bases: Vec<BasisRecord>,
    pub(crate) blocks: Vec<(ParticipantIdx, RowBlock)>,
    pub(crate) block_values: Vec<f64>,
    pub(crate) bias: Vec<f64>,
    pub(crate) contacts: Vec<ContactRecord>,
    pub(crate) rows: Vec<RowRecord>,
    pub(crate) interpolation_values: Vec<f64>,
    scratch: Rows,
}

/// One basis and its constraints.
#[derive(Clone, Debug)]
pub(crate) struct BasisRecord {
    pub(crate) n_rows: usize,
    /// Offset of this basis's rows in the stacked u of all bases.
    pub(crate) row0: usize,
    pub(crate) blocks: Range<usize>,
    pub(crate) contacts: Range<usize>,
    pub(crate) rows: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct ContactRecord {
    pub(crate) interpolation: ContactInterpolation,
    /// Added to Φu: minus the velocity of a moving surface.
    pub(crate) bias: Vector3<f64>,
    pub(crate) law: ContactLaw,
}

#[derive(Clone, Debug)]
pub(crate) struct RowRecord {
    pub(crate) interpolation: RowInterpolation,
    pub(crate) law: RowLaw,
    pub(crate) label: ConstraintLabel,
}

/// Φ of a contact, 3×r.
#[derive(Clone, Debug)]
pub(crate) enum ContactInterpolation {
    /// u is one twist at O: v_c = v_O + ω × p.
    Twist { p: Vector3<f64> },
    /// u is `n_points` point velocities and then, if `p` is given, a twist: v_c = Σ w_j u_j + (v_O + ω × p).
    Stencil {
        weights: usize,
        n_points: usize,
        p: Option<Vector3<f64>>,
    },
    /// 3×r, column-major, from this offset of `interpolation_values`.
    Dense(usize),
}

/// Φ of a scalar row, 1×r.
#[derive(Clone, Debug)]
pub(crate) enum RowInterpolation {
    Coordinate(usize),
    Dense(usize),
}

impl ConstraintSet {
    /// Empties the set, keeping the memory.
    pub fn clear(&mut self) {
        self.bases.clear();
        self.blocks.clear();
        self.block_values.clear();
        self.bias.clear();
        self.contacts.clear();
        self.rows.clear();
        self.interpolation_values.clear();
    }

    /// Begins a basis of `n_rows` velocity coordinates; constraints are added through the builder returned.
    pub fn basis(&mut self, n_rows: usize) -> BasisBuilder<'_> {
        let row0 = self.bias.len();
        self.bias.resize(row0 + n_rows, 0.0);
        self.bases.push(BasisRecord {
            n_rows,
            row0,
            blocks: self.blocks.len()..self.blocks.len(),
            contacts: self.contacts.len()..self.contacts.len(),
            rows: self.rows.len()..self.rows.len(),
        });
        BasisBuilder { set: self }
    }

    /// A builder for the last basis.
    ///
    /// # Panics
    /// There is no basis.
    pub fn last_basis(&mut self) -> BasisBuilder<'_> {
        assert!(!self.bases.is_empty(), "there is no basis");
        BasisBuilder { set: self }
    }

    /// Constraints of a participant with itself.
    pub fn internal<'a>(
        &'a mut self,
        participant: ParticipantIdx,
        factors: &'a BlockFactors,
    ) -> InternalConstraints<'a> {
        InternalConstraints {
            set: self,
            participant,
            factors,
        }
    }

    /// Calls `visit` with every scalar row in the order of its index: with (participant, velocity, coefficient) of its terms, its bias, its law.
    pub fn for_each_row(
        &self,
        mut visit: impl FnMut(&[(ParticipantIdx, usize, f64)], f64, &RowLaw),
    ) {
        let mut terms = Vec::new();
        for basis in &self.bases {
            for row in &self.rows[basis.rows.clone()] {
                let weights: Vec<f64> = match row.interpolation {
                    RowInterpolation::Coordinate(k) => (0..basis.n_rows)
                        .map(|i| f64::from(u8::from(i == k)))
                        .collect(),
                    RowInterpolation::Dense(start) => {
                        self.interpolation_values[start..start + basis.n_rows].to_vec()
                    }
                };
                terms.clear();
                for (participant, block) in &self.blocks[basis.blocks.clone()] {
                    for i in 0..block.n_rows {
                        for j in 0..block.n_dofs {
                            let value = match block.entries {
                                Entries::Identity => f64::from(u8::from(i == j)),
                                Entries::Dense(start) => {
                                    self.block_values[start + i + block.n_rows * j]
                                }
                            };
                            let coefficient = weights[block.row + i] * value;
                            if coefficient != 0.0 {
                                terms.push((*participant, block.dof + j, coefficient));
                            }
                        }
                    }
                }
                let bias = &self.bias[basis.row0..basis.row0 + basis.n_rows];
                let bias = bias.iter().zip(&weights).map(|(b, w)| b * w).sum();
                visit(&terms, bias, &row.law);
            }
        }
    }

    /// Number of contacts.
    #[must_use]
    pub fn n_contacts(&self) -> usize {
        self.contacts.len()
    }

    /// Number of scalar rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// Law of a contact, mutable: the next solve uses the change.
    pub fn contact_law_mut(&mut self, contact: ContactIdx) -> &mut ContactLaw {
        &mut self.contacts[contact.0].law
    }

    /// Label of a scalar row.
    #[must_use]
    pub fn row_label(&self, row: RowIdx) -> ConstraintLabel {
        self.rows[row.0].label
    }
}
