//! Predicted motion of geometries within a step, and the deviation of the solution from it.
//!
//! Geometries out of contact are predicted by their free motion. That prediction is useless for bodies in contact with deformable ones: a
//! press of 10 kg under 70 kN would move half a metre through the pressed body, and each triangle on that path would become a contact
//! without load. A deformable surface, and a shape in contact with it, are therefore predicted to keep their velocities of the start;
//! where the solution deviates, the pair is searched again.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyError, BodyStep, Interpolation, MaterialPoint, ParticipantIdx, Rows};
use pliant_hydroelastic::{RigidShape, Shape, Twist};

use super::{Collision, Search};
use crate::error::StepError;
use crate::pair_basis::{Bodies, point_velocity};
use crate::state::State;
use crate::world::{BodyIdx, Geometry, GeometryIdx, Mount, World};

/// How the motion of a rigid shape is predicted; deformable surfaces always keep their velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    /// Free motion.
    Free,
    /// The velocities at the start of the step.
    Steady,
}

/// Deviation of a geometry's motion from its prediction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Diversion {
    /// Of its origin, m/s.
    linear: Vector3<f64>,
    /// Upper bound of the speed that the deviation of the rotation adds at any point, m/s.
    turning: f64,
}

impl Diversion {
    /// Of a shape whose predicted and actual twists differ.
    fn between(expected: &Twist, found: &Twist, shape: Option<&Shape>) -> Self {
        let turn = (found.angular - expected.angular).norm();
        let radius = shape.map_or(0.0, Shape::radius_about_origin);
        Self {
            linear: found.linear - expected.linear,
            // The radius of a half space is infinite.
            turning: if turn > 0.0 { turn * radius } else { 0.0 },
        }
    }

    /// Of vertices.
    fn of_vertices(expected: &[Vector3<f64>], found: &[Vector3<f64>]) -> Self {
        let changes = found.iter().zip(expected);
        let most = changes.fold(0.0_f64, |most, (v, expected)| {
            most.max((v - expected).norm_squared())
        });
        Self {
            linear: Vector3::zeros(),
            turning: most.sqrt(),
        }
    }

    pub(super) fn largest(&self) -> f64 {
        self.linear.norm() + self.turning
    }

    pub(super) fn largest_against(&self, other: &Self) -> f64 {
        (self.linear - other.linear).norm() + self.turning + other.turning
    }
}

impl Collision {
    /// The motion by which a pair is predicted.
    pub(super) fn motion(&self, a: usize, b: usize) -> Motion {
        match self.soft[a].is_some() || self.soft[b].is_some() {
            true => Motion::Steady,
            false => Motion::Free,
        }
    }

    /// Whether the free motion of a pair differs from its motion at the start.
    pub(super) fn is_driven(&self, world: &World, a: usize, b: usize) -> bool {
        let driven = |g: usize| {
            let shape = world.parts.geometries[g].shape.as_ref();
            Diversion::between(&self.steady_twists[g], &self.twists[g], shape)
        };
        driven(a).largest_against(&driven(b)) > self.diversion_allowed
    }

    /// Predicts the motion of the geometry placed last.
    pub(super) fn predict_motion(
        &mut self,
        g: usize,
        geometry: &Geometry,
        participants: &Bodies<'_>,
        search: Search,
    ) -> Result<(), (BodyIdx, BodyError)> {
        let (mut twist, mut steady) = (Twist::zero(), Twist::zero());
        let of = |body: BodyIdx| {
            let free = participants.path_of(ParticipantIdx(body.0));
            match search {
                Search::All => (free, participants.start_of(ParticipantIdx(body.0))),
                Search::Missed => (free, free),
            }
        };
        match geometry.mount {
            Mount::World(_) => {}
            Mount::Frame { body, frame, .. } => {
                let p_WG = self.poses[g].translation.vector.into();
                let (free, start) = of(body);
                let step = &*participants.steps[body.0];
                [twist, steady] = self
                    .frame_twists(step, frame, &p_WG, [free, start])
                    .map_err(|source| (body, source))?;
            }
            Mount::Vertices { body } | Mount::Segments { body, .. } | Mount::Surface { body } => {
                let v = match (of(body), geometry.mount) {
                    ((_, start), Mount::Surface { .. }) => start,
                    ((free, _), _) => free,
                };
                let step = &*participants.steps[body.0];
                let memory = (&mut self.side.interpolation, &mut self.rows, &mut self.u);
                let vertices = &self.surfaces[body.0].vertices;
                let velocities = &mut self.vertex_velocities[g];
                vertex_velocities(step, vertices, v, memory, velocities)
                    .map_err(|source| (body, source))?;
            }
        }
        self.twists.push(twist);
        self.steady_twists.push(steady);
        Ok(())
    }

