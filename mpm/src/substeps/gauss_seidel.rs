//! Projected Gauss-Seidel, contact by contact: each takes the impulse that its law has with all other impulses held.
//!
//! With W ≤ w I the effective inverse inertia of a contact, its impulse x minimises ½w|x − γ|² + (v_c·x) + ℓ*(x), a majoriser of the dual
//! cost about the present impulse γ. Normal and tangential parts separate:
//!
//! ```text
//! x_n:  v_n + w (x_n − γ_n) = v with x_n = n(v)                  closed form
//! x_t:  |t| + w μ n0 |t|/√(|t|² + ε²) = |v_t − w γ_t|            Newton, x_t = −μ n0 t/√(|t|² + ε²)
//! ```
//!
//! The error is estimated by the changes of a sweep relative to the impulses, both in the norm √(Σ w |γ|²), and their ratio to the changes of
//! the sweep before. Where friction sticks, the gradient of the primal cost is of no use for that: it is the error of the velocities times
//! the stiffness of friction.
//!
//! Every update lowers a strictly convex function, so the sweeps converge on every problem, slowly where many particles touch a light
//! body. The order is that of the contacts.

use nalgebra::Vector3;

use super::contact_problem::{ContactProblem, ContactState};
use super::links::RigidLinks;
use super::solver::Solved;

/// Bound of the ratio of successive changes from which the error is estimated.
const RATIO_MAX: f64 = 0.95;

/// Solves `problem` to the relative tolerance `tolerance` in at most `sweeps_max` sweeps.
pub(super) fn solve(
    problem: &mut ContactProblem,
    links: &mut RigidLinks,
    tolerance: f64,
    sweeps_max: u32,
) -> Solved {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || sweeps(problem, links, tolerance, sweeps_max),
    )
}

#[inline(always)]
fn sweeps(
    problem: &mut ContactProblem,
    links: &mut RigidLinks,
    tolerance: f64,
    sweeps_max: u32,
) -> Solved {
    let mut last = f64::INFINITY;
    for iterations in 1..=sweeps_max {
        let Sweep { change, size } = sweep(problem, links);
        // What is left of a geometric series with the ratio of the last two sweeps.
        let ratio = (change / last).min(RATIO_MAX);
        if change <= tolerance * size * (1.0 - ratio) {
            return Solved {
                iterations,
                is_converged: true,
            };
        }
        last = change;
    }
    Solved {
        iterations: sweeps_max,
        is_converged: problem.contacts.is_empty(),
    }
}

/// Norms of impulses, √(Σ w |·|²).
struct Sweep {
    change: f64,
    size: f64,
}

/// Updates every contact once.
#[inline(always)]
fn sweep(problem: &mut ContactProblem, links: &mut RigidLinks) -> Sweep {
    let (mut changes, mut sizes) = (0.0, 0.0);
    for c in 0..problem.contacts.len() {
        let contact = &problem.contacts[c];
        let v_c = problem.relative_velocity(contact, links);
        let state = &problem.states[c];
        let impulse = local_impulse(state, &contact.normal, &v_c);
        let change = impulse - state.impulse;
        sizes += state.response * impulse.norm_squared();
        if change != Vector3::zeros() {
            changes += state.response * change.norm_squared();
            problem.states[c].impulse = impulse;
            problem.add_impulse(c, &change, links);
        }
    }
    Sweep {
        change: changes.sqrt(),
        size: sizes.sqrt(),
    }
}

/// The impulse x of a contact with relative velocity `v_c` at its present impulse.
#[inline(always)]
fn local_impulse(state: &ContactState, normal: &Vector3<f64>, v_c: &Vector3<f64>) -> Vector3<f64> {
    let w = state.response;
    if w == 0.0 {
        return state.law_impulse(v_c);
    }
    let (v_n, gamma_n) = (normal.dot(v_c), normal.dot(&state.impulse));
    let n = state.normal_force.implicit_impulse(w, v_n, gamma_n);
    let free = (v_c - normal * v_n) - (state.impulse - normal * gamma_n) * w;
    let speed = free.norm();
    let bound = state.friction_limit;
    if bound == 0.0 || speed == 0.0 {
        return normal * n;
    }
    let slip = slip_speed(speed, w * bound, state.slip_softening);
    let softened = (slip * slip + state.slip_softening * state.slip_softening).sqrt();
    normal * n - free * (bound * slip / (softened * speed))
}

/// The root t of t + a t/√(t² + ε²) = s, for s, a, ε > 0.
///
/// The left side is concave for t ≥ 0, so that Newton's method from the left of the root converges without a safeguard.
fn slip_speed(s: f64, a: f64, softening: f64) -> f64 {
    // Both are left of the root: the friction at its bound, and its slope at zero.
    let mut t = (s - a).max(s / (1.0 + a / softening));
    for _ in 0..30 {
        let r = (t * t + softening * softening).sqrt();
        let value = t + a * t / r - s;
        let slope = 1.0 + a * softening * softening / (r * r * r);
        let step = value / slope;
        t -= step;
        if step.abs() <= 1e-14 * s {
            break;
        }
    }
    t
}

impl ContactState {
    /// The impulse of the law at `v_c`.
    fn law_impulse(&self, v_c: &Vector3<f64>) -> Vector3<f64> {
        use pliant_contact_sap::Potential;
        self.law.impulse(v_c)
    }
}

#[cfg(test)]
mod tests {
    use super::slip_speed;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_slip_speed_is_the_root(
            s in 1e-9..1e3f64, a in 1e-9..1e3f64, softening in 1e-6..1.0f64,
        ) {
            let t = slip_speed(s, a, softening);
            let left = t + a * t / t.hypot(softening);
            prop_assert!(t >= 0.0 && (left - s).abs() <= 1e-12 * s.max(a), "{t}: {left} for {s}");
        }
    }
}
