//! Constraints between bodies, at the poses they start in.

use std::collections::BTreeSet;

use nalgebra::{Isometry3, Translation3};
use pliant_contact_sap::MaterialPoint;
use pliant_coupling::{Anchor, Constraint, ConstraintCompliance, ConstraintKind};
use pliant_multibody::PositionKinematics;

use super::Draft;
use super::directory::FrameRef;
use crate::scene::{self, SceneError, SceneFault};

/// Points that are closer than this to where a constraint wants them start there, m: scenes round their numbers.
const CLOSED: f64 = 1e-3;

impl Draft<'_> {
    pub(super) fn add_constraints(&mut self) -> Result<(), SceneError> {
        let mut tied = BTreeSet::new();
        for entry in &self.scene.constraints {
            if entry.between.iter().any(|end| self.directory.is_soft(end)) {
                let (soft, points) = self.hold_region(entry)?;
                tied.extend(points.iter().map(|point| (soft, *point)));
                continue;
            }
            let ends = [
                self.directory.frame(self.scene, &entry.between[0])?,
                self.directory.frame(self.scene, &entry.between[1])?,
            ];
            if let Some(reason) = idle(&ends) {
                let fault = SceneFault::Conflict {
                    table: format!("[[constraints]] {:?}", entry.name.name),
                    reason: reason.into(),
                };
                return Err(self.scene.text.error(entry.between[0].at, fault));
            }
            let points = entry
                .points
                .map(|p| Isometry3::from_parts(Translation3::from(p), Default::default()));
            let X_WE = [self.start_pose(&ends[0]), self.start_pose(&ends[1])];
            let X_WA = X_WE[0] * points[0];
            let X_WB = X_WE[1] * points[1];
            let apart = (X_WA.translation.vector - X_WB.translation.vector).norm();
            self.check_closed(entry, apart)?;
            let (kind, X_EB) = match entry.kind {
                // The anchor of the second end is at the current position of the first, so that nothing moves.
                scene::ConstraintKind::Weld => (ConstraintKind::Weld, X_WE[1].inverse() * X_WA),
                scene::ConstraintKind::Ball => (ConstraintKind::Ball, points[1]),
                scene::ConstraintKind::Distance(length) => {
                    let length = length.unwrap_or(apart);
                    if length <= 0.0 {
                        let fault = SceneFault::Conflict {
                            table: format!("[[constraints]] {:?}", entry.name.name),
                            reason: "its points coincide and `length` is not given; give it, or take `kind = \"ball\"`".into(),
                        };
                        return Err(self.scene.text.error(entry.name.at, fault));
                    }
                    (ConstraintKind::Distance(length), points[1])
                }
            };
            if entry.kind == scene::ConstraintKind::Weld {
                let a = self
                    .directory
                    .geometries_at(self.scene, &entry.between[0])?;
                let b = self
                    .directory
                    .geometries_at(self.scene, &entry.between[1])?;
                self.exclude(&a, &b);
            }
            let constraint = self.builder.add_constraint(Constraint {
                name: entry.name.name.clone(),
                kind,
                a: anchor(&ends[0], &points[0]),
                b: anchor(&ends[1], &X_EB),
                compliance: ConstraintCompliance::NearRigid,
            });
            self.directory
                .add_constraints(&entry.name.name, vec![constraint]);
        }
        self.check_welded_ends(&tied)
    }

    /// A constraint whose points are apart at the start would throw its bodies in the first step.
    fn check_closed(&self, entry: &scene::ConstraintEntry, apart: f64) -> Result<(), SceneError> {
        let (prescribed, remedy) = match entry.kind {
            // The pose of the start is the one that it keeps.
            scene::ConstraintKind::Weld => return Ok(()),
            scene::ConstraintKind::Ball => (0.0, "move a body or a point until they coincide"),
            scene::ConstraintKind::Distance(None) => return Ok(()),
            scene::ConstraintKind::Distance(Some(length)) => (
                length,
                "move a body or a point, or drop `length` to keep the distance of the start",
            ),
        };
        if (apart - prescribed).abs() <= CLOSED {
            return Ok(());
        }
        let fault = SceneFault::Conflict {
            table: format!("[[constraints]] {:?}", entry.name.name),
            reason: format!(
                "its points are {apart:.4} m apart at the start, but must be {prescribed} m; {remedy}"
            ),
        };
        Err(self.scene.text.error(entry.name.at, fault))
    }

    /// Every end that is to be welded must be held; `tied`: points of soft bodies by their index in the directory.
    fn check_welded_ends(&self, tied: &BTreeSet<(usize, u32)>) -> Result<(), SceneError> {
        for entry in &self.scene.soft.entries {
            let name = &entry.name.name;
            let Some(soft) = self.directory.soft_by_name(name) else {
                continue;
            };
            for end in &self.directory.soft[soft].welds {
                if !tied.contains(&(soft, end.point)) {
                    let fault = SceneFault::Conflict {
                        table: format!("[[rods]] {name:?}"),
                        reason: format!(
                            "`{} = \"welded\"`, and nothing holds node {}; constraint a region with this node to a body or a link, or take \"clamped\"",
                            end.key, end.point
                        ),
                    };
                    return Err(self.scene.text.error(entry.name.at, fault));
                }
            }
        }
        Ok(())
    }

    /// Constrains every point of a soft body's region to the frame of the other end, and the orientation of welded
    /// ends, too. Returns the body's index in the directory, and the points.
    fn hold_region(
        &mut self,
        entry: &scene::ConstraintEntry,
    ) -> Result<(usize, Vec<u32>), SceneError> {
        let complain = |reason: String| {
            let fault = SceneFault::Conflict {
                table: format!("[[constraints]] {:?}", entry.name.name),
                reason,
            };
            self.scene.text.error(entry.name.at, fault)
        };
        let [first, second] = entry
            .between
            .each_ref()
            .map(|end| self.directory.is_soft(end));
        if first && second {
            return Err(complain(
                "both ends are soft; constraint each of them to a body between, or make them one mesh"
                    .into(),
            ));
        }
        let (region, other) = (usize::from(second), usize::from(first));
        if entry.kind != scene::ConstraintKind::Weld
            || entry.points != [nalgebra::Vector3::zeros(); 2]
        {
            return Err(complain(
                "a region is held as it is: `kind`, `points` and `length` do not go with it".into(),
            ));
        }
        let parts = self
            .directory
            .soft_parts(self.scene, &entry.between[region])?;
        let [part] = parts.as_slice() else {
            return Err(complain(format!(
                "{:?} stands for several bodies; name one of them",
                entry.between[region].name
            )));
        };
        let soft = self.directory.soft[part.soft].clone();
        if !soft.points_stay {
            return Err(complain(format!(
                "{:?} is held by points that stay; this scene has sources or sinks",
                entry.between[region].name
            )));
        }
        let points = match &part.points {
            Some(points) => points.to_vec(),
            None => (0..soft.start.len() as u32).collect(),
        };
        if let Some(fixed) = points.iter().find(|v| soft.held.binary_search(v).is_ok()) {
            return Err(complain(format!(
                "vertex {fixed} of {:?}, at {:.4}, is fixed already; remove it from one of the regions",
                entry.between[region].name, soft.start[*fixed as usize]
            )));
        }
        let frame = self.directory.frame(self.scene, &entry.between[other])?;
        let X_EW = self.start_pose(&frame).inverse();
        let mut constraints = Vec::new();
        for &vertex in &points {
            let (kind, X_WA, held) = match soft.welds.iter().find(|end| end.point == vertex) {
                Some(end) => {
                    let frame = Anchor::Frame {
                        body: soft.body,
                        frame: end.frame,
                        X_FA: Isometry3::identity(),
                    };
                    (ConstraintKind::Weld, end.X_WF, frame)
                }
                None => {
                    let p_WP = Translation3::from(soft.start[vertex as usize].coords);
                    let point = Anchor::Point {
                        body: soft.body,
                        point: MaterialPoint::on_vertex(soft.first_vertex + vertex),
                    };
                    (ConstraintKind::Ball, p_WP.into(), point)
                }
            };
            let mut ends = [anchor(&frame, &(X_EW * X_WA)), held];
            if region == 0 {
                ends.swap(0, 1);
            }
            let [a, b] = ends;
            constraints.push(self.builder.add_constraint(Constraint {
                name: format!("{}#{vertex}", entry.name.name),
                kind,
                a,
                b,
                compliance: ConstraintCompliance::NearRigid,
            }));
        }
        self.directory
            .add_constraints(&entry.name.name, constraints);
        // The region has no contact with the body that holds it.
        let a = self
            .directory
            .geometries_at(self.scene, &entry.between[other])?;
        let whole = scene::NamedReference {
            name: entry.between[region]
                .name
                .split('/')
                .next()
                .unwrap_or_default()
                .into(),
            at: entry.between[region].at,
        };
        let b = self.directory.geometries(self.scene, &whole)?;
        self.exclude(&a, &b);
        Ok((part.soft, points))
    }

    /// Initial pose of a frame.
    fn start_pose(&self, frame: &FrameRef) -> Isometry3<f64> {
        let (body, link, X_LF) = match frame {
            FrameRef::World(X_WF) => return *X_WF,
            FrameRef::Link { body, link, X_LF } => (*body, *link, X_LF),
        };
        let tree = self.directory.tree(body);
        let mut positions = PositionKinematics::new(tree);
        positions.update(tree, &self.starts[body.0]);
        positions.link_pose(tree, link) * X_LF
    }
}

/// Why a constraint between these two has no effect.
fn idle(ends: &[FrameRef; 2]) -> Option<&'static str> {
    match ends {
        [FrameRef::World(_), FrameRef::World(_)] => {
            Some("both ends stand in the world; at least one must be a body or a link")
        }
        [
            FrameRef::Link {
                body: a, link: k, ..
            },
            FrameRef::Link {
                body: b, link: l, ..
            },
        ] if (a, k) == (b, l) => {
            Some("both ends are on the same body, which is rigid already; name two different ones")
        }
        _ => None,
    }
}

/// The point with pose `X_FA` in `frame`, as an end of a constraint.
fn anchor(frame: &FrameRef, X_FA: &Isometry3<f64>) -> Anchor {
    match frame {
        FrameRef::World(X_WF) => Anchor::World(X_WF * X_FA),
        FrameRef::Link { body, link, X_LF } => Anchor::Frame {
            body: *body,
            frame: link.0 as u32,
            X_FA: X_LF * X_FA,
        },
    }
}
