//! The elements of a body.

use pliant_hydroelastic::mesh::TetMesh;

use crate::domain_law::DomainLaw;
use crate::domains::Domains;
use crate::part_material::{PartMaterial, PerElement};
use crate::patches;
use crate::rest::RestElement;
use crate::smoothing::edge_domains;

/// The element of a body of tetrahedra. Unknowns are the positions of the vertices with each of them; they differ in the deformation
/// gradients F at which they evaluate the energy.
///
/// ```
/// use std::sync::Arc;
///
/// use nalgebra::Vector3;
/// use pliant_constitutive::Lame;
/// use pliant_contact_sap::DeformableModel;
/// use pliant_fem::{Element, FemBuilder, Linear};
/// # use pliant_hydroelastic::mesh::generate::tet_cuboid;
///
/// // A beam of 40 × 10 × 10 cm, two cells thick and with ν = 0.49, bent to a curvature κ = 0.01/m: u_x = κxz, u_z = −κx²/2 + …. The
/// // energy per length is EIκ²/2, the anticlastic displacements being those of ν.
/// # let (nu, kappa) = (0.49, 0.01);
/// let ratio = |element| -> Result<f64, Box<dyn std::error::Error>> {
/// #     let mesh = tet_cuboid(Vector3::new(0.2, 0.05, 0.05), [8, 2, 2])?;
/// #     let material = Arc::new(Linear::new(Lame::from_young_poisson(1e6, nu)?));
///     let (beam, _) = FemBuilder::new(mesh, material, 1000.0).element(element).build()?;
///     let mut state = beam.default_state();
///     for p in state.q.chunks_exact_mut(3) {
///         let [x, y, z] = [p[0], p[1], p[2]];
///         p[0] += kappa * x * z;
///         p[1] -= kappa * nu * y * z;
///         p[2] -= 0.5 * kappa * (x * x + nu * (z * z - y * y));
///     }
///     let exact = 0.5 * 1e6 * (0.1_f64.powi(4) / 12.0) * kappa * kappa * 0.4;
///     Ok(beam.energy(&state, &Vector3::zeros()).potential / exact)
/// };
/// assert!(ratio(Element::Linear)? > 5.0);
/// assert!((ratio(Element::Smoothed)? - 1.0).abs() < 0.02);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Element {
    /// Linear tetrahedra with one F each. The cheapest; they lock, in bending at any ν and in volume near ν = ½: a bent body is about
    /// 1 + 2.5 (1 − ν)/((1 + ν)(1 − 2ν)n²) times too stiff with n cells across.
    Linear,
    /// Edge-based smoothed tetrahedra: F is the mean over the tetrahedra around an edge, and in the volumetric part λ of the energy the mean
    /// over a patch of about six tetrahedra. They bend right with two cells across, at any ν, and have the same patch test, no zero-energy
    /// modes, and a matrix of two to three times the entries.
    ///
    /// Sources: Nguyen-Thoi, Liu, Lam, Zhang (2009), "A face-based smoothed finite element method (FS-FEM) for 3D linear and geometrically
    /// non-linear solid mechanics problems"; He, Li, Zhong, Li (2013), "An edge-based smoothed tetrahedron finite element method (ES-T-FEM)
    /// for 3D static and dynamic problems"; the patches: de Souza Neto, Andrade Pires, Owen (2005), "F-bar-based linear triangles and
    /// tetrahedra for finite strain analysis of nearly incompressible solids".
    #[default]
    Smoothed,
}

/// The domains of integration of a mesh, and their laws.
pub(crate) fn domains_of(
    element: Element,
    mesh: &TetMesh,
    elements: &[RestElement],
    materials: &PerElement<PartMaterial>,
) -> (Domains, PerElement<DomainLaw>) {
    match element {
        Element::Linear => {
            let laws = materials.map(|part| DomainLaw::whole(part.material.clone()));
            (Domains::of_tetrahedra(elements), laws)
        }
        Element::Smoothed => smoothed(mesh, elements, materials),
    }
}

fn smoothed(
    mesh: &TetMesh,
    elements: &[RestElement],
    materials: &PerElement<PartMaterial>,
) -> (Domains, PerElement<DomainLaw>) {
    // Of part k the law of edges, and of its patches if there are any.
    let split = materials.values().iter();
    let split: Vec<_> = split.map(|p| DomainLaw::split(&p.material)).collect();
    let mut laws = Vec::new();
    for (part, split) in materials.values().iter().zip(&split) {
        match split {
            Some([shear, _]) => laws.push(shear.clone()),
            None => laws.push(DomainLaw::whole(part.material.clone())),
        }
    }
    let mut of_patches = vec![None; split.len()];
    for (law, volumetric) in of_patches.iter_mut().zip(split) {
        if let Some([_, volumetric]) = volumetric {
            *law = Some(laws.len() as u16);
            laws.push(volumetric);
        }
    }
    let part_of = |e: u32| materials.kind(e as usize);
    let mut of = Vec::new();
    let mut domains = Domains::default();
    let edges = edge_domains(mesh, part_of);
    of.extend(edges.iter().map(|members| part_of(members[0])));
    domains.add_layer(elements, 1.0 / 6.0, edges.into_iter());
    let patches = patches::partition(mesh, part_of).into_iter();
    let patches: Vec<(u16, Vec<u32>)> = patches
        .filter_map(|members| {
            of_patches[usize::from(part_of(members[0]))].map(|law| (law, members))
        })
        .collect();
    of.extend(patches.iter().map(|(law, _)| *law));
    domains.add_layer(
        elements,
        1.0,
        patches.into_iter().map(|(_, members)| members),
    );
    (domains, PerElement::new(laws, of))
}
