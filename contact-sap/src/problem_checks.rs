//! Rejects invalid problems with the quantity and its location.

use crate::block_factors::BlockFactors;
use crate::constraint_set::{ConstraintSet, ContactInterpolation};
use crate::dynamics::{Assembled, Dynamics};
use crate::error::SolveError;
use crate::participant::ParticipantIdx;
use crate::problem::ContactProblem;
use crate::rows::Entries;

/// Checks every number of the problem; `factors` is scratch, and holds the factored diagonal blocks of A afterwards.
pub(crate) fn check_problem(
    problem: &ContactProblem<'_>,
    factors: &mut BlockFactors,
) -> Result<(), SolveError> {
    for (p, dynamics) in problem.dynamics.iter().enumerate() {
        check_dynamics(ParticipantIdx(p), dynamics)?;
    }
    factors.factor_blocks(problem.dynamics)?;
    check_constraints(problem)
}

fn check_dynamics(participant: ParticipantIdx, dynamics: &dyn Dynamics) -> Result<(), SolveError> {
    for (i, b) in dynamics.right_hand_side().iter().enumerate() {
        if !b.is_finite() {
            return Err(SolveError::NotFinite {
                location: format!("b of participant {participant}, row {i},"),
                participant: Some(participant),
                value: *b,
            });
        }
    }
    let n = dynamics.n_dofs();
    let sized = |what, found: usize, expected: usize| match found == expected {
        true => Ok(()),
        false => Err(SolveError::DynamicsSize {
            participant,
            what,
            found,
            expected,
        }),
    };
    sized("values in its b", dynamics.right_hand_side().len(), n)?;
    match dynamics.assembled() {
        Some(Assembled::Dense(a)) => {
            sized("values in its dense A", a.len(), n * n)?;
            for j in 0..n {
                for i in j + 1..n {
                    let (lower, upper) = (a[j * n + i], a[i * n + j]);
                    let difference = (lower - upper).abs();
                    let bound = 1e-9 * (a[j * n + j] * a[i * n + i]).abs().sqrt();
                    if difference > bound || difference.is_nan() {
                        return Err(asymmetry(participant, i, j, lower, upper));
                    }
                }
            }
            Ok(())
        }
        Some(Assembled::Sparse(a)) => {
            sized("rows in its sparse A", a.rows(), n)?;
            sized("columns in its sparse A", a.cols(), n)?;
            if a.data().iter().all(|a| a.is_finite()) {
                return Ok(());
            }
            let mut entries = a.iter();
            let (value, (row, column)) = entries
                .find(|(value, _)| !value.is_finite())
                .expect("the value was found in the matrix");
            Err(not_finite(
                participant,
                row as usize,
                column as usize,
                *value,
            ))
        }
        None => Ok(()),
    }
}

fn not_finite(participant: ParticipantIdx, row: usize, column: usize, value: f64) -> SolveError {
    SolveError::NotFinite {
        location: format!("A of participant {participant}, row {row}, column {column},"),
        participant: Some(participant),
        value,
    }
}

fn asymmetry(
    participant: ParticipantIdx,
    row: usize,
    column: usize,
    lower: f64,
    upper: f64,
) -> SolveError {
    match [lower, upper].into_iter().find(|x| !x.is_finite()) {
        Some(value) => not_finite(participant, row, column, value),
        None => SolveError::NotSymmetric {
            participant,
            row,
            column,
            lower,
            upper,
        },
    }
}

/// Checks every number of the constraints.
pub(crate) fn check_constraints(problem: &ContactProblem<'_>) -> Result<(), SolveError> {
    let set = problem.constraints;
    for (b, basis) in set.bases.iter().enumerate() {
        for (participant, block) in &set.blocks[basis.blocks.clone()] {
            let n = match participant.0 < problem.dynamics.n_participants() {
                true => problem.dynamics.dynamics(*participant).n_dofs(),
                false => 0,
            };
            if block.dof + block.n_dofs > n {
                return Err(SolveError::NoSuchVelocity {
                    basis: b,
                    participant: *participant,
                    dof: block.dof + block.n_dofs - 1,
                    n_dofs: n,
                });
            }
        }
    }
    let finite = |values: &[f64], what: &dyn Fn(usize) -> String| match values
        .iter()
        .position(|x| !x.is_finite())
    {
        None => Ok(()),
        Some(i) => Err(SolveError::NotFinite {
            location: what(i),
            participant: None,
            value: values[i],
        }),
    };
    finite(&set.block_values, &|i| block_place(set, i))?;
    finite(&set.bias, &|i| {
        let basis = set.bases.partition_point(|b| b.row0 <= i) - 1;
        format!("the bias of basis {basis}")
    })?;
    finite(&set.interpolation_values, &|_| {
        "the interpolation of a constraint".to_owned()
    })?;
    for (i, contact) in set.contacts.iter().enumerate() {
        finite(contact.bias.as_slice(), &|_| {
            format!("the surface velocity of contact {i}")
        })?;
        if let ContactInterpolation::Twist { p }
        | ContactInterpolation::Stencil { p: Some(p), .. } = &contact.interpolation
        {
            finite(p.as_slice(), &|_| {
                format!("the interpolation of contact {i}")
            })?;
        }
        contact.law.validate(|| format!("contact {i}"))?;
    }
    for (i, row) in set.rows.iter().enumerate() {
        row.law.validate(|| format!("scalar row {i}"))?;
    }
    Ok(())
}

fn block_place(set: &ConstraintSet, value: usize) -> String {
    let basis = set.bases.iter().position(|basis| {
        set.blocks[basis.blocks.clone()]
            .iter()
            .any(|(_, block)| match block.entries {
                Entries::Identity => false,
                Entries::Dense(start) => {
                    (start..start + block.n_rows * block.n_dofs).contains(&value)
                }
            })
    });
    format!("the matrix of basis {}", basis.unwrap_or_default())
}
