//! Collision and visual shapes of links, as model files describe them.

use std::path::PathBuf;
use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_hydroelastic::AnalyticShape;
use pliant_hydroelastic::mesh::TriMesh;

/// The shape of a collision or visual element, in its own frame.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::AnalyticShape;
/// use pliant_multibody::GeometryDescription;
///
/// let block = GeometryDescription::Analytic(AnalyticShape::Box { size: Vector3::new(2.0, 2.0, 1.0) });
/// assert_eq!(block.bounding_radius(), Some(1.5)); // half the diagonal
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum GeometryDescription {
    /// A shape given by its sizes.
    Analytic(AnalyticShape),
    /// A surface mesh from a file.
    Mesh {
        /// The file, resolved.
        path: PathBuf,
        /// Factor on the coordinates of the file, per axis.
        scale: Vector3<f64>,
        /// Whether to use the surface or its convex hull.
        hull: MeshHull,
    },
}

/// Whether a mesh is used as it is, or its convex hull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshHull {
    /// The triangles of the file.
    AsWritten,
    /// The convex hull: the file declares the shape convex (`drake:declare_convex`), or the surface is not closed.
    Convex,
}

impl GeometryDescription {
    /// Radius of a sphere about the shape's origin that contains it, m; `None` for a mesh, whose file is not read.
    pub fn bounding_radius(&self) -> Option<f64> {
        match self {
            Self::Analytic(shape) => Some(shape.radius_about_origin()),
            Self::Mesh { .. } => None,
        }
    }
}

/// Contact properties of a collision shape; `None` where the file does not specify a property.
///
/// ```
/// use std::path::Path;
/// use pliant_multibody::{RobotOptions, parse_robot};
///
/// let urdf = br#"<robot name="ball" xmlns:drake="http://drake.mit.edu"><link name="ball"><collision>
///     <geometry><sphere radius="0.1"/></geometry>
///     <drake:proximity_properties><drake:mu_dynamic value="0.8"/></drake:proximity_properties>
/// </collision></link></robot>"#;
/// let ball = parse_robot(urdf, Path::new("ball.urdf"), &RobotOptions::default())?.model;
/// let proximity = ball.links()[0].collisions[0].proximity;
/// assert_eq!((proximity.mu_dynamic, proximity.mu_static), (Some(0.8), None));
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProximityProperties {
    /// Dynamic Coulomb friction coefficient.
    pub mu_dynamic: Option<f64>,
    /// Static Coulomb friction coefficient.
    pub mu_static: Option<f64>,
    /// Hunt-Crossley dissipation d, s/m.
    pub hunt_crossley_dissipation: Option<f64>,
    /// Relaxation time τ of linear dissipation, s.
    pub relaxation_time: Option<f64>,
    /// Stiffness of point contact, N/m.
    pub point_contact_stiffness: Option<f64>,
    /// Hydroelastic modulus, Pa.
    pub hydroelastic_modulus: Option<f64>,
    /// Whether the shape is rigid or compliant in hydroelastic contact.
    pub hydroelastic_compliance: Option<HydroelasticCompliance>,
    /// Target edge length for meshes of primitives, m.
    pub mesh_resolution_hint: Option<f64>,
    /// Thickness of the compliant layer of a half space, m.
    pub slab_thickness: Option<f64>,
    /// Thickness of the layer around the shape in which speculative hydroelastic contact is computed, m.
    pub hydroelastic_margin: Option<f64>,
}

impl ProximityProperties {
    /// The number that Drake's extensions of URDF and SDFormat call `name`, without its prefix.
    pub(crate) fn number_named(&mut self, name: &str) -> Option<&mut Option<f64>> {
        Some(match name {
            "mu_dynamic" => &mut self.mu_dynamic,
            "mu_static" => &mut self.mu_static,
            "hunt_crossley_dissipation" => &mut self.hunt_crossley_dissipation,
            "relaxation_time" => &mut self.relaxation_time,
            "point_contact_stiffness" => &mut self.point_contact_stiffness,
            "hydroelastic_modulus" => &mut self.hydroelastic_modulus,
            "mesh_resolution_hint" => &mut self.mesh_resolution_hint,
            "halfspace_slab_thickness" | "slab_thickness" => &mut self.slab_thickness,
            "hydroelastic_margin" => &mut self.hydroelastic_margin,
            _ => return None,
        })
    }
}

/// Compliance of a shape in hydroelastic contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HydroelasticCompliance {
    /// Rigid: no pressure field.
    Rigid,
    /// Compliant: has a pressure field.
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
    /// The surface of a mesh, scaled; `None` for other shapes.
    pub surface: Option<Arc<TriMesh>>,
    /// Contact properties.
    pub proximity: ProximityProperties,
}

/// A visual shape of a link; not used in physics.
#[derive(Clone, Debug, PartialEq)]
pub struct Visual {
    /// Name in the file, or `LINK_visual_N`.
    pub name: String,
    /// Pose of the shape in the link frame.
    pub X_LG: Isometry3<f64>,
    /// The shape.
    pub geometry: GeometryDescription,
    /// Colour: red, green, blue and opacity in [0, 1].
    pub rgba: Option<[f64; 4]>,
}

/// A collision filter group: links whose contacts with other groups are excluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollisionFilterGroup {
    /// Name of the group.
    pub name: String,
    /// Names of the links in it.
    pub members: Vec<String>,
    /// Names of the groups with which contact is excluded; the group's own name excludes contact within it.
    pub ignored_groups: Vec<String>,
}
