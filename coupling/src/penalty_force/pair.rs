//! The pairs of objects and particles that may touch, and what a particle of a pair is pulled with.

use std::collections::BTreeSet;

use nalgebra::{Point3, Vector3};
use pliant_hydroelastic::{
    EdgesCrossing, FrictionAxis, GeometryError, PairMaterial, SlidingFriction, distance_on_side_of,
};

use super::attached::AtStart;
use super::attachment::{AttachmentMotion, AttachmentPlace, EdgeCrossing, Particle};
use super::bodies::Bodies;
use super::crossings;
use super::places::{Mounted, ParticleContact, Places};
use super::pull::{Damping, PenaltyDamping, Pull};
use super::surfaces::MeshSurface;
use super::system::System;
use crate::error::StepError;
use crate::state::State;
use crate::world::{Anisotropy, BodyIdx, EdgeContact, GeometryIdx, World};

/// The particles of one geometry, and another whose surface they may touch.
pub(super) struct Pair {
    pub(super) object: GeometryIdx,
    pub(super) particles: GeometryIdx,
    /// Their bodies.
    pub(super) bodies: [Option<BodyIdx>; 2],
    /// What the particles touch.
    pub(super) contact: ParticleContact,
    pub(super) material: PairMaterial,
    /// N/m³, in place of the stiffness of each particle.
    pub(super) stiffness_per_area: Option<f64>,
    pub(super) static_friction: f64,
    pub(super) anisotropy: Option<Anisotropy>,
    /// Whether edges that cross touch.
    pub(super) edges: EdgeContact,
    /// Whether each particle is attached.
    pub(super) attached: Vec<bool>,
    /// Vertices of the pairs of edges that are.
    pub(super) crossings: BTreeSet<[[u32; 2]; 2]>,
}

impl Pair {
    /// # Errors
    /// Parameters that penalty forces can't have.
    pub(super) fn of(
        world: &World,
        state: &State,
        places: &Places,
        (object, particles): (GeometryIdx, GeometryIdx),
    ) -> Result<Self, StepError> {
        let material = world.pair(object, particles);
        let stiffness_per_area = world.stiffness_per_area(object, particles);
        let refuse = |parameter, value, allowed| {
            let source = GeometryError::Material {
                parameter,
                value,
                allowed,
            };
            Err(StepError::of_pair(
                world,
                state,
                (object, particles),
                source,
            ))
        };
        match stiffness_per_area {
            None if !material.stiffness.is_finite() => {
                let allowed = "must be finite for penalty forces";
                return refuse("stiffness (N/m)", material.stiffness, allowed);
            }
            Some(k) if !places.has_areas(particles) => {
                let allowed = "needs particles of a surface; these have none: give `stiffness`";
                return refuse("stiffness per area (N/m³)", k, allowed);
            }
            _ => {}
        }
        Ok(Self {
            object,
            particles,
            contact: match &world.geometries()[object.0].shape {
                Some(shape)
                    if shape.is_convex()
                        && places.surface(object).is_none()
                        && stiffness_per_area.is_none() =>
                {
                    ParticleContact::LevelSet
                }
                _ => ParticleContact::Sampled,
            },
            bodies: [object, particles].map(|g| world.geometries()[g.0].mount.body()),
            material,
            stiffness_per_area,
            static_friction: world.static_friction(object, particles),
            anisotropy: world.anisotropy(object, particles),
            edges: world.edges(object, particles),
            attached: Vec::new(),
            crossings: BTreeSet::new(),
        })
    }

    /// Whether one of the bodies is moving.
    pub(super) fn moves(&self, bodies: &Bodies) -> bool {
        self.bodies.iter().flatten().any(|b| bodies.is_moving(*b))
    }

    /// What a particle is pulled with in this step.
    pub(super) fn pull(
        &self,
        system: &System,
        particle: Particle,
        (place, motion): (&AttachmentPlace, AttachmentMotion),
    ) -> Pull {
        let places = &system.places;
        let mu = self.material.friction;
        let held = match motion {
            AttachmentMotion::Stuck => self.static_friction,
            AttachmentMotion::Slid => mu,
        };
        let distance = match self.object == self.particles {
            true => 0.0,
            false => kept_at(system, self, particle.index),
        };
        let start = || Start::of(system, self, particle, place);
        let area = || places.area_at_start(self.particles, particle.index, &system.bodies);
        let stiffness = match self.stiffness_per_area {
            Some(k) => k * area().map_or(0.0, |area| start().normal_W.dot(&area).abs()),
            None => self.material.stiffness,
        };
        // Axes of the other geometry turn with it from step to step.
        let axis = self.anisotropy.filter(|_| mu > 0.0).map(|given| {
            let to_object = places.pose_at_start(self.object).rotation.inverse()
                * places.pose_at_start(given.of).rotation;
            FrictionAxis {
                direction: match given.of == self.object {
                    true => given.direction,
                    false => to_object * given.direction,
                },
                ratio: given.friction / mu,
            }
        });
        Pull {
            stiffness,
            friction: SlidingFriction {
                axis,
                ..SlidingFriction::coulomb(held)
            },
            distance,
            damping: self.damping(system, || start().depth + distance),
        }
    }

