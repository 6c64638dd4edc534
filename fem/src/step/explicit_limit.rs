//! The longest stable explicit step.
//!
//! Symplectic Euler with forces and Rayleigh damping of the start is stable for a mode of angular frequency ω while
//!
//! ```text
//! δt²ω² + 2δt(α + βω²) < 4
//! ```
//!
//! (Jury's criterion of the two-step recursion). With a layer of domains K = Σ K_d and M ≥ Σ M_d, no mode is faster than the fastest one of a
//! single domain with its share of the mass: ω² ≤ max λ(K_d, M_d); of several layers the bounds add up. A domain's mass is a sum over its
//! tetrahedra with a quarter of each one's mass on its vertices if masses are lumped, and a twentieth if they are consistent, which is the eigenvalue of the
//! tetrahedron's mass for motions with Σ u_a = 0.
//!
//! K_d = V BᵀCB with B u = Σ u_a ∇N_aᵀ has the nonzero eigenvalues of a 9×9 matrix, whatever the number of vertices:
//! λ(K_d, M_d) = V λ(C B M_d⁻¹Bᵀ), and B M_d⁻¹Bᵀ is the product from the right with G = Σ ∇N_a∇N_aᵀ/m_a.
//!
//! Source: Irons and Treharne (1971) for the bound by elements.

use nalgebra::{Matrix3, SMatrix};
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
    let layers = parts.domains.layers().iter();
    let squared: f64 = layers
        .map(|layer| {
            let first = layer.domains.start;
            parallel::largest(layer.domains.len(), |k| {
                fastest(parts, first + k, layer.share)
            })
        })
        .sum();
    let damping = parts.damping.mass + parts.damping.stiffness * squared;
    // The positive root of ω² δt² + 2dδt − 4, without cancellation.
    4.0 / (damping + (damping * damping + 4.0 * squared).sqrt())
}

/// The largest ω² of a domain at rest, 1/s².
fn fastest(parts: &Parts, d: usize, share: f64) -> f64 {
    let of_vertex = match parts.mass_kind {
        MassKind::Lumped => 0.25,
        MassKind::Consistent => 0.05,
    };
    let domain = parts.domains.at(d);
    let mut metric = Matrix3::zeros();
    for (vertex, g) in domain.vertices.iter().zip(domain.gradients) {
        let around = parts.domains.members(d).iter().map(|tet| *tet as usize);
        let with_vertex = around.filter(|tet| parts.elements[*tet].vertices.contains(vertex));
        let mass: f64 = with_vertex.map(|tet| parts.element_mass[tet]).sum();
        metric += g * g.transpose() / (share * of_vertex * mass);
    }
    // C G has the eigenvalues of the symmetric √G C √G.
    let mut eigen = metric.symmetric_eigen();
    eigen
        .eigenvalues
        .iter_mut()
        .for_each(|x| *x = x.max(0.0).sqrt());
    let root = eigen.recompose();
    let hooke = parts.laws.at(d).hooke;
    let mut product = SMatrix::<f64, 9, 9>::zeros();
    for k in 0..9 {
        let mut unit = Matrix3::zeros();
        unit[k] = 1.0;
        let gradient = unit * root;
        let strain = 0.5 * (gradient + gradient.transpose());
        let stress = hooke.stress(&strain) * root;
        product.column_mut(k).copy_from_slice(stress.as_slice());
    }
    product.symmetric_eigenvalues().max() * domain.volume
}
