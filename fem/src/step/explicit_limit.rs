//! The longest stable explicit step.
//!
//! Symplectic Euler with forces and Rayleigh damping of the start is stable for a mode of angular frequency ω while
//!
//! ```text
//! δt²ω² + 2δt(α + βω²) < 4
//! ```
//!
//! (Jury's criterion of the two-step recursion). No mode is faster than the fastest one of a single element with its share of the mass:
//! ω² ≤ max λ(K_e)/m, with m a quarter of the element's mass if masses are lumped, and a twentieth if they are consistent, which is the
//! eigenvalue of the element's mass for motions with Σ u_a = 0.
//!
//! Source: Irons and Treharne (1971) for the bound by elements.

use nalgebra::SMatrix;
use pliant_contact_sap::BodyError;

use super::FemStep;
use crate::mass::MassKind;
use crate::parallel;
use crate::parts::Parts;

impl FemStep {
    /// Refuses an explicit step that is longer than the material at rest allows.
    pub(super) fn refuse_unstable(&mut self, length_s: f64) -> Result<(), BodyError> {
        let parts = &*self.motion.parts;
        let limit_s = *self.explicit_limit_s.get_or_insert_with(|| limit_s(parts));
        if length_s <= limit_s {
            return Ok(());
        }
        Err(BodyError::Unstable {
            length_s,
            stable_s: limit_s,
            cause: "waves through the smallest elements".to_owned(),
        })
    }
}

fn limit_s(parts: &Parts) -> f64 {
    let share = match parts.mass_kind {
        MassKind::Lumped => 0.25,
        MassKind::Consistent => 0.05,
    };
    let squared = parallel::largest(parts.elements.len(), |e| {
        stiffest(parts, e) / (share * parts.element_mass[e])
    });
    let damping = parts.damping.mass + parts.damping.stiffness * squared;
    // The positive root of ω² δt² + 2dδt − 4, without cancellation.
    4.0 / (damping + (damping * damping + 4.0 * squared).sqrt())
}

/// The largest eigenvalue of an element's stiffness at rest, N/m.
fn stiffest(parts: &Parts, e: usize) -> f64 {
    let element = &parts.elements[e];
    let (gradients, hooke) = (element.all_gradients(), parts.lames.at(e).hooke());
    let mut stiffness = SMatrix::<f64, 12, 12>::zeros();
    for (a, g_a) in gradients.iter().enumerate() {
        for (b, g_b) in gradients.iter().enumerate() {
            let block = hooke.block(g_a, g_b) * element.volume;
            stiffness
                .fixed_view_mut::<3, 3>(3 * a, 3 * b)
                .copy_from(&block);
        }
    }
    stiffness.symmetric_eigenvalues().max()
}
