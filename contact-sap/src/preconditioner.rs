//! Preconditioners of conjugate gradients that need no assembled H.

use crate::block_hessian::BlockHessian;
use crate::island::IslandProblem;

/// An approximation of H⁻¹.
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