    /// Compares the motion of `solved` with that of `planned`, by which contacts were found: whether a deviation exceeds what the
    /// resting margin covers.
    pub(crate) fn find_diverted(
        &mut self,
        world: &World,
        state: &State,
        planned: &Bodies<'_>,
        solved: &Bodies<'_>,
    ) -> Result<bool, StepError> {
        self.diversions.clear();
        self.unsteadiness.clear();
        self.solved_twists.clear();
        for (g, geometry) in world.parts.geometries.iter().enumerate() {
            self.solved_twists.push(Twist::zero());
            let [diversion, unsteadiness] =
                self.diverted(g, geometry, planned, solved)
                    .map_err(|(body, source)| {
                        let what = format!("geometry \"{}\"", geometry.name);
                        StepError::of_point(world, state, what, body, source)
                    })?;
            self.diversions.push(diversion);
            self.unsteadiness.push(unsteadiness);
        }
        let allowed = self.diversion_allowed;
        let mut all = self.diversions.iter().chain(&self.unsteadiness);
        Ok(all.any(|d| d.largest() > allowed))
    }

    /// Deviations of the solution from the free motion of a geometry, and from its motion at the start.
    fn diverted(
        &mut self,
        g: usize,
        geometry: &Geometry,
        planned: &Bodies<'_>,
        solved: &Bodies<'_>,
    ) -> Result<[Diversion; 2], (BodyIdx, BodyError)> {
        match geometry.mount {
            Mount::World(_) => Ok([Diversion::default(); 2]),
            Mount::Frame { body, frame, .. } => {
                let p_WG = self.poses[g].translation.vector.into();
                let participant = ParticipantIdx(body.0);
                let velocities = [
                    planned.path_of(participant),
                    planned.start_of(participant),
                    solved.path_of(participant),
                ];
                let step = &*solved.steps[body.0];
                let [free, start, found] = self
                    .frame_twists(step, frame, &p_WG, velocities)
                    .map_err(|source| (body, source))?;
                self.solved_twists[g] = found;
                let shape = geometry.shape.as_ref();
                Ok([free, start].map(|expected| Diversion::between(&expected, &found, shape)))
            }
            Mount::Segments { body, .. } | Mount::Surface { body } => {
                let step = &*solved.steps[body.0];
                let path = solved.path_of(ParticipantIdx(body.0));
                let vertices = &self.surfaces[body.0].vertices;
                let memory = (&mut self.side.interpolation, &mut self.rows, &mut self.u);
                let found = &mut self.solved_velocities;
                vertex_velocities(step, vertices, path, memory, found)
                    .map_err(|source| (body, source))?;
                let expected = &self.vertex_velocities[g];
                Ok([Diversion::of_vertices(expected, found); 2])
            }
            // Vertices of a deforming surface are always searched again.
            Mount::Vertices { .. } => {
                let diversion = Diversion {
                    linear: Vector3::zeros(),
                    turning: f64::INFINITY,
                };
                Ok([diversion; 2])
            }
        }
    }

