//! Errors of shapes, poses, materials and pressure fields.

/// Why a geometric object was refused.
///
/// ```
/// use pliant_hydroelastic::{GeometryError, Shape};
///
/// let error = Shape::sphere(-0.1).unwrap_err();
/// assert!(matches!(error, GeometryError::Size { parameter: "radius", .. }));
/// assert_eq!(error.to_string(), "sphere: radius = -0.1 m must be finite and positive");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GeometryError {
    /// A size of a shape is not a finite positive number.
    #[error("{shape}: {parameter} = {value} m must be finite and positive")]
    Size {
        /// Name of the shape, such as `sphere`.
        shape: &'static str,
        /// Name of the size, such as `radius`.
        parameter: &'static str,
        /// The rejected value, m.
        value: f64,
    },
    /// A coordinate of a vertex is infinite or not a number.
    #[error("{shape}: vertex {vertex} = ({x}, {y}, {z}) must be finite", x = .coordinates[0], y = .coordinates[1], z = .coordinates[2])]
    Vertex {
        /// Name of the shape.
        shape: &'static str,
        /// Index of the vertex in the given list.
        vertex: usize,
        /// Its coordinates, m.
        coordinates: [f64; 3],
    },
    /// The points of a convex hull span no volume.
    #[error(
        "convex hull of {points} points: the points span no volume (thickness {thickness} m over a size of {size} m); \
         give at least four points that do not lie in one plane"
    )]
    FlatHull {
        /// Number of points.
        points: usize,
        /// Smallest extent found, m.
        thickness: f64,
        /// Largest extent, m.
        size: f64,
    },
    /// A triangle refers to a vertex that does not exist.
    #[error(
        "mesh: triangle {triangle} uses vertex {vertex}, but there are only {vertices} vertices (counted from 0)"
    )]
    VertexIndex {
        /// Index of the triangle.
        triangle: usize,
        /// The missing vertex.
        vertex: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// Attachments cannot slide over a triangle.
    #[error("surface: triangle {triangle} {what}; repair the mesh")]
    SurfaceWalk {
        /// Index of the triangle.
        triangle: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// The surface has a hole, a seam or triangles of opposite orientation: inside and outside are undefined.
    #[error(
        "mesh: the edge between vertices {from} and {to} (triangle {triangle}) is used {forward} times forward and \
         {backward} times backward; a closed surface with outward normals has each exactly once. Merge duplicate \
         vertices, close the hole, or use the convex hull"
    )]
    OpenMesh {
        /// Start of the edge.
        from: u32,
        /// End of the edge.
        to: u32,
        /// A triangle at that edge.
        triangle: usize,
        /// Number of triangles that run from `from` to `to`.
        forward: usize,
        /// Number of triangles that run from `to` to `from`.
        backward: usize,
    },
    /// A closed surface with inward orientation (or without volume).
    #[error(
        "mesh: enclosed volume is {volume} m3 and must be positive; reverse the winding of the triangles"
    )]
    Volume {
        /// Signed volume, m³.
        volume: f64,
    },
    /// A segment of a filament without two distinct vertices.
    #[error(
        "filament: segment {segment} joins vertices {a} and {b}; it needs two distinct ones of the {points} vertices \
         (counted from 0)", a = .vertices[0], b = .vertices[1]
    )]
    FilamentSegment {
        /// Index of the segment.
        segment: usize,
        /// The vertices it refers to.
        vertices: [u32; 2],
        /// Number of vertices.
        points: usize,
    },
    /// Mass properties of a shape without a finite volume.
    #[error("{shape}: has no finite volume and therefore no mass; use it for fixed geometry only")]
    Unbounded {
        /// Name of the shape.
        shape: &'static str,
    },
    /// A signed distance that cannot be sampled.
    #[error("sampled shape: {what}, not {value}")]
    Samples {
        /// What is needed.
        what: &'static str,
        /// The rejected value.
        value: f64,
    },
    /// A density is not a finite positive number.
    #[error("density = {value} kg/m3 must be finite and positive")]
    Density {
        /// The rejected value, kg/m³.
        value: f64,
    },
    /// A parameter of a contact material lies outside its range.
    #[error("contact material: {parameter} = {value} {allowed}")]
    Material {
        /// Name of the parameter, with its unit.
        parameter: &'static str,
        /// The rejected value.
        value: f64,
        /// The allowed range.
        allowed: &'static str,
    },
    /// A shape from which no pressure field or surface can be made.
    #[error("{shape}: cannot take part in patch contact as a bounded body; use point contact")]
    NoField {
        /// Name of the shape.
        shape: &'static str,
    },
    /// A mesh that cannot be filled with tetrahedra, or whose boundary is not a manifold surface.
    #[error("pressure field: {reason}")]
    Meshing {
        /// What is wrong with the mesh, where, and how to fix it.
        reason: String,
    },
    /// A pressure is not finite.
    #[error("pressure field: pressure of vertex {vertex} is {value} Pa; it must be finite")]
    FieldValue {
        /// Index of the vertex.
        vertex: usize,
        /// The rejected value, Pa.
        value: f64,
    },
    /// A field without a positive pressure exerts no force.
    #[error(
        "pressure field: none of the {vertices} pressures is positive; give interior vertices a positive pressure"
    )]
    FlatField {
        /// Number of vertices.
        vertices: usize,
    },
    /// Patch contact was requested for a pair that has none.
    #[error("patch contact of {a} with {b}: {why}, or choose point contact for this pair")]
    NoPatch {
        /// One side.
        a: String,
        /// The other side.
        b: String,
        /// The reason and the remedy.
        why: &'static str,
    },
    /// A pose or a twist is infinite or not a number.
    #[error(
        "{quantity} of geometry {side} is not finite: {value}; the previous step has probably diverged"
    )]
    NotFinite {
        /// `pose`, `twist`, `point`, `radius` or `velocity`.
        quantity: &'static str,
        /// `a` or `b`.
        side: char,
        /// The value that is not finite (or a sum that contains it).
        value: f64,
    },
    /// An array has the wrong length.
    #[error("{geometry}: {found} {what} were given, but {expected} are required")]
    ArrayLength {
        /// `pressure field`, `deforming surface`, `soft body` or `filament`.
        geometry: &'static str,
        /// Name of the array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The required length, such as one entry per point or per segment.
        expected: usize,
    },
    /// A flat tip on a segment that is too short for its pressure field.
    #[error(
        "filament: segment {segment} has a flat tip and a length of {length} m; its pressure field needs at least {least} m: use longer segments or a round tip"
    )]
    ShortTip {
        /// Index of the segment.
        segment: usize,
        /// Its length at rest, m.
        length: f64,
        /// Smallest allowed length, m: half the thickness of its section for each of its flat tips.
        least: f64,
    },
    /// A time step or acceleration of a query is invalid.
    #[error("contact query: {parameter} = {value} must be finite and not negative")]
    Query {
        /// Name of the parameter.
        parameter: &'static str,
        /// The rejected value.
        value: f64,
    },
    /// More named collision groups than the limit.
    #[error("collision group \"{name}\" would be number {count}; there can be at most {allowed}")]
    TooManyGroups {
        /// The rejected group.
        name: String,
        /// Its number.
        count: usize,
        /// The largest allowed number.
        allowed: usize,
    },
    /// A geometry or a body that is not in the filter.
    #[error("collision filter: {what} {index} does not exist; there are {count} (counted from 0)")]
    UnknownIndex {
        /// `geometry` or `body`.
        what: &'static str,
        /// The unknown index.
        index: usize,
        /// The actual number.
        count: usize,
    },
    /// A soft body was moved, but data that contact needs was not updated.
    #[error(
        "the soft body was moved; call SoftMesh::{what}, or SoftMesh::update, before the contact query"
    )]
    Outdated {
        /// The missing call.
        what: &'static str,
    },
}
