//! The world of the rigid step: explicit bodies replaced by placeholders, and the rigid geometries that they are in contact with.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_contact_sap::{
    BodyError, BodyState, BodyStep, Integration, Interpolation, MaterialPoint, Rows, StepInput,
    Surface, TimeStep,
};

use super::placeholder::Placeholder;
use crate::constraint::Anchor;
use crate::error::StepError;
use crate::state::State;
use crate::world::{BodyIdx, GeometryIdx, Mount, World};

/// The world without its explicit bodies, these bodies, and the rigid geometries around them.
pub(super) struct SplitWorld {
    pub(super) of: World,
    pub(super) world: World,
    pub(super) bodies: Vec<ExplicitBody>,
    pub(super) obstacles: Vec<Obstacle>,
}

pub(super) struct ExplicitBody {
    pub(super) body: BodyIdx,
    pub(super) step: Box<dyn BodyStep>,
    /// The geometry of each part.
    pub(super) parts: Vec<Option<GeometryIdx>>,
}

/// A rigid geometry moving through the substeps.
pub(super) struct Obstacle {
    pub(super) geometry: GeometryIdx,
    /// Body, frame, and where the geometry's origin is in it.
    pub(super) mount: Option<(BodyIdx, u32, Vector3<f64>)>,
    pub(super) pose: Isometry3<f64>,
    /// Of the point at the geometry's origin, m/s, and rad/s; world axes.
    pub(super) velocity: Vector3<f64>,
    pub(super) spin: Vector3<f64>,
}

impl Obstacle {
    /// The geometry of a part of a deformable body, if contact with this one is allowed.
    pub(super) fn meets(
        &self,
        world: &World,
        parts: &[Option<GeometryIdx>],
        part: u32,
    ) -> Option<GeometryIdx> {
        let soft = parts.get(part as usize).copied().flatten()?;
        let index = pliant_hydroelastic::GeometryIdx;
        let allowed =
            (world.parts.filter).allows(index(soft.0 as u32), index(self.geometry.0 as u32));
        allowed.then_some(soft)
    }

    pub(super) fn pose_after(&self, passed_s: f64) -> Isometry3<f64> {
        let place = self.pose.translation.vector + self.velocity * passed_s;
        let turn = UnitQuaternion::from_scaled_axis(self.spin * passed_s);
        Isometry3::from_parts(Translation3::from(place), turn * self.pose.rotation)
    }

    pub(super) fn velocity_at(
        &self,
        world: &World,
        pose: &Isometry3<f64>,
        p: &Point3<f64>,
    ) -> Vector3<f64> {
        let belt = world.parts.geometries[self.geometry.0].surface_velocity;
        let arm = p.coords - pose.translation.vector;
        self.velocity + self.spin.cross(&arm) + pose.rotation * belt
    }
}

