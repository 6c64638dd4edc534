//! The elements of a body.

use std::borrow::Cow;

use pliant_hydroelastic::mesh::{MeshError, QuadraticMesh, TetMesh};

use crate::domain_law::DomainLaw;
use crate::domains::Domains;
use crate::part_material::{PartMaterial, PerElement};
use crate::patches;
use crate::quadratic::{N_PARTS, RestQuadratic};
use crate::rest::RestElement;
use crate::smoothing::edge_domains;

/// λ/μ of the volumetric energy that quadratic elements have at their points, ν = ¼; the rest is that of their means. Cantilevers of one cell across
/// are 10 % too soft without any and at ν = 0.499 9 % too stiff with 10; with 1 they are right within 3 %.
const POINTWISE_RATIO: f64 = 1.0;

/// The element of a body of tetrahedra. Unknowns are the positions of the vertices, of quadratic elements also of a node on each edge; elements
/// differ in the deformation gradients F at which they evaluate the energy.
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
/// assert!((ratio(Element::Quadratic)? - 1.0).abs() < 0.02);
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
    /// Quadratic tetrahedra: a node at each vertex and on each edge, F at four points, and its mean over the element in the volumetric part of the
    /// energy beyond that of λ = μ. Bending and vibration are right with one or two cells across, stress converges fast, and curved edges of ten-node mesh files are kept.
    /// All nodes are vertices of the body; contact and loads on points are those of the eight linear tetrahedra between the nodes of each
    /// element, and so are lumped masses, which are positive.
    ///
    /// Sources: Zienkiewicz, Taylor, Zhu, "The Finite Element Method"; the mean: Boffi, Brezzi, Fortin (2013), "Mixed Finite Element Methods and
    /// Applications", chapter 8, P2-P0.
    Quadratic,
}

impl Element {
    /// The mesh whose vertices are the nodes of a body with this element, in their order: of quadratic elements the linear tetrahedra between
    /// their nodes ([`QuadraticMesh::refinement`]), of others the mesh itself.
    ///
    /// # Errors
    /// As [`QuadraticMesh::of`].
    pub fn mesh_of_nodes(self, mesh: &TetMesh) -> Result<Cow<'_, TetMesh>, MeshError> {
        match self {
            Self::Linear | Self::Smoothed => Ok(Cow::Borrowed(mesh)),
            Self::Quadratic => Ok(Cow::Owned(QuadraticMesh::of(mesh)?.into_parts().0)),
        }
    }
}

/// Domains of integration, and their laws.
#[derive(Debug)]
pub(crate) struct Integration {
    pub(crate) domains: Domains,
    pub(crate) laws: PerElement<DomainLaw>,
}

impl Integration {
    /// Each tetrahedron.
    pub(crate) fn linear(elements: &[RestElement], materials: &PerElement<PartMaterial>) -> Self {
        Self {
            domains: Domains::of_tetrahedra(elements),
            laws: materials.map(|part| DomainLaw::whole(part.material.clone())),
        }
    }

    /// Edges, and patches for the volumetric part.
    pub(crate) fn smoothed(
        mesh: &TetMesh,
        elements: &[RestElement],
        materials: &PerElement<PartMaterial>,
    ) -> Self {
        let split = SplitLaws::of(materials, 0.0);
        let part_of = |e: u32| materials.kind(e as usize);
        let mut of = Vec::new();
        let mut domains = Domains::default();
        let edges = edge_domains(mesh, part_of);
        of.extend(edges.iter().map(|members| part_of(members[0])));
        domains.add_layer(elements, 1.0 / 6.0, edges.into_iter());
        let patches = patches::partition(mesh, part_of).into_iter();
        let patches: Vec<(u16, Vec<u32>)> = patches
            .filter_map(|members| {
                split.volumetric[usize::from(part_of(members[0]))].map(|law| (law, members))
            })
            .collect();
        of.extend(patches.iter().map(|(law, _)| *law));
        let patches = patches.into_iter().map(|(_, members)| members);
        domains.add_layer(elements, 1.0, patches);
        Self {
            domains,
            laws: PerElement::new(split.laws, of),
        }
    }

    /// The points of ten-node elements, and their means for the volumetric part. Element e has the tetrahedra 8e to 8e + 7.
    pub(crate) fn quadratic(
        elements: &[RestQuadratic],
        materials: &PerElement<PartMaterial>,
    ) -> Self {
        let split = SplitLaws::of(materials, POINTWISE_RATIO);
        let mut of = Vec::new();
        let mut domains = Domains::default();
        for (element, e) in elements.iter().zip(0_u32..) {
            let part = materials.kind(e as usize);
            let n = N_PARTS as u32;
            let members: Vec<u32> = (n * e..n * (e + 1)).collect();
            domains.add_group(&element.nodes, &members);
            for point in &element.points {
                let share = point.volume / element.mean.volume;
                domains.add_domain(&mut point.gradients.clone(), point.volume, share);
                of.push(part);
            }
            if let Some(law) = split.volumetric[usize::from(part)] {
                let mean = &element.mean;
                domains.add_domain(&mut mean.gradients.clone(), mean.volume, 1.0);
                of.push(law);
            }
        }
        domains.close_layer(0, 1.0);
        Self {
            domains,
            laws: PerElement::new(split.laws, of),
        }
    }
}

/// Laws of parts, without their volumetric parts where they have them, and those.
struct SplitLaws {
    /// Of part k the first law k; then the volumetric ones.
    laws: Vec<DomainLaw>,
    /// Of each part.
    volumetric: Vec<Option<u16>>,
}

impl SplitLaws {
    fn of(materials: &PerElement<PartMaterial>, ratio_max: f64) -> Self {
        let split = materials.values().iter();
        let split: Vec<_> = split
            .map(|p| DomainLaw::split(&p.material, ratio_max))
            .collect();
        let mut laws = Vec::new();
        for (part, split) in materials.values().iter().zip(&split) {
            match split {
                Some([shear, _]) => laws.push(shear.clone()),
                None => laws.push(DomainLaw::whole(part.material.clone())),
            }
        }
        let mut of_parts = vec![None; split.len()];
        for (law, volumetric) in of_parts.iter_mut().zip(split) {
            if let Some([_, volumetric]) = volumetric {
                *law = Some(laws.len() as u16);
                laws.push(volumetric);
            }
        }
        Self {
            laws,
            volumetric: of_parts,
        }
    }
}
