//! Which particles are attached to which objects: those of the last step, and those found inside at an iterate.
//!
//! Within a step pairs are added and never removed; a particle that leaves exerts no force, and its attachment is dropped at the end. A new attachment
//! is where the particle entered on its way from the start of the step; that of a particle inside from the beginning is the nearest point
//! of the surface.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::BodyError;
use pliant_hydroelastic::{SignedDistance, SlidingFriction, entry_point};

use super::BodyFault;
use super::attached::{Attached, Evaluated};
use super::attachment::{Attachment, AttachmentPlace};
use super::places::{Mounted, Places};
use super::system::System;
use crate::error::StepError;
use crate::state::State;
use crate::world::{GeometryIdx, World};

/// The pairs of particles and objects that may touch.
pub(super) struct Detection {
    world: World,
    pairs: Vec<Pair>,
}

struct Pair {
    object: GeometryIdx,
    particles: GeometryIdx,
    stiffness: f64,
    friction: f64,
    /// Whether each particle is attached.
    attached: Vec<bool>,
}

impl Detection {
    /// # Errors
    /// Pairs that this stepper does not have.
    pub(super) fn of(world: &World, state: &State, places: &Places) -> Result<Self, StepError> {
        let mut pairs = Vec::new();
        let geometries = world.geometries();
        let n = geometries.len();
        for object in (0..n).map(GeometryIdx) {
            for particles in (0..n).map(GeometryIdx).filter(|g| *g != object) {
                let index = |g: GeometryIdx| pliant_hydroelastic::GeometryIdx(g.0 as u32);
                let allowed = world.parts.filter.allows(index(object), index(particles));
                let fixed = |g| matches!(places.mounted(g), Mounted::Fixed(_));
                if !allowed || (fixed(object) && fixed(particles)) {
                    continue;
                }
                if geometries[object.0].shape.is_none() {
                    if geometries[particles.0].shape.is_none()
                        && let Some(body) = geometries[object.0].mount.body()
                    {
                        let what = "contact with other deforming surfaces by penalty forces; the strong-implicit stepper has it";
                        let source = BodyError::Unsupported { what };
                        return Err(StepError::of_body(world, state, body, source));
                    }
                    continue;
                }
                let material = world.pair(object, particles);
                if !material.stiffness.is_finite() {
                    let source = pliant_hydroelastic::GeometryError::Material {
                        parameter: "stiffness (N/m)",
                        value: material.stiffness,
                        allowed: "must be finite for penalty forces",
                    };
                    return Err(StepError::of_pair(
                        world,
                        state,
                        (object, particles),
                        source,
                    ));
                }
                pairs.push(Pair {
                    object,
                    particles,
                    stiffness: material.stiffness,
                    friction: material.friction,
                    attached: Vec::new(),
                });
            }
        }
        Ok(Self {
            world: world.clone(),
            pairs,
        })
    }

    /// Attaches what was attached at the end of the last step. Surfaces that move over their body, such as belts, carry their attachments along.
    pub(super) fn begin(
        &mut self,
        system: &mut System,
        memory: &[Attachment],
    ) -> Result<(), BodyFault> {
        system.attached.clear();
        for pair in &mut self.pairs {
            let n = system.places.n_particles(pair.particles, &system.bodies);
            pair.attached.clear();
            pair.attached.resize(n, false);
        }
        let dt = system.bodies.time_step.length_s;
        let of_pair = |a: &Attachment| (a.object, a.particles);
        for attachments in memory.chunk_by(|a, b| of_pair(a) == of_pair(b)) {
            let sought = of_pair(&attachments[0]);
            let pairs = &mut self.pairs;
            let Ok(found) = pairs.binary_search_by_key(&sought, |p| (p.object, p.particles)) else {
                continue; // of another world
            };
            let pair = &mut pairs[found];
            let belt = self.world.geometries()[pair.object.0].surface_velocity;
            for attachment in attachments {
                let Some(known) = pair.attached.get_mut(attachment.particle as usize) else {
                    continue;
                };
                *known = true;
                let AttachmentPlace::InFrame(old) = attachment.place;
                let carried = Attachment {
                    place: AttachmentPlace::InFrame(match belt == Vector3::zeros() {
                        true => old,
                        false => old + belt * dt,
                    }),
                    ..*attachment
                };
                let fresh = attach(&self.world, system, pair, carried)?;
                system.attached.push(fresh);
            }
        }
        Ok(())
    }

