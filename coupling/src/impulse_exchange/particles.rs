//! Exchange at particles: spring and friction forces on particles inside shapes.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyError, Interpolation, MaterialPoint, Rows, Surface};
use pliant_hydroelastic::PairMaterial;

use super::{ExchangedImpulses, Substep};
use crate::split_world::Obstacle;

/// What springs and dampers may be at most, as a part of where they would swing within a substep alone: about eight particles share a
/// node.
const STIFFEST: f64 = 0.1;

/// Memory of [`Workspace::exchange`].
#[derive(Default)]
pub(super) struct Workspace {
    /// Particles at the start of the substep, as vertices.
    surface: Surface,
    velocities: Vec<Vector3<f64>>,
    rows: Rows,
    /// The mass behind every velocity.
    mass: Vec<f64>,
    /// Impulses, as velocities are laid out.
    impulse: Vec<f64>,
    /// As the rows of a cell are laid out.
    of_cell: Vec<f64>,
}

impl Workspace {
    /// Forces of all obstacles on all particles over a substep, added to `velocity` and entered.
    pub(super) fn exchange(
        &mut self,
        substep: &Substep<'_>,
        obstacles: &[Obstacle],
        velocity: &mut [f64],
        exchanged: &mut ExchangedImpulses,
    ) -> Result<(), BodyError> {
        let what = "velocities of vertices";
        let step = substep.step;
        let motion = step.as_surface().ok_or(BodyError::Unsupported { what })?;
        motion.start_surface(&mut self.surface);
        motion.vertex_velocities(step.start_velocity(), &mut self.velocities);
        self.mass.clear();
        let masses = substep.nodes.iter().flat_map(|node| [node.mass; 3]);
        self.mass.extend(masses);
        self.impulse.clear();
        self.impulse.resize(velocity.len(), 0.0);
        for obstacle in obstacles {
            self.push(substep, obstacle, exchanged)?;
        }
        let changes = self.impulse.iter().zip(&self.mass);
        for (v, (impulse, mass)) in velocity.iter_mut().zip(changes) {
            *v += impulse / mass;
        }
        Ok(())
    }

    fn push(
        &mut self,
        substep: &Substep<'_>,
        obstacle: &Obstacle,
        exchanged: &mut ExchangedImpulses,
    ) -> Result<(), BodyError> {
        let world = substep.world;
        let Some(shape) = &world.parts.geometries[obstacle.geometry.0].shape else {
            return Ok(());
        };
        let pose = obstacle.pose_after(substep.passed_s);
        let bounds = shape.aabb(&pose);
        let mut interpolation = Interpolation::Twist;
        for (vertex, p_WQ) in self.surface.vertices.iter().enumerate() {
            let radius = self.surface.radii.get(vertex).copied().unwrap_or(0.0);
            if !bounds.inflated(radius).contains(p_WQ) {
                continue;
            }
            let part = self.surface.parts.get(vertex).copied().unwrap_or(0);
            let Some(soft) = obstacle.meets(world, substep.parts, part) else {
                continue;
            };
            let distance = shape.signed_distance_in_world(&pose, p_WQ);
            let depth = radius - distance.value;
            if depth <= 0.0 {
                continue;
            }
            let point = MaterialPoint::on_vertex(vertex as u32);
            let basis = substep.step.interpolation(&point, &mut interpolation)?;
            let Interpolation::Weights(weights) = &interpolation else {
                continue;
            };
            substep.step.basis(basis, &Point3::origin(), &mut self.rows);
            self.of_cell.clear();
            self.of_cell.resize(3 * weights.len(), 0.0);
            self.rows.apply_without_bias(&self.mass, &mut self.of_cell);
            // w = Σ w_i²/m_i, what a unit impulse does; nodes that are held have no mass here.
            let masses = self.of_cell.chunks_exact(3).map(|mass| mass[0]);
            let free = weights.iter().zip(masses).filter(|(_, mass)| *mass > 0.0);
            let mobility: f64 = free.map(|(weight, mass)| weight * weight / mass).sum();
            let mut pair = world.pair(soft, obstacle.geometry);
            let swinging = 1.0 / (mobility * substep.length_s * substep.length_s);
            pair.stiffness = pair.stiffness.min(STIFFEST * swinging);
            let damping = STIFFEST * swinging * substep.length_s;
            pair.dissipation = pair.dissipation.min(damping / (pair.stiffness * depth));
            let slip = self.velocities[vertex] - obstacle.velocity_at(world, &pose, p_WQ);
            let normal = distance.gradient;
            let stiction_speed = world.parts.contact.stiction_speed;
            let push = force(&pair, stiction_speed, depth, &slip, &normal) * substep.length_s;
            for (share, weight) in self.of_cell.chunks_exact_mut(3).zip(weights) {
                share.copy_from_slice((push * *weight).as_slice());
            }
            self.rows.add_transposed(&self.of_cell, &mut self.impulse);
            exchanged
                .entry((soft, obstacle.geometry))
                .or_default()
                .add(push, p_WQ, &normal, obstacle);
        }
        Ok(())
    }
}

/// f = f_n n − μ f_n t/√(|t|² + v_s²), f_n = k x (1 − d ẋ) with the slip's part t along the surface: Hunt and Crossley's spring and Coulomb's law with
/// the same k, d, μ and v_s as the convex problem has, but of what is known at the start of a substep. Friction turns round in every
/// substep of a particle that should rest, unless substeps are shorter than about 2 m v_s/(μ f_n).
fn force(
    pair: &PairMaterial,
    stiction_speed: f64,
    depth: f64,
    slip: &Vector3<f64>,
    normal: &Vector3<f64>,
) -> Vector3<f64> {
    let approach = -slip.dot(normal);
    let pushing = pair.stiffness * depth * (1.0 + pair.dissipation * approach).max(0.0);
    let along = slip + normal * approach;
    let speed = along.norm().hypot(stiction_speed);
    normal * pushing - along * (pair.friction * pushing / speed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn friction_opposes_slip_within_its_cone_and_nothing_pulls() {
        let normal = Vector3::new(0.6, 0.0, 0.8);
        for mu in [0.0, 0.4, 1.5] {
            let pair = PairMaterial {
                stiffness: 1e4,
                dissipation: 10.0,
                relaxation_time_s: 0.0,
                friction: mu,
            };
            for k in 0..40 {
                let s = k as f64;
                let slip = Vector3::new(s.sin(), (1.3 * s).cos(), (0.7 * s).sin()) * 0.05;
                let f = force(&pair, 1e-4, 1e-3, &slip, &normal);
                let pushing = f.dot(&normal);
                let along = f - normal * pushing;
                assert!(pushing >= 0.0 && along.norm() <= mu * pushing + 1e-12);
                assert!(along.dot(&slip) <= 1e-12);
                let spring = 10.0 * (1.0 - 10.0 * slip.dot(&normal)).max(0.0);
                assert!((pushing - spring).abs() < 1e-9);
            }
        }
    }
}
