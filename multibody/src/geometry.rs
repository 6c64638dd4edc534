//! Shapes of links as a model file describes them: what touches and what is seen.

use std::path::PathBuf;
use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_hydroelastic::mesh::TriMesh;

/// A shape in its own frame. Cylinders and capsules lie along z, centred.
#[derive(Clone, Debug, PartialEq)]
pub enum GeometryDescription {
    /// Full side lengths, m.
    Box {
        /// Along x, y, z.
        size: Vector3<f64>,
    },
    /// A ball; of radius 0 it is a point.
    Sphere {
        /// Radius, m, may be 0.
        radius: f64,
    },
    /// A cylinder along z.
    Cylinder {
        /// Radius, m.
        radius: f64,
        /// Length, m.
        length: f64,
    },
    /// A cylinder along z with half balls on both ends.
    Capsule {
        /// Radius, m.
        radius: f64,
        /// Length of the cylindrical part, m.
        length: f64,
    },
    /// An ellipsoid.
    Ellipsoid {
        /// Semi-axes along x, y, z, m.
        radii: Vector3<f64>,
    },
    /// A surface mesh from a file.
    Mesh {
        /// The file, resolved.
        path: PathBuf,
        /// Factor on the coordinates of the file, per axis.
        scale: Vector3<f64>,
        /// Use the whole surface or its convex hull.
        hull: MeshHull,
    },
}

/// Whether a mesh stands for itself or for its convex hull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshHull {
    /// The triangles as they are.
    AsWritten,
    /// The hull: the file declares the shape convex (`drake:declare_convex`), or the surface is not closed.
    Convex,
}

impl GeometryDescription {
    /// Radius in m of a ball about the shape's own origin that contains it; `None` for a mesh, which is not opened.
    pub fn bounding_radius(&self) -> Option<f64> {
        match self {
            Self::Box { size } => Some(0.5 * size.norm()),
            Self::Sphere { radius } => Some(*radius),
            Self::Cylinder { radius, length } => Some(radius.hypot(0.5 * length)),
            Self::Capsule { radius, length } => Some(radius + 0.5 * length),
            Self::Ellipsoid { radii } => Some(radii.max()),
            Self::Mesh { .. } => None,
        }
    }
}

/// How a contact surface of a link behaves, each property only where the file gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProximityProperties {
    /// Coulomb friction while sliding, dimensionless.
    pub mu_dynamic: Option<f64>,
    /// Coulomb friction while sticking, dimensionless.
    pub mu_static: Option<f64>,
    /// Hunt-Crossley dissipation d, s/m.
    pub hunt_crossley_dissipation: Option<f64>,
    /// Linear dissipation as a relaxation time τ, s.
    pub relaxation_time: Option<f64>,
    /// Stiffness of point contact, N/m.
    pub point_contact_stiffness: Option<f64>,
    /// Hydroelastic modulus, Pa.
    pub hydroelastic_modulus: Option<f64>,
    /// Rigid or compliant as a hydroelastic body.
    pub hydroelastic_compliance: Option<HydroelasticCompliance>,
    /// Edge length wanted for the meshes of primitives, m.
    pub mesh_resolution_hint: Option<f64>,
    /// Thickness of the compliant layer of a half space, m.
    pub slab_thickness: Option<f64>,
    /// Thickness of the layer about the shape in which hydroelastic contact is sought ahead of touching, m.
    pub hydroelastic_margin: Option<f64>,
}

/// The part a shape plays in hydroelastic contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HydroelasticCompliance {
    /// Infinitely stiff; no pressure field of its own.
    Rigid,
    /// Carries a pressure field.
    Compliant,
}

/// A collision shape of a link.
#[derive(Clone, Debug)]
pub struct Collision {
    /// Name in the file, or `LINK_collision_N`.
    pub name: String,
    /// Pose of the shape in the link frame.
    pub X_LG: Isometry3<f64>,
    /// The shape.
    pub geometry: GeometryDescription,
    /// The surface of a mesh, read and scaled; none for other shapes.
    pub surface: Option<Arc<TriMesh>>,
    /// Contact properties the file gives.
    pub proximity: ProximityProperties,
}

/// A visual shape of a link; physics doesn't read it.
#[derive(Clone, Debug, PartialEq)]
pub struct Visual {
    /// Name in the file, or `LINK_visual_N`.
    pub name: String,
    /// Pose of the shape in the link frame.
    pub X_LG: Isometry3<f64>,
    /// The shape.
    pub geometry: GeometryDescription,
    /// Colour, red green blue and opacity in 0..1.
    pub rgba: Option<[f64; 4]>,
}

/// Links that share a rule about which contacts not to compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollisionFilterGroup {
    /// Name of the group.
    pub name: String,
    /// Names of the links in it.
    pub members: Vec<String>,
    /// Names of the groups its members don't touch; its own name switches off contact within the group.
    pub ignored_groups: Vec<String>,
}
