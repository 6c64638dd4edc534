//! The choice of a linear solver for Newton's systems.

use std::fmt;
use std::ops::Add;

use serde::{Deserialize, Serialize};

/// How [`Newton`](crate::Newton) solves H Δv = −∇ℓ. All choices find the same minimiser within the tolerance.
///
/// ```
/// use nalgebra::Vector3;
/// # use pliant_contact_sap::conformance::MassSpringNet;
/// use pliant_contact_sap::*;
///
/// // A net in free fall, of which one node meets a limit: 300 velocities.
/// # let (net, control) = (MassSpringNet::default(), Control::default());
/// # let (mut step, mut v0) = (net.new_step(), Vec::new());
/// # step.begin(&net.default_state(), &StepInput::new(0.01, Vector3::new(0.0, 0.0, -9.81), &control))?;
/// # step.linearise_start(&mut v0)?;
/// # let mut factors = BlockFactors::default();
/// # factors.factor(&[step.dynamics()])?;
/// # let mut constraints = ConstraintSet::default();
/// # let label = ConstraintLabel { kind: RowKind::LowerLimit, index: 2 };
/// # let mut own = constraints.internal(ParticipantIdx(0), &factors);
/// # let law = RowLaw::Limit(Limit::near_rigid(0.01, 0.0, own.inverse_inertia(2)));
/// # own.velocity(2, law, label);
/// let problem = ContactProblem { dynamics: &[step.dynamics()], constraints: &constraints };
/// let systems = |linear_algebra| {
///     let mut solver = Newton::new(NewtonSettings { linear_algebra, ..NewtonSettings::default() });
///     Ok::<_, SolveError>(solver.solve(&problem, &v0, &mut Solution::default())?.systems)
/// };
/// let direct = systems(LinearAlgebra::Direct)?;
/// assert!(direct.sparse >= 1 && direct.schur == 0);
/// let schur = systems(LinearAlgebra::Schur)?; // in the three velocities of one node
/// assert!(schur.sparse == 0 && schur.schur >= 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LinearAlgebra {
    /// By the cost of the island's systems. [`LinearAlgebra::Schur`] if its sparse bodies have so few participating
    /// vertices that eliminating the others pays within ten systems; otherwise [`LinearAlgebra::Mixed`] if a factor costs
    /// more than twenty million multiplications; otherwise [`LinearAlgebra::Direct`].
    #[default]
    Automatic,
    /// Cholesky factors of H: dense up to 48 velocities, block sparse beyond, in the cheaper of two elimination orders.
    Direct,
    /// Conjugate gradients, preconditioned by a single-precision Cholesky factor of H or of an earlier Newton step's H. Falls
    /// back to [`LinearAlgebra::Direct`] if they do not converge.
    Mixed,
    /// Velocities of vertices without constraints are eliminated once per step. Newton's method then works with the Schur
    /// complement of each sparse body: block tridiagonal for a filament, full for a solid.
    ///
    /// Source: Han, Masterjohn, Castro (2023), section VI.
    Schur,
}

impl LinearAlgebra {
    /// All choices.
    pub const ALL: [LinearAlgebra; 4] = [
        LinearAlgebra::Automatic,
        LinearAlgebra::Direct,
        LinearAlgebra::Mixed,
        LinearAlgebra::Schur,
    ];

    /// Its name in scene files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            LinearAlgebra::Automatic => "automatic",
            LinearAlgebra::Direct => "direct",
            LinearAlgebra::Mixed => "mixed",
            LinearAlgebra::Schur => "schur",
        }
    }
}

impl fmt::Display for LinearAlgebra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Number of Newton's linear systems by solution method, over all islands.
///
/// ```
/// use pliant_contact_sap::LinearSystems;
///
/// let step = LinearSystems { dense: 12, ..LinearSystems::default() };
/// let sum = step + LinearSystems { mixed: 3, ..LinearSystems::default() };
/// assert_eq!(sum.to_string(), "12 dense, 3 mixed");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinearSystems {
    /// By a dense factor.
    pub dense: usize,
    /// By a sparse factor.
    pub sparse: usize,
    /// By conjugate gradients, preconditioned by a sparse factor in single precision.
    pub mixed: usize,
    /// By a factor of the Schur complements of sparse bodies.
    pub schur: usize,
}

impl Add for LinearSystems {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            dense: self.dense + other.dense,
            sparse: self.sparse + other.sparse,
            mixed: self.mixed + other.mixed,
            schur: self.schur + other.schur,
        }
    }
}

impl fmt::Display for LinearSystems {
    /// `12 dense, 3 mixed`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            (self.dense, "dense"),
            (self.sparse, "sparse"),
            (self.mixed, "mixed"),
            (self.schur, "Schur"),
        ];
        let mut used = kinds.iter().filter(|(n, _)| *n > 0).peekable();
        if used.peek().is_none() {
            return f.write_str("none");
        }
        for (k, (n, name)) in used.enumerate() {
            let separator = if k > 0 { ", " } else { "" };
            write!(f, "{separator}{n} {name}")?;
        }
        Ok(())
    }
}
