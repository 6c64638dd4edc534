//! Particles on the surface of a round rod: rings around the middle of each of its segments, which turn with the material.
//!
//! ```text
//! Z = x + a (cos q m₁ + sin q m₂)        Ż = ẋ + ω × (Z − x)
//! ```
//!
//! x is the middle of a segment, a the radius, m₁ and m₂ directors of the section, ω the angular velocity of the segment with the rate of its twist. Within a
//! step a particle moves straight, with the velocity that it has where the step starts. Friction on rings has a torque about the centreline, so that rods
//! roll.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyError, MaterialPoint, Primitive};

use super::BodyFault;
use super::bodies::Bodies;
use super::vertex_place::PointMotion;
use crate::world::BodyIdx;

#[derive(Clone, Debug)]
pub(super) struct Rings {
    /// Particles of each ring.
    around: u32,
    /// At the start of the step, ring by ring.
    pub(super) start: Vec<Point3<f64>>,
    pub(super) motions: Vec<PointMotion>,
}

impl Rings {
    pub(super) fn new(around: u32) -> Self {
        Self {
            around,
            start: Vec::new(),
            motions: Vec::new(),
        }
    }

    /// Opens a step.
    ///
    /// # Errors
    /// Sections that are not round, and bodies that don't tell how their sections turn.
    pub(super) fn begin(&mut self, bodies: &Bodies, body: BodyIdx) -> Result<(), BodyFault> {
        let surface = bodies.surface(body);
        if !surface.sections.is_empty() || surface.directors.len() != surface.edges.len() {
            return Err((body, NO_RINGS));
        }
        self.start.clear();
        self.motions.clear();
        for (edge, (ends, director)) in surface.edges.iter().zip(&surface.directors).enumerate() {
            let [a, b] = ends.map(|v| surface.vertices[v as usize]);
            let radius = surface.radii.get(ends[0] as usize).copied().unwrap_or(0.0);
            let tangent = (b - a).normalize();
            let other = tangent.cross(director);
            for k in 0..self.around {
                let angle = std::f64::consts::TAU * f64::from(k) / f64::from(self.around);
                let (sin, cos) = angle.sin_cos();
                let offset: Vector3<f64> = (director * cos + other * sin) * radius;
                let point = MaterialPoint {
                    primitive: Primitive::Edge(edge as u32),
                    weights: [0.5, 0.5, 0.0, 0.0],
                    offset,
                };
                self.start.push(nalgebra::center(&a, &b) + offset);
                self.motions.push(PointMotion::of(bodies, body, &point)?);
            }
        }
        Ok(())
    }

    /// Particles at the end of a step with end velocities `v` of all bodies.
    pub(super) fn at_end<'a>(
        &'a self,
        v: &'a [f64],
        length_s: f64,
    ) -> impl Iterator<Item = Point3<f64>> + 'a {
        let particles = self.start.iter().zip(&self.motions);
        particles.map(move |(start, motion)| start + motion.velocity(v) * length_s)
    }
}

const NO_RINGS: BodyError = BodyError::Unsupported {
    what: "round sections that turn with the material, which `rod_particles` needs; without it penalty forces act on its nodes",
};
