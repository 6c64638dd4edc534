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
//! The bound of quadratic elements is by their matrices: their domains have one mass together.
//!
//! K_d = V BᵀCB with B u = Σ u_a ∇N_aᵀ has the nonzero eigenvalues of a 9×9 matrix, whatever the number of vertices:
//! λ(K_d, M_d) = V λ(C B M_d⁻¹Bᵀ), and B M_d⁻¹Bᵀ is the product from the right with G = Σ ∇N_a∇N_aᵀ/m_a.
//!
//! Source: Irons and Treharne (1971) for the bound by elements.

use nalgebra::{DMatrix, DVector, Matrix3, SMatrix, Vector3};
use pliant_contact_sap::BodyError;

use super::FemStep;
use crate::mass::MassKind;
use crate::parallel;
use crate::parts::Parts;
use crate::quadratic::{lumped_share, mass_per_density};

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
            let first = layer.groups.start;
            parallel::largest(layer.groups.len(), |k| {
                let group = first + k;
                match parts.domains.group(group).len() {
                    1 => fastest(parts, group, layer.share),
                    _ => fastest_of_several(parts, group),
                }
            })
        })
        .sum();
    let damping = parts.damping.mass + parts.damping.stiffness * squared;
    // The positive root of ω² δt² + 2dδt − 4, without cancellation.
    4.0 / (damping + (damping * damping + 4.0 * squared).sqrt())
}

/// The largest ω² at rest of a group of one domain, 1/s².
fn fastest(parts: &Parts, group: usize, share: f64) -> f64 {
    let of_vertex = match parts.mass_kind {
        MassKind::Lumped => 0.25,
        MassKind::Consistent => 0.05,
    };
    let d = parts.domains.group(group).start;
    let domain = parts.domains.at(d);
    let mut metric = Matrix3::zeros();
    for (vertex, g) in domain.vertices.iter().zip(domain.gradients) {
        let mass = mass_around(parts, group, *vertex);
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

/// The mass of the tetrahedra of a group that have a vertex, kg.
fn mass_around(parts: &Parts, group: usize, vertex: u32) -> f64 {
    let members = parts.domains.members(group).iter();
    let members = members.map(|tet| *tet as usize);
    let with_vertex = members.filter(|tet| parts.elements[*tet].vertices.contains(&vertex));
    with_vertex.map(|tet| parts.element_mass[tet]).sum()
}

/// The largest ω² at rest of a quadratic element, 1/s²: of L⁻¹KL⁻ᵀ with M = LLᵀ.
fn fastest_of_several(parts: &Parts, group: usize) -> f64 {
    let vertices = parts.domains.vertices(group);
    let n = vertices.len();
    let mass = match parts.mass_kind {
        MassKind::Lumped => {
            let members = parts.domains.members(group).iter();
            let mass: f64 = members.map(|tet| parts.element_mass[*tet as usize]).sum();
            DMatrix::from_diagonal(&DVector::from_fn(n, |a, _| mass * lumped_share(a)))
        }
        MassKind::Consistent => {
            let density = parts
                .materials
                .at(parts.domains.members(group)[0] as usize)
                .density;
            let at = std::array::from_fn(|a| parts.rest[vertices[a] as usize]);
            let mass = mass_per_density(&at);
            DMatrix::from_fn(n, n, |a, b| density * mass[a][b])
        }
    };
    let Some(root) = mass.cholesky().and_then(|factor| factor.l().try_inverse()) else {
        return f64::INFINITY;
    };
    let mut stiffness = DMatrix::zeros(3 * n, 3 * n);
    for d in parts.domains.group(group) {
        let (hooke, volume) = (parts.laws.at(d).hooke, parts.domains.at(d).volume);
        // L⁻¹ of the gradients.
        let scaled: Vec<Vector3<f64>> = (0..n)
            .map(|a| {
                let gradients = parts.domains.gradients(d).iter();
                gradients.enumerate().map(|(b, g)| g * root[(a, b)]).sum()
            })
            .collect();
        for (a, g) in scaled.iter().enumerate() {
            for (b, h) in scaled.iter().enumerate() {
                let mut block = stiffness.fixed_view_mut::<3, 3>(3 * a, 3 * b);
                block += hooke.block(g, h) * volume;
            }
        }
    }
    stiffness.symmetric_eigenvalues().max()
}
