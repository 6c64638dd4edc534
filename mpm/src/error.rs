//! Errors of a model of material points.

use pliant_contact_sap::BodyError;
use pliant_hydroelastic::GeometryError;

/// An invalid model, material or state.
///
/// ```
/// use pliant_mpm::{Liquid, MpmError};
///
/// let error = Liquid::new(-1.0, 7.0).unwrap_err();
/// assert!(matches!(error, MpmError::Parameter { parameter: "bulk_modulus", .. }));
/// assert!(error.to_string().starts_with("liquid: bulk_modulus = -1 "));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MpmError {
    /// A parameter is out of its range.
    #[error("{what}: {parameter} = {value} {allowed}")]
    Parameter {
        /// The material, object or setting.
        what: String,
        /// Its parameter.
        parameter: &'static str,
        /// The value given.
        value: f64,
        /// The allowed range.
        allowed: &'static str,
    },
    /// The cell indices of a particle exceed the range of integers.
    #[error(
        "particle {particle} is at ({}, {}, {}) m, outside the range of a grid of spacing {spacing} m", .position[0], .position[1], .position[2]
    )]
    OffTheGrid {
        /// Index of the particle.
        particle: usize,
        /// Its position, m.
        position: [f64; 3],
        /// m.
        spacing: f64,
    },
    /// A shape or mesh that cannot be filled with particles.
    #[error("{object}: {source}")]
    Geometry {
        /// The object.
        object: String,
        /// The error of its shape.
        source: GeometryError,
    },
    /// A shape would hold more particles than memory does.
    #[error(
        "{object}: its shape of {} x {} x {} m would hold {count:.1e} particles {spacing_m} m apart, at most 2e7 are made; lengths are in m: check the shape's size and scale, or take a coarser grid",
        size_m[0], size_m[1], size_m[2]
    )]
    TooMany {
        /// The object.
        object: String,
        /// Size of the box around the shape, m.
        size_m: [f64; 3],
        /// Distance of neighbouring particles, m.
        spacing_m: f64,
        /// Particles in it.
        count: f64,
    },
    /// The spacing is too coarse for the shape.
    #[error(
        "{object}: its shape has a volume of {volume_m3:e} m3, particles {spacing_m} m apart fill {filled_m3:e} m3 of it \
         ({count} particles); refine the grid or use more particles per cell"
    )]
    Unresolved {
        /// The object.
        object: String,
        /// Volume of the shape, m³.
        volume_m3: f64,
        /// Distance of neighbouring particles, m.
        spacing_m: f64,
        /// Volume that the particles represent, m³.
        filled_m3: f64,
        /// Particles found inside.
        count: usize,
    },
    /// A triangle mesh that is no surface: a vertex number out of range, a coordinate that is not finite, a triangle without
    /// area, an edge of more than two triangles.
    #[error("{object}: {problem}")]
    Mesh {
        /// The object.
        object: String,
        /// Location, problem and remedy, from [`MeshError`](pliant_hydroelastic::mesh::MeshError).
        problem: String,
    },
    /// A vertex of a cloth without a triangle has no mass.
    #[error(
        "{object}: vertex {vertex} belongs to no triangle; remove it, or add the missing triangle"
    )]
    UnusedVertex {
        /// The object.
        object: String,
        /// Counted from 0.
        vertex: usize,
    },
    /// Two vertices of a cloth that the grid cannot separate.
    #[error(
        "{object}: vertices {} and {} are both at ({}, {}, {}) m; weld them, or move them apart",
        .vertices[0], .vertices[1], .position[0], .position[1], .position[2]
    )]
    CoincidentVertices {
        /// The object.
        object: String,
        /// Counted from 0.
        vertices: [usize; 2],
        /// m.
        position: [f64; 3],
    },
    /// An edge of a cloth is longer than the grid spacing: layers would pass through.
    #[error(
        "{object}: the edge from vertex {} to {} is {length_m} m long and the grid spacing {spacing_m} m; an edge must not be \
         longer than the spacing: use a spacing of {advised_spacing_m} m, or divide the triangles",
        .vertices[0], .vertices[1]
    )]
    LongEdge {
        /// The object.
        object: String,
        /// Its ends, counted from 0; the longest edge of the mesh.
        vertices: [u32; 2],
        /// m.
        length_m: f64,
        /// m.
        spacing_m: f64,
        /// A spacing that would do: 1/0.7 of the edge, m.
        advised_spacing_m: f64,
    },
    /// A model without particles and sources.
    #[error("{0}")]
    Empty(String),
}

impl From<MpmError> for BodyError {
    fn from(error: MpmError) -> Self {
        Self::Model(error.to_string())
    }
}

/// Rejects parameters that are not positive and finite.
pub(crate) fn positive(what: &str, parameter: &'static str, value: f64) -> Result<f64, MpmError> {
    within(
        what,
        parameter,
        value,
        value > 0.0 && value.is_finite(),
        "must be positive and finite",
    )
}

/// Rejects parameters that are negative or not finite.
pub(crate) fn not_negative(
    what: &str,
    parameter: &'static str,
    value: f64,
) -> Result<f64, MpmError> {
    within(
        what,
        parameter,
        value,
        value >= 0.0 && value.is_finite(),
        "must be zero or positive and finite",
    )
}

/// Rejects parameters unless `fits`.
pub(crate) fn within(
    what: &str,
    parameter: &'static str,
    value: f64,
    fits: bool,
    allowed: &'static str,
) -> Result<f64, MpmError> {
    if fits {
        Ok(value)
    } else {
        Err(MpmError::Parameter {
            what: what.into(),
            parameter,
            value,
            allowed,
        })
    }
}
