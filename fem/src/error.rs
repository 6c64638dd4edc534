//! Errors of a finite-element body.

use pliant_hydroelastic::mesh::MeshError;

/// Why a material or a body could not be built.
///
/// ```
/// use std::sync::Arc;
/// # use nalgebra::Vector3;
/// # use pliant_constitutive::Lame;
/// use pliant_fem::{FemBuilder, FemError, Linear};
/// # use pliant_hydroelastic::mesh::generate::tet_cuboid;
///
/// # let mesh = tet_cuboid(Vector3::repeat(0.05), [1, 1, 1])?;
/// # let material = Arc::new(Linear::new(Lame::new(1e4, 1e4)?));
/// let error = FemBuilder::new(mesh, material, 0.0).build().unwrap_err();
/// assert!(matches!(error, FemError::Density(0.0)));
/// assert_eq!(error.to_string(), "density = 0 kg/m3 must be positive and finite; water has 1000");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FemError {
    /// A density that is not positive and finite.
    #[error("density = {0} kg/m3 must be positive and finite; water has 1000")]
    Density(f64),
    /// Any other parameter out of its range.
    #[error("{what} = {value} {allowed}")]
    Parameter {
        /// Its name and unit.
        what: String,
        /// Its value.
        value: f64,
        /// The allowed range.
        allowed: &'static str,
    },
    /// The mesh is unusable.
    #[error("{0}")]
    Mesh(#[from] MeshError),
    /// A vertex index out of range.
    #[error("{what} names vertex {vertex}; the mesh has {count}, counted from 0")]
    NoSuchVertex {
        /// Origin of the index.
        what: String,
        /// The vertex.
        vertex: u32,
        /// Number in the mesh.
        count: usize,
    },
    /// A region without vertices.
    #[error("{what} holds no vertex: the mesh lies between {min:?} and {max:?} m in its own frame")]
    EmptyRegion {
        /// The region and its purpose.
        what: String,
        /// Lower corner of the mesh.
        min: [f64; 3],
        /// Upper corner of the mesh.
        max: [f64; 3],
    },
    /// An element index out of range.
    #[error("{what} names tetrahedron {element}; the mesh has {count}, counted from 0")]
    NoSuchElement {
        /// Origin of the index.
        what: String,
        /// The element.
        element: u32,
        /// Number in the mesh.
        count: usize,
    },
    /// A quadratic element whose curved edges fold it.
    #[error(
        "quadratic element {element} (nodes {nodes:?}) is folded by its curved edges: det J = {determinant:.3} of a straight one at a point of quadrature, which must be positive; move the nodes of its edges towards the middles of the edges"
    )]
    FoldedElement {
        /// The element.
        element: u32,
        /// Its corners, then the nodes of its edges.
        nodes: [u32; 10],
        /// det J over its value without curved edges.
        determinant: f64,
    },
    /// A region without elements.
    #[error(
        "{what} holds no tetrahedron; a region has those whose centroid is in it, or of a list of vertices those whose corners are all named"
    )]
    NoElements {
        /// The region and its purpose.
        what: String,
    },
    /// Materials of one body of different linearity.
    #[error(
        "materials of one body must be of one kind, all linear within a step in the same way or all nonlinear: {first} and {other}; use one law for both, or two bodies joined by constraints"
    )]
    MixedLaws {
        /// The first material.
        first: String,
        /// The one that differs.
        other: String,
    },
    /// A vertex both fixed and anchored.
    #[error(
        "vertex {vertex} at {position:?} m is both fixed and anchored; fixed vertices need no anchor: take it out of one of the regions"
    )]
    FixedAndAnchored {
        /// The vertex.
        vertex: u32,
        /// Its position in the mesh's frame.
        position: [f64; 3],
    },
    /// All vertices are fixed.
    #[error("all {0} vertices are fixed: the body cannot move; make it a fixed shape")]
    NothingMoves(usize),
    /// Balls around vertices that overlap at rest.
    #[error(
        "contact_radius = {radius} m: vertices {a} and {b}, not neighbours, are {distance} m apart at rest, within two radii; choose less than {most} m"
    )]
    ContactRadius {
        /// The radius.
        radius: f64,
        /// One vertex.
        a: u32,
        /// The other.
        b: u32,
        /// Their distance at rest, m.
        distance: f64,
        /// The largest radius that is possible, m.
        most: f64,
    },
    /// An unknown name of a law or preset.
    #[error("there is no {kind} \"{name}\"; there are {known}")]
    UnknownName {
        /// Kind of the named item.
        kind: &'static str,
        /// The name.
        name: String,
        /// All names.
        known: String,
    },
}

impl FemError {
    pub(crate) fn require_positive(what: &str, value: f64) -> Result<(), Self> {
        if value > 0.0 && value.is_finite() {
            return Ok(());
        }
        Err(Self::Parameter {
            what: what.into(),
            value,
            allowed: "must be positive and finite",
        })
    }

    pub(crate) fn require_at_least_zero(what: &str, value: f64) -> Result<(), Self> {
        if value >= 0.0 && value.is_finite() {
            return Ok(());
        }
        Err(Self::Parameter {
            what: what.into(),
            value,
            allowed: "must be finite and not negative",
        })
    }
}
