//! Preconditioners of conjugate gradients that need no assembled H.

use crate::block_hessian::BlockHessian;
use crate::island::IslandProblem;

/// An approximation of H⁻¹.
///
/// ```
/// use pliant_contact_sap::*;
///
/// /// Shafts of 1, 2, ..., 50 kg·m² whose differential gear turns a flywheel of 1000 kg·m² at the sum of their velocities.
/// struct Gear { b: Vec<f64> }
/// impl Dynamics for Gear {
///     fn right_hand_side(&self) -> &[f64] { &self.b }
///     // A = diag(i) + 1000 · 11ᵀ
/// #     fn apply(&self, x: &[f64], y: &mut [f64]) {
/// #         let output: f64 = x.iter().sum();
/// #         (0..50).for_each(|i| y[i] = (i + 1) as f64 * x[i] + 1e3 * output);
/// #     }
/// #     fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
/// #         const VALUES: [f64; 50] = {
/// #             let mut values = [1e3; 50];
/// #             let mut i = 0;
/// #             while i < 50 {
/// #                 values[i] += (i + 1) as f64;
/// #                 i += 1;
/// #             }
/// #             values
/// #         };
/// #         BlockDiagonal::Mixed { sizes: &[1; 50], values: &VALUES }
/// #     }
///     fn precondition(&self, x: &mut [f64]) -> bool {
///         // the exact A⁻¹, by the formula of Sherman and Morrison
///         (0..50).for_each(|i| x[i] /= (i + 1) as f64);
///         let (output, compliance) = (x.iter().sum::<f64>(), (1..=50).map(|i| 1.0 / f64::from(i)).sum::<f64>());
///         (0..50).for_each(|i| x[i] -= output / ((1e-3 + compliance) * (i + 1) as f64));
///         true
///     }
/// }
/// let gear = Gear { b: (0..50).map(|i| f64::from(i).sin()).collect() };
/// let problem = ContactProblem { dynamics: &[&gear as &dyn Dynamics], constraints: &ConstraintSet::default() };
/// let iterations = |preconditioner| {
///     let settings = NewtonCgSettings { preconditioner, ..NewtonCgSettings::default() };
///     let report = NewtonCg::new(settings).solve(&problem, &[0.0; 50], &mut Solution::default())?;
///     Ok::<_, SolveError>(report.inner_iterations)
/// };
/// assert!(iterations(Preconditioner::Body)? <= 3);
/// assert!(iterations(Preconditioner::BlockDiagonal)? > 10);
/// # Ok::<(), SolveError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preconditioner {
    /// The inverse of the diagonal blocks of H: includes contact, but no stiffness between blocks.
    #[default]
    BlockDiagonal,
    /// The body's own [`Dynamics::precondition`](crate::Dynamics::precondition), which includes its stiffness but no contact.
    /// Bodies without one have the diagonal blocks of H.
    Body,
}

impl Preconditioner {
    /// z = M⁻¹r; `blocks` are the factored diagonal blocks of H.
    pub(crate) fn apply(
        self,
        p: &IslandProblem<'_>,
        blocks: &BlockHessian,
        r: &[f64],
        z: &mut [f64],
    ) {
        z.copy_from_slice(r);
        match self {
            Preconditioner::BlockDiagonal => blocks.solve(p, 0..p.island.n_dofs, z),
            Preconditioner::Body => {
                for member in &p.island.members {
                    if !p.dynamics(member).precondition(&mut z[member.dofs()]) {
                        blocks.solve(p, member.dofs(), z);
                    }
                }
            }
        }
    }
}
