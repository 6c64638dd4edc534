//! Cholesky factors of the diagonal blocks of every A, and the effective inertia of constraints by them.

use crate::dynamics::BlockDiagonal;
use crate::error::SolveError;
use crate::participant::{ParticipantIdx, Participants};
use crate::rows::{BasisRows, Entries};
use crate::small_cholesky::{self, cholesky_in_place, solve_lower};

/// D = LLᵀ for the block diagonal D of A, participant by participant.
///
/// Its inverse estimates the Delassus operator, W ≈ J D⁻¹Jᵀ, from which constraints set their regularisation
/// (Castro, Permenter, Han 2022, section V-A).
///
/// ```
/// use pliant_contact_sap::{BlockFactors, DenseDynamics, Dynamics, ParticipantIdx};
///
/// let (cart, flywheel) = (DenseDynamics::diagonal(&[4.0], vec![0.0]), DenseDynamics::diagonal(&[0.5], vec![0.0]));
/// let mut factors = BlockFactors::default();
/// factors.factor(&[&cart as &dyn Dynamics, &flywheel])?;
/// // An impulse of 1 N·m·s turns the flywheel (0.5 kg·m²) at 2 rad/s.
/// let mut x = [1.0];
/// factors.solve(ParticipantIdx(1), &mut x);
/// assert!((x[0] - 2.0).abs() < 1e-15);
/// assert!((factors.inverse_diagonal(ParticipantIdx(0), 0) - 0.25).abs() < 1e-15);
/// # Ok::<(), pliant_contact_sap::SolveError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct BlockFactors {
    participants: Vec<Factored>,
    values: Vec<f64>,
    /// For each block of a [`BlockDiagonal::Mixed`]: its first velocity and its offset in the participant's values. One more
    /// entry closes each participant.
    mixed: Vec<(usize, usize)>,
    /// (D⁻¹)_jj of all velocities, one participant after the other.
    inverse_diagonal: Vec<f64>,
    gather: Vec<f64>,
    /// Rows of a basis that involve the current diagonal block.
    rows: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Factored {
    n_dofs: usize,
    first_dof: usize,
    first_value: usize,
    blocks: Blocks,
}

#[derive(Clone, Copy, Debug)]
enum Blocks {
    Whole,
    Vertices,
    /// First block and number of blocks.
    Mixed(usize, usize),
}

impl BlockFactors {
    /// Factors the diagonal blocks of all participants; memory is reused.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`] or [`SolveError::NotPositiveDefinite`], naming participant and row;
    /// [`SolveError::DynamicsSize`] for blocks that do not cover every row once.
    pub fn factor(&mut self, dynamics: &dyn Participants) -> Result<(), SolveError> {
        self.factor_blocks(dynamics)?;
        self.invert_diagonal();
        Ok(())
    }

    /// [`BlockFactors::factor`] without what [`BlockFactors::inverse_diagonal`] needs.
    pub(crate) fn factor_blocks(&mut self, dynamics: &dyn Participants) -> Result<(), SolveError> {
        self.participants.clear();
        self.inverse_diagonal.clear();
        self.values.clear();
        self.mixed.clear();
        let mut first_dof = 0;
        for (p, dynamics) in dynamics.iter().enumerate() {
            let participant = ParticipantIdx(p);
            let n_dofs = dynamics.n_dofs();
            let diagonal = dynamics.diagonal_blocks();
            check_sizes(participant, n_dofs, &diagonal)?;
            let blocks = match diagonal {
                BlockDiagonal::Whole(_) => Blocks::Whole,
                BlockDiagonal::Vertices(_) => Blocks::Vertices,
                BlockDiagonal::Mixed { sizes, .. } => {
                    let (mut start, mut offset) = (0, 0);
                    self.mixed.push((start, offset));
                    self.mixed.extend(sizes.iter().map(|size| {
                        start += size;
                        offset += size * size;
                        (start, offset)
                    }));
                    Blocks::Mixed(self.mixed.len() - sizes.len() - 1, sizes.len())
                }
            };
            self.participants.push(Factored {
                n_dofs,
                first_dof,
                first_value: self.values.len(),
                blocks,
            });
            first_dof += n_dofs;
            let mut failure = None;
            diagonal.for_each(n_dofs, |block| {
                let start = self.values.len();
                self.values.extend_from_slice(block.values);
                let factor = cholesky_in_place(&mut self.values[start..], block.size);
                if let (Err(pivot), None) = (factor, &failure) {
                    failure = Some((block.first_dof + pivot.row, pivot.value));
                }
            });
            match failure {
                Some((row, pivot)) if pivot.is_finite() => {
                    return Err(SolveError::NotPositiveDefinite {
                        participant,
                        row,
                        pivot,
                    });
                }
                Some((row, value)) => {
                    return Err(SolveError::NotFinite {
                        location: format!("A of participant {participant}, row {row},"),
                        participant: Some(participant),
                        value,
                    });
                }
                None => {}
            }
        }
        Ok(())
    }

    /// x ← D⁻¹x for the velocities of one participant.
    pub fn solve(&self, participant: ParticipantIdx, x: &mut [f64]) {
        for (start, size, offset) in self.blocks_of(self.participants[participant.0]) {
            let factor = &self.values[offset..offset + size * size];
            small_cholesky::solve(factor, size, &mut x[start..start + size]);
        }
    }

    /// (D⁻¹)_jj of velocity `dof`.
    #[must_use]
    pub fn inverse_diagonal(&self, participant: ParticipantIdx, dof: usize) -> f64 {
        self.inverse_diagonal[self.participants[participant.0].first_dof + dof]
    }

