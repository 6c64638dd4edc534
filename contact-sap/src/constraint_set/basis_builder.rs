//! Fills one basis of a [`ConstraintSet`] with rows of participants and with constraints.

use nalgebra::Vector3;

use super::labels::{BasisId, ConstraintLabel, ContactIdx, RowIdx};
use super::{
    BasisRecord, ConstraintSet, ContactInterpolation, ContactRecord, RowInterpolation, RowRecord,
};
use crate::block_factors::BlockFactors;
use crate::law::{ContactLaw, RowLaw};
use crate::participant::ParticipantIdx;
use crate::rows::{BasisRows, Entries, RowBlock, Rows};

/// Adds rows and constraints to a basis; made by [`ConstraintSet::basis`].
///
/// A contact's `bias` (m/s, world axes) is added to its velocity: v_c = Φu + bias; minus the velocity of a moving
/// surface such as a belt, otherwise zero.
///
/// ```
/// use pliant_contact_sap::*;
///
/// // Masses of 2 kg and 4 kg on a line; the coordinate u = v_1 − v_0 of their relative motion.
/// let masses = [[2.0], [4.0]].map(|m| DenseDynamics::diagonal(&m, vec![0.0]));
/// let mut factors = BlockFactors::default();
/// factors.factor(&[&masses[0] as &dyn Dynamics, &masses[1]])?;
/// let mut velocity = Rows::default();
/// velocity.reset(1);
/// velocity.identity(0, 0, 1);
/// let mut set = ConstraintSet::default();
/// let mut basis = set.basis(1);
/// basis.rows(ParticipantIdx(1), &velocity, 0, 1.0);
/// basis.rows(ParticipantIdx(0), &velocity, 0, -1.0);
/// let mut w = Vec::new();
/// basis.delassus(&mut factors, &mut w);
/// assert!((w[0] - (1.0 / 2.0 + 1.0 / 4.0)).abs() < 1e-15); // the inverse of their reduced mass
/// # Ok::<(), SolveError>(())
/// ```
#[derive(Debug)]
pub struct BasisBuilder<'a> {
    pub(super) set: &'a mut ConstraintSet,
}

