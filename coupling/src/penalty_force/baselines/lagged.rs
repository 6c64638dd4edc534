//! `lag`: p = δt Σ S₀ᵀf(x₀, X₀), all of the contact force of the start of the step.

use super::super::system::System;

pub(super) fn impulses(system: &mut System) -> Vec<f64> {
    let mut all = vec![0.0; system.n_dofs()];
    system.add_contact_impulses(&mut all);
    all
}