    fn invert_diagonal(&mut self) {
        let mut inverse = std::mem::take(&mut self.inverse_diagonal);
        inverse.clear();
        let mut column = std::mem::take(&mut self.gather);
        for &factored in &self.participants {
            for (_, size, offset) in self.blocks_of(factored) {
                let factor = &self.values[offset..offset + size * size];
                for j in 0..size {
                    // Column j of L⁻¹ below its diagonal: (D⁻¹)_jj is its squared length.
                    column.clear();
                    column.resize(size, 0.0);
                    column[j] = 1.0;
                    solve_lower(factor, size, &mut column);
                    inverse.push(column.iter().map(|x| x * x).sum());
                }
            }
        }
        self.gather = column;
        self.inverse_diagonal = inverse;
    }

    /// M = B D⁻¹Bᵀ of a basis, r×r column-major in `out`: the inverse inertia of its coordinates.
    pub(crate) fn delassus(&mut self, basis: BasisRows<'_>, out: &mut Vec<f64>) {
        let r = basis.n_rows;
        out.clear();
        out.resize(r * r, 0.0);
        let blocks = basis.blocks;
        let mut gather = std::mem::take(&mut self.gather);
        let mut rows = std::mem::take(&mut self.rows);
        for (k, (participant, block)) in blocks.iter().enumerate() {
            let factored = self.participants[participant.0];
            let mut dof = block.dof;
            while dof < block.dof + block.n_dofs {
                let (start, size, offset) = self.block_of(factored, dof);
                dof = start + size;
                let overlaps = |dof: usize, n: usize| dof < start + size && start < dof + n;
                let seen_before = blocks[..k]
                    .iter()
                    .any(|(p, b)| p == participant && overlaps(b.dof, b.n_dofs));
                if seen_before {
                    continue;
                }
                // Z = L⁻¹B_dᵀ over every block of the basis that overlaps this diagonal block; M += ZᵀZ.
                gather.clear();
                gather.resize(size * r, 0.0);
                rows.clear();
                for (_, b) in blocks
                    .iter()
                    .filter(|(p, b)| p == participant && overlaps(b.dof, b.n_dofs))
                {
                    for j in 0..b.n_dofs {
                        let column = b.dof + j;
                        if !(start..start + size).contains(&column) {
                            continue;
                        }
                        match b.entries {
                            Entries::Identity => {
                                gather[(b.row + j) * size + column - start] += 1.0;
                                rows.push(b.row + j);
                            }
                            Entries::Dense(from) => {
                                for i in 0..b.n_rows {
                                    gather[(b.row + i) * size + column - start] +=
                                        basis.values[from + j * b.n_rows + i];
                                }
                                rows.extend(b.row..b.row + b.n_rows);
                            }
                        }
                    }
                }
                // All other rows of Z are zero.
                rows.sort_unstable();
                rows.dedup();
                let factor = &self.values[offset..offset + size * size];
                for &i in &rows {
                    solve_lower(factor, size, &mut gather[i * size..(i + 1) * size]);
                }
                for (k, &i) in rows.iter().enumerate() {
                    let z_i = &gather[i * size..(i + 1) * size];
                    for &j in &rows[..=k] {
                        let z_j = &gather[j * size..(j + 1) * size];
                        let m = z_i.iter().zip(z_j).map(|(a, b)| a * b).sum::<f64>();
                        out[i * r + j] += m;
                        if i != j {
                            out[j * r + i] += m;
                        }
                    }
                }
            }
        }
        self.gather = gather;
        self.rows = rows;
    }

    /// First velocity, size and value offset of the diagonal block that contains `dof`.
    fn block_of(&self, factored: Factored, dof: usize) -> (usize, usize, usize) {
        match factored.blocks {
            Blocks::Whole => (0, factored.n_dofs, factored.first_value),
            Blocks::Vertices => (dof / 3 * 3, 3, factored.first_value + dof / 3 * 9),
            Blocks::Mixed(first, count) => {
                let blocks = &self.mixed[first..=first + count];
                // `check_sizes` ensures that the blocks cover every velocity.
                let k = blocks.partition_point(|(start, _)| *start <= dof) - 1;
                self.mixed_block(factored, first + k)
            }
        }
    }

    fn mixed_block(&self, factored: Factored, k: usize) -> (usize, usize, usize) {
        let (start, offset) = self.mixed[k];
        let size = self.mixed[k + 1].0 - start;
        (start, size, factored.first_value + offset)
    }

    /// [`BlockFactors::block_of`] of all blocks, in order.
    fn blocks_of(&self, factored: Factored) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let count = match factored.blocks {
            Blocks::Whole => usize::from(factored.n_dofs > 0),
            Blocks::Vertices => factored.n_dofs / 3,
            Blocks::Mixed(_, count) => count,
        };
        (0..count).map(move |k| match factored.blocks {
            Blocks::Whole => (0, factored.n_dofs, factored.first_value),
            Blocks::Vertices => (3 * k, 3, factored.first_value + 9 * k),
            Blocks::Mixed(first, _) => self.mixed_block(factored, first + k),
        })
    }
}

/// Rejects blocks that do not cover the rows of A or lack values.
fn check_sizes(
    participant: ParticipantIdx,
    n_dofs: usize,
    diagonal: &BlockDiagonal<'_>,
) -> Result<(), SolveError> {
    let (rows, values) = diagonal.rows_and_values(n_dofs);
    let counts = [
        ("rows in its diagonal blocks", rows, n_dofs),
        (
            "values in its diagonal blocks",
            diagonal.values().len(),
            values,
        ),
    ];
    match counts
        .into_iter()
        .find(|(_, found, expected)| found != expected)
    {
        None => Ok(()),
        Some((what, found, expected)) => Err(SolveError::DynamicsSize {
            participant,
            what,
            found,
            expected,
        }),
    }
}
