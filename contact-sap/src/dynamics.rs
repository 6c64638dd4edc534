//! One participant's linearised momentum balance A v = b + Jᵀγ.

use nalgebra::Vector3;

/// The linearised momentum balance A v = b + Jᵀγ of one participant, A symmetric positive definite.
///
/// b = A v* with v* the velocity of the unconstrained motion. A has units of kg for translations; n is the number of
/// velocities of the participant in this step.
///
/// ```
/// use pliant_contact_sap::*;
///
/// /// 0.5 kg on a line, given by products alone.
/// struct Bead;
/// impl Dynamics for Bead {
///     fn right_hand_side(&self) -> &[f64] { &[1.0] }
///     fn apply(&self, x: &[f64], y: &mut [f64]) { y[0] = 0.5 * x[0]; }
///     fn diagonal_blocks(&self) -> BlockDiagonal<'_> { BlockDiagonal::Whole(&[0.5]) }
/// }
/// let problem = ContactProblem { dynamics: &[&Bead as &dyn Dynamics], constraints: &ConstraintSet::default() };
/// let mut solution = Solution::default();
/// let report = NewtonCg::default().solve(&problem, &[0.0], &mut solution)?;
/// assert!(report.is_trusted() && (solution.velocity[0] - 2.0).abs() < 1e-6); // A⁻¹b
/// // Newton's method with factors requires `assembled`.
/// let refused = Newton::default().solve(&problem, &[0.0], &mut solution);
/// assert!(matches!(refused, Err(SolveError::NotAssembled { .. })));
/// # Ok::<(), SolveError>(())
/// ```
pub trait Dynamics: Send + Sync {
    /// b, length n, N·s.
    fn right_hand_side(&self) -> &[f64];
    /// y = A x, both of length n.
    fn apply(&self, x: &[f64], y: &mut [f64]);
    /// The blocks on the diagonal of A, covering every row exactly once: one for a kinematic tree, one for each
    /// vertex of a finite-element body. Scales, preconditioners and the effective inertia of contacts are made from
    /// them.
    fn diagonal_blocks(&self) -> BlockDiagonal<'_>;
    /// A itself, if the body assembles it. Direct solvers require it and report [`SolveError::NotAssembled`] otherwise.
    ///
    /// [`SolveError::NotAssembled`]: crate::SolveError::NotAssembled
    fn assembled(&self) -> Option<Assembled<'_>> {
        None
    }
    /// Overwrites `x` with an approximation of A⁻¹x and returns true, or leaves `x` unchanged and returns false. The
    /// approximation must be linear, symmetric and positive definite.
    fn precondition(&self, x: &mut [f64]) -> bool {
        let _ = x;
        false
    }
    /// Positions of the nodes of a grid, one for each diagonal block in their order, m. Sparse factors are then ordered by
    /// nested dissection along planes.
    fn grid_nodes(&self) -> Option<&[Vector3<f64>]> {
        None
    }
    /// Number of velocities n.
    fn n_dofs(&self) -> usize {
        self.right_hand_side().len()
    }
}

