//! Indices of bases and constraints, and the labels of scalar rows.

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
