//! Where geometries and their particles are at the end of a step.

use std::ops::Range;

use nalgebra::{Isometry3, Point3, Vector3, Vector6};
use pliant_contact_sap::BodyError;

use super::BodyFault;
use super::attachment::Particle;
use super::bodies::Bodies;
use super::particles::{Particles, particles_of};
use super::settings::PenaltyForceSettings;
use super::surfaces::MeshSurface;
use super::vertex_place::VertexPlace;
use crate::error::StepError;
use crate::state::State;
use crate::world::{BodyIdx, GeometryIdx, Mount, World};

/// All geometries of a world, for given end velocities of its bodies.
#[derive(Default)]
pub(super) struct Places {
    pub(super) frames: Vec<FramePlace>,
    pub(super) vertices: Vec<VertexPlace>,
    mounts: Vec<Mounted>,
    /// X_WG of each geometry, identity for those on vertices.
    poses: Vec<Isometry3<f64>>,
    /// Particles of each geometry with a shape, in its frame.
    particles: Vec<Particles>,
    /// Of each geometry that is a surface of triangles.
    pub(super) surfaces: Vec<Option<MeshSurface>>,
}

/// What particles of a pair touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParticleContact {
    /// Triangles, or anything by their areas.
    Sampled,
    /// The level set of a convex shape.
    LevelSet,
}

/// Where a geometry is mounted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mounted {
    /// In the world, X_WG.
    Fixed(Isometry3<f64>),
    /// On one of the frames, X_FG.
    Frame(usize, Isometry3<f64>),
    /// On the vertices of a body.
    Vertices(usize),
}

impl Places {
    /// # Errors
    /// Surfaces that attachments cannot slide on.
    pub(super) fn of(
        world: &World,
        state: &State,
        settings: &PenaltyForceSettings,
    ) -> Result<Self, StepError> {
        let mut places = Self::default();
        let of_mount = world.geometries().iter().map(|geometry| geometry.mount);
        let mut frames: Vec<(BodyIdx, u32)> = (of_mount.clone())
            .filter_map(|mount| match mount {
                Mount::Frame { body, frame, .. } => Some((body, frame)),
                _ => None,
            })
            .collect();
        frames.sort_unstable();
        frames.dedup();
        let mut deforming: Vec<BodyIdx> = of_mount.filter_map(|mount| mount.deforming()).collect();
        deforming.sort_unstable();
        deforming.dedup();
        for geometry in world.geometries() {
            let mounted = match geometry.mount {
                Mount::World(X_WG) => Mounted::Fixed(X_WG),
                Mount::Frame { body, frame, X_FG } => {
                    Mounted::Frame(frames.partition_point(|known| *known < (body, frame)), X_FG)
                }
                Mount::Vertices { body }
                | Mount::Segments { body, .. }
                | Mount::Surface { body } => {
                    Mounted::Vertices(deforming.partition_point(|known| *known < body))
                }
            };
            places.mounts.push(mounted);
            let shape = geometry.shape.as_ref();
            places
                .particles
                .push(shape.map(|s| particles_of(s, settings)).unwrap_or_default());
        }
        places.frames = frames
            .into_iter()
            .map(|(body, frame)| FramePlace::new(body, frame))
            .collect();
        let of_body = |body| VertexPlace::new(world.model(body), body, settings.rod_particles);
        places.vertices = deforming.into_iter().map(of_body).collect();
        for geometry in (0..world.geometries().len()).map(GeometryIdx) {
            let place = match places.mounts[geometry.0] {
                Mounted::Vertices(place) => Some(place),
                Mounted::Fixed(_) | Mounted::Frame(..) => None,
            };
            let surface = MeshSurface::of(world, state, geometry, place)?;
            places.surfaces.push(surface);
        }
        Ok(places)
    }

    /// Opens a step of `bodies`.
    pub(super) fn begin(&mut self, bodies: &Bodies) -> Result<(), BodyFault> {
        for surface in self.surfaces.iter_mut().flatten() {
            surface.begin(bodies, &self.vertices)?;
        }
        for place in &mut self.vertices {
            place.begin(bodies)?;
        }
        for place in &mut self.frames {
            place.at_start = bodies.surface(place.body).frames[place.frame as usize];
            place.X_WF = place.at_start;
        }
        Ok(())
    }

    /// Takes all surfaces through the step to the last move.
    pub(super) fn sweep(&mut self, bodies: &Bodies) {
        for surface in self.surfaces.iter_mut().flatten() {
            surface.sweep(bodies, &self.vertices);
        }
    }

    /// The surface of triangles of a geometry.
    pub(super) fn surface(&self, geometry: GeometryIdx) -> Option<&MeshSurface> {
        self.surfaces[geometry.0].as_ref()
    }

