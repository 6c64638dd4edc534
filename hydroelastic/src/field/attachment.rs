//! Fields of deforming bodies: what carries each tetrahedron.

use nalgebra::Vector3;

use super::PressureField;
use crate::GeometryError;
use crate::contact_point::{MaterialPoint, Primitive};

/// Attachment of a tetrahedron of a moving field: its corners are Σ weights·vertices of a primitive of the body's surface, which receives
/// the forces of contacts in the tetrahedron.
///
/// ```
/// use nalgebra::{Isometry3, Point3, Vector3};
/// use pliant_hydroelastic::{Attachment, DeformingSurface, PatchContact, PressureField, Primitive, mesh::generate};
/// # use pliant_hydroelastic::{ContactGeometry, ContactWorkspace, PatchGeometry, Posed, Query, RigidShape, SelfExclusion, Shape};
///
/// // The field of a soft cube, 1 mm deep in a rigid floor. Each of its tetrahedra moves with its own corners.
/// let mesh = generate::tet_cuboid(Vector3::repeat(0.05), [2, 2, 2])?;
/// let pressures: Vec<f64> = mesh.vertices().iter().map(|x| if x.norm() < 1e-9 { 1e6 } else { 0.0 }).collect();
/// let mut field = PressureField::from_vertex_pressures(&mesh, &pressures)?;
/// let points: Vec<_> = mesh.vertices().iter().map(|x| Point3::from(x + Vector3::z() * 0.049)).collect();
/// field.move_vertices(&points.iter().map(|p| p.coords).collect::<Vec<_>>())?;
/// let own_corners = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
/// let carried = |(corners, tet): (&[u32; 4], u32)| Attachment {
///     primitive: Primitive::Tetrahedron(tet),
///     vertices: *corners,
///     weights: own_corners,
/// };
/// let attachments = field.tets().iter().zip(0..).map(carried).collect();
/// let field = field.attached(attachments)?;
/// # let (radii, velocities, exclusion) = (vec![0.0; points.len()], vec![Vector3::zeros(); points.len()], SelfExclusion::default());
/// # let floor = Shape::half_space();
/// # let hard = PatchGeometry::rigid(&floor, 0.1)?;
/// # let a = Posed::Deforming(DeformingSurface {
/// #     id: 0, points: &points, radii: &radii, velocities: &velocities, exclusion: &exclusion, field: Some(&field), mesh: None,
/// # });
/// # let b = Posed::Rigid(RigidShape { patch: Some(&hard), ..RigidShape::at_rest(&floor, Isometry3::identity()) });
/// # let (mut found, mut workspace, query) = (Vec::new(), ContactWorkspace::default(), Query::new(1e-3, 9.81)?);
/// PatchContact.collide(a, b, &query, &mut workspace, &mut found).expect("a compliant pair")?;
/// // A contact acts on the corners of its tetrahedron.
/// let Primitive::Tetrahedron(tet) = found[0].a.primitive else { panic!("it is on the field") };
/// let corners = field.tets()[tet as usize].map(|v| points[v as usize].coords);
/// let interpolated: Vector3<f64> = corners.iter().zip(found[0].a.weights).map(|(x, w)| x * w).sum();
/// assert!((interpolated + found[0].a.offset - found[0].p_WC.coords).norm() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attachment {
    /// The primitive of the deforming surface that carries the tetrahedron, such as a segment of a filament.
    pub primitive: Primitive,
    /// The vertices of the primitive among the points of the [`DeformingSurface`](crate::DeformingSurface), in the
    /// primitive's order; unused entries repeat another vertex.
    pub vertices: [u32; 4],
    /// For each corner of the tetrahedron, the weights of those vertices; they sum to one.
    pub weights: [[f64; 4]; 4],
}

impl PressureField {
    /// The point of the deforming body at `p` (m) in tetrahedron `tet`; `None` if the field is not attached.
    pub(crate) fn material_point(&self, tet: u32, p: &Vector3<f64>) -> Option<MaterialPoint> {
        let attachment = self.attachment(tet)?;
        let mut weights = [0.0; 4];
        let at_corners = self.functions_of(tet).weights(p);
        for (w, of_corner) in at_corners.iter().zip(&attachment.weights) {
            for (sum, x) in weights.iter_mut().zip(of_corner) {
                *sum += w * x;
            }
        }
        Some(MaterialPoint {
            primitive: attachment.primitive,
            weights,
            offset: Vector3::zeros(),
        })
    }

    /// The field of a deforming body: `attachments` gives the attachment of each tetrahedron. Its vertices are in the
    /// world frame and are updated by [`move_vertices`](Self::move_vertices).
    ///
    /// # Errors
    /// [`GeometryError::ArrayLength`] unless there is one attachment per tetrahedron.
    pub fn attached(mut self, attachments: Vec<Attachment>) -> Result<Self, GeometryError> {
        if attachments.len() != self.corners.len() {
            return Err(GeometryError::ArrayLength {
                geometry: "pressure field",
                what: "attachments",
                expected: self.corners.len(),
                found: attachments.len(),
            });
        }
        self.attachments = attachments;
        // Each tetrahedron moves on its own.
        self.pieces = (0..self.corners.len() as u32).collect();
        Ok(self)
    }
}
