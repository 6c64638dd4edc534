//! Ties between bodies, at the poses they start in.

use nalgebra::{Isometry3, Translation3};
use pliant_contact_sap::MaterialPoint;
use pliant_coupling::{Anchor, Tie, TieCompliance, TieKind};
use pliant_multibody::PositionKinematics;

use super::Draft;
use super::directory::Spot;
use crate::scene::{self, SceneError, SceneFault};

impl Draft<'_> {
    pub(super) fn add_ties(&mut self) -> Result<(), SceneError> {
        for entry in &self.scene.ties {
            if entry.between.iter().any(|end| self.directory.is_soft(end)) {
                self.hold_region(entry)?;
                continue;
            }
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
            self.directory.add_ties(&entry.name.name, vec![tie]);
        }
        Ok(())
    }

    /// Holds every point of a soft body's region where it is, in the frame of the other end.
    fn hold_region(&mut self, entry: &scene::TieEntry) -> Result<(), SceneError> {
        let complain = |reason: String| {
            let fault = SceneFault::Conflict {
                table: format!("[[ties]] {:?}", entry.name.name),
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
                "both ends are soft; tie each of them to a body between, or make them one mesh"
                    .into(),
            ));
        }
        let (region, other) = (usize::from(second), usize::from(first));
        if entry.kind != scene::TieKind::Weld || entry.points != [nalgebra::Vector3::zeros(); 2] {
            return Err(complain(
                "a region is held as it is: `kind`, `points` and `length` do not go with it".into(),
            ));
        }
        let spots = self
            .directory
            .soft_spots(self.scene, &entry.between[region])?;
        let [spot] = spots.as_slice() else {
            return Err(complain(format!(
                "{:?} stands for several bodies; name one of them",
                entry.between[region].name
            )));
        };
        let soft = self.directory.soft[spot.soft].clone();
        if !soft.points_stay {
            return Err(complain(format!(
                "{:?} is held by points that stay; this scene has sources or drains",
                entry.between[region].name
            )));
        }
        let points = match &spot.points {
            Some(points) => points.to_vec(),
            None => (0..soft.start.len() as u32).collect(),
        };
        if let Some(fixed) = points.iter().find(|v| soft.held.binary_search(v).is_ok()) {
            return Err(complain(format!(
                "vertex {fixed} of {:?}, at {:.4}, is fixed already and cannot be tied, too; take it out of one of the regions",
                entry.between[region].name, soft.start[*fixed as usize]
            )));
        }
        let frame = self.directory.spot(self.scene, &entry.between[other])?;
        let X_EW = self.start_pose(&frame).inverse();
        let mut ties = Vec::new();
        for vertex in points {
            let p_EP = X_EW * soft.start[vertex as usize];
            let X_EA = Isometry3::from_parts(Translation3::from(p_EP.coords), Default::default());
            let mut ends = [
                anchor(&frame, &X_EA),
                Anchor::Point {
                    body: soft.body,
                    point: MaterialPoint::on_vertex(soft.first_vertex + vertex),
                },
            ];
            if region == 0 {
                ends.swap(0, 1);
            }
            let [a, b] = ends;
            ties.push(self.builder.add_tie(Tie {
                name: format!("{}#{vertex}", entry.name.name),
                kind: TieKind::Ball,
                a,
                b,
                compliance: TieCompliance::NearRigid,
            }));
        }
        self.directory.add_ties(&entry.name.name, ties);
        // What holds the region does not push it away.
        let a = self
            .directory
            .geometries_of_spot(self.scene, &entry.between[other])?;
        let whole = scene::Mention {
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
