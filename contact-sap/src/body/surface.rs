//! The surface of a body.

use nalgebra::{Isometry3, Point3, Vector3};

/// Positions and velocities of the whole surface at once, for bodies that have them at hand.
///
/// ```
/// use nalgebra::Vector3;
/// # use pliant_contact_sap::conformance::MassSpringNet;
/// use pliant_contact_sap::{BodyStep, Control, DeformableModel, StepInput, Surface};
///
/// let (net, control) = (MassSpringNet::default(), Control::default());
/// let mut step = net.new_step();
/// step.begin(&net.default_state(), &StepInput::new(0.01, Vector3::zeros(), &control))?;
/// let motion = step.as_surface().expect("a net has it");
/// let (mut surface, mut velocities) = (Surface::default(), Vec::new());
/// motion.start_surface(&mut surface);
/// motion.vertex_velocities(&[1.0, 2.0, 3.0].repeat(100), &mut velocities);
/// assert_eq!(velocities.len(), surface.vertices.len());
/// assert_eq!(velocities[42], Vector3::new(1.0, 2.0, 3.0));
/// # Ok::<(), pliant_contact_sap::BodyError>(())
/// ```
pub trait SurfaceMotion {
    /// The surface at the start of the step, up to round-off that of [`DeformableModel::surface`](super::DeformableModel::surface). `out` is
    /// overwritten and its memory reused.
    fn start_surface(&self, out: &mut Surface);
    /// Velocities of all vertices of the surface while the body has velocities `v`, m/s, world axes. `out` is overwritten and its
    /// memory reused.
    fn vertex_velocities(&self, v: &[f64], out: &mut Vec<Vector3<f64>>);
}

/// What takes part in contact, in the world frame.
///
/// ```
/// use pliant_contact_sap::conformance::{MassSpringNet, NetSettings};
/// use pliant_contact_sap::{DeformableModel, Surface};
///
/// // One mesh of a net: four vertices with a radius each, two triangles, no rigid frames.
/// let net = MassSpringNet::new(NetSettings { n: 2, ..NetSettings::default() })?;
/// let mut surface = Surface::default();
/// net.surface(&net.default_state(), &mut surface);
/// assert_eq!((surface.vertices.len(), surface.radii.len()), (4, 4));
/// assert_eq!((surface.triangles.len(), surface.frames.len()), (2, 0));
/// # Ok::<(), pliant_contact_sap::BodyError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Poses X_WF of rigid frames, on which shapes are mounted.
    pub frames: Vec<Isometry3<f64>>,
    /// Vertices p_WV.
    pub vertices: Vec<Point3<f64>>,
    /// Radius about each vertex, m; empty: all zero.
    pub radii: Vec<f64>,
    /// Part of the body that each vertex belongs to, such as the objects on one grid; empty: all part 0.
    pub parts: Vec<u32>,
    /// Vertices of each edge.
    pub edges: Vec<[u32; 2]>,
    /// Section of each edge; empty: all round, with the radii of their vertices.
    pub sections: Vec<FlatEdge>,
    /// Unit vector across each edge that turns with the material; empty: the body does not tell.
    pub directors: Vec<Vector3<f64>>,
    /// Vertices of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Vertices of each tetrahedron.
    pub tetrahedra: Vec<[u32; 4]>,
}

/// The section of an edge with two different widths.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_contact_sap::{FlatEdge, FlatOutline, Surface};
///
/// // A ribbon along +x, 10 mm wide along y and 1 mm thick along z, as the surface of a body of your own.
/// let ribbon = FlatEdge { m_1: Vector3::y(), half_extents: [5e-3, 5e-4], outline: FlatOutline::Rectangle };
/// let vertices = [0.0, 0.1, 0.2].map(|x| Point3::new(x, 0.0, 0.0)).to_vec();
/// let surface = Surface { vertices, edges: vec![[0, 1], [1, 2]], sections: vec![ribbon; 2], ..Surface::default() };
///
/// // The direction of the second extent is t × m_1.
/// let [a, b] = surface.edges[0].map(|v| surface.vertices[v as usize]);
/// let thickness = (b - a).normalize().cross(&surface.sections[0].m_1) * 2.0 * surface.sections[0].half_extents[1];
/// assert!((thickness - Vector3::new(0.0, 0.0, 1e-3)).norm() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlatEdge {
    /// Unit vector across the edge, world axes.
    pub m_1: Vector3<f64>,
    /// Half of the extent along `m_1` and along t × m_1 with t the edge's direction, m.
    pub half_extents: [f64; 2],
    /// The shape within those extents.
    pub outline: FlatOutline,
}

/// The outline of a section with two different widths.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::{FlatEdge, FlatOutline};
///
/// /// Half of the extent of a section along the unit vector `n`, for an edge along +z.
/// fn half_extent(section: &FlatEdge, n: &Vector3<f64>) -> f64 {
///     let m_2 = Vector3::z().cross(&section.m_1);
///     let [a, b] = section.half_extents;
///     let (x, y) = (a * section.m_1.dot(n), b * m_2.dot(n));
///     match section.outline {
///         FlatOutline::Rectangle => x.abs() + y.abs(),
///         FlatOutline::Ellipse => x.hypot(y),
///     }
/// }
/// // 4 mm × 2 mm. Along the diagonal of its rectangle the ellipse is shorter.
/// let section = |outline| FlatEdge { m_1: Vector3::x(), half_extents: [2e-3, 1e-3], outline };
/// let diagonal = Vector3::new(2.0, 1.0, 0.0).normalize();
/// assert!((half_extent(&section(FlatOutline::Rectangle), &diagonal) - 5e-3 / 5f64.sqrt()).abs() < 1e-15);
/// assert!((half_extent(&section(FlatOutline::Ellipse), &diagonal) - 17f64.sqrt() * 1e-3 / 5f64.sqrt()).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlatOutline {
    /// A rectangle.
    Rectangle,
    /// An ellipse.
    Ellipse,
}

impl Surface {
    /// Empties everything, keeping the memory.
    pub fn clear(&mut self) {
        self.frames.clear();
        self.vertices.clear();
        self.radii.clear();
        self.parts.clear();
        self.edges.clear();
        self.sections.clear();
        self.directors.clear();
        self.triangles.clear();
        self.tetrahedra.clear();
    }
}
