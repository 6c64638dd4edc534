//! The preconditioner of GMRES: sparse factors of the bodies with a sparse A, and the diagonal blocks of H of all others.
//!
//! Iterations of Newton's method and vectors of GMRES in a step, and the time of the run on one thread of a shared machine, with blocks alone and with
//! factors:
//!
//! | scene, velocities | blocks | factors |
//! |---|---|---|
//! | foam-ring with stiffness 2e3, 0.3 s, 1560 | 119, 2374, above 60 s | 2.2, 6.0, 1.6 s |
//! | panels, 0.2 s, 1031 | 22.7, 442, 15.8 s | 5.7, 38.2, 17.0 s |
//!
//! The published mean is 3.1 iterations, with up to 20 vectors in each. On foam-ring with its own stiffness, 1e6 N/m on vertices of some 10 mg, blocks
//! need 82 iterations and 1614 vectors; with factors alone the line search stalled in 10 of 30 steps, for which a search that takes next to nothing of its
//! direction goes back to blocks.
//!
//! The factors of an iterate serve for the later ones of the step while GMRES takes few vectors with them.

use super::blocks::Blocks;
use super::bodies::Bodies;
use super::sparse_factor::SparseFactor;
use crate::world::BodyIdx;

#[derive(Default)]
pub(super) struct Preconditioner {
    /// Of all bodies; those of bodies with a factor are not used.
    blocks: Blocks,
    factors: Vec<Factor>,
    scratch: Vec<f64>,
    whole: Vec<f64>,
}

/// What the preconditioner of a body consists of.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Factor,
    Blocks,
}

/// Whether the factors of an iterate are computed, or those of an earlier iterate of the step serve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Renewal {
    #[default]
    Computed,
    Kept,
}

#[derive(Default)]
struct Factor {
    factor: SparseFactor,
    state: FactorState,
    part: Part,
    renewal: Renewal,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum FactorState {
    /// The body has no sparse A, or it was not positive definite.
    #[default]
    Absent,
    /// A was taken.
    Taken,
    Factored,
}

impl Preconditioner {
    /// Opens a step of so many bodies.
    pub(super) fn begin(&mut self, n_bodies: usize) {
        self.factors.resize_with(n_bodies, Factor::default);
        for of_body in &mut self.factors {
            of_body.part = Part::default();
            of_body.renewal = Renewal::default();
        }
    }

    /// Sets what happens to the factor of a body at the next iterate, and returns what happened at this one.
    pub(super) fn set_renewal(&mut self, body: BodyIdx, renewal: Renewal) -> Renewal {
        std::mem::replace(&mut self.factors[body.0].renewal, renewal)
    }

    /// Consists of blocks alone for a body until the next step.
    pub(super) fn leave_out_factor(&mut self, body: BodyIdx) {
        self.factors[body.0].part = Part::Blocks;
    }

    /// Takes A of all bodies; factors of bodies that do not move stay as they are.
    pub(super) fn gather(&mut self, bodies: &Bodies) {
        self.blocks.gather(&bodies.steps, &bodies.offsets);
        for (b, known) in self.factors.iter_mut().enumerate() {
            let wanted = known.part == Part::Factor;
            let is_kept = known.renewal == Renewal::Kept && known.state == FactorState::Factored;
            if (wanted && is_kept) || !bodies.is_moving(BodyIdx(b)) {
                continue;
            }
            let assembled = bodies.steps[b].dynamics().assembled();
            known.state = match wanted && known.factor.take(assembled) {
                true => FactorState::Taken,
                false => FactorState::Absent,
            };
        }
    }

    /// The blocks, for terms that are not symmetric.
    pub(super) fn blocks_mut(&mut self) -> &mut Blocks {
        &mut self.blocks
    }

    /// The factor of a body that has one, for symmetric positive semidefinite terms.
    pub(super) fn factor_mut(&mut self, body: BodyIdx) -> Option<&mut SparseFactor> {
        let Factor { factor, state, .. } = &mut self.factors[body.0];
        (*state == FactorState::Taken).then_some(factor)
    }

    /// Adds to an entry between two velocities of one body.
    pub(super) fn add(&mut self, bodies: &Bodies, row: usize, column: usize, value: f64) {
        self.blocks.add(row, column, value);
        let body = bodies.body_of(row);
        let range = bodies.range(body);
        if range.contains(&column)
            && let Some(factor) = self.factor_mut(body)
        {
            factor.add(row - range.start, column - range.start, value);
        }
    }

    /// Factors and inverts.
    pub(super) fn finish(&mut self) {
        self.blocks.invert();
        for Factor { factor, state, .. } in &mut self.factors {
            *state = match state {
                FactorState::Factored => FactorState::Factored,
                FactorState::Taken if factor.factorise() => FactorState::Factored,
                _ => FactorState::Absent,
            };
        }
    }

    /// x ← P⁻¹x.
    pub(super) fn apply(&mut self, bodies: &Bodies, x: &mut [f64]) {
        self.whole.clear();
        self.whole.extend_from_slice(x);
        self.blocks.multiply(x, &mut self.scratch);
        for (b, of_body) in self.factors.iter().enumerate() {
            let Factor {
                factor,
                state,
                part,
                ..
            } = of_body;
            if *state == FactorState::Factored && *part == Part::Factor {
                let range = bodies.range(BodyIdx(b));
                x[range.clone()].copy_from_slice(&self.whole[range.clone()]);
                factor.solve(&mut x[range]);
            }
        }
    }
}
