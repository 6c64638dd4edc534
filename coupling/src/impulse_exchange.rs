//! The explicit opponent of the strong-implicit stepper: impulses exchanged between grids and rigid things, substep by substep.

mod absent;

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_contact_sap::{
    BodyError, BodyState, BodyStep, ConvexContactSolver, Integration, Lever, Load, MaterialPoint,
    PointMass, Rows, SelfContact, StepInput, Surface, TimeStep,
};

use crate::error::StepError;
use crate::report::{ContactForce, StepReport};
use crate::state::State;
use crate::strong_implicit::StrongImplicit;
use crate::tie::Anchor;
use crate::world::{BodyIdx, GeometryIdx, Mount, World};
use absent::Absent;

/// Steps the bodies of a [`World`] that meet on a grid explicitly, in `substeps` substeps, and everything else as
/// [`StrongImplicit`] does, in one.
///
/// A grid node inside a rigid shape is given the shape's velocity along the normal, and Coulomb friction along the surface,
/// in every substep; rigid things keep their velocities meanwhile and feel the sum of these impulses as a force in their
/// own step. That is how ManiSkill2 (Gu et al. 2023) couples material points with robots. It is there to be compared with:
/// nothing ties friction to stiction over substeps, and what is grasped does not know of the grasp before the step is
/// over. Shapes are felt up to a cell away, as far as a node's mass reaches.
///
/// Ties to such bodies and contact of theirs with other deforming bodies are refused.
pub struct ImpulseExchange<S> {
    rigid: StrongImplicit<S>,
    substeps: usize,
    twin: Option<Twin>,
    state: State,
    next: State,
    nodes: Vec<PointMass>,
    velocity: Vec<f64>,
}

/// The world without its explicit bodies, and what is around these.
struct Twin {
    of: World,
    world: World,
    bodies: Vec<ExplicitBody>,
    obstacles: Vec<Obstacle>,
}

struct ExplicitBody {
    body: BodyIdx,
    step: Box<dyn BodyStep>,
    /// The geometry of each part.
    parts: Vec<Option<GeometryIdx>>,
}

/// A rigid geometry on its way through a step.
struct Obstacle {
    geometry: GeometryIdx,
    /// Body, frame, and where the geometry's origin is in it.
    mount: Option<(BodyIdx, u32, Vector3<f64>)>,
    pose: Isometry3<f64>,
    /// Of the point at the geometry's origin, m/s, and rad/s; world axes.
    velocity: Vector3<f64>,
    spin: Vector3<f64>,
}

/// What one geometry did to another in a step, as an impulse at a point.
#[derive(Default)]
struct Exchange {
    impulse: Vector3<f64>,
    /// Σ |impulse| p and Σ |impulse|: where it acted on average.
    moment: Vector3<f64>,
    size: f64,
    normal: Vector3<f64>,
    torque: Vector3<f64>,
}

impl<S: ConvexContactSolver> ImpulseExchange<S> {
    /// With so many substeps, at least one, in each step.
    pub fn new(solver: S, substeps: usize) -> Self {
        Self {
            rigid: StrongImplicit::new(solver),
            substeps: substeps.max(1),
            twin: None,
            state: State::default(),
            next: State::default(),
            nodes: Vec::new(),
            velocity: Vec::new(),
        }
    }

    /// Steps `state` by `time_step_s` into `next`, whose memory is reused; `state` stays as it is.
    ///
    /// In the report a geometry of material points has one contact with each rigid one: the mean force over the step, where it
    /// acted on average.
    ///
    /// # Errors
    /// As [`StrongImplicit::step`]; [`BodyError::Unsupported`] for what this stepper does not do.
    pub fn step(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        next: &mut State,
    ) -> Result<StepReport, StepError> {
        if !(time_step_s > 0.0 && time_step_s.is_finite()) {
            return Err(StepError::TimeStep(time_step_s));
        }
        let known = |twin: &Twin| Arc::ptr_eq(&twin.of.parts, &world.parts);
        let mut twin = match self.twin.take().filter(known) {
            Some(twin) => twin,
            None => Twin::of(world, state)?,
        };
        twin.leave_out(state, &mut self.state);
        twin.place_obstacles(world, &self.state, time_step_s)?;
        let mut exchanges = BTreeMap::new();
        let mut ends = Vec::with_capacity(twin.bodies.len());
        for number in 0..twin.bodies.len() {
            let end = self.substep(world, state, &mut twin, number, time_step_s, &mut exchanges)?;
            ends.push(end);
        }
        for (&(_, geometry), exchange) in &exchanges {
            let obstacle = twin.obstacles.iter().find(|o| o.geometry == geometry);
            if let Some((body, frame, p_FG)) = obstacle.and_then(|o| o.mount) {
                self.state.controls[body.0].loads.push(Load {
                    point: MaterialPoint::on_frame(frame, p_FG),
                    force_W: -exchange.impulse / time_step_s,
                    torque_W: -exchange.torque / time_step_s,
                });
            }
        }
        let mut report = self
            .rigid
            .step(&twin.world, &self.state, time_step_s, &mut self.next)?;
        std::mem::swap(next, &mut self.next);
        next.controls.clone_from(&state.controls);
        for (explicit, end) in twin.bodies.iter().zip(ends) {
            next.bodies[explicit.body.0] = end;
        }
        report.contacts.extend(
            exchanges
                .iter()
                .map(|(&(soft, rigid), exchange)| exchange.contact(soft, rigid, time_step_s)),
        );
        report.contacts.sort_by_key(|c| (c.a, c.b));
        self.twin = Some(twin);
        Ok(report)
    }