/// A in full.
///
/// ```
/// use nalgebra::Vector3;
/// # use pliant_contact_sap::conformance::MassSpringNet;
/// use pliant_contact_sap::{Assembled, Control, DeformableModel, DenseDynamics, Dynamics, StepInput};
///
/// // A cart has a dense A, a net of 100 nodes a sparse one.
/// let cart = DenseDynamics::diagonal(&[4.0], vec![0.0]);
/// assert!(matches!(cart.assembled(), Some(Assembled::Dense([4.0]))));
/// # let (net, control) = (MassSpringNet::default(), Control::default());
/// # let (mut step, mut v0) = (net.new_step(), Vec::new());
/// # step.begin(&net.default_state(), &StepInput::new(0.01, Vector3::zeros(), &control))?;
/// # step.linearise_start(&mut v0)?;
/// let Some(Assembled::Sparse(a)) = step.dynamics().assembled() else { panic!("a net assembles A") };
/// assert_eq!((a.rows(), a.cols()), (300, 300));
/// // A node is joined to at most eight others, so its columns have at most 27 entries.
/// assert!(a.outer_iterator().all(|column| column.nnz() <= 27));
/// # Ok::<(), pliant_contact_sap::BodyError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Assembled<'a> {
    /// n×n, column-major, both triangles stored.
    Dense(&'a [f64]),
    /// Compressed columns with both triangles stored and rows in ascending order within each column.
    Sparse(sprs::CsMatViewI<'a, f64, u32>),
}

/// The diagonal blocks of A, in order of their first row.
///
/// ```
/// use pliant_contact_sap::BlockDiagonal;
///
/// let values = [2.0, 1.0, 1.0, 3.0, 5.0];
/// let blocks = BlockDiagonal::Mixed { sizes: &[2, 1], values: &values };
/// let mut seen = Vec::new();
/// blocks.for_each(3, |block| seen.push((block.first_dof, block.size, block.values.to_vec())));
/// assert_eq!(seen, [(0, 2, vec![2.0, 1.0, 1.0, 3.0]), (2, 1, vec![5.0])]);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum BlockDiagonal<'a> {
    /// One block: the whole of A, n×n column-major.
    Whole(&'a [f64]),
    /// Consecutive 3×3 blocks, column-major, nine values each.
    Vertices(&'a [f64]),
    /// Blocks of any sizes that sum to n, values column-major one after the other.
    Mixed {
        /// Size of each block.
        sizes: &'a [usize],
        /// Values of all blocks.
        values: &'a [f64],
    },
}

/// One block of a [`BlockDiagonal`].
///
/// ```
/// use pliant_contact_sap::BlockDiagonal;
///
/// // The masses of two vertices, from the traces of their blocks m 1.
/// let values: Vec<f64> = [0.5, 0.2].iter().flat_map(|m| [*m, 0.0, 0.0, 0.0, *m, 0.0, 0.0, 0.0, *m]).collect();
/// let mut masses = Vec::new();
/// BlockDiagonal::Vertices(&values).for_each(6, |block| {
///     let trace: f64 = (0..block.size).map(|i| block.values[i * (block.size + 1)]).sum();
///     masses.push((block.first_dof, trace / 3.0));
/// });
/// assert_eq!((masses[0].0, masses[1].0), (0, 3));
/// assert!((masses[0].1 - 0.5).abs() < 1e-15 && (masses[1].1 - 0.2).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DiagonalBlock<'a> {
    /// First row and column within the participant.
    pub first_dof: usize,
    /// Rows and columns.
    pub size: usize,
    /// size×size, column-major.
    pub values: &'a [f64],
}

impl<'a> BlockDiagonal<'a> {
    /// Rows covered by the blocks of a matrix with `n_dofs` rows, and the number of values required.
    pub(crate) fn rows_and_values(&self, n_dofs: usize) -> (usize, usize) {
        match *self {
            BlockDiagonal::Whole(_) => (n_dofs, n_dofs * n_dofs),
            BlockDiagonal::Vertices(_) => (n_dofs / 3 * 3, n_dofs / 3 * 9),
            BlockDiagonal::Mixed { sizes, .. } => {
                (sizes.iter().sum(), sizes.iter().map(|n| n * n).sum())
            }
        }
    }

    /// The values of all blocks, one after the other.
    pub(crate) fn values(&self) -> &'a [f64] {
        match *self {
            BlockDiagonal::Whole(values)
            | BlockDiagonal::Vertices(values)
            | BlockDiagonal::Mixed { values, .. } => values,
        }
    }

    /// Calls `each` with every block in order; `n_dofs` is the size of A.
    pub fn for_each(&self, n_dofs: usize, mut each: impl FnMut(DiagonalBlock<'a>)) {
        let mut first_dof = 0;
        let mut offset = 0;
        let mut visit = |size: usize, values: &'a [f64]| {
            let area = size * size;
            each(DiagonalBlock {
                first_dof,
                size,
                values: &values[offset..offset + area],
            });
            first_dof += size;
            offset += area;
        };
        match *self {
            BlockDiagonal::Whole(values) => visit(n_dofs, values),
            BlockDiagonal::Vertices(values) => {
                for _ in 0..n_dofs / 3 {
                    visit(3, values);
                }
            }
            BlockDiagonal::Mixed { sizes, values } => {
                for &size in sizes {
                    visit(size, values);
                }
            }
        }
    }
}

/// A small dense participant: a kinematic tree, a test problem.
///
/// ```
/// use pliant_contact_sap::{DenseDynamics, Dynamics};
///
/// // A = [2 1; 1 3], column by column.
/// let tree = DenseDynamics::new(vec![2.0, 1.0, 1.0, 3.0], vec![0.0, 0.0]);
/// let mut y = [0.0; 2];
/// tree.apply(&[1.0, 2.0], &mut y);
/// assert_eq!(y, [4.0, 7.0]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct DenseDynamics {
    matrix: Vec<f64>,
    right_hand_side: Vec<f64>,
}

impl DenseDynamics {
    /// A (n×n, column-major, symmetric) and b (length n). Values are checked by the solver, which names the participant.
    ///
    /// # Panics
    /// The lengths do not match.
    #[must_use]
    pub fn new(matrix: Vec<f64>, right_hand_side: Vec<f64>) -> Self {
        let n = right_hand_side.len();
        assert_eq!(matrix.len(), n * n, "A must be n×n for b of length n");
        Self {
            matrix,
            right_hand_side,
        }
    }

    /// Diagonal A, and b of the same length.
    #[must_use]
    pub fn diagonal(diagonal: &[f64], right_hand_side: Vec<f64>) -> Self {
        let n = diagonal.len();
        let mut matrix = vec![0.0; n * n];
        for (i, a) in diagonal.iter().enumerate() {
            matrix[i * (n + 1)] = *a;
        }
        Self::new(matrix, right_hand_side)
    }

    /// Makes room for n velocities and returns (A, b) to be filled.
    pub fn resize(&mut self, n: usize) -> (&mut [f64], &mut [f64]) {
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        self.right_hand_side.clear();
        self.right_hand_side.resize(n, 0.0);
        (&mut self.matrix, &mut self.right_hand_side)
    }

    /// (A, b), mutable.
    pub fn parts_mut(&mut self) -> (&mut [f64], &mut [f64]) {
        (&mut self.matrix, &mut self.right_hand_side)
    }
}

impl Dynamics for DenseDynamics {
    fn right_hand_side(&self) -> &[f64] {
        &self.right_hand_side
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let n = self.right_hand_side.len();
        y.fill(0.0);
        for (column, &x_j) in self.matrix.chunks_exact(n.max(1)).zip(x) {
            for (y_i, a_ij) in y.iter_mut().zip(column) {
                *y_i += a_ij * x_j;
            }
        }
    }

    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        BlockDiagonal::Whole(&self.matrix)
    }

    fn assembled(&self) -> Option<Assembled<'_>> {
        Some(Assembled::Dense(&self.matrix))
    }
}
