//! Which particles are attached to which objects: those of the last step, and those found at an iterate.
//!
//! Within a step pairs are added and never removed; a particle that leaves exerts no force, and its attachment is dropped at the end. Attachments are of
//! a particle and an object: they move between the triangles of a surface, and a second one of the same particle would double the force.
//!
//! - Shapes are searched for particles inside, and for those that have passed through. A new attachment is where the particle entered on its way from
//!   the start of the step; that of a particle inside from the beginning is the nearest point of the surface.
//! - Surfaces of triangles are searched for particles that cross them between the start of the step and the iterate. Once every
//!   [`STEPS_BETWEEN_SAFETY_TESTS`] steps, the first included, particles that are inside a solid without an attachment get the nearest place.
//! - Edges of two such surfaces that cross, where the pair has these: see `crossings`.

use std::collections::BTreeSet;
use std::time::Instant;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::BodyError;
use pliant_hydroelastic::{
    Aabb, Convexity, PairMaterial, Path, Shape, SignedDistance, SurfaceHit, entry_point,
};

use super::BodyFault;
use super::attached::{Attached, Carrier, Object};
use super::attachment::{Attachment, AttachmentMotion, AttachmentPlace, Particle};
use super::crossings;
use super::flush;
use super::overlap;
use super::pair::{Pair, kept_at, radius_of};
use super::places::{Mounted, ParticleContact, Places};
use super::surfaces::MeshSurface;
use super::system::System;
use crate::error::StepError;
use crate::state::State;
use crate::world::{GeometryIdx, World};

/// How often solids are searched for particles that are inside and were not seen entering.
const STEPS_BETWEEN_SAFETY_TESTS: u64 = 64;

/// Finds the particles that touch, pair by pair.
pub(super) struct Detection {
    world: World,
    pairs: Vec<Pair>,
}

impl Detection {
    /// # Errors
    /// Pairs that this stepper does not have.
    pub(super) fn of(world: &World, state: &State, places: &Places) -> Result<Self, StepError> {
        let mut pairs = Vec::new();
        let geometries = world.geometries();
        let all = || (0..geometries.len()).map(GeometryIdx);
        let fixed = |g| matches!(places.mounted(g), Mounted::Fixed(_));
        let index = |g: GeometryIdx| pliant_hydroelastic::GeometryIdx(g.0 as u32);
        let allowed = |a: GeometryIdx, b: GeometryIdx| match a == b {
            true => world.parts.self_contact.contains(&a.0),
            false => world.parts.filter.allows(index(a), index(b)) && !(fixed(a) && fixed(b)),
        };
        let is_object =
            |g: GeometryIdx| geometries[g.0].shape.is_some() || places.surface(g).is_some();
        for object in all() {
            for particles in all().filter(|g| allowed(object, *g)) {
                if object == particles && places.surface(object).is_none() {
                    continue;
                }
                if !is_object(object) {
                    if !is_object(particles)
                        && let Some(body) = geometries[object.0].mount.body()
                    {
                        let what = "surface of triangles, and neither has the other body of the pair, so that penalty forces have nothing to attach particles to; the strong-implicit stepper has such contact";
                        let source = BodyError::Unsupported { what };
                        return Err(StepError::of_body(world, state, body, source));
                    }
                    continue;
                }
                let pair = Pair::of(world, state, places, (object, particles))?;
                if !is_of_other_order(world, &pair) {
                    pairs.push(pair);
                }
            }
        }
        Ok(Self {
            world: world.clone(),
            pairs,
        })
    }

    /// The same pairs without friction.
    pub(super) fn without_friction(&self) -> Self {
        let smooth = |pair: &Pair| Pair {
            material: PairMaterial {
                friction: 0.0,
                ..pair.material
            },
            static_friction: 0.0,
            attached: Vec::new(),
            crossings: BTreeSet::new(),
            ..*pair
        };
        Self {
            world: self.world.clone(),
            pairs: self.pairs.iter().map(smooth).collect(),
        }
    }

    /// None of the pairs.
    pub(super) fn without_pairs(&self) -> Self {
        Self {
            world: self.world.clone(),
            pairs: Vec::new(),
        }
    }

