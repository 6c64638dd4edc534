//! Constraints as rows of the contact problem.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::{
    Bilateral, BlockFactors, ConstraintLabel, ConstraintSet, MaterialPoint, Primitive, RowIdx,
    RowKind, RowLaw, Surface, TimeStep,
};

use crate::constraint::{
    self, Anchor, Constraint, ConstraintCompliance, ConstraintKind, ConstraintRow,
};
use crate::error::StepError;
use crate::pair_basis::{Bodies, ContactPositions, ContactStatus, PairBasis, Side};
use crate::report::RowOwner;
use crate::state::{ConstraintState, State};
use crate::world::{ConstraintIdx, World};

/// The one direction of a distance is locked if it has less than this share of the mean mobility: what is left of its own is round-off.
const LOCKED: f64 = 1e-10;

/// Workspace for turning constraints into rows.
#[derive(Debug, Default)]
pub(crate) struct ConstraintAssembly {
    basis: PairBasis,
    a: Side,
    b: Side,
    rows: Vec<ConstraintRow>,
    phi: Vec<f64>,
    /// Every row in the set, in the order of its rows.
    pub(crate) records: Vec<ConstraintRecord>,
}

/// A row of a constraint in the set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConstraintRecord {
    pub(crate) row_idx: RowIdx,
    pub(crate) constraint: ConstraintIdx,
    pub(crate) p_WO: Point3<f64>,
    pub(crate) row: ConstraintRow,
}

impl ConstraintAssembly {
    /// Adds the rows of all active constraints to `set`, and their owners to `owners`.
    #[expect(
        clippy::too_many_arguments,
        reason = "one call site, all of it distinct"
    )]
    pub(crate) fn add(
        &mut self,
        world: &World,
        state: &State,
        bodies: &Bodies<'_>,
        surfaces: &[Surface],
        time_step: TimeStep,
        set: &mut ConstraintSet,
        factors: &mut BlockFactors,
        owners: &mut Vec<RowOwner>,
    ) -> Result<(), StepError> {
        self.records.clear();
        for (t, constraint) in world.parts.constraints.iter().enumerate() {
            if state.constraints[t] == ConstraintState::Released {
                continue;
            }
            let (X_WA, X_WB) = (
                anchor_pose(&constraint.a, surfaces),
                anchor_pose(&constraint.b, surfaces),
            );
            if constraint::rows(constraint.kind, &X_WA, &X_WB, &mut self.rows).is_none() {
                let ConstraintKind::Distance(length) = constraint.kind else {
                    unreachable!("only a distance can lack a direction")
                };
                return Err(StepError::ConstraintDegenerate {
                    step: state.step,
                    time_s: state.time_s,
                    constraint: constraint.name.clone(),
                    distance: (X_WA.translation.vector - X_WB.translation.vector).norm(),
                    length,
                });
            }
            self.find_sides(world, state, constraint, bodies)?;
            let point_A = matches!(constraint.a, Anchor::Point { .. });
            let point_B = matches!(constraint.b, Anchor::Point { .. });
            // The impulse of a point acts at the point on both sides, so that action and reaction are exact.
            let p_WO = match (point_A, point_B) {
                (true, _) => Point3::from(X_WA.translation.vector),
                (false, true) => Point3::from(X_WB.translation.vector),
                (false, false) => constraint::midpoint(&X_WA, &X_WB),
            };
            let positions = ContactPositions { a: p_WO, b: p_WO };
            let sides = (&self.a, &self.b);
            self.basis
                .open(set, factors, bodies, sides, ContactStatus::Closed, p_WO);
            let mobility = self.basis.mobility(sides, &positions);
            for row in &self.rows {
                self.phi.clear();
                let rate = if point_A || point_B {
                    self.basis
                        .normal_direction(sides, &positions, &row.linear, &mut self.phi);
                    row.linear
                        .dot(&self.basis.velocity(sides, &positions).start)
                } else {
                    self.phi.extend(row.angular.iter().chain(row.linear.iter()));
                    self.basis.start_rate(&self.phi)
                };
                let own = self.basis.response(&self.phi);
                let w = match constraint.kind {
                    // O, half way along it, may be far from the bodies.
                    ConstraintKind::Distance(_) if own > LOCKED * mobility.linear => own,
                    // The same in all directions, whatever the axes: a locked one would have an infinite stiffness of its own.
                    _ if row.linear == Vector3::zeros() => mobility.angular,
                    _ => mobility.linear,
                };
                let error = time_step.coasted(row.error, rate);
                let law = match constraint.compliance {
                    ConstraintCompliance::NearRigid => Bilateral::near_rigid(time_step, error, w),
                    ConstraintCompliance::Spring {
                        stiffness,
                        relaxation_time_s,
                    } => Bilateral::spring(time_step, error, stiffness, relaxation_time_s, w),
                };
                let label = ConstraintLabel {
                    kind: RowKind::Bilateral,
                    index: t as u32,
                };
                let row_idx = RowIdx(set.n_rows());
                set.last_basis()
                    .dense_row(&self.phi, RowLaw::Bilateral(law), label);
                owners.push(RowOwner::Constraint(ConstraintIdx(t)));
                self.records.push(ConstraintRecord {
                    row_idx,
                    constraint: ConstraintIdx(t),
                    p_WO,
                    row: *row,
                });
            }
        }
        Ok(())
    }

    /// The two sides of a constraint; a side in the world is set last, to match the other.
    fn find_sides(
        &mut self,
        world: &World,
        state: &State,
        constraint: &Constraint,
        bodies: &Bodies<'_>,
    ) -> Result<(), StepError> {
        for (side, anchor) in [(&mut self.a, &constraint.a), (&mut self.b, &constraint.b)] {
            let (body, point) = match *anchor {
                Anchor::World(_) => continue,
                Anchor::Frame { body, frame, X_FA } => {
                    let point = MaterialPoint::on_frame(frame, X_FA.translation.vector);
                    (body, point)
                }
                Anchor::Point { body, point } => (body, point),
            };
            side.set_to(body, &point, bodies.steps).map_err(|source| {
                let what = format!("constraint \"{}\"", constraint.name);
                StepError::of_point(world, state, what, body, source)
            })?;
        }
        match (&constraint.a, &constraint.b) {
            (Anchor::World(_), _) => self.a.set_to_world_against(&self.b),
            (_, Anchor::World(_)) => self.b.set_to_world_against(&self.a),
            _ => {}
        }
        Ok(())
    }
}

