//! Do the several views of one matrix A show the same, and is it symmetric positive definite?

use nalgebra::DMatrix;

use super::probe::{Probe, distance, dot, norm};
use super::{Violation, promise};
use crate::dynamics::{Assembled, Dynamics};

/// Above this size only random columns of A are looked at.
const COLUMNS_MAX: usize = 120;

/// Checks a [`Dynamics`].
///
/// - b is finite and has `n_dofs` entries.
/// - `apply` is linear, symmetric and positive.
/// - The diagonal blocks cover every row once, are positive definite, and are those of A.
/// - `assembled`, where offered, is the same matrix, both triangles stored, rows ascending within columns.
/// - `precondition`, where offered, is linear, symmetric and positive; where not, it leaves its vector alone.
///
/// # Errors
/// The first promise found broken.
pub fn check_dynamics(dynamics: &dyn Dynamics) -> Result<(), Violation> {
    let n = dynamics.n_dofs();
    let b = dynamics.right_hand_side();
    promise(b.len() == n, || {
        format!("b has {} entries, n_dofs is {n}", b.len())
    })?;
    if let Some(i) = b.iter().position(|b| !b.is_finite()) {
        return Err(Violation(format!("b[{i}] is {}", b[i])));
    }
    let mut probe = Probe::new(1);
    check_operator("A", n, &mut probe, |x, y| dynamics.apply(x, y))?;
    check_columns(dynamics, &mut probe)?;
    if let Some(assembled) = dynamics.assembled() {
        check_assembled(dynamics, assembled, &mut probe)?;
    }
    check_preconditioner(dynamics, &mut probe)
}

/// Linear, symmetric, positive.
fn check_operator(
    name: &str,
    n: usize,
    probe: &mut Probe,
    mut apply: impl FnMut(&[f64], &mut [f64]),
) -> Result<(), Violation> {
    // A dirty output vector: apply overwrites.
    let mut product = |x: &[f64]| {
        let mut y = vec![f64::NAN; n];
        apply(x, &mut y);
        y
    };
    for _ in 0..4 {
        let (x, z) = (probe.vector(n), probe.vector(n));
        let (ax, az) = (product(&x), product(&z));
        promise(ax.iter().chain(&az).all(|a| a.is_finite()), || {
            format!("{name} x is not finite for a finite x (or its output was not overwritten)")
        })?;
        let (zax, xaz) = (dot(&z, &ax), dot(&x, &az));
        let size = norm(&z) * norm(&ax) + norm(&x) * norm(&az);
        promise((zax - xaz).abs() <= 1e-11 * size, || {
            format!("{name} is not symmetric: zᵀ({name}x) = {zax:e}, xᵀ({name}z) = {xaz:e}")
        })?;
        let xax = dot(&x, &ax);
        promise(n == 0 || xax > 0.0, || {
            format!("{name} is not positive definite: xᵀ{name}x = {xax:e} for some x")
        })?;
        let combined: Vec<_> = x.iter().zip(&z).map(|(x, z)| 2.0 * x - 3.0 * z).collect();
        let expected: Vec<_> = ax.iter().zip(&az).map(|(x, z)| 2.0 * x - 3.0 * z).collect();
        let found = product(&combined);
        let size = 2.0 * norm(&ax) + 3.0 * norm(&az);
        promise(distance(&found, &expected) <= 1e-11 * size, || {
            format!("{name} is not linear")
        })?;
    }
    Ok(())
}

/// Columns of A by unit vectors, against the diagonal blocks.
fn check_columns(dynamics: &dyn Dynamics, probe: &mut Probe) -> Result<(), Violation> {
    let n = dynamics.n_dofs();
    let mut blocks = Vec::new();
    let mut covered = 0;
    dynamics.diagonal_blocks().for_each(n, |block| {
        covered += block.size;
        blocks.push(block);
    });
    promise(covered == n, || {
        format!("the diagonal blocks cover {covered} rows of {n}")
    })?;
    for block in &blocks {
        let matrix = DMatrix::from_column_slice(block.size, block.size, block.values);
        promise(matrix.cholesky().is_some(), || {
            format!(
                "the diagonal block at row {} is not positive definite",
                block.first_dof
            )
        })?;
    }
    let every = n.div_ceil(COLUMNS_MAX).max(1);
    let offset = ((probe.number() + 1.0) * 0.5 * every as f64) as usize;
    let (mut e, mut column) = (vec![0.0; n], vec![0.0; n]);
    for block in &blocks {
        for k in 0..block.size {
            let j = block.first_dof + k;
            if j % every != offset % every {
                continue;
            }
            e[j] = 1.0;
            dynamics.apply(&e, &mut column);
            e[j] = 0.0;
            let in_a = &column[block.first_dof..block.first_dof + block.size];
            let in_block = &block.values[k * block.size..(k + 1) * block.size];
            promise(distance(in_a, in_block) <= 1e-12 * norm(&column), || {
                format!("column {j} of the diagonal block is {in_block:?}, A has {in_a:?} there")
            })?;
        }
    }
    Ok(())
}