    /// Moves everything to the end of a step with end velocities `v`.
    pub(super) fn move_to(&mut self, bodies: &mut Bodies, v: &[f64]) -> Result<(), BodyFault> {
        for places in self.frames.chunk_by_mut(|a, b| a.body == b.body) {
            let body = places[0].body;
            if !bodies.is_moving(body) {
                continue;
            }
            let range = bodies.range(body);
            let end = bodies.steps[body.0]
                .as_end_frames()
                .ok_or((body, NO_END_FRAMES))?;
            end.move_to(&v[range]).map_err(|source| (body, source))?;
            for place in places {
                place.X_WF = end.pose(place.frame);
                end.jacobian(place.frame, &mut place.jacobian);
            }
        }
        self.poses.clear();
        self.poses
            .extend(self.mounts.iter().map(|mounted| match *mounted {
                Mounted::Fixed(X_WG) => X_WG,
                Mounted::Frame(place, X_FG) => self.frames[place].X_WF * X_FG,
                Mounted::Vertices(_) => Isometry3::identity(),
            }));
        for place in &mut self.vertices {
            if bodies.is_moving(place.body) {
                place.move_to(bodies, v)?;
            }
        }
        Ok(())
    }

    /// Derivatives of the poses of all frames, and of the impulses on them, by the velocities of the last move.
    pub(super) fn linearise(&mut self, bodies: &mut Bodies) -> Result<(), BodyFault> {
        for place in &mut self.frames {
            let body = place.body;
            let end = bodies.steps[body.0]
                .as_end_frames()
                .ok_or((body, NO_END_FRAMES))?;
            end.displacement(place.frame, &mut place.displacement);
            let n = place.jacobian.len() / 6;
            place.impulse_derivative.clear();
            place.impulse_derivative.resize(n * n, 0.0);
            end.add_impulse_derivative(place.frame, &place.impulse, &mut place.impulse_derivative);
        }
        Ok(())
    }

    pub(super) fn mounted(&self, geometry: GeometryIdx) -> Mounted {
        self.mounts[geometry.0]
    }

    /// X_WG of a geometry with a shape.
    pub(super) fn pose(&self, geometry: GeometryIdx) -> Isometry3<f64> {
        self.poses[geometry.0]
    }

    /// [`Places::pose`] at the start of the step.
    pub(super) fn pose_at_start(&self, geometry: GeometryIdx) -> Isometry3<f64> {
        match self.mounts[geometry.0] {
            Mounted::Frame(place, X_FG) => self.frames[place].at_start * X_FG,
            _ => self.pose(geometry),
        }
    }

    pub(super) fn n_particles(&self, geometry: GeometryIdx, bodies: &Bodies) -> usize {
        match self.mounts[geometry.0] {
            Mounted::Vertices(place) => self.vertices[place].n_particles(bodies),
            _ => self.particles[geometry.0].len(),
        }
    }

    /// The particles of a geometry that may touch another: all vertices of a deforming body; of a rigid shape those for `contact`.
    pub(super) fn touching(
        &self,
        geometry: GeometryIdx,
        contact: ParticleContact,
        bodies: &Bodies,
    ) -> Range<usize> {
        let particles = &self.particles[geometry.0];
        match (self.mounts[geometry.0], contact) {
            (Mounted::Vertices(_), _) => 0..self.n_particles(geometry, bodies),
            (_, ParticleContact::Sampled) => particles.sampled(),
            (_, ParticleContact::LevelSet) => particles.on_level_sets(),
        }
    }

    /// The radius of a particle of a rigid shape, m.
    pub(super) fn radius_of_ball(&self, geometry: GeometryIdx, particle: usize) -> f64 {
        self.particles[geometry.0].radius(particle)
    }

    /// How far the frame of a geometry has turned relative to that of another since the start of the step: a rotation vector in the axes of `object`.
    pub(super) fn turned(&self, geometry: GeometryIdx, object: GeometryIdx) -> Vector3<f64> {
        let relative = |pose: fn(&Self, GeometryIdx) -> Isometry3<f64>| {
            pose(self, object).rotation.inverse() * pose(self, geometry).rotation
        };
        let (start, end) = (relative(Self::pose_at_start), relative(Self::pose));
        match start == end {
            true => Vector3::zeros(), // without round-off
            false => (end * start.inverse()).scaled_axis(),
        }
    }

    /// ∫ n dA over the part of the surface that a particle stands for, at the start of the step, m²; `None` for vertices of no surface.
    pub(super) fn area_at_start(
        &self,
        geometry: GeometryIdx,
        particle: usize,
        bodies: &Bodies,
    ) -> Option<Vector3<f64>> {
        match self.mounts[geometry.0] {
            Mounted::Vertices(place) => {
                let vertices = &bodies.surface(self.vertices[place].body).vertices;
                let surface = self.surface(geometry)?;
                Some(surface.walk.vertex_area(vertices, particle as u32))
            }
            _ => {
                let area = *self.particles[geometry.0].areas.get(particle)?;
                Some(self.pose_at_start(geometry).rotation * area)
            }
        }
    }