    /// One explicit body through all substeps; what it gets from rigid geometries is added to `exchanges`.
    fn substep(
        &mut self,
        world: &World,
        state: &State,
        twin: &mut Twin,
        number: usize,
        time_step_s: f64,
        exchanges: &mut BTreeMap<(GeometryIdx, GeometryIdx), Exchange>,
    ) -> Result<BodyState, StepError> {
        let ExplicitBody { body, step, parts } = &mut twin.bodies[number];
        let body = *body;
        let failed = |source| StepError::of_body(world, state, body, source);
        let length_s = time_step_s / self.substeps as f64;
        let input = StepInput {
            time_step: TimeStep {
                length_s,
                integration: Integration::Symplectic,
            },
            gravity: world.parts.gravity,
            control: &state.controls[body.0],
        };
        let mut now = state.bodies[body.0].clone();
        let mut after = BodyState::default();
        for k in 0..self.substeps {
            step.begin(&now, &input).map_err(failed)?;
            step.point_masses(&mut self.nodes)
                .ok_or(BodyError::Unsupported {
                    what: "point masses",
                })
                .map_err(failed)?;
            self.velocity.clear();
            self.velocity.resize(3 * self.nodes.len(), 0.0);
            step.explicit_velocity(&mut self.velocity).map_err(failed)?;
            for obstacle in &twin.obstacles {
                let passed = length_s * k as f64;
                let pose = obstacle.pose_after(passed);
                let shape = &world.parts.geometries[obstacle.geometry.0].shape;
                let Some(shape) = shape else { continue };
                let bounds = shape.aabb(&pose);
                for (node, v) in self.nodes.iter().zip(self.velocity.chunks_exact_mut(3)) {
                    let inside =
                        |k: usize| bounds.min[k] <= node.p_WQ[k] && node.p_WQ[k] <= bounds.max[k];
                    if !(0..3).all(inside) {
                        continue;
                    }
                    let Some(Some(soft)) = parts.get(node.part as usize).copied() else {
                        continue;
                    };
                    let (a, b) = (soft.0 as u32, obstacle.geometry.0 as u32);
                    let index = pliant_hydroelastic::GeometryIdx;
                    if !world.parts.filter.allows(index(a), index(b)) {
                        continue;
                    }
                    let distance = shape.signed_distance_in_world(&pose, &node.p_WQ);
                    if distance.value >= 0.0 {
                        continue;
                    }
                    let friction = world.pair(soft, obstacle.geometry).friction;
                    let normal = distance.gradient;
                    let own = Vector3::from_column_slice(v);
                    let slip = own - obstacle.velocity_at(world, &pose, &node.p_WQ);
                    let change = change_of_velocity(&slip, &normal, friction);
                    if change == Vector3::zeros() {
                        continue;
                    }
                    v.copy_from_slice((own + change).as_slice());
                    exchanges.entry((soft, obstacle.geometry)).or_default().add(
                        change * node.mass,
                        &node.p_WQ,
                        &normal,
                        obstacle,
                    );
                }
            }
            let _ = step.advance(&self.velocity, &mut after).map_err(failed)?;
            std::mem::swap(&mut now, &mut after);
        }
        Ok(now)
    }
}

/// What Coulomb's law makes of a node that slips at `slip` against what it is in: no approach along the outward `normal`, and
/// along the surface as much less slip as μ times that allows.
fn change_of_velocity(slip: &Vector3<f64>, normal: &Vector3<f64>, friction: f64) -> Vector3<f64> {
    let approach = -slip.dot(normal);
    if approach <= 0.0 {
        return Vector3::zeros();
    }
    let tangential = slip + normal * approach;
    let speed = tangential.norm();
    let share = if speed > friction * approach {
        friction * approach / speed
    } else {
        1.0
    };
    normal * approach - tangential * share
}