    /// Twists of a body's frame at the world point `p_WQ` by several velocities of the body.
    fn frame_twists<const N: usize>(
        &mut self,
        step: &dyn BodyStep,
        frame: u32,
        p_WQ: &Point3<f64>,
        velocities: [&[f64]; N],
    ) -> Result<[Twist; N], BodyError> {
        let point = MaterialPoint::on_frame(frame, Vector3::zeros());
        let basis = step.interpolation(&point, &mut Interpolation::Twist)?;
        step.basis(basis, p_WQ, &mut self.rows);
        Ok(velocities.map(|v| {
            let mut u = [0.0; 6];
            self.rows.apply(v, &mut u);
            Twist {
                angular: Vector3::new(u[0], u[1], u[2]),
                linear: Vector3::new(u[3], u[4], u[5]),
            }
        }))
    }

    /// Whether the solution moves a pair elsewhere than predicted, where it may have contacts besides the known ones.
    pub(super) fn may_be_missed(&self, world: &World, a: usize, b: usize) -> bool {
        let diversions = match self.motion(a, b) {
            Motion::Free => &self.diversions,
            Motion::Steady => &self.unsteadiness,
        };
        if diversions[a].largest_against(&diversions[b]) <= self.diversion_allowed {
            return false;
        }
        let deforms = |g: usize| self.filaments[g].is_some() || self.soft[g].is_some();
        deforms(a) || deforms(b) || !self.is_known(a, b) || self.has_moving_parts(world, a, b)
    }

    /// Whether one of the shapes is not convex and the pair moves further than the resting margin.
    fn has_moving_parts(&self, world: &World, a: usize, b: usize) -> bool {
        let shapes = [a, b].map(|g| world.parts.geometries[g].shape.as_ref());
        if shapes.iter().flatten().all(|shape| shape.is_convex()) {
            return false;
        }
        let motion = |g: usize, shape: Option<&Shape>| {
            Diversion::between(&Twist::zero(), &self.solved_twists[g], shape)
        };
        motion(a, shapes[0]).largest_against(&motion(b, shapes[1])) > self.diversion_allowed
    }

    /// Whether two rigid shapes move so far along the solution that they may pass deep into each other.
    pub(super) fn may_pass(&self, world: &World, a: usize, b: usize, time_step_s: f64) -> bool {
        let side = |g: usize| {
            let geometry = &world.parts.geometries[g];
            let shape = geometry.shape.as_ref()?;
            let is_rigid = matches!(geometry.mount, Mount::World(_) | Mount::Frame { .. });
            is_rigid.then(|| RigidShape {
                V_WG: self.solved_twists[g],
                ..RigidShape::at_rest(shape, self.poses[g])
            })
        };
        match (side(a), side(b)) {
            (Some(a), Some(b)) => a.may_pass_into(&b, time_step_s),
            _ => false,
        }
    }

    /// Whether any pair of the last search may pass into each other.
    pub(crate) fn any_may_pass(&self, world: &World, time_step_s: f64) -> bool {
        let mut pairs = self.pairs.iter();
        pairs.any(|(a, b)| self.may_pass(world, a.0 as usize, b.0 as usize, time_step_s))
    }

    /// Whether a pair has contacts since the last full search.
    pub(super) fn is_known(&self, a: usize, b: usize) -> bool {
        let pair = (GeometryIdx(a), GeometryIdx(b));
        let first = self.known.partition_point(|k| (k.0, k.1) < pair);
        self.known.get(first).is_some_and(|k| (k.0, k.1) == pair)
    }
}

/// Velocities of all vertices, into `out`.
fn vertex_velocities(
    step: &dyn BodyStep,
    vertices: &[Point3<f64>],
    v: &[f64],
    (interpolation, rows, u): (&mut Interpolation, &mut Rows, &mut Vec<f64>),
    out: &mut Vec<Vector3<f64>>,
) -> Result<(), BodyError> {
    if let Some(motion) = step.as_surface() {
        motion.vertex_velocities(v, out);
        return Ok(());
    }
    out.clear();
    for (vertex, p_WV) in (0..).zip(vertices) {
        let basis = step.interpolation(&MaterialPoint::on_vertex(vertex), interpolation)?;
        step.basis(basis, p_WV, rows);
        u.resize(rows.n_rows(), 0.0);
        rows.apply(v, u);
        out.push(point_velocity(interpolation, &Vector3::zeros(), u));
    }
    Ok(())
}
