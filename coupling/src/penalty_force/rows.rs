//! Scalar rows: limits, actuators, dry friction and couplers of bodies, and constraints between bodies.
//!
//! They have the laws that the convex problem gives them, γ = −∂ℓ/∂u of their velocity u = J v + b, with J of the start of the step.

use nalgebra::Vector1;
use pliant_contact_sap::{
    BlockFactors, ConstraintLabel, ConstraintSet, ParticipantIdx, Potential, RowIdx, RowLaw,
};

use super::bodies::Bodies;
use super::preconditioner::Preconditioner;
use crate::constraint_assembly::ConstraintAssembly;
use crate::error::StepError;
use crate::pair_basis::Bodies as PairBodies;
use crate::report::{ConstraintForce, RowForce, RowOwner, StepReport, Wrench};
use crate::state::State;
use crate::world::{BodyIdx, World};

/// All rows of a step.
#[derive(Default)]
pub(super) struct ScalarRows {
    set: ConstraintSet,
    factors: BlockFactors,
    owners: Vec<RowOwner>,
    constraints: ConstraintAssembly,
    rows: Vec<Row>,
}

struct Row {
    terms: Vec<(usize, f64)>,
    bias: f64,
    law: RowLaw,
    /// γ and −∂γ/∂u at the last evaluation.
    impulse: f64,
    stiffness: f64,
}

impl ScalarRows {
    pub(super) fn begin(
        &mut self,
        world: &World,
        state: &State,
        bodies: &Bodies,
    ) -> Result<(), StepError> {
        self.set.clear();
        self.owners.clear();
        self.rows.clear();
        let factored = self.factors.factor(&bodies.steps);
        factored.map_err(|source| StepError::of_solve(world, state, source))?;
        for (b, step) in bodies.steps.iter().enumerate() {
            step.constraints(&mut self.set.internal(ParticipantIdx(b), &self.factors));
            self.owners
                .resize(self.set.n_rows(), RowOwner::Body(BodyIdx(b)));
        }
        let pairs = PairBodies {
            steps: &bodies.steps,
            start: &bodies.start,
            free: &bodies.start,
            path: &bodies.start,
            offsets: &bodies.offsets,
            velocity_change: &[],
        };
        self.constraints.add(
            world,
            state,
            &pairs,
            bodies.surfaces(),
            bodies.time_step,
            &mut self.set,
            &mut self.factors,
            &mut self.owners,
        )?;
        let rows = &mut self.rows;
        self.set.for_each_row(|terms, bias, law| {
            let terms = terms.iter();
            let at = |(p, dof, c): &(ParticipantIdx, usize, f64)| (bodies.offsets[p.0] + dof, *c);
            rows.push(Row {
                terms: terms.map(at).collect(),
                bias,
                law: law.clone(),
                impulse: 0.0,
                stiffness: 0.0,
            });
        });
        Ok(())
    }

    /// g −= Jᵀγ at `v`.
    pub(super) fn add_residual(&mut self, v: &[f64], g: &mut [f64]) {
        for row in &mut self.rows {
            let u = row.velocity(v) + row.bias;
            row.impulse = row.law.impulse(&Vector1::new(u)).x;
            row.terms
                .iter()
                .for_each(|(dof, c)| g[*dof] -= c * row.impulse);
        }
    }

    pub(super) fn linearise(
        &mut self,
        v: &[f64],
        bodies: &Bodies,
        preconditioner: &mut Preconditioner,
    ) {
        for row in &mut self.rows {
            let u = row.velocity(v) + row.bias;
            row.stiffness = row.law.hessian(&Vector1::new(u)).x;
            for (i, a) in &row.terms {
                for (j, b) in &row.terms {
                    preconditioner.add(bodies, *i, *j, a * b * row.stiffness);
                }
            }
        }
    }

    /// Pairs of bodies in one row.
    pub(super) fn couplings<'a>(
        &'a self,
        bodies: &'a Bodies,
    ) -> impl Iterator<Item = (BodyIdx, BodyIdx)> + 'a {
        self.rows.iter().flat_map(|row| {
            let of = |term: &(usize, f64)| bodies.body_of(term.0);
            row.terms
                .windows(2)
                .map(move |pair| (of(&pair[0]), of(&pair[1])))
        })
    }

    /// y += JᵀGJ x.
    pub(super) fn add_product(&self, x: &[f64], y: &mut [f64]) {
        for row in &self.rows {
            let change = row.velocity(x) * row.stiffness;
            row.terms.iter().for_each(|(dof, c)| y[*dof] += c * change);
        }
    }

    pub(super) fn describe(&self, time_step_s: f64, report: &mut StepReport) {
        let rows = self.rows.iter().zip(&self.owners).enumerate();
        report.rows.extend(rows.map(|(k, (row, owner))| {
            let label: ConstraintLabel = self.set.row_label(RowIdx(k));
            RowForce {
                owner: *owner,
                label,
                force: row.impulse / time_step_s,
            }
        }));
        let records = &self.constraints.records;
        for records in records.chunk_by(|x, y| x.constraint == y.constraint) {
            let mut on_a = Wrench::default();
            for record in records {
                let force = self.rows[record.row_idx.0].impulse / time_step_s;
                on_a.force += record.row.linear * force;
                on_a.torque += record.row.angular * force;
            }
            report.constraints.push(ConstraintForce {
                constraint: records[0].constraint,
                p_WO: records[0].p_WO,
                on_a,
            });
        }
    }
}

impl Row {
    fn velocity(&self, v: &[f64]) -> f64 {
        self.terms.iter().map(|(dof, c)| c * v[*dof]).sum()
    }
}