impl BasisBuilder<'_> {
    /// The basis being filled.
    #[must_use]
    pub fn id(&self) -> BasisId {
        BasisId(self.set.bases.len() - 1)
    }

    /// Adds `scale` times the rows of `participant`, its row 0 at `first_row`. A participant may be added any number of
    /// times. Rows of several participants at the same `first_row` are summed: a relative twist is the difference of two.
    ///
    /// # Panics
    /// The rows exceed the basis.
    pub fn rows(&mut self, participant: ParticipantIdx, rows: &Rows, first_row: usize, scale: f64) {
        let set = &mut *self.set;
        let basis = set.bases.last_mut().expect("a builder has a basis");
        assert!(
            first_row + rows.n_rows <= basis.n_rows,
            "rows exceed the basis"
        );
        for (k, b) in rows.bias.iter().enumerate() {
            set.bias[basis.row0 + first_row + k] += scale * b;
        }
        for block in &rows.blocks {
            let entries = match block.entries {
                Entries::Identity if scale == 1.0 => Entries::Identity,
                Entries::Identity => {
                    let start = set.block_values.len();
                    let n = block.n_rows;
                    set.block_values.resize(start + n * n, 0.0);
                    for i in 0..n {
                        set.block_values[start + i * n + i] = scale;
                    }
                    Entries::Dense(start)
                }
                Entries::Dense(from) => {
                    let start = set.block_values.len();
                    let area = block.n_rows * block.n_dofs;
                    let values = &rows.values[from..from + area];
                    set.block_values.extend(values.iter().map(|x| scale * x));
                    Entries::Dense(start)
                }
            };
            let block = RowBlock {
                row: block.row + first_row,
                entries,
                ..*block
            };
            set.blocks.push((participant, block));
        }
        basis.blocks.end = set.blocks.len();
    }

    /// Adds a contact whose basis is one twist at O; `p_OQ` is the position of the contact point from O, m.
    pub fn twist_contact(
        &mut self,
        p_OQ: Vector3<f64>,
        bias: Vector3<f64>,
        law: ContactLaw,
    ) -> ContactIdx {
        self.contact(ContactInterpolation::Twist { p: p_OQ }, bias, law)
    }

    /// Adds a contact whose basis is point velocities, three rows a weight, and then, if `p_OQ` is given, a twist.
    pub fn stencil_contact(
        &mut self,
        weights: impl IntoIterator<Item = f64>,
        p_OQ: Option<Vector3<f64>>,
        bias: Vector3<f64>,
        law: ContactLaw,
    ) -> ContactIdx {
        let start = self.set.interpolation_values.len();
        self.set.interpolation_values.extend(weights);
        let n_points = self.set.interpolation_values.len() - start;
        let interpolation = ContactInterpolation::Stencil {
            weights: start,
            n_points,
            p: p_OQ,
        };
        self.contact(interpolation, bias, law)
    }

    /// Adds a contact with Φ given in full, 3×r column-major.
    ///
    /// # Panics
    /// `phi` does not have 3r values.
    pub fn dense_contact(
        &mut self,
        phi: &[f64],
        bias: Vector3<f64>,
        law: ContactLaw,
    ) -> ContactIdx {
        let r = self.record().n_rows;
        assert_eq!(phi.len(), 3 * r, "Φ of a contact is 3×r");
        let start = self.set.interpolation_values.len();
        self.set.interpolation_values.extend_from_slice(phi);
        self.contact(ContactInterpolation::Dense(start), bias, law)
    }

    /// Adds a scalar row on one coordinate of u.
    ///
    /// # Panics
    /// The basis has no such coordinate.
    pub fn coordinate(&mut self, coordinate: usize, law: RowLaw, label: ConstraintLabel) -> RowIdx {
        assert!(coordinate < self.record().n_rows, "no such coordinate");
        self.row(RowInterpolation::Coordinate(coordinate), law, label)
    }

    /// Adds a scalar row with Φ given in full, r values.
    ///
    /// # Panics
    /// `phi` does not have r values.
    pub fn dense_row(&mut self, phi: &[f64], law: RowLaw, label: ConstraintLabel) -> RowIdx {
        assert_eq!(phi.len(), self.record().n_rows, "Φ of a row is 1×r");
        let start = self.set.interpolation_values.len();
        self.set.interpolation_values.extend_from_slice(phi);
        self.row(RowInterpolation::Dense(start), law, label)
    }

    /// M = B D⁻¹Bᵀ of the rows added so far, r×r column-major: the inverse inertia of the basis' coordinates.
    pub fn delassus(&self, factors: &mut BlockFactors, out: &mut Vec<f64>) {
        let set = &self.set;
        let record = &set.bases[self.id().0];
        let basis = BasisRows {
            n_rows: record.n_rows,
            blocks: &set.blocks[record.blocks.clone()],
            values: &set.block_values,
        };
        factors.delassus(basis, out);
    }

    fn record(&mut self) -> &mut BasisRecord {
        self.set.bases.last_mut().expect("a builder has a basis")
    }

    fn contact(
        &mut self,
        interpolation: ContactInterpolation,
        bias: Vector3<f64>,
        law: ContactLaw,
    ) -> ContactIdx {
        self.set.contacts.push(ContactRecord {
            interpolation,
            bias,
            law,
        });
        let n = self.set.contacts.len();
        self.record().contacts.end = n;
        ContactIdx(n - 1)
    }

    fn row(
        &mut self,
        interpolation: RowInterpolation,
        law: RowLaw,
        label: ConstraintLabel,
    ) -> RowIdx {
        self.set.rows.push(RowRecord {
            interpolation,
            law,
            label,
        });
        let n = self.set.rows.len();
        self.record().rows.end = n;
        RowIdx(n - 1)
    }
}
