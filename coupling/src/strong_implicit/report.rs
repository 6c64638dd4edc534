//! From impulses to the report of a step.

use pliant_contact_sap::RowIdx;

use super::problem::{StepContext, StepProblem};
use crate::report::{ConstraintForce, ContactForce, RowForce, StepReport, Wrench};

impl StepProblem {
    /// Writes forces of contacts, rows and constraints into `report` and empties its warnings; `order` is scratch.
    pub(super) fn describe(
        &self,
        context: StepContext<'_>,
        order: &mut Vec<usize>,
        report: &mut StepReport,
    ) {
        let time_step_s = context.time_step.length_s;
        report.n_dofs = self.velocities.start.len();
        report.adaptive = None;
        report.penalty_force = None;
        report.warnings.clear();

        let records = &self.contacts.records;
        order.clear();
        order.extend(0..records.len());
        order.sort_unstable_by_key(|&i| (records[i].a, records[i].b, i));
        report.contacts.clear();
        report.contacts.extend(order.iter().map(|&i| {
            let record = &records[i];
            let impulses = &self.solution.contact_impulse;
            ContactForce {
                a: record.a,
                b: record.b,
                p_WCa: record.positions.a,
                p_WCb: record.positions.b,
                normal_W: record.inputs.normal_W,
                force_W: record.total_impulse(impulses) / time_step_s,
                torque_W: record.turning_impulse(impulses) / time_step_s,
                signed_distance: record.signed_distance(),
                patch: record.patch,
            }
        }));

        let rows = self.owners.iter().zip(&self.solution.row_impulse);
        report.rows.clear();
        report
            .rows
            .extend(rows.enumerate().map(|(row, (&owner, gamma))| RowForce {
                owner,
                label: self.set.row_label(RowIdx(row)),
                force: gamma / time_step_s,
            }));

        let records = &self.constraints.records;
        report.constraints.clear();
        let constraints = records.chunk_by(|x, y| x.constraint == y.constraint);
        report.constraints.extend(constraints.map(|records| {
            let mut on_a = Wrench::default();
            for record in records {
                let force = self.solution.row_impulse[record.row_idx.0] / time_step_s;
                on_a.force += record.row.linear * force;
                on_a.torque += record.row.angular * force;
            }
            ConstraintForce {
                constraint: records[0].constraint,
                p_WO: records[0].p_WO,
                on_a,
            }
        }));
    }
}