impl SplitWorld {
    pub(super) fn of(world: &World, state: &State) -> Result<Self, StepError> {
        let parts = &world.parts;
        let models = parts.bodies.iter().map(|body| &body.model);
        let is_explicit: Vec<bool> = models
            .map(|model| model.new_step().as_point_masses().is_some())
            .collect();
        let explicit = |b: BodyIdx| is_explicit[b.0];
        let refuse = |body: BodyIdx, what: &'static str| {
            StepError::of_body(world, state, body, BodyError::Unsupported { what })
        };
        for constraint in &parts.constraints {
            for anchor in [&constraint.a, &constraint.b] {
                if let Anchor::Point { body, .. } | Anchor::Frame { body, .. } = *anchor
                    && explicit(body)
                {
                    return Err(refuse(body, "constraints while impulses are exchanged"));
                }
            }
        }
        let mut bodies = Vec::new();
        for b in (0..parts.bodies.len())
            .map(BodyIdx)
            .filter(|b| explicit(*b))
        {
            let mut of_part: Vec<Option<GeometryIdx>> = Vec::new();
            for (g, geometry) in parts.geometries.iter().enumerate() {
                if geometry.mount.body() != Some(b) {
                    continue;
                }
                let part = geometry.part.unwrap_or(0) as usize;
                if of_part.len() <= part {
                    of_part.resize(part + 1, None);
                }
                of_part[part] = Some(GeometryIdx(g));
                let index = |g: usize| pliant_hydroelastic::GeometryIdx(g as u32);
                let soft = |other: &usize| {
                    let body = parts.geometries[*other].mount.deforming();
                    body.is_some_and(|body| body != b)
                        && parts.filter.allows(index(g), index(*other))
                };
                if (0..parts.geometries.len()).any(|other| soft(&other)) {
                    return Err(refuse(b, "exchange of impulses with deforming surfaces"));
                }
            }
            bodies.push(ExplicitBody {
                body: b,
                step: parts.bodies[b.0].model.new_step(),
                parts: of_part,
            });
        }
        let mut obstacles = Vec::new();
        for (g, geometry) in parts.geometries.iter().enumerate() {
            let (pose, mount) = match geometry.mount {
                Mount::World(pose) => (pose, None),
                Mount::Frame { body, frame, X_FG } => {
                    let mount = (body, frame, X_FG.translation.vector);
                    (Isometry3::identity(), Some(mount))
                }
                _ => continue,
            };
            obstacles.push(Obstacle {
                geometry: GeometryIdx(g),
                mount,
                pose,
                velocity: Vector3::zeros(),
                spin: Vector3::zeros(),
            });
        }
        Ok(Self {
            of: world.clone(),
            world: world.with_models(|b| explicit(b).then(|| Arc::new(Placeholder) as _)),
            bodies,
            obstacles,
        })
    }

    /// `state` for the world without its explicit bodies.
    pub(super) fn without_explicit(&self, state: &State, out: &mut State) {
        let is_explicit = |b: usize| self.bodies.iter().any(|e| e.body.0 == b);
        out.time_s = state.time_s;
        out.step = state.step;
        out.bodies.resize_with(state.bodies.len(), Default::default);
        out.controls
            .resize_with(state.controls.len(), Default::default);
        for (b, body) in state.bodies.iter().enumerate() {
            if is_explicit(b) {
                out.bodies[b] = BodyState::default();
            } else {
                out.bodies[b].clone_from(body);
                out.controls[b].clone_from(&state.controls[b]);
            }
        }
        out.constraints.clone_from(&state.constraints);
        out.memory.clone_from(&state.memory);
    }

    /// Poses and velocities of all rigid geometries at the start of the step.
    pub(super) fn place_obstacles(
        &mut self,
        world: &World,
        state: &State,
        integration: Integration,
        time_step_s: f64,
    ) -> Result<(), StepError> {
        let (mut surface, mut rows, mut interpolation) =
            (Surface::default(), Rows::default(), Interpolation::Twist);
        let mut opened: Option<(BodyIdx, Box<dyn BodyStep>)> = None;
        for obstacle in &mut self.obstacles {
            let Mount::Frame { body, frame, X_FG } =
                world.parts.geometries[obstacle.geometry.0].mount
            else {
                continue;
            };
            let failed = |source| StepError::of_body(world, state, body, source);
            let step = match opened.take() {
                Some((of, step)) if of == body => step,
                _ => {
                    let model = &world.parts.bodies[body.0].model;
                    model.surface(&state.bodies[body.0], &mut surface);
                    let mut step = model.new_step();
                    let input = StepInput {
                        time_step: TimeStep {
                            length_s: time_step_s,
                            integration,
                        },
                        gravity: world.parts.gravity,
                        control: &state.controls[body.0],
                    };
                    step.begin(&state.bodies[body.0], &input).map_err(failed)?;
                    step
                }
            };
            obstacle.pose = surface.frames[frame as usize] * X_FG;
            let point = MaterialPoint::on_frame(frame, Vector3::zeros());
            let basis = step
                .interpolation(&point, &mut interpolation)
                .map_err(failed)?;
            let p_WO = Point3::from(obstacle.pose.translation.vector);
            step.basis(basis, &p_WO, &mut rows);
            let mut twist = vec![0.0; rows.n_rows()];
            rows.apply(step.start_velocity(), &mut twist);
            obstacle.spin = Vector3::from_column_slice(&twist[..3]);
            obstacle.velocity = Vector3::from_column_slice(&twist[3..6]);
            opened = Some((body, step));
        }
        Ok(())
    }
}
