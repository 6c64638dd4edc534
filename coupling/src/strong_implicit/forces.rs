//! From impulses to forces: the report of a step, and what its joints transmitted.

use nalgebra::Vector3;
use pliant_contact_sap::{
    ConvexContactSolver, FrameWrench, JointReaction, PointForce, RowIdx, SolveReport,
    SupportReaction,
};

use super::StrongImplicit;
use crate::collision::material_point;
use crate::constraint::Anchor;
use crate::report::{ConstraintForce, ContactForce, RowForce, StepReport, Wrench};
use crate::world::{BodyIdx, Mount, World};

impl<S: ConvexContactSolver> StrongImplicit<S> {
    /// What each joint of a body transmitted in the step just taken; empty for bodies without joints, and if no step
    /// was taken.
    ///
    /// Contacts and constraints on the body, its loads and its inertia are in it: the wrench is all that passes from a joint's
    /// parent to its child.
    pub fn joint_reactions(&self, body: BodyIdx) -> Vec<JointReaction> {
        let mut reactions = Vec::new();
        let (Some(world), Some(time_step_s)) = (&self.world, self.taken) else {
            return reactions;
        };
        let step = self.steps.get(body.0);
        if let Some(step) = step.and_then(|step| step.as_reactions()) {
            let v = &self.solution.velocity[self.offsets[body.0]..self.offsets[body.0 + 1]];
            let outside = self.outside_wrenches(world, body, time_step_s);
            step.joint_reactions(v, &outside, &mut reactions);
        }
        reactions
    }

    /// What holds each held vertex of a soft body in the step just taken, fixed for good or by its control; empty for bodies
    /// without such vertices, and if no step was taken. What is anchored by constraints has rows in the report instead.
    ///
    /// Loads, contacts and constraints on the body are accounted for: it is what passes from the support to the body.
    pub fn support_reactions(&self, body: BodyIdx) -> Vec<SupportReaction> {
        let mut reactions = Vec::new();
        let (Some(world), Some(time_step_s)) = (&self.world, self.taken) else {
            return reactions;
        };
        let step = self.steps.get(body.0);
        if let Some(step) = step.and_then(|step| step.as_reactions()) {
            let v = &self.solution.velocity[self.offsets[body.0]..self.offsets[body.0 + 1]];
            let outside = self.outside_forces(world, body, time_step_s);
            step.support_reactions(v, &outside, &mut reactions);
        }
        reactions
    }

    /// Forces of all contacts and constraints on the material points of a deforming body.
    fn outside_forces(&self, world: &World, body: BodyIdx, time_step_s: f64) -> Vec<PointForce> {
        let mut forces = Vec::new();
        let impulses = self.solution.contact_impulse.chunks_exact(3);
        for (record, gamma) in self.contacts.records.iter().zip(impulses) {
            let force_W = Vector3::from_column_slice(gamma) / time_step_s;
            let sides = [
                (record.a, &record.points[0], force_W),
                (record.b, &record.points[1], -force_W),
            ];
            for (geometry, point, force_W) in sides {
                if world.parts.geometries[geometry.0].mount.deforming() == Some(body) {
                    let point = material_point(point);
                    forces.push(PointForce { point, force_W });
                }
            }
        }
        // Constraints come last in the set.
        let first = self.solution.row_impulse.len() - self.constraints.records.len();
        let impulses = &self.solution.row_impulse[first..];
        for (record, gamma) in self.constraints.records.iter().zip(impulses) {
            let constraint = &world.parts.constraints[record.constraint.0];
            for (anchor, impulse) in [(&constraint.a, *gamma), (&constraint.b, -gamma)] {
                if let Anchor::Point { body: on, point } = *anchor
                    && on == body
                {
                    let force_W = record.row.linear * (impulse / time_step_s);
                    forces.push(PointForce { point, force_W });
                }
            }
        }
        forces
    }

    /// Wrenches of all contacts and constraints on the frames of a body.
    fn outside_wrenches(&self, world: &World, body: BodyIdx, time_step_s: f64) -> Vec<FrameWrench> {
        let mut wrenches = Vec::new();
        let impulses = self.solution.contact_impulse.chunks_exact(3);
        for (record, gamma) in self.contacts.records.iter().zip(impulses) {
            let force_W = Vector3::from_column_slice(gamma) / time_step_s;
            let sides = [
                (record.a, record.place.a, force_W),
                (record.b, record.place.b, -force_W),
            ];
            for (geometry, p_WQ, force_W) in sides {
                match world.parts.geometries[geometry.0].mount {
                    Mount::Frame {
                        body: on, frame, ..
                    } if on == body => wrenches.push(FrameWrench {
                        frame,
                        p_WQ,
                        force_W,
                        torque_W: Vector3::zeros(),
                    }),
                    _ => {}
                }
            }
        }
        // Constraints come last in the set.
        let first = self.solution.row_impulse.len() - self.constraints.records.len();
        let impulses = &self.solution.row_impulse[first..];
        for (record, gamma) in self.constraints.records.iter().zip(impulses) {
            let constraint = &world.parts.constraints[record.constraint.0];
            for (anchor, force) in [
                (&constraint.a, gamma / time_step_s),
                (&constraint.b, -gamma / time_step_s),
            ] {
                match *anchor {
                    Anchor::Frame {
                        body: on, frame, ..
                    } if on == body => wrenches.push(FrameWrench {
                        frame,
                        p_WQ: record.p_WO,
                        force_W: record.row.linear * force,
                        torque_W: record.row.angular * force,
                    }),
                    _ => {}
                }
            }
        }
        wrenches
    }

    /// Writes everything but the bodies' warnings.
    pub(super) fn fill(&mut self, report: &mut StepReport, time_step_s: f64, solve: SolveReport) {
        report.solve = solve;
        report.friction = self.limits.error();
        report.missed_contact = self.missed_contact;
        report.lagged = self.lagged.report;
        report.implicit = self.implicit;
        report.n_dofs = self.start.len();
        report.warnings.clear();

        let records = &self.contacts.records;
        self.order.clear();
        self.order.extend(0..records.len());
        self.order
            .sort_unstable_by_key(|&i| (records[i].a, records[i].b, i));
        report.contacts.clear();
        report.contacts.extend(self.order.iter().map(|&i| {
            let record = &records[i];
            let gamma = &self.solution.contact_impulse[3 * i..3 * i + 3];
            ContactForce {
                a: record.a,
                b: record.b,
                p_WCa: record.place.a,
                p_WCb: record.place.b,
                normal_W: record.normal_W,
                force_W: Vector3::from_column_slice(gamma) / time_step_s,
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

        // Constraints come last in the set.
        let records = &self.constraints.records;
        let first = self.solution.row_impulse.len() - records.len();
        let mut impulses = self.solution.row_impulse[first..].iter();
        report.constraints.clear();
        let constraints = records.chunk_by(|x, y| x.constraint == y.constraint);
        report.constraints.extend(constraints.map(|records| {
            let mut on_a = Wrench::default();
            for (record, gamma) in records.iter().zip(&mut impulses) {
                let force = gamma / time_step_s;
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
