//! Patch geometry of a shape: a pressure field, a rigid surface, or a half space.

mod rigid_surface;
mod side;
mod slab;

pub use rigid_surface::RigidSurface;
pub(crate) use side::Side;
pub use slab::Slab;

use crate::field::{Compliance, PressureField};
use crate::{Aabb, GeometryError, Shape};

/// The representation of a shape in patch contact, in the shape's own frame.
///
/// Compliant bodies are represented by a [`PressureField`], which may deform, as may filaments [with a
/// field](crate::Filament::with_field), which also have patches with themselves. Every bounded shape but
/// elliptic cylinders and user-defined ones has a rigid surface. [`has_patch_with`](Self::has_patch_with) decides which pairs have a patch; the table is in
/// `docs/reference/patches.md` of the repository. [`check_pair`](Self::check_pair) refuses other pairs before a simulation begins.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::{Compliance, PatchGeometry, Shape};
///
/// let cube = Shape::cuboid(Vector3::repeat(0.1))?;
/// let rubber = PatchGeometry::compliant(&cube, &Compliance::default())?;
/// let steel = PatchGeometry::rigid(&cube, 0.02)?;
/// // One side must be compliant.
/// assert!(rubber.has_patch_with(&steel) && rubber.has_patch_with(&rubber));
/// assert!(!steel.has_patch_with(&steel));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "few values exist, and their vertices are on the heap"
)]
pub enum PatchGeometry {
    /// A compliant body.
    Compliant(PressureField),
    /// A compliant half space.
    CompliantHalfSpace(Slab),
    /// The surface of a rigid body.
    Rigid(RigidSurface),
    /// A rigid half space.
    RigidHalfSpace,
}

impl PatchGeometry {
    /// A compliant shape.
    ///
    /// # Errors
    /// Those of [`PressureField::of_shape`], or of [`Slab::new`] for a half space.
    pub fn compliant(shape: &Shape, compliance: &Compliance) -> Result<Self, GeometryError> {
        Ok(match shape {
            Shape::HalfSpace => Self::CompliantHalfSpace(Slab::new(compliance)?),
            _ => Self::Compliant(PressureField::of_shape(shape, compliance)?),
        })
    }

    /// A rigid shape whose curved sides are resolved with edges of about `edge_length` (m).
    ///
    /// # Errors
    /// Those of [`RigidSurface::of_shape`].
    pub fn rigid(shape: &Shape, edge_length: f64) -> Result<Self, GeometryError> {
        Ok(match shape {
            Shape::HalfSpace => Self::RigidHalfSpace,
            _ => Self::Rigid(RigidSurface::of_shape(shape, edge_length)?),
        })
    }

    /// Name in messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Compliant(_) => "compliant body",
            Self::CompliantHalfSpace(_) => "compliant half space",
            Self::Rigid(_) => "rigid surface",
            Self::RigidHalfSpace => "rigid half space",
        }
    }

    /// Whether the two form a patch.
    #[must_use]
    pub fn has_patch_with(&self, other: &Self) -> bool {
        self.side().has_patch_with(&other.side())
    }

    pub(crate) fn side(&self) -> Side<'_> {
        match self {
            Self::Compliant(field) => Side::Field(field),
            Self::CompliantHalfSpace(slab) => Side::Slab(slab),
            Self::Rigid(surface) => Side::Surface(surface),
            Self::RigidHalfSpace => Side::Plane,
        }
    }

    /// Checks when a world is built that a pair can have a patch. Each side: its name and its patch geometry (`None`
    /// for point contact only).
    ///
    /// # Errors
    /// [`GeometryError::NoPatch`] with both names.
    pub fn check_pair(
        (name_A, a): (&str, Option<&Self>),
        (name_B, b): (&str, Option<&Self>),
    ) -> Result<(), GeometryError> {
        if let (Some(a), Some(b)) = (a, b)
            && a.has_patch_with(b)
        {
            return Ok(());
        }
        let describe = |name: &str, side: Option<&Self>| {
            format!(
                "\"{name}\" ({})",
                side.map_or("point contact only", Self::name)
            )
        };
        Err(GeometryError::NoPatch {
            a: describe(name_A, a),
            b: describe(name_B, b),
            why: match (a, b) {
                (
                    Some(Self::CompliantHalfSpace(_) | Self::RigidHalfSpace),
                    Some(Self::CompliantHalfSpace(_) | Self::RigidHalfSpace),
                ) => "two half spaces have no bounded patch",
                (Some(_), Some(_)) => {
                    "no pressure is defined between two rigid surfaces; make one compliant"
                }
                _ => {
                    "both sides need hydroelastic properties: make one compliant and the other compliant or rigid"
                }
            },
        })
    }

    /// The highest pressure of a compliant body, Pa, above which its contact force does not grow; `None` for all
    /// others.
    #[must_use]
    pub fn pressure_max(&self) -> Option<f64> {
        match self {
            Self::Compliant(field) => Some(field.pressure_max()),
            _ => None,
        }
    }

    /// A bounding box; [`Aabb::ALL`] for half spaces.
    #[must_use]
    pub fn local_aabb(&self) -> Aabb {
        match self {
            Self::Compliant(field) => field.local_aabb(),
            Self::Rigid(surface) => {
                let root = surface.tree().root();
                Aabb {
                    min: root.min.into(),
                    max: root.max.into(),
                }
            }
            Self::CompliantHalfSpace(_) | Self::RigidHalfSpace => Aabb::ALL,
        }
    }
}
