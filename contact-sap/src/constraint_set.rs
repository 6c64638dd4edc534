//! All constraints of a step, grouped by basis, in flat memory that is reused between steps.

use std::ops::Range;

use nalgebra::Vector3;

use crate::block_factors::BlockFactors;
use crate::law::{ContactLaw, RowLaw};
use crate::participant::ParticipantIdx;
use crate::rows::{BasisRows, Entries, RowBlock, Rows};

/// Index of a contact, in the order of insertion.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::*;
///
/// # let ball = DenseDynamics::diagonal(&[2.0; 3], vec![0.0, 0.0, -2.0]);
/// # let mut rows = Rows::default();
/// # rows.reset(3);
/// # rows.identity(0, 0, 3);
/// # let mut set = ConstraintSet::default();
/// # let contact = ContactParameters {
/// #     time_step: 0.01.into(), signed_distance: 0.0, start_velocity: -1.0, stiffness: f64::INFINITY, friction: 0.5,
/// #     dissipation: Dissipation::HuntCrossley(0.0), stiction_speed: 1e-4, inverse_inertia: 0.5,
/// #     near_rigid: NEAR_RIGID_CONTACT,
/// # };
/// # let law = ContactLaw::Lagged(Lagged::new(&contact, Vector3::z(), 2.0));
/// // A ball of 2 kg that arrives at a rigid floor at 1 m/s.
/// let mut basis = set.basis(3);
/// basis.rows(ParticipantIdx(0), &rows, 0, 1.0);
/// let floor = basis.stencil_contact([1.0], None, Vector3::zeros(), law);
/// let problem = ContactProblem { dynamics: &[&ball as &dyn Dynamics], constraints: &set };
/// let mut solution = Solution::default();
/// let report = Newton::default().solve(&problem, &[0.0, 0.0, -1.0], &mut solution)?;
/// let gamma = &solution.contact_impulse[3 * floor.0..][..3]; // x, y, z
/// assert!(report.is_trusted() && (gamma[2] - 2.0).abs() < 1e-2);
/// # Ok::<(), SolveError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContactIdx(pub usize);

/// Index of a scalar row, in the order of insertion.
///
/// ```
/// use pliant_contact_sap::*;
///
/// # let cart = DenseDynamics::diagonal(&[2.0], vec![1.0]);
/// # let mut factors = BlockFactors::default();
/// # factors.factor(&[&cart as &dyn Dynamics])?;
/// # let mut set = ConstraintSet::default();
/// // A cart with the momentum of 1 N·s and a brake: the row's index finds its impulse in the solution.
/// # let label = ConstraintLabel { kind: RowKind::DryFriction, index: 0 };
/// let brake = RowLaw::Bilateral(Bilateral::dry_friction(0.4, 1e-3));
/// let row = set.internal(ParticipantIdx(0), &factors).velocity(0, brake, label);
/// let problem = ContactProblem { dynamics: &[&cart as &dyn Dynamics], constraints: &set };
/// let mut solution = Solution::default();
/// let report = Newton::default().solve(&problem, &[0.5], &mut solution)?;
/// assert!(report.is_trusted() && (solution.row_impulse[row.0] + 0.4).abs() < 1e-12);
/// assert!((solution.velocity[0] - 0.3).abs() < 1e-9); // 0.6 N·s of 2 kg
/// # Ok::<(), SolveError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowIdx(pub usize);

/// Index of a basis, in the order of insertion.
///
/// ```
/// use pliant_contact_sap::*;
///
/// // One basis for the joint of each of two trees.
/// let mut set = ConstraintSet::default();
/// let mut velocity = Rows::default();
/// velocity.reset(1);
/// velocity.identity(0, 0, 1);
/// let ids = [0, 1].map(|tree| {
///     let mut basis = set.basis(1);
///     basis.rows(ParticipantIdx(tree), &velocity, 0, 1.0);
///     basis.id()
/// });
/// assert_eq!(ids, [BasisId(0), BasisId(1)]);
/// assert_eq!(set.last_basis().id(), ids[1]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BasisId(pub usize);

/// Kind and index of a scalar row, for reporting its impulse.
///
/// ```
/// use pliant_contact_sap::*;
///
/// # let tree = DenseDynamics::diagonal(&[0.1; 3], vec![0.0; 3]);
/// # let mut factors = BlockFactors::default();
/// # factors.factor(&[&tree as &dyn Dynamics])?;
/// # let mut set = ConstraintSet::default();
/// // Dry friction of 0.1 N·m·s on joints 0 and 2 of a tree. The solution has one impulse a row; labels say whose it is.
/// let mut own = set.internal(ParticipantIdx(0), &factors);
/// for joint in [0, 2] {
///     let label = ConstraintLabel { kind: RowKind::DryFriction, index: joint };
///     own.velocity(joint as usize, RowLaw::Bilateral(Bilateral::dry_friction(0.1, 1e-3)), label);
/// }
/// let joints: Vec<u32> = (0..set.n_rows()).map(|row| set.row_label(RowIdx(row)).index).collect();
/// assert_eq!(joints, [0, 2]);
/// # Ok::<(), SolveError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstraintLabel {
    /// Its kind.
    pub kind: RowKind,
    /// Which one of its kind: a joint's velocity index for a body's own constraints, chosen by the caller otherwise.
    pub index: u32,
}

/// The kinds of scalar rows.
///
/// ```
/// use pliant_contact_sap::*;
///
/// // A joint with two stops. What each does to the joint is told apart by the kind of its row.
/// # let joint = DenseDynamics::diagonal(&[0.1], vec![-0.2]);
/// # let mut factors = BlockFactors::default();
/// # factors.factor(&[&joint as &dyn Dynamics])?;
/// # let mut set = ConstraintSet::default();
/// let mut own = set.internal(ParticipantIdx(0), &factors);
/// for (kind, gap) in [(RowKind::LowerLimit, 0.0), (RowKind::UpperLimit, 0.5)] {
///     let side = if kind == RowKind::LowerLimit { 1.0 } else { -1.0 };
///     let law = RowLaw::Limit(Limit::near_rigid(0.01, gap, own.inverse_inertia(0)));
///     own.combination(&[(0, side)], 0.0, law, ConstraintLabel { kind, index: 0 });
/// }
/// let problem = ContactProblem { dynamics: &[&joint as &dyn Dynamics], constraints: &set };
/// let mut solution = Solution::default();
/// let report = Newton::default().solve(&problem, &[0.0], &mut solution)?;
/// let pushes = (0..set.n_rows()).filter(|row| solution.row_impulse[*row] > 0.0);
/// let kinds: Vec<RowKind> = pushes.map(|row| set.row_label(RowIdx(row)).kind).collect();
/// assert!(report.is_trusted() && kinds == [RowKind::LowerLimit]);
/// # Ok::<(), SolveError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowKind {
    /// Lower joint limit.
    LowerLimit,
    /// Upper joint limit.
    UpperLimit,
    /// Actuator.
    Actuator,
    /// Dry joint friction.
    DryFriction,
    /// Coupler (mimic joint).
    Coupler,
    /// Ball, distance or weld between bodies.
    Bilateral,
    /// Anything else.
    Other,
}

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
    set: &'a mut ConstraintSet,
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
    set: &'a mut ConstraintSet,
    participant: ParticipantIdx,
    factors: &'a BlockFactors,
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
        terms: &[(usize, f64)],
        bias: f64,
        law: RowLaw,
        label: ConstraintLabel,
    ) -> RowIdx {
        let mut rows = std::mem::take(&mut self.set.scratch);
        rows.reset(1);
        for &(dof, coefficient) in terms {
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