    /// Outward unit normals of the faces that a particle is on at the start of the step, world axes; none for particles that are no points of a surface.
    pub(super) fn faces_at_start(
        &self,
        geometry: GeometryIdx,
        particle: usize,
        bodies: &Bodies,
    ) -> Vec<Vector3<f64>> {
        match self.mounts[geometry.0] {
            Mounted::Vertices(place) => {
                let vertices = &bodies.surface(self.vertices[place].body).vertices;
                let Some(surface) = self.surface(geometry) else {
                    return Vec::new();
                };
                let normals = surface.walk.normals_around(vertices, particle as u32);
                normals.collect()
            }
            _ => {
                let rotation = self.pose_at_start(geometry).rotation;
                let faces = self.particles[geometry.0].faces.get(particle);
                let faces = faces.into_iter().flatten();
                faces.map(|normal| rotation * normal).collect()
            }
        }
    }

    /// Whether the particles of a geometry are those of a surface.
    pub(super) fn has_areas(&self, geometry: GeometryIdx) -> bool {
        let is_rigid = !matches!(self.mounts[geometry.0], Mounted::Vertices(_));
        is_rigid || self.surface(geometry).is_some()
    }

    /// A particle in its geometry's frame at the start and at the end of the step; a vertex of a deforming body in the world.
    pub(super) fn in_frame(
        &self,
        geometry: GeometryIdx,
        particle: usize,
        bodies: &Bodies,
    ) -> [Point3<f64>; 2] {
        match self.mounts[geometry.0] {
            Mounted::Vertices(place) => {
                let place = &self.vertices[place];
                [place.at_start(bodies)[particle], place.at_end[particle]]
            }
            _ => [self.particles[geometry.0].place(particle); 2],
        }
    }

    /// Z.
    pub(super) fn particle(&self, geometry: GeometryIdx, particle: Particle) -> Point3<f64> {
        match self.mounts[geometry.0] {
            Mounted::Vertices(place) => self.vertices[place].at_end[particle.index],
            _ => self.pose(geometry) * self.place_in_frame(geometry, particle),
        }
    }

    fn place_in_frame(&self, geometry: GeometryIdx, particle: Particle) -> Point3<f64> {
        let own = || self.particles[geometry.0].place(particle.index);
        particle.on_edge.unwrap_or_else(own)
    }

    /// The straight edges of a rigid convex shape, in its frame, and the first of their particles.
    pub(super) fn edges(&self, geometry: GeometryIdx) -> (&[[Point3<f64>; 2]], usize) {
        let particles = &self.particles[geometry.0];
        (&particles.edges, particles.first_of_edges())
    }

    /// [`Places::particle`] at the start of the step.
    pub(super) fn particle_at_start(
        &self,
        geometry: GeometryIdx,
        particle: Particle,
        bodies: &Bodies,
    ) -> Point3<f64> {
        match self.mounts[geometry.0] {
            Mounted::Vertices(place) => self.vertices[place].at_start(bodies)[particle.index],
            _ => self.pose_at_start(geometry) * self.place_in_frame(geometry, particle),
        }
    }
}

const NO_END_FRAMES: BodyError = BodyError::Unsupported {
    what: "frames at the end of a step, which penalty forces need; the strong-implicit stepper would do",
};

/// A frame that carries a geometry, at the end of the step.
#[derive(Clone, Debug)]
pub(super) struct FramePlace {
    pub(super) body: BodyIdx,
    pub(super) frame: u32,
    pub(super) at_start: Isometry3<f64>,
    pub(super) X_WF: Isometry3<f64>,
    /// 6×n: twist at the origin, and rotation and displacement, per unit of velocity.
    pub(super) jacobian: Vec<f64>,
    pub(super) displacement: Vec<f64>,
    /// δt Σ (τ, f) of the contacts about the origin.
    pub(super) impulse: Vector6<f64>,
    /// ∂(Jᵀ impulse)/∂v, n×n column-major.
    pub(super) impulse_derivative: Vec<f64>,
}

impl FramePlace {
    pub(super) fn new(body: BodyIdx, frame: u32) -> Self {
        Self {
            body,
            frame,
            at_start: Isometry3::identity(),
            X_WF: Isometry3::identity(),
            jacobian: Vec::new(),
            displacement: Vec::new(),
            impulse: Vector6::zeros(),
            impulse_derivative: Vec::new(),
        }
    }

    pub(super) fn origin(&self) -> Vector3<f64> {
        self.X_WF.translation.vector
    }

    /// Rotation and displacement of the frame by a change `x` of its body's velocities.
    pub(super) fn moved_by(&self, x: &[f64]) -> Vector6<f64> {
        product(&self.displacement, x)
    }

    /// out += scale Jᵀw.
    pub(super) fn add_generalised(&self, w: &Vector6<f64>, scale: f64, out: &mut [f64]) {
        for (column, out) in self.jacobian.chunks_exact(6).zip(out) {
            let power: f64 = column.iter().zip(w.iter()).map(|(j, w)| j * w).sum();
            *out += scale * power;
        }
    }
}

fn product(columns: &[f64], x: &[f64]) -> Vector6<f64> {
    let mut out = Vector6::zeros();
    for (column, x) in columns.chunks_exact(6).zip(x) {
        out.iter_mut().zip(column).for_each(|(o, c)| *o += c * x);
    }
    out
}
