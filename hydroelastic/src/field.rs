//! Pressure fields of compliant bodies.

mod accessors;
mod affine;
mod assemble;
mod attachment;
mod bounds;
mod compliance;
mod inflate;
mod layered;
mod moving;
mod of_shape;
mod of_tets;
mod pieces;
mod round;
mod tetrahedron;
mod user_defined;
mod valleys;

use nalgebra::Vector3;

pub(crate) use affine::Affine;
pub(crate) use assemble::FieldMesh;
pub use attachment::Attachment;
pub use compliance::Compliance;
pub(crate) use pieces::PieceKind;
pub(crate) use round::{geodesic_frequency, matched_ring_radius, unit_sphere};
pub(crate) use tetrahedron::Tetrahedron;

use crate::pressure_bvh::PressureBvh;

/// Marks a face without a neighbouring tetrahedron.
pub(crate) const OUTSIDE: u32 = u32::MAX;

/// A pressure field on a tetrahedral mesh, in the frame G of its geometry.
///
/// The field is linear on each tetrahedron of a mesh: E (the hydroelastic modulus, Pa) on the medial axis, 0 on the
/// surface, and negative in a margin outside it. Fields of the shapes:
///
/// | shape | mesh | pressure |
/// |---|---|---|
/// | box, cylinder, capsule | faces joined to the medial axis | exact distance to the (faceted) surface |
/// | sphere, ellipsoid | facets joined to the centre | E (1 − ‖S⁻¹x‖) |
/// | cone | facets joined to the incentre | exact distance to the (faceted) surface |
/// | convex hull | faces joined to the centroid | linear from each face to the centroid |
/// | closed surface | [`tetrahedralise`](crate::mesh::tetrahedralise): a lattice cut at the surface | exact distance at the vertices |
/// | given tetrahedral mesh | as given | exact distance to its surface at the vertices, or given values at each vertex |
/// | half space | none: a [`Slab`](crate::Slab) | E·(−z)/thickness |
///
/// Facets of curved shapes lie partly outside and partly inside the true surface, so that the volume is exact.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::{Compliance, PressureField, Shape};
///
/// // A cube of 10 cm and 1 MPa: 5 cm deep, so that 1 cm below its surface the pressure is a fifth of the modulus.
/// let compliance = Compliance { hydroelastic_modulus: 1e6, ..Compliance::default() };
/// let field = PressureField::of_shape(&Shape::cuboid(Vector3::repeat(0.1))?, &compliance)?;
/// assert!((field.depth() - 0.05).abs() < 1e-15);
/// let pressure = field.pressure_at(&Vector3::new(0.01, 0.0, 0.04)).expect("inside");
/// assert!((pressure - 2e5).abs() < 1e-6);
/// assert_eq!(field.pressure_max(), 1e6);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PressureField {
    vertices: Vec<Vector3<f64>>,
    pressures: Vec<f64>,
    corners: Vec<[u32; 4]>,
    neighbours: Vec<[u32; 4]>,
    tets: Vec<Tetrahedron>,
    /// One per tetrahedron.
    pieces: Vec<u32>,
    piece_kinds: Vec<PieceKind>,
    skin: Vec<SkinFace>,
    tet_tree: PressureBvh,
    skin_tree: PressureBvh,
    /// In order of descending pressure.
    peaks: Vec<Peak>,
    /// The part of each tetrahedron where the pressure is at most `shell_pressure`; empty if not needed.
    shell_tree: Option<PressureBvh>,
    shell_pressure: f64,
    /// Tetrahedra with an interior face whose pressure does not exceed the lowest pressure on the skin.
    low_tree: PressureBvh,
    /// Tetrahedra next to a valley of the pressure.
    valley_tree: PressureBvh,
    depth: f64,
    margin: f64,
    attachments: Vec<Attachment>,
}

/// A boundary face.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SkinFace {
    pub(crate) tet: u32,
    /// Index of the face in its tetrahedron.
    pub(crate) side: u8,
    pub(crate) corners: [u32; 3],
}

/// A vertex at a local maximum of the pressure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peak {
    pub(crate) vertex: u32,
    /// A tetrahedron that contains it.
    pub(crate) tet: u32,
}

impl PressureField {
    fn functions(&self, tet: usize) -> Tetrahedron {
        let corners = self.corners[tet];
        let x = corners.map(|v| self.vertices[v as usize]);
        Tetrahedron::new(&x, &corners.map(|v| self.pressures[v as usize]))
    }
}

#[cfg(test)]
mod tests;
