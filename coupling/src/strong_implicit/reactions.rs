//! From impulses to the reactions of joints and supports.

use pliant_contact_sap::{FrameWrench, PointForce};

use super::problem::StepProblem;
use crate::collision::material_point;
use crate::constraint::Anchor;
use crate::stepper::Reactions;
use crate::world::{BodyIdx, Mount, World};

impl StepProblem {
    /// Reactions of `body` in the last step.
    pub(super) fn reactions(&self, world: &World, body: BodyIdx, time_step_s: f64) -> Reactions {
        let mut reactions = Reactions::default();
        let step = self.steps.get(body.0);
        if let Some(step) = step.and_then(|step| step.as_reactions()) {
            let v = &self.solution.velocity[self.velocities.range(body.0)];
            let wrenches = self.external_wrenches(world, body, time_step_s);
            step.joint_reactions(v, &wrenches, &mut reactions.joints);
            let forces = self.external_forces(world, body, time_step_s);
            step.support_reactions(v, &forces, &mut reactions.supports);
        }
        reactions
    }

    /// Forces of all contacts and constraints on the material points of a deforming body.
    fn external_forces(&self, world: &World, body: BodyIdx, time_step_s: f64) -> Vec<PointForce> {
        let mut forces = Vec::new();
        let impulses = &self.solution.contact_impulse;
        for record in &self.contacts.records {
            let force_W = record.total_impulse(impulses) / time_step_s;
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
        for record in &self.constraints.records {
            let gamma = self.solution.row_impulse[record.row_idx.0];
            let constraint = &world.parts.constraints[record.constraint.0];
            for (anchor, impulse) in [(&constraint.a, gamma), (&constraint.b, -gamma)] {
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
    fn external_wrenches(
        &self,
        world: &World,
        body: BodyIdx,
        time_step_s: f64,
    ) -> Vec<FrameWrench> {
        let mut wrenches = Vec::new();
        let impulses = &self.solution.contact_impulse;
        for record in &self.contacts.records {
            let force_W = record.total_impulse(impulses) / time_step_s;
            let torque_W = record.turning_impulse(impulses) / time_step_s;
            let sides = [
                (record.a, record.positions.a, force_W, torque_W),
                (record.b, record.positions.b, -force_W, -torque_W),
            ];
            for (geometry, p_WQ, force_W, torque_W) in sides {
                match world.parts.geometries[geometry.0].mount {
                    Mount::Frame {
                        body: on, frame, ..
                    } if on == body => wrenches.push(FrameWrench {
                        frame,
                        p_WQ,
                        force_W,
                        torque_W,
                    }),
                    _ => {}
                }
            }
        }
        for record in &self.constraints.records {
            let gamma = self.solution.row_impulse[record.row_idx.0];
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
}
