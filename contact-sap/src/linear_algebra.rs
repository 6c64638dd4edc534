//! How Newton's systems are solved: by a factor of H, by that of its Schur complement, or by conjugate gradients.

use std::fmt;
use std::ops::Add;

use serde::Serialize;

/// How [`Newton`](crate::Newton) solves H Δv = −∇ℓ. All ways lead to the same minimiser within the tolerance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LinearAlgebra {
    /// By what the systems of an island cost: [`LinearAlgebra::TwoLevel`] where it holds a body whose own factor would cost a
    /// hundred products with its A, until one of them has taken as long as two factors; [`LinearAlgebra::Schur`] where it holds
    /// sparse bodies of which so few vertices are touched that eliminating the others pays within ten systems; otherwise
    /// [`LinearAlgebra::Mixed`] where a factor costs more than twenty million multiplications, else [`LinearAlgebra::Direct`].
    #[default]
    Automatic,
    /// Cholesky factors of H: dense up to some fifty velocities, block sparse beyond, in the cheaper of two orders.
    Direct,
    /// Conjugate gradients, preconditioned by a Cholesky factor of H in single precision, which may be that of an earlier
    /// Newton step. Directly where iterations don't end.
    Mixed,
    /// The velocities of vertices that no constraint touches are eliminated once; Newton's method sees what is left of each
    /// sparse body: block tridiagonal for a filament, full for a body with an inside. What Han, Masterjohn, Castro (2023),
    /// section VI, do.
    Schur,
    /// Conjugate gradients, preconditioned on two levels: the inverse of the diagonal blocks of H, and that of H on the rigid
    /// motions of groups of some sixty points. The number of iterations hardly grows with a mesh, and contact is in both
    /// levels. Directly where iterations don't end.
    TwoLevel,
}

impl LinearAlgebra {
    /// All of them.
    pub const ALL: [LinearAlgebra; 5] = [
        LinearAlgebra::Automatic,
        LinearAlgebra::Direct,
        LinearAlgebra::Mixed,
        LinearAlgebra::Schur,
        LinearAlgebra::TwoLevel,
    ];

    /// Its name in scene files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            LinearAlgebra::Automatic => "automatic",
            LinearAlgebra::Direct => "direct",
            LinearAlgebra::Mixed => "mixed",
            LinearAlgebra::Schur => "schur",
            LinearAlgebra::TwoLevel => "two-level",
        }
    }
}

impl fmt::Display for LinearAlgebra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How many of Newton's systems were solved in which way, over all islands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LinearSystems {
    /// By a dense factor.
    pub dense: usize,
    /// By a sparse factor.
    pub sparse: usize,
    /// By conjugate gradients, preconditioned by a sparse factor in single precision.
    pub mixed: usize,
    /// By a factor of the matrices that elimination left of sparse bodies.
    pub schur: usize,
    /// By conjugate gradients, preconditioned on two levels.
    pub two_level: usize,
}

impl Add for LinearSystems {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            dense: self.dense + other.dense,
            sparse: self.sparse + other.sparse,
            mixed: self.mixed + other.mixed,
            schur: self.schur + other.schur,
            two_level: self.two_level + other.two_level,
        }
    }
}

impl fmt::Display for LinearSystems {
    /// `12 dense, 3 two-level`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            (self.dense, "dense"),
            (self.sparse, "sparse"),
            (self.mixed, "mixed"),
            (self.schur, "Schur"),
            (self.two_level, "two-level"),
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
