//! Whether the contacts of an island give more energy than they had.
//!
//! Backward Euler takes energy out of springs. A contact whose spring is convex along the step does no more work on its two sides than it stored:
//!
//! ```text
//! f·(ΔZ − ΔY) ≤ V₀ − V₁        V = ½ k |Y − Z|²
//! ```
//!
//! ΔZ and ΔY are the displacements of the particle and of the object's point below it, prescribed motions and belts included. A step in which contacts do more has taken
//! a particle across a corner or through an object, and what it was thrown out with came from nowhere. V₀ is bounded by the depth d₀ at the start:
//! |Y − Z|² ≤ (1 + μ²) d₀².

use nalgebra::Vector3;

use super::attached::{Attached, Carrier, Object};
use super::islands::Island;
use super::system::System;
use crate::state::State;
use crate::world::{BodyIdx, World};

/// The part of the energies of an island that a step may gain, for rotations of finite size and smooth surfaces in flat pieces.
const ALLOWED: f64 = 0.02;

/// The islands that gained energy in a step from `state` to `next`, which the system is at.
pub(super) fn gained<'a>(
    system: &System,
    islands: impl Iterator<Item = &'a Island>,
    world: &World,
    (state, next): (&State, &State),
) -> Vec<&'a Island> {
    let islands: Vec<&Island> = islands.collect();
    let mut gains: Vec<Gain> = islands.iter().map(|i| Gain::none(system, i)).collect();
    let island_of_contact = system.island_of_each_contact(islands.iter().copied());
    for (contact, island) in system.attached.iter().zip(island_of_contact) {
        if let Some(island) = island {
            gains[island].add_contact(system, contact);
        }
    }
    let kinetic = |state: &State, b: &BodyIdx| {
        let energy = world.model(*b).energy(&state.bodies[b.0], world.gravity());
        energy.kinetic
    };
    let found = islands.iter().zip(&gains).filter(|(island, gain)| {
        let moving: f64 = (island.bodies.iter())
            .map(|b| kinetic(state, b) + kinetic(next, b))
            .sum();
        gain.gained > ALLOWED * (moving + gain.stored) + gain.of_gravity
    });
    found.map(|(island, _)| *island).collect()
}

/// Of an island, J.
struct Gain {
    gained: f64,
    /// In contacts at the start and at the end.
    stored: f64,
    /// What gravity and loads give to bodies at rest in a step, twice: below that nothing is thrown.
    of_gravity: f64,
}

impl Gain {
    fn none(system: &System, island: &Island) -> Self {
        Self {
            gained: 0.0,
            stored: 0.0,
            of_gravity: system.external_size(island).powi(2),
        }
    }

    fn add_contact(&mut self, system: &System, contact: &Attached) {
        let before = contact.at_start.energy;
        let after = contact.energy();
        self.gained += work(system, contact) - (before - after);
        self.stored += before + after;
    }
}

/// Of the force of a contact on both sides.
fn work(system: &System, contact: &Attached) -> f64 {
    if !contact.is_active() {
        return 0.0;
    }
    let places = &system.places;
    let z = contact.point_of_force();
    let way_of = |carrier: Carrier| match carrier {
        Carrier::Frame(place) => {
            let place = &places.frames[place];
            z - place.at_start * place.X_WF.inverse_transform_point(&z)
        }
        Carrier::Vertex(_) => {
            let of = contact.attachment;
            let start = places.particle_at_start(of.particles, of.of_particle(), &system.bodies);
            places.particle(of.particles, of.of_particle()) - start
        }
        Carrier::World => Vector3::zeros(),
    };
    let mut way = way_of(contact.carrier);
    if let Object::Shape(_, carrier @ Carrier::Frame(_)) = &contact.object {
        way -= way_of(*carrier);
    }
    // A belt moves over its body.
    let object = contact.attachment.object;
    let belt = system.surface_velocity(object) * system.bodies.time_step.length_s;
    way -= places.pose(object).rotation * belt;
    for load in contact.loads(places) {
        let vertices = &places.vertices[load.place];
        let (start, end) = (vertices.at_start(&system.bodies), &vertices.at_end);
        way += (end[load.vertex as usize] - start[load.vertex as usize]) * load.weight;
    }
    contact.force().dot(&way)
}
