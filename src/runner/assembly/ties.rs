//! Ties between bodies, at the poses they start in.

use nalgebra::{Isometry3, Translation3};
use pliant_coupling::{Anchor, Tie, TieCompliance, TieKind};
use pliant_multibody::PositionKinematics;

use super::Draft;
use super::directory::Spot;
use crate::scene::{self, SceneError, SceneFault};

impl Draft<'_> {
    pub(super) fn add_ties(&mut self) -> Result<(), SceneError> {
        for entry in &self.scene.ties {
            let ends = [
                self.directory.spot(self.scene, &entry.between[0])?,
                self.directory.spot(self.scene, &entry.between[1])?,
            ];
            if let Some(reason) = idle(&ends) {
                let fault = SceneFault::Conflict {
                    table: format!("[[ties]] {:?}", entry.name.name),
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
            let (kind, X_EB) = match entry.kind {
                // The anchor of the second end is where the first one is now, so that nothing moves.
                scene::TieKind::Weld => (TieKind::Weld, X_WE[1].inverse() * X_WA),
                scene::TieKind::Ball => (TieKind::Ball, points[1]),
                scene::TieKind::Distance(length) => {
                    let length = length.unwrap_or(apart);
                    if length <= 0.0 {
                        let fault = SceneFault::Conflict {
                            table: format!("[[ties]] {:?}", entry.name.name),
                            reason: "its points coincide and `length` is not given; give it, or take `kind = \"ball\"`".into(),
                        };
                        return Err(self.scene.text.error(entry.name.at, fault));
                    }
                    (TieKind::Distance(length), points[1])
                }
            };
            if entry.kind == scene::TieKind::Weld {
                let a = self
                    .directory
                    .geometries_of_spot(self.scene, &entry.between[0])?;
                let b = self
                    .directory
                    .geometries_of_spot(self.scene, &entry.between[1])?;
                self.exclude(&a, &b);
            }
            let tie = self.builder.add_tie(Tie {
                name: entry.name.name.clone(),
                kind,
                a: anchor(&ends[0], &points[0]),
                b: anchor(&ends[1], &X_EB),
                compliance: TieCompliance::NearRigid,
            });
            self.directory.add_tie(&entry.name.name, tie);
        }
        Ok(())
    }

    /// Where a spot is at the start.
    fn start_pose(&self, spot: &Spot) -> Isometry3<f64> {
        let (body, link, X_LF) = match spot {
            Spot::World(X_WF) => return *X_WF,
            Spot::Link { body, link, X_LF } => (*body, *link, X_LF),
        };
        let tree = self.directory.tree(body);
        let mut positions = PositionKinematics::new(tree);
        positions.update(tree, &self.starts[body.0]);
        positions.link_pose(tree, link) * X_LF
    }
}

/// Why a tie between these two holds nothing.
fn idle(ends: &[Spot; 2]) -> Option<&'static str> {
    match ends {
        [Spot::World(_), Spot::World(_)] => {
            Some("both ends stand in the world; at least one must be a body or a link")
        }
        [
            Spot::Link {
                body: a, link: k, ..
            },
            Spot::Link {
                body: b, link: l, ..
            },
        ] if (a, k) == (b, l) => {
            Some("both ends are on the same body, which is rigid already; name two different ones")
        }
        _ => None,
    }
}

fn anchor(spot: &Spot, X_FA: &Isometry3<f64>) -> Anchor {
    match spot {
        Spot::World(X_WF) => Anchor::World(X_WF * X_FA),
        Spot::Link { body, link, X_LF } => Anchor::Frame {
            body: *body,
            frame: link.0 as u32,
            X_FA: X_LF * X_FA,
        },
    }
}
