//! `projv`: p = Σ S₀ᵀλ, impulses λ in the tangential planes that stop the slip of v₀ as far as |λ| ≤ μ δt N lets them, N = k d.
//!
//! Projected Gauss-Seidel over the contacts, with inertia D = LLᵀ: rows a = L⁻¹Sᵀt, slip tᵀSv₀ + aᵀΣ aλ. Slip that is left in one step is not made good for
//! in the next, so whatever gravity adds in a step, of the order g δt², adds up.

use nalgebra::Vector2;

use super::super::attached::Attached;
use super::super::gmres::dot;
use super::super::system::System;
use super::contact_rows::{row, tangents};

const SWEEPS_MAX: usize = 200;
/// Sweeps end when no impulse changes by more than this part of the largest bound.
const TOLERANCE: f64 = 1e-12;

/// A contact and its impulse.
struct Sliding {
    /// a of both tangents.
    rows: [Vec<f64>; 2],
    /// tᵀSv₀ of both.
    slip: [f64; 2],
    bound: f64,
    impulse: Vector2<f64>,
}

pub(super) fn impulses(system: &mut System, v: &[f64]) -> Vec<f64> {
    let active = system.attached.iter().filter(|a| a.is_active());
    let active: Vec<Attached> = active.cloned().collect();
    let dt = system.bodies.time_step.length_s;
    let mut contacts = Vec::with_capacity(active.len());
    for contact in &active {
        let normal_force = contact.force().dot(&contact.normal());
        let directions = tangents(&contact.normal());
        let mut rows = directions.map(|direction| row(system, contact, direction));
        let slip = [dot(&rows[0], v), dot(&rows[1], v)];
        (rows.iter_mut()).for_each(|row| system.metric.solve_lower(row));
        contacts.push(Sliding {
            rows,
            slip,
            bound: contact.pull.friction.sliding * dt * normal_force,
            impulse: Vector2::zeros(),
        });
    }
    let change = stop(&mut contacts, v.len());
    // p = L (L⁻¹p).
    let mut all = change;
    system.metric.multiply_lower(&mut all);
    all
}

/// Finds the impulses; L⁻¹p.
fn stop(contacts: &mut [Sliding], n: usize) -> Vec<f64> {
    let mut change = vec![0.0; n];
    let largest = contacts.iter().map(|c| c.bound).fold(0.0, f64::max);
    for _ in 0..SWEEPS_MAX {
        let mut moved = 0.0_f64;
        for contact in contacts.iter_mut() {
            let mass = dot(&contact.rows[0], &contact.rows[0])
                .max(dot(&contact.rows[1], &contact.rows[1]));
            if mass == 0.0 {
                continue;
            }
            let slip = |k: usize| contact.slip[k] + dot(&contact.rows[k], &change);
            let wanted = contact.impulse - Vector2::new(slip(0), slip(1)) / mass;
            let allowed = wanted * (contact.bound / wanted.norm()).min(1.0);
            let step = allowed - contact.impulse;
            for (row, step) in contact.rows.iter().zip(step.iter()) {
                change.iter_mut().zip(row).for_each(|(c, a)| *c += a * step);
            }
            contact.impulse = allowed;
            moved = moved.max(step.norm());
        }
        if moved <= TOLERANCE * largest {
            break;
        }
    }
    change
}