    /// Attaches what was attached at the end of the last step. Surfaces that move over their body, such as belts, carry their attachments along.
    pub(super) fn begin(&mut self, system: &mut System, state: &State) -> Result<(), BodyFault> {
        system.attached.clear();
        for pair in &mut self.pairs {
            let n = system.places.n_particles(pair.particles, &system.bodies);
            pair.attached.clear();
            pair.attached.resize(n, false);
            pair.crossings.clear();
        }
        let of_pair = |a: &Attachment| (a.object, a.particles);
        for attachments in state
            .memory
            .attachments
            .chunk_by(|a, b| of_pair(a) == of_pair(b))
        {
            let sought = of_pair(&attachments[0]);
            let pairs = &mut self.pairs;
            let Ok(found) = pairs.binary_search_by_key(&sought, |p| (p.object, p.particles)) else {
                continue; // of another world
            };
            let pair = &mut pairs[found];
            for attachment in attachments {
                if let AttachmentPlace::Crossing(crossing) = attachment.place {
                    let kept = crossings::handed_over(system, pair, &crossing);
                    if let Some(crossing) = kept.filter(|c| pair.crossings.insert(c.edges())) {
                        let place = AttachmentPlace::Crossing(crossing);
                        let particle = Particle::own(crossing.first[0] as usize);
                        let kept = (place, attachment.motion);
                        attach(&self.world, system, pair, particle, kept)?;
                    }
                    continue;
                }
                let Some(known) = pair.attached.get_mut(attachment.particle as usize) else {
                    continue;
                };
                let Some(place) = carried(&self.world, system, attachment) else {
                    continue;
                };
                *known = true;
                attach(
                    &self.world,
                    system,
                    pair,
                    attachment.of_particle(),
                    (place, attachment.motion),
                )?;
            }
        }
        if state.step.is_multiple_of(STEPS_BETWEEN_SAFETY_TESTS) {
            self.add_inside(system)?;
        }
        Ok(())
    }

