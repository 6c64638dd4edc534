//! Constraints that close the loops of a robot.

use pliant_coupling::{Anchor, BodyIdx, Constraint, ConstraintCompliance, ConstraintKind};
use pliant_multibody::{LinkFrame, LoopKind, Model};

use super::super::Draft;

impl Draft<'_> {
    /// Adds the constraints of a robot's file, `ROBOT/NAME` each.
    pub(super) fn add_loops(&mut self, robot: &str, tree: &Model, body: BodyIdx) {
        for constraint in tree.loops() {
            let anchor = |end: &LinkFrame| Anchor::Frame {
                body,
                frame: end.link.0 as u32,
                X_FA: end.X_LF,
            };
            let name = format!("{robot}/{}", constraint.name);
            let index = self.builder.add_constraint(Constraint {
                name: name.clone(),
                kind: match constraint.kind {
                    LoopKind::Ball => ConstraintKind::Ball,
                    LoopKind::Weld => ConstraintKind::Weld,
                    LoopKind::Revolute => ConstraintKind::Revolute,
                    LoopKind::Prismatic => ConstraintKind::Prismatic,
                },
                a: anchor(&constraint.a),
                b: anchor(&constraint.b),
                compliance: ConstraintCompliance::NearRigid,
            });
            self.directory.add_constraints(&name, vec![index]);
        }
    }
}
