//! Everything that can be wrong with a finite-element body, in one type.

use pliant_hydroelastic::mesh::MeshError;

/// Why a material or a body could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FemError {
    /// A density that no solid has.
    #[error("density = {0} kg/m3 must be positive and finite; water has 1000")]
    Density(f64),
    /// Any other parameter out of its range.
    #[error("{what} = {value} {allowed}")]
    Parameter {
        /// Its name and unit.
        what: String,
        /// Its value.
        value: f64,
        /// What would be right.
        allowed: &'static str,
    },
    /// The mesh is unusable.
    #[error("{0}")]
    Mesh(#[from] MeshError),
    /// A vertex that the mesh hasn't got.
    #[error("{what} names vertex {vertex}; the mesh has {count}, counted from 0")]
    NoSuchVertex {
        /// What names it.
        what: String,
        /// The vertex.
        vertex: u32,
        /// How many there are.
        count: usize,
    },
    /// A region in which there is nothing.
    #[error("{what} holds no vertex: the mesh lies between {min:?} and {max:?} m in its own frame")]
    EmptyRegion {
        /// The region and what it is for.
        what: String,
        /// Lower corner of the mesh.
        min: [f64; 3],
        /// Upper corner of the mesh.
        max: [f64; 3],
    },
    /// An element that the mesh hasn't got.
    #[error("{what} names tetrahedron {element}; the mesh has {count}, counted from 0")]
    NoSuchElement {
        /// What names it.
        what: String,
        /// The element.
        element: u32,
        /// How many there are.
        count: usize,
    },
    /// A region in which no element lies.
    #[error(
        "{what} holds no tetrahedron; a region has those whose centroid is in it, or of a list of vertices those whose corners are all named"
    )]
    NoElements {
        /// The region and what it is for.
        what: String,
    },
    /// Materials of one body that a step treats differently.
    #[error(
        "materials of one body must be of one kind, all linear within a step in the same way or all nonlinear: {first} and {other}; use one law for both, or two bodies tied together"
    )]
    MixedLaws {
        /// The first material.
        first: String,
        /// The one that differs.
        other: String,
    },
    /// A vertex that is to leave the solve and to be held by constraints.
    #[error(
        "vertex {vertex} at {place:?} m is both fixed and anchored; fixed vertices need no anchor: take it out of one of the regions"
    )]
    FixedAndAnchored {
        /// The vertex.
        vertex: u32,
        /// Where it is in the mesh's frame.
        place: [f64; 3],
    },
    /// Nothing is left to move.
    #[error("all {0} vertices are fixed: the body cannot move; make it a fixed shape")]
    NothingMoves(usize),
    /// Balls about vertices that would push at rest.
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
    /// A name of no law or preset.
    #[error("there is no {kind} \"{name}\"; there are {known}")]
    UnknownName {
        /// What it should name.
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
