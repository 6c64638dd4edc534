//! Ties as rows of the contact problem.

use nalgebra::{Isometry3, Point3};
use pliant_contact_sap::{
    Bilateral, BlockFactors, ConstraintKind, ConstraintLabel, ConstraintSet, MaterialPoint, RowLaw,
    Surface, TimeStep,
};

use crate::error::StepError;
use crate::pair_basis::{Bodies, Meeting, PairBasis, Side};
use crate::report::RowOwner;
use crate::state::{State, TieState};
use crate::tie::{self, Anchor, TieCompliance, TieKind, TieRow};
use crate::world::{TieIdx, World};

/// Memory for turning ties into rows.
#[derive(Debug, Default)]
pub(crate) struct TieAssembly {
    basis: PairBasis,
    a: Side,
    b: Side,
    rows: Vec<TieRow>,
    /// Every row in the set, in the order of its rows.
    pub(crate) records: Vec<TieRecord>,
}

/// What is remembered of a tie's row in the set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TieRecord {
    pub(crate) tie: TieIdx,
    pub(crate) p_WO: Point3<f64>,
    pub(crate) row: TieRow,
}

impl TieAssembly {
    /// Adds the rows of all active ties to `set`, and their owners to `owners`.
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
        for (t, tie) in world.parts.ties.iter().enumerate() {
            if state.ties[t] == TieState::Released {
                continue;
            }
            let (X_WA, X_WB) = (anchor_pose(&tie.a, surfaces), anchor_pose(&tie.b, surfaces));
            if tie::rows(tie.kind, &X_WA, &X_WB, &mut self.rows).is_none() {
                let TieKind::Distance(length) = tie.kind else {
                    unreachable!("only a distance can lack a direction")
                };
                return Err(StepError::TieDegenerate {
                    step: state.step,
                    time_s: state.time_s,
                    tie: tie.name.clone(),
                    distance: (X_WA.translation.vector - X_WB.translation.vector).norm(),
                    length,
                });
            }
            let ends = [(&mut self.a, &tie.a), (&mut self.b, &tie.b)];
            for (side, anchor) in ends {
                let Anchor::Frame { body, frame, X_FA } = *anchor else {
                    *side = Side::default();
                    continue;
                };
                let point = MaterialPoint::on_frame(frame, X_FA.translation.vector);
                side.be_at(body, &point, bodies.steps).map_err(|source| {
                    let what = format!("tie \"{}\"", tie.name);
                    StepError::of_point(world, state, what, body, source)
                })?;
            }
            let p_WO = tie::midpoint(&X_WA, &X_WB);
            self.basis
                .open(set, factors, bodies, (&self.a, &self.b), Meeting::Now, p_WO);
            for row in &self.rows {
                let phi: [f64; 6] = [
                    row.angular.x,
                    row.angular.y,
                    row.angular.z,
                    row.linear.x,
                    row.linear.y,
                    row.linear.z,
                ];
                let w = self.basis.response(&phi);
                let error = time_step.coasted(row.error, self.basis.start_rate(&phi));
                let law = match tie.compliance {
                    TieCompliance::NearRigid => Bilateral::near_rigid(time_step, error, w),
                    TieCompliance::Spring {
                        stiffness,
                        relaxation_time_s,
                    } => Bilateral::spring(time_step, error, stiffness, relaxation_time_s, w),
                };
                let label = ConstraintLabel {
                    kind: ConstraintKind::Bilateral,
                    index: t as u32,
                };
                set.last_basis()
                    .dense_row(&phi, RowLaw::Bilateral(law), label);
                owners.push(RowOwner::Tie(TieIdx(t)));
                self.records.push(TieRecord {
                    tie: TieIdx(t),
                    p_WO,
                    row: *row,
                });
            }
        }
        Ok(())
    }
}

fn anchor_pose(anchor: &Anchor, surfaces: &[Surface]) -> Isometry3<f64> {
    match *anchor {
        Anchor::World(X_WA) => X_WA,
        Anchor::Frame { body, frame, X_FA } => surfaces[body.0].frames[frame as usize] * X_FA,
    }
}