    /// Attaches particles that are within solid surfaces at the start of the step.
    fn add_inside(&mut self, system: &mut System) -> Result<(), BodyFault> {
        system.places.sweep(&system.bodies);
        for pair in self.pairs.iter_mut().filter(|p| p.object != p.particles) {
            let paths = Paths::of(&system.places, pair);
            let touching = (system.places).touching(pair.particles, pair.contact, &system.bodies);
            for particle in touching {
                let Some(surface) = system.places.surface(pair.object) else {
                    break;
                };
                if pair.attached[particle] || !may_cross(&self.world, system, pair, particle) {
                    continue;
                }
                let [start, _] = paths.path(system, pair, particle);
                let outwards = outwards_of(system, pair, particle);
                if let Some(hit) = surface.inside_at_start(&start, outwards.as_ref()) {
                    pair.attached[particle] = true;
                    attach(
                        &self.world,
                        system,
                        pair,
                        Particle::own(particle),
                        new(&hit),
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Attaches particles that have come to an object at the velocities that the system was moved to last; how many.
    pub(super) fn add(&mut self, system: &mut System) -> Result<usize, BodyFault> {
        let clock = Instant::now();
        let before = system.attached.len();
        system.places.sweep(&system.bodies);
        for pair in &mut self.pairs {
            if !pair.moves(&system.bodies) {
                continue;
            }
            match system.places.surface(pair.object) {
                Some(_) => add_to_surface(&self.world, system, pair)?,
                None => add_to_shape(&self.world, system, pair)?,
            }
            for crossing in crossings::entered(system, pair) {
                pair.crossings.insert(crossing.edges());
                let place = AttachmentPlace::Crossing(crossing);
                let fresh = (place, AttachmentMotion::Stuck);
                let particle = Particle::own(crossing.first[0] as usize);
                attach(&self.world, system, pair, particle, fresh)?;
            }
        }
        system.times.detection += clock.elapsed();
        Ok(system.attached.len() - before)
    }
}

/// Whether the nearest point of a ball is all of a contact, and another pair has it: particles of a convex shape, or of a ball that comes later, in a ball.
fn is_of_other_order(world: &World, pair: &Pair) -> bool {
    let shape = |g: GeometryIdx| world.geometries()[g.0].shape.as_ref();
    let is_ball = |g: GeometryIdx| matches!(shape(g), Some(Shape::Sphere(_)));
    let is_level_set =
        |g: GeometryIdx| shape(g).is_some_and(|s| s.is_convex() && !matches!(s, Shape::Mesh(_)));
    pair.contact == ParticleContact::LevelSet
        && is_ball(pair.object)
        && is_level_set(pair.particles)
        && (!is_ball(pair.particles) || pair.object < pair.particles)
}

/// Attaches particles that have crossed a surface of triangles, or have come nearer than they are kept.
fn add_to_surface(world: &World, system: &mut System, pair: &mut Pair) -> Result<(), BodyFault> {
    let paths = Paths::of(&system.places, pair);
    for particle in (system.places).touching(pair.particles, pair.contact, &system.bodies) {
        let Some(surface) = system.places.surface(pair.object) else {
            return Ok(());
        };
        if pair.attached[particle] || !may_cross(world, system, pair, particle) {
            continue;
        }
        let mut path = paths.path(system, pair, particle);
        if let Some(outwards) = outwards_of(system, pair, particle) {
            // A particle that starts on a rim, give or take round-off, comes from its own side of the surface, not from beside the object.
            path[0] -= outwards * surface.round_off();
        }
        let own = (pair.object == pair.particles).then_some(particle as u32);
        let reach = match own {
            None => kept_at(system, pair, particle),
            Some(_) => 0.0,
        };
        if !surface.may_meet(&path, reach) {
            continue;
        }
        let mut hit = surface.entry(&path, own);
        if let Some(first) = hit {
            hit = flush::entered(system, pair, particle, &path, first);
        } else if reach > 0.0 {
            hit = surface.overlap(&path, reach);
        }
        if let Some(hit) = hit {
            pair.attached[particle] = true;
            attach(world, system, pair, Particle::own(particle), new(&hit))?;
        }
    }
    Ok(())
}

/// The unit normal at the start of the step of the closed surface that a particle is of, in the frame of a solid object.
fn outwards_of(system: &System, pair: &Pair, particle: usize) -> Option<Vector3<f64>> {
    let places = &system.places;
    let is_solid = |g: GeometryIdx| places.surface(g).is_none_or(MeshSurface::is_solid);
    if pair.object == pair.particles || !is_solid(pair.object) || !is_solid(pair.particles) {
        return None;
    }
    let area = places.area_at_start(pair.particles, particle, &system.bodies)?;
    let to_object = places.pose_at_start(pair.object).rotation.inverse();
    (to_object * area).try_normalize(0.0)
}

/// Attaches particles that are inside a shape, or have passed through it.
fn add_to_shape(world: &World, system: &mut System, pair: &mut Pair) -> Result<(), BodyFault> {
    let Some(shape) = &world.geometries()[pair.object.0].shape else {
        return Ok(());
    };
    let paths = Paths::of(&system.places, pair);
    let bounds = shape.aabb(&Isometry3::identity());
    let convexity = match shape.is_convex() {
        true => Convexity::Convex,
        false => Convexity::Unknown,
    };
    for particle in (system.places).touching(pair.particles, pair.contact, &system.bodies) {
        if pair.attached[particle] || !is_of_part(world, system, pair.particles, particle) {
            continue;
        }
        let [start, end] = paths.path(system, pair, particle);
        let radius = radius_of(system, pair.particles, particle);
        let way = Aabb::from_points([&start, &end]).inflated(radius);
        if !bounds.intersects(&way) {
            continue;
        }
        let distance = |p: &Point3<f64>| {
            let bare = shape.signed_distance(p);
            SignedDistance {
                value: bare.value - radius,
                ..bare
            }
        };
        // φ changes by at most the length of the path.
        if distance(&end).value > (end - start).norm() {
            continue;
        }
        let Some(place) = entry_point(distance, convexity, &start, &end) else {
            continue;
        };
        pair.attached[particle] = true;
        attach(
            world,
            system,
            pair,
            Particle::own(particle),
            (AttachmentPlace::InFrame(place), AttachmentMotion::Stuck),
        )?;
    }
    if pair.contact == ParticleContact::LevelSet {
        add_overlaps(world, system, pair, shape, &paths)?;
    }
    Ok(())
}

/// Attaches two particles of every edge of which only a part is inside a shape.
fn add_overlaps(
    world: &World,
    system: &mut System,
    pair: &mut Pair,
    shape: &Shape,
    paths: &Paths,
) -> Result<(), BodyFault> {
    let bounds = shape.aabb(&Isometry3::identity());
    let distance = |p: &Point3<f64>| shape.signed_distance(p);
    let (edges, first) = system.places.edges(pair.particles);
    let mut found = Vec::new();
    for (k, ends) in edges.iter().enumerate() {
        let indices = [first + 2 * k, first + 2 * k + 1];
        if indices.iter().any(|index| pair.attached[*index]) {
            continue;
        }
        let at_end = ends.map(|p| paths.relative[1] * p);
        if !bounds.intersects(&Aabb::from_points(&at_end)) {
            continue;
        }
        let Some(parts) = overlap::particles_of(distance, &at_end) else {
            continue;
        };
        for (index, part) in indices.into_iter().zip(parts) {
            let own = ends[0] + (ends[1] - ends[0]) * part;
            let [start, end] = paths.relative.map(|pose| pose * own);
            let entry = entry_point(distance, Convexity::Convex, &start, &end);
            found.extend(entry.map(|place| (index, own, place)));
        }
    }
    for (index, own, place) in found {
        pair.attached[index] = true;
        let particle = Particle {
            index,
            on_edge: Some(own),
        };
        let fresh = (AttachmentPlace::InFrame(place), AttachmentMotion::Stuck);
        attach(world, system, pair, particle, fresh)?;
    }
    Ok(())
}

/// The paths of the particles of a pair in the step: in the frame of a rigid object, otherwise in the world.
struct Paths {
    /// X_OP of the frames of object and particles, at the start and at the end of the step.
    relative: [Isometry3<f64>; 2],
}

impl Paths {
    fn of(places: &Places, pair: &Pair) -> Self {
        let (object, particles) = (pair.object, pair.particles);
        let [start, end] = [
            places.pose_at_start(object).inverse() * places.pose_at_start(particles),
            places.pose(object).inverse() * places.pose(particles),
        ];
        Self {
            relative: [start, end],
        }
    }

    fn path(&self, system: &System, pair: &Pair, particle: usize) -> Path {
        let [start, end] = (system.places).in_frame(pair.particles, particle, &system.bodies);
        [self.relative[0] * start, self.relative[1] * end]
    }
}

fn new(hit: &SurfaceHit) -> (AttachmentPlace, AttachmentMotion) {
    let place = AttachmentPlace::OnMesh {
        place: hit.place,
        facing: hit.facing,
    };
    (place, AttachmentMotion::Stuck)
}

/// Where an attachment of the last step is at the start of this one; `None` if it is not of the kind that its object has.
fn carried(world: &World, system: &System, attachment: &Attachment) -> Option<AttachmentPlace> {
    let belt = world.geometries()[attachment.object.0].surface_velocity;
    let surface = system.places.surface(attachment.object);
    let shift = belt * system.bodies.time_step.length_s;
    match (attachment.place, surface) {
        (AttachmentPlace::InFrame(old), None) => {
            Some(AttachmentPlace::InFrame(match belt == Vector3::zeros() {
                true => old,
                false => old + shift,
            }))
        }
        (AttachmentPlace::OnMesh { place, facing }, Some(surface)) => {
            let n = surface.walk.triangles().len();
            if place.triangle as usize >= n {
                return None;
            }
            let place = match belt == Vector3::zeros() || surface.place().is_some() {
                true => place,
                false => {
                    let vertices = surface.at_end(&[]);
                    surface.nearest_at_start(&(surface.walk.point(vertices, &place) + shift))?
                }
            };
            Some(AttachmentPlace::OnMesh { place, facing })
        }
        _ => None,
    }
}

/// Adds an attachment, evaluated.
fn attach(
    world: &World,
    system: &mut System,
    pair: &Pair,
    particle: Particle,
    (place, motion): (AttachmentPlace, AttachmentMotion),
) -> Result<(), BodyFault> {
    let attachment = Attachment {
        object: pair.object,
        particles: pair.particles,
        particle: particle.index as u32,
        on_edge: particle.on_edge,
        place,
        motion,
    };
    let carrier = match system.places.mounted(pair.particles) {
        _ if matches!(place, AttachmentPlace::Crossing(_)) => Carrier::World,
        Mounted::Fixed(_) => Carrier::World,
        Mounted::Frame(place, _) => Carrier::Frame(place),
        Mounted::Vertices(place) => {
            let of = (place, attachment.particle);
            let vertices = &system.places.vertices;
            Carrier::Vertex(system.touched.touch(&system.bodies, vertices, of)?)
        }
    };
    let pull = pair.pull(system, particle, (&place, motion));
    let mut fresh = Attached {
        attachment,
        at_start: pair.at_start(system, particle, &place, &pull),
        pull,
        radius: match (place, system.places.mounted(pair.particles)) {
            (_, Mounted::Vertices(_)) => 0.0,
            (AttachmentPlace::InFrame(_), _) => {
                system.places.radius_of_ball(pair.particles, particle.index)
            }
            _ => 0.0,
        },
        bodies: pair.bodies,
        carrier,
        particle: Point3::origin(),
        object: Object::of(&system.places, &attachment),
    };
    fresh.evaluate(world, &system.places, system.slide);
    system.attached.push(fresh);
    system.touch(system.attached.len() - 1)
}

/// Whether a particle belongs to the geometry and can be the first of its body to meet a surface.
fn may_cross(world: &World, system: &System, pair: &Pair, particle: usize) -> bool {
    let is_inner = match system.places.mounted(pair.particles) {
        Mounted::Vertices(place) => system.places.vertices[place].is_inner(particle),
        _ => false,
    };
    !is_inner && is_of_part(world, system, pair.particles, particle)
}

/// Whether a particle belongs to the part of its body that the geometry stands for.
fn is_of_part(world: &World, system: &System, particles: GeometryIdx, particle: usize) -> bool {
    let (Some(part), Mounted::Vertices(place)) = (
        world.geometries()[particles.0].part,
        system.places.mounted(particles),
    ) else {
        return true;
    };
    let surface = system.bodies.surface(system.places.vertices[place].body);
    surface.parts.get(particle).copied().unwrap_or(0) == part
}