    /// A contact at the start of the step. ½ k |X − Z|² is bounded by the depth, for X is in the friction cone.
    pub(super) fn at_start(
        &self,
        system: &System,
        particle: Particle,
        place: &AttachmentPlace,
        pull: &Pull,
    ) -> AtStart {
        let start = Start::of(system, self, particle, place);
        let depth = (start.depth + pull.distance).max(0.0);
        let mu = self.static_friction.max(self.material.friction);
        AtStart {
            depth,
            normal_W: start.normal_W,
            energy: 0.5 * pull.stiffness * (1.0 + mu * mu) * depth * depth,
        }
    }

    /// The damping of a particle at depth `start` at the start of the step.
    fn damping(&self, system: &System, start: impl Fn() -> f64) -> Damping {
        let dt = system.bodies.time_step.length_s;
        let PairMaterial {
            dissipation,
            relaxation_time_s,
            ..
        } = self.material;
        match system.damping {
            PenaltyDamping::HuntCrossley if dissipation > 0.0 => Damping::HuntCrossley {
                rate: dissipation / dt,
                start: start(),
            },
            PenaltyDamping::KelvinVoigt if relaxation_time_s > 0.0 => Damping::KelvinVoigt {
                rate: relaxation_time_s / dt,
                start: start().max(0.0),
            },
            _ => Damping::None,
        }
    }
}

/// A particle at the start of the step, relative to the side of the object that its attachment is on.
struct Start {
    /// Below the surface, m; negative outside.
    depth: f64,
    normal_W: Vector3<f64>,
}

impl Start {
    fn of(system: &System, pair: &Pair, particle: Particle, place: &AttachmentPlace) -> Self {
        let (places, bodies) = (&system.places, &system.bodies);
        if let AttachmentPlace::Crossing(crossing) = place {
            return Self::of_edges(system, pair, crossing);
        }
        let pose = places.pose_at_start(pair.object);
        let particle = places.particle_at_start(pair.particles, particle, bodies);
        let particle = pose.inverse_transform_point(&particle);
        let (depth, normal) = match (
            place,
            places.surface(pair.object),
            system.shape(pair.object),
        ) {
            (AttachmentPlace::OnMesh { place, facing }, Some(surface), _) => {
                let vertices = surface.at_start(bodies, &places.vertices);
                let normal = surface.walk.plane(vertices, place.triangle).0 * facing.sign();
                let above = particle - surface.walk.point(vertices, place);
                (-above.dot(&normal), normal)
            }
            (AttachmentPlace::InFrame(old), _, Some(shape)) => {
                let distance = |p: &Point3<f64>| shape.signed_distance(p);
                let at = distance_on_side_of(old, distance, &particle);
                (-at.value, at.gradient)
            }
            _ => (0.0, Vector3::zeros()),
        };
        Self {
            depth,
            normal_W: pose.rotation * normal,
        }
    }

    fn of_edges(system: &System, pair: &Pair, crossing: &EdgeCrossing) -> Self {
        let ends = crossings::ends_at_start(system, pair, crossing);
        let sign = crossing.facing.sign();
        let found = ends.as_ref().and_then(EdgesCrossing::of);
        found.map_or(
            Self {
                depth: 0.0,
                normal_W: Vector3::zeros(),
            },
            |found| Self {
                depth: found.height * sign,
                normal_W: found.normal * sign,
            },
        )
    }
}

/// The distance from the object that a particle is kept at, m: its radius, and that of the vertices of a surface.
pub(super) fn kept_at(system: &System, pair: &Pair, particle: usize) -> f64 {
    let own = radius_of(system, pair.particles, particle);
    let corner = |surface: &MeshSurface| surface.walk.triangle(0)[0] as usize;
    let surface = system.places.surface(pair.object);
    own + surface.map_or(0.0, |s| radius_of(system, pair.object, corner(s)))
}

pub(super) fn radius_of(system: &System, geometry: GeometryIdx, particle: usize) -> f64 {
    match system.places.mounted(geometry) {
        Mounted::Vertices(place) => system.places.vertices[place].radius(&system.bodies, particle),
        _ => system.places.radius_of_ball(geometry, particle),
    }
}
