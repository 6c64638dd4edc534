//! By how much geometries move otherwise than they were placed to: where pairs may meet that were not looked for.

use nalgebra::Vector3;
use pliant_contact_sap::ParticipantIdx;
use pliant_hydroelastic::Shape;

use super::{Collision, vertex_velocities};
use crate::error::StepError;
use crate::pair_basis::Bodies;
use crate::state::State;
use crate::world::{Geometry, Mount, World};

/// How a geometry moves other than it was placed to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Diversion {
    /// Of its origin, m/s.
    linear: Vector3<f64>,
    /// Most that turning adds at any of its points, m/s.
    turning: f64,
}

impl Diversion {
    pub(super) fn largest(&self) -> f64 {
        self.linear.norm() + self.turning
    }

    pub(super) fn largest_against(&self, other: &Self) -> f64 {
        (self.linear - other.linear).norm() + self.turning + other.turning
    }
}

impl Collision {
    /// Compares the paths of `solved` with those of `planned`, by which the geometries were placed: whether one moves so
    /// much otherwise that new pairs may meet within the step, by more than the resting margin.
    pub(crate) fn find_diverted(
        &mut self,
        world: &World,
        state: &State,
        planned: &Bodies<'_>,
        solved: &Bodies<'_>,
        time_step_s: f64,
    ) -> Result<bool, StepError> {
        self.diversion_allowed = 2.0 * world.parts.gravity.norm() * time_step_s;
        let mut diversions = std::mem::take(&mut self.diversions);
        diversions.clear();
        let mut diverted = |g: usize, geometry: &Geometry| match geometry.mount {
            Mount::World(_) => Ok(Diversion {
                linear: Vector3::zeros(),
                turning: 0.0,
            }),
            Mount::Frame { body, frame, .. } => {
                let p_WG = self.poses[g].translation.vector.into();
                let refused = |source| {
                    let what = format!("geometry \"{}\"", geometry.name);
                    StepError::of_point(world, state, what, body, source)
                };
                let before = self.frame_twist(planned, body, frame, &p_WG);
                let after = self.frame_twist(solved, body, frame, &p_WG);
                let (before, after) = (before.map_err(refused)?, after.map_err(refused)?);
                let turn = (after.angular - before.angular).norm();
                let radius = geometry.shape.as_ref().map(Shape::radius_about_origin);
                Ok(Diversion {
                    linear: after.linear - before.linear,
                    // A half space has no radius but infinity.
                    turning: if turn > 0.0 {
                        turn * radius.unwrap_or(0.0)
                    } else {
                        0.0
                    },
                })
            }
            Mount::Segments { body } => {
                let step = &solved.steps[body.0];
                let path = solved.path_of(ParticipantIdx(body.0));
                let vertices = &self.surfaces[body.0].vertices;
                let memory = (&mut self.side.lever, &mut self.rows, &mut self.u);
                let found = &mut self.solved_velocities;
                vertex_velocities(&**step, vertices, path, memory, found).map_err(|source| {
                    let what = format!("geometry \"{}\"", geometry.name);
                    StepError::of_point(world, state, what, body, source)
                })?;
                let planned = &self.vertex_velocities[g];
                let changes = found.iter().zip(planned);
                let most = changes.fold(0.0_f64, |most, (v, planned)| {
                    most.max((v - planned).norm_squared())
                });
                Ok(Diversion {
                    linear: Vector3::zeros(),
                    turning: most.sqrt(),
                })
            }
            // Deforming surfaces are always looked at again.
            Mount::Vertices { .. } | Mount::Surface { .. } => Ok(Diversion {
                linear: Vector3::zeros(),
                turning: f64::INFINITY,
            }),
        };
        for (g, geometry) in world.parts.geometries.iter().enumerate() {
            diversions.push(diverted(g, geometry)?);
        }
        self.diversions = diversions;
        let allowed = self.diversion_allowed;
        Ok(self.diversions.iter().any(|d| d.largest() > allowed))
    }
}