    /// Attaches particles that are inside an object at the velocities that the system was moved to last; how many.
    pub(super) fn add(&mut self, system: &mut System) -> Result<usize, BodyFault> {
        let before = system.attached.len();
        for pair in &mut self.pairs {
            let geometry = &self.world.geometries()[pair.object.0];
            let Some(shape) = &geometry.shape else {
                continue;
            };
            let pose = system.places.pose(pair.object);
            let bounds = shape.aabb(&pose);
            let shape_of_particles = &self.world.geometries()[pair.particles.0].shape;
            if let Some(other) = shape_of_particles
                && !other
                    .aabb(&system.places.pose(pair.particles))
                    .intersects(&bounds)
            {
                continue;
            }
            for particle in 0..pair.attached.len() {
                if pair.attached[particle] || !is_of_part(&self.world, system, pair, particle) {
                    continue;
                }
                let z = system.places.particle(pair.particles, particle);
                let radius = radius_of(system, pair.particles, particle);
                if !bounds.inflated(radius).contains(&z) {
                    continue;
                }
                let distance = |p: &Point3<f64>| {
                    let bare = shape.signed_distance(p);
                    SignedDistance {
                        value: bare.value - radius,
                        ..bare
                    }
                };
                let end = pose.inverse_transform_point(&z);
                if distance(&end).value >= 0.0 {
                    continue;
                }
                let (places, bodies) = (&system.places, &system.bodies);
                let from = places.particle_at_start(pair.particles, particle, bodies);
                let start = places
                    .pose_at_start(pair.object)
                    .inverse_transform_point(&from);
                pair.attached[particle] = true;
                let attachment = Attachment {
                    object: pair.object,
                    particles: pair.particles,
                    particle: particle as u32,
                    place: AttachmentPlace::InFrame(entry_point(distance, &start, &end)),
                };
                let fresh = attach(&self.world, system, pair, attachment)?;
                system.attached.push(fresh);
            }
        }
        Ok(system.attached.len() - before)
    }
}

fn attach(
    world: &World,
    system: &System,
    pair: &Pair,
    attachment: Attachment,
) -> Result<Attached, BodyFault> {
    let mut columns = Vec::new();
    if let Mounted::Vertices(place) = system.places.mounted(pair.particles) {
        let vertices = &system.places.vertices[place];
        vertices.columns(&system.bodies, attachment.particle, &mut columns)?;
    }
    let mut fresh = Attached {
        attachment,
        stiffness: pair.stiffness,
        friction: SlidingFriction::coulomb(pair.friction),
        radius: radius_of(system, pair.particles, attachment.particle as usize),
        columns,
        at: Evaluated::default(),
    };
    fresh.evaluate(world, &system.places, system.slide);
    Ok(fresh)
}

fn radius_of(system: &System, particles: GeometryIdx, particle: usize) -> f64 {
    match system.places.mounted(particles) {
        Mounted::Vertices(place) => {
            let surface = system.bodies.surface(system.places.vertices[place].body);
            surface.radii.get(particle).copied().unwrap_or(0.0)
        }
        _ => 0.0,
    }
}

/// Whether a particle belongs to the part of its body that the geometry stands for.
fn is_of_part(world: &World, system: &System, pair: &Pair, particle: usize) -> bool {
    let (Some(part), Mounted::Vertices(place)) = (
        world.geometries()[pair.particles.0].part,
        system.places.mounted(pair.particles),
    ) else {
        return true;
    };
    let surface = system.bodies.surface(system.places.vertices[place].body);
    surface.parts.get(particle).copied().unwrap_or(0) == part
}
