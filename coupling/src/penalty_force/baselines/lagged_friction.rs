//! `lagfr`: p = δt Σ S₀ᵀ(f(x₀, X₀) − f_n), friction alone. The normal force is implicit.

use super::super::system::System;

pub(super) fn impulses(system: &mut System) -> Vec<f64> {
    for attached in &mut system.attached {
        let (normal, force) = (attached.normal(), *attached.force());
        attached.set_force(force - normal * normal.dot(&force));
    }
    super::lagged::impulses(system)
}