impl Exchange {
    fn add(
        &mut self,
        impulse: Vector3<f64>,
        p_WQ: &Point3<f64>,
        normal: &Vector3<f64>,
        obstacle: &Obstacle,
    ) {
        let size = impulse.norm();
        self.impulse += impulse;
        self.moment += p_WQ.coords * size;
        self.size += size;
        self.normal += normal * size;
        self.torque += (p_WQ - Point3::from(obstacle.pose.translation.vector)).cross(&impulse);
    }

    fn contact(&self, soft: GeometryIdx, rigid: GeometryIdx, time_step_s: f64) -> ContactForce {
        let p_WC = Point3::from(self.moment / self.size);
        let normal = self.normal.try_normalize(0.0).unwrap_or_else(Vector3::z);
        let force = self.impulse / time_step_s;
        let (a, b, sign) = if soft < rigid {
            (soft, rigid, 1.0)
        } else {
            (rigid, soft, -1.0)
        };
        ContactForce {
            a,
            b,
            p_WCa: p_WC,
            p_WCb: p_WC,
            normal_W: normal * sign,
            force_W: force * sign,
            signed_distance: 0.0,
            patch: None,
        }
    }
}

impl Obstacle {
    fn pose_after(&self, passed_s: f64) -> Isometry3<f64> {
        let place = self.pose.translation.vector + self.velocity * passed_s;
        let turn = UnitQuaternion::from_scaled_axis(self.spin * passed_s);
        Isometry3::from_parts(Translation3::from(place), turn * self.pose.rotation)
    }

    fn velocity_at(&self, world: &World, pose: &Isometry3<f64>, p: &Point3<f64>) -> Vector3<f64> {
        let belt = world.parts.geometries[self.geometry.0].surface_velocity;
        let arm = p.coords - pose.translation.vector;
        self.velocity + self.spin.cross(&arm) + pose.rotation * belt
    }
}

impl Twin {
    fn of(world: &World, state: &State) -> Result<Self, StepError> {
        let parts = &world.parts;
        let explicit = |b: BodyIdx| parts.bodies[b.0].model.self_contact() == SelfContact::Inherent;
        let refuse = |body: BodyIdx, what: &'static str| {
            StepError::of_body(world, state, body, BodyError::Unsupported { what })
        };
        for tie in &parts.ties {
            for anchor in [&tie.a, &tie.b] {
                if let Anchor::Point { body, .. } | Anchor::Frame { body, .. } = *anchor
                    && explicit(body)
                {
                    return Err(refuse(body, "ties while impulses are exchanged"));
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
            world: world.with_models(|b| explicit(b).then(|| Arc::new(Absent) as _)),
            bodies,
            obstacles,
        })
    }

    /// `state` for the world without its explicit bodies.
    fn leave_out(&self, state: &State, out: &mut State) {
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
        out.ties.clone_from(&state.ties);
        out.stuck.clone_from(&state.stuck);
        out.loads.clone_from(&state.loads);
        out.proposed_step_s = state.proposed_step_s;
        out.constrained.clone_from(&state.constrained);
    }

    /// Poses and velocities of all rigid geometries at the start of the step.
    fn place_obstacles(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
    ) -> Result<(), StepError> {
        let (mut surface, mut rows, mut lever) =
            (Surface::default(), Rows::default(), Lever::Twist);
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
                            integration: world.parts.integration,
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
            let basis = step.lever(&point, &mut lever).map_err(failed)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_never_approaches_and_friction_stays_in_its_cone() {
        let normal = Vector3::new(0.6, 0.0, 0.8);
        for mu in [0.0, 0.3, 2.0] {
            for k in 0..40 {
                let s = k as f64;
                let slip = Vector3::new(s.sin(), (1.3 * s).cos(), (0.7 * s).sin());
                let change = change_of_velocity(&slip, &normal, mu);
                let approach = -slip.dot(&normal);
                if approach <= 0.0 {
                    assert_eq!(change, Vector3::zeros());
                    continue;
                }
                let end = slip + change;
                assert!(end.dot(&normal).abs() < 1e-14);
                let along = change - normal * change.dot(&normal);
                assert!(along.norm() <= mu * approach + 1e-14);
                // Friction opposes slip and never turns it round.
                assert!(along.dot(&slip) <= 1e-14 && end.dot(&slip) >= -1e-14);
                assert!(end.norm() < 1e-14 || (along.norm() - mu * approach).abs() < 1e-14);
            }
        }
    }
}