fn check_assembled(
    dynamics: &dyn Dynamics,
    assembled: Assembled<'_>,
    probe: &mut Probe,
) -> Result<(), Violation> {
    let n = dynamics.n_dofs();
    match assembled {
        Assembled::Dense(values) => promise(values.len() == n * n, || {
            format!("assembled holds {} values for {n} velocities", values.len())
        })?,
        Assembled::Sparse(a) => {
            promise(a.rows() == n && a.cols() == n && a.is_csc(), || {
                format!(
                    "assembled is {}×{} for {n} velocities, or not by columns",
                    a.rows(),
                    a.cols()
                )
            })?;
            for (j, column) in a.outer_iterator().enumerate() {
                promise(column.indices().is_sorted_by(|a, b| a < b), || {
                    format!("rows of column {j} of the assembled matrix do not ascend")
                })?;
            }
        }
    }
    for _ in 0..3 {
        let x = probe.vector(n);
        let mut by_apply = vec![0.0; n];
        dynamics.apply(&x, &mut by_apply);
        let mut by_matrix = vec![0.0; n];
        match assembled {
            Assembled::Dense(values) => {
                for (column, x) in values.chunks_exact(n.max(1)).zip(&x) {
                    by_matrix
                        .iter_mut()
                        .zip(column)
                        .for_each(|(y, a)| *y += a * x);
                }
            }
            Assembled::Sparse(a) => {
                for (column, x) in a.outer_iterator().zip(&x) {
                    for (i, value) in column.iter() {
                        by_matrix[i] += value * x;
                    }
                }
            }
        }
        promise(
            distance(&by_apply, &by_matrix) <= 1e-11 * norm(&by_apply),
            || "the assembled matrix and apply differ (are both triangles stored?)".into(),
        )?;
    }
    Ok(())
}

fn check_preconditioner(dynamics: &dyn Dynamics, probe: &mut Probe) -> Result<(), Violation> {
    let n = dynamics.n_dofs();
    let x = probe.vector(n);
    let mut y = x.clone();
    if !dynamics.precondition(&mut y) {
        return promise(x == y, || {
            "precondition says it did nothing, yet changed its vector".into()
        });
    }
    check_operator("the preconditioner", n, probe, |x, y| {
        y.copy_from_slice(x);
        dynamics.precondition(y);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamics::{BlockDiagonal, DenseDynamics};

    /// A matrix whose views disagree as told.
    struct Liar {
        applied: [f64; 4],
        blocks: [f64; 4],
        assembled: [f64; 4],
        preconditioner: f64,
    }

    const HONEST: [f64; 4] = [2.0, 0.5, 0.5, 1.0];

    impl Dynamics for Liar {
        fn right_hand_side(&self) -> &[f64] {
            &[1.0, 2.0]
        }
        fn apply(&self, x: &[f64], y: &mut [f64]) {
            let a = &self.applied;
            y[0] = a[0] * x[0] + a[2] * x[1];
            y[1] = a[1] * x[0] + a[3] * x[1];
        }
        fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
            BlockDiagonal::Whole(&self.blocks)
        }
        fn assembled(&self) -> Option<Assembled<'_>> {
            Some(Assembled::Dense(&self.assembled))
        }
        fn precondition(&self, x: &mut [f64]) -> bool {
            x.iter_mut().for_each(|x| *x *= self.preconditioner);
            true
        }
    }

    fn verdict(change: impl FnOnce(&mut Liar)) -> String {
        let mut liar = Liar {
            applied: HONEST,
            blocks: HONEST,
            assembled: HONEST,
            preconditioner: 0.5,
        };
        change(&mut liar);
        check_dynamics(&liar).map_or_else(|e| e.to_string(), |()| "kept".into())
    }

    #[test]
    fn each_broken_promise_is_named() {
        assert_eq!(verdict(|_| ()), "kept");
        assert!(verdict(|l| l.applied[1] = 0.6).contains("not symmetric"));
        assert!(verdict(|l| l.applied = [-2.0, 0.0, 0.0, -1.0]).contains("positive definite"));
        assert!(verdict(|l| l.blocks[0] = 2.1).contains("diagonal block"));
        assert!(verdict(|l| l.assembled[3] = 1.1).contains("assembled"));
        assert!(verdict(|l| l.preconditioner = -1.0).contains("preconditioner"));
        assert!(verdict(|l| l.applied[0] = f64::NAN).contains("not finite"));
    }

    #[test]
    fn dense_dynamics_pass() {
        let dynamics = DenseDynamics::new(HONEST.to_vec(), vec![1.0, -1.0]);
        check_dynamics(&dynamics).unwrap();
        check_dynamics(&DenseDynamics::default()).unwrap();
    }
}
