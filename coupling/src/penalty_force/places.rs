//! Where geometries and their particles are at the end of a step.

use nalgebra::{Isometry3, Point3, Vector3, Vector6};
use pliant_contact_sap::BodyError;

use super::BodyFault;
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
            place.move_to(bodies, v)?;
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
            _ => self.particles[geometry.0].points.len(),
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
                let area = self.particles[geometry.0].areas[particle];
                Some(self.pose_at_start(geometry).rotation * area)
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
            _ => [self.particles[geometry.0].points[particle]; 2],
        }
    }

    /// Z.
    pub(super) fn particle(&self, geometry: GeometryIdx, particle: usize) -> Point3<f64> {
        match self.mounts[geometry.0] {
            Mounted::Vertices(place) => self.vertices[place].at_end[particle],
            _ => self.pose(geometry) * self.particles[geometry.0].points[particle],
        }
    }

    /// [`Places::particle`] at the start of the step.
    pub(super) fn particle_at_start(
        &self,
        geometry: GeometryIdx,
        particle: usize,
        bodies: &Bodies,
    ) -> Point3<f64> {
        match self.mounts[geometry.0] {
            Mounted::Vertices(place) => self.vertices[place].at_start(bodies)[particle],
            _ => self.pose_at_start(geometry) * self.particles[geometry.0].points[particle],
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