fn anchor_pose(anchor: &Anchor, surfaces: &[Surface]) -> Isometry3<f64> {
    match *anchor {
        Anchor::World(X_WA) => X_WA,
        Anchor::Frame { body, frame, X_FA } => surfaces[body.0].frames[frame as usize] * X_FA,
        Anchor::Point { body, point } => Isometry3::from_parts(
            positions(&surfaces[body.0], &point).into(),
            Default::default(),
        ),
    }
}

/// Position of a material point; the origin if the surface has no such point, which its body then refuses.
fn positions(surface: &Surface, point: &MaterialPoint) -> Vector3<f64> {
    let vertex;
    let vertices = match point.primitive {
        Primitive::Frame(i) => {
            let X_WF = surface.frames.get(i as usize);
            return X_WF.map_or_else(Vector3::zeros, |X_WF| {
                (X_WF * Point3::from(point.offset)).coords
            });
        }
        Primitive::Vertex(i) => {
            vertex = [i];
            Some(&vertex[..])
        }
        Primitive::Edge(i) => surface.edges.get(i as usize).map(|v| &v[..]),
        Primitive::Triangle(i) => surface.triangles.get(i as usize).map(|v| &v[..]),
        Primitive::Tetrahedron(i) => surface.tetrahedra.get(i as usize).map(|v| &v[..]),
    };
    let weights = match point.primitive {
        Primitive::Vertex(_) => [1.0, 0.0, 0.0, 0.0],
        _ => point.weights,
    };
    let terms = vertices.unwrap_or_default().iter().zip(weights);
    let terms = terms.filter_map(|(v, w)| Some(surface.vertices.get(*v as usize)?.coords * w));
    point.offset + terms.sum::<Vector3<f64>>()
}
