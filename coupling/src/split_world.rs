//! The world of the rigid step: explicit bodies replaced by placeholders, and the rigid geometries that they are in contact with.

mod placeholder;

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3, Vector6};
use pliant_contact_sap::{
    BodyError, BodyState, BodyStep, DeformableModel, Integration, Interpolation, MaterialPoint,
    Rows, StepInput, Surface, TimeStep,
};

use crate::constraint::Anchor;
use crate::error::StepError;
use crate::state::State;
use crate::world::{BodyIdx, GeometryIdx, Mount, World};
use placeholder::Placeholder;

/// The world without its explicit bodies, these bodies, and the rigid geometries around them.
pub(crate) struct SplitWorld {
    pub(crate) of: World,
    pub(crate) world: World,
    pub(crate) bodies: Vec<ExplicitBody>,
    pub(crate) obstacles: Vec<Obstacle>,
}

pub(crate) struct ExplicitBody {
    pub(crate) body: BodyIdx,
    pub(crate) step: Box<dyn BodyStep>,
    /// The geometry of each part.
    pub(crate) parts: Vec<Option<GeometryIdx>>,
}

/// A rigid geometry moving through the substeps.
pub(crate) struct Obstacle {
    pub(crate) geometry: GeometryIdx,
    /// Body, frame, and where the geometry's origin is in it.
    pub(crate) mount: Option<(BodyIdx, u32, Vector3<f64>)>,
    pub(crate) pose: Isometry3<f64>,
    /// Of the point at the geometry's origin, m/s, and rad/s; world axes.
    pub(crate) velocity: Vector3<f64>,
    pub(crate) spin: Vector3<f64>,
}

/// Pose and velocity of a frame.
pub(crate) struct FrameMotion {
    pub(crate) X_WF: Isometry3<f64>,
    /// (ω, v of the origin), world axes.
    pub(crate) velocity: Vector6<f64>,
}

impl Obstacle {
    /// The geometry of a part of a deformable body, if contact with this one is allowed.
    pub(crate) fn meets(
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

    pub(crate) fn pose_after(&self, passed_s: f64) -> Isometry3<f64> {
        let place = self.pose.translation.vector + self.velocity * passed_s;
        let turn = UnitQuaternion::from_scaled_axis(self.spin * passed_s);
        Isometry3::from_parts(Translation3::from(place), turn * self.pose.rotation)
    }

    pub(crate) fn velocity_at(
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
    /// The explicit bodies are those that `is_explicit` accepts.
    ///
    /// # Errors
    /// An explicit body with constraints, or in contact with another deforming body.
    pub(crate) fn of(
        world: &World,
        state: &State,
        is_explicit: impl Fn(&dyn DeformableModel) -> bool,
    ) -> Result<Self, StepError> {
        let parts = &world.parts;
        let models = parts.bodies.iter().map(|body| &*body.model);
        let is_explicit: Vec<bool> = models.map(is_explicit).collect();
        let explicit = |b: BodyIdx| is_explicit[b.0];
        let refuse = |body: BodyIdx, what: &'static str| {
            StepError::of_body(world, state, body, BodyError::Unsupported { what })
        };
        for constraint in &parts.constraints {
            for anchor in [&constraint.a, &constraint.b] {
                if let Anchor::Point { body, .. } | Anchor::Frame { body, .. } = *anchor
                    && explicit(body)
                {
                    return Err(refuse(
                        body,
                        "constraints in explicit steps; the strong-implicit stepper has them",
                    ));
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
                    return Err(refuse(
                        b,
                        "contact with deforming surfaces in explicit steps; the strong-implicit stepper has it",
                    ));
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
    pub(crate) fn without_explicit(&self, state: &State, out: &mut State) {
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

    /// Motions of frames at the start of a step.
    pub(crate) fn frame_motions(
        &self,
        world: &World,
        state: &State,
        frames: &[(BodyIdx, u32)],
        integration: Integration,
        time_step_s: f64,
    ) -> Result<Vec<FrameMotion>, StepError> {
        let (mut surface, mut rows, mut interpolation) =
            (Surface::default(), Rows::default(), Interpolation::Twist);
        let mut opened: Option<(BodyIdx, Box<dyn BodyStep>)> = None;
        let mut motions = Vec::with_capacity(frames.len());
        for &(body, frame) in frames {
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
            let X_WF = surface.frames[frame as usize];
            let point = MaterialPoint::on_frame(frame, Vector3::zeros());
            let basis = step
                .interpolation(&point, &mut interpolation)
                .map_err(failed)?;
            step.basis(basis, &Point3::from(X_WF.translation.vector), &mut rows);
            let mut twist = [0.0; 6];
            rows.apply(step.start_velocity(), &mut twist);
            motions.push(FrameMotion {
                X_WF,
                velocity: Vector6::from(twist),
            });
            opened = Some((body, step));
        }
        Ok(motions)
    }

    /// Poses and velocities of all rigid geometries at the start of the step.
    pub(crate) fn place_obstacles(
        &mut self,
        world: &World,
        state: &State,
        integration: Integration,
        time_step_s: f64,
    ) -> Result<(), StepError> {
        let mount = |obstacle: &Obstacle| obstacle.mount.map(|(body, frame, _)| (body, frame));
        let frames: Vec<_> = self.obstacles.iter().filter_map(mount).collect();
        let motions = self.frame_motions(world, state, &frames, integration, time_step_s)?;
        let on_frames = self.obstacles.iter_mut().filter(|o| o.mount.is_some());
        for (obstacle, motion) in on_frames.zip(motions) {
            let FrameMotion { X_WF, velocity } = motion;
            let geometry = &world.parts.geometries[obstacle.geometry.0];
            if let Mount::Frame { X_FG, .. } = geometry.mount {
                obstacle.pose = X_WF * X_FG;
                let arm = obstacle.pose.translation.vector - X_WF.translation.vector;
                obstacle.spin = velocity.fixed_rows::<3>(0).into_owned();
                obstacle.velocity = velocity.fixed_rows::<3>(3) + obstacle.spin.cross(&arm);
            }
        }
        Ok(())
    }
}
