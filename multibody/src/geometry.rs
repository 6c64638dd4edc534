//! Collision and visual shapes of links, as model files describe them.

use std::path::PathBuf;
use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_hydroelastic::mesh::TriMesh;
use pliant_hydroelastic::{AnalyticShape, ConvexHull, GeometryError, Shape};

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
    /// A height field of an MJCF file, whose surface is in the collision shape.
    HeightField {
        /// Its name in the file.
        name: String,
    },
}

/// Whether a mesh is used as it is, or its convex hull.
///
/// ```
/// use std::path::Path;
/// use pliant_multibody::{GeometryDescription, MeshHull, RobotOptions, parse_robot};
///
/// // A tetrahedron as a mesh file, once as it is and once declared convex.
/// # let folder = std::env::temp_dir().join(format!("mesh-hull-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
/// std::fs::write(folder.join("corner.obj"), obj)?;
/// let hull_of = |declared: &str| {
///     let urdf = format!(
///         r#"<robot name="r" xmlns:drake="http://drake.mit.edu"><link name="part"><collision><geometry>
///         <mesh filename="corner.obj">{declared}</mesh></geometry></collision></link></robot>"#
///     );
///     let loaded = parse_robot(urdf.as_bytes(), &folder.join("r.urdf"), &RobotOptions::default());
///     loaded.map(|loaded| match &loaded.model.links()[0].collisions[0].geometry {
///         GeometryDescription::Mesh { hull, .. } => Some(*hull),
///         _ => None,
///     })
/// };
/// assert_eq!(hull_of("")?, Some(MeshHull::AsWritten));
/// assert_eq!(hull_of("<drake:declare_convex/>")?, Some(MeshHull::Convex));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshHull {
    /// The triangles of the file.
    AsWritten,
    /// The convex hull: the file declares the shape convex (`drake:declare_convex`), or the surface bounds no solid.
    Convex,
}

impl GeometryDescription {
    /// Radius of a sphere about the shape's origin that contains it, m; `None` for meshes and height fields, whose points are not known here.
    pub fn bounding_radius(&self) -> Option<f64> {
        match self {
            Self::Analytic(shape) => Some(shape.radius_about_origin()),
            Self::Mesh { .. } | Self::HeightField { .. } => None,
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
    /// Largest torque about the normal of a contact per normal force, m.
    pub torsional_friction: Option<f64>,
    /// Largest torque against rolling per normal force, m.
    pub rolling_friction: Option<f64>,
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
///
/// ```
/// use std::path::Path;
/// use pliant_multibody::{HydroelasticCompliance, RobotOptions, parse_robot};
///
/// let urdf = br#"<robot name="pad" xmlns:drake="http://drake.mit.edu"><link name="pad"><collision>
///     <geometry><box size="0.1 0.1 0.02"/></geometry>
///     <drake:proximity_properties><drake:compliant_hydroelastic/>
///       <drake:hydroelastic_modulus value="1e6"/></drake:proximity_properties>
/// </collision></link></robot>"#;
/// let pad = parse_robot(urdf, Path::new("pad.urdf"), &RobotOptions::default())?.model;
/// let proximity = pad.links()[0].collisions[0].proximity;
/// assert_eq!(proximity.hydroelastic_compliance, Some(HydroelasticCompliance::Compliant));
/// assert_eq!(proximity.hydroelastic_modulus, Some(1e6));
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HydroelasticCompliance {
    /// Rigid: no pressure field.
    Rigid,
    /// Compliant: has a pressure field.
    Compliant,
}

/// A collision shape of a link.
///
/// ```
/// use std::path::Path;
/// use nalgebra::Vector3;
/// use pliant_multibody::{RobotOptions, parse_robot};
///
/// // A foot of two balls, 0.1 m in front of and behind its link's origin. The second has a name.
/// let urdf = br#"<robot name="r"><link name="foot">
///   <collision><origin xyz="0.1 0 0"/><geometry><sphere radius="0.02"/></geometry></collision>
///   <collision name="heel"><origin xyz="-0.1 0 0"/><geometry><sphere radius="0.03"/></geometry></collision>
/// </link></robot>"#;
/// let model = parse_robot(urdf, Path::new("r.urdf"), &RobotOptions::default())?.model;
/// let [toe, heel] = &model.links()[0].collisions[..] else { panic!("two shapes") };
/// assert_eq!((toe.name.as_str(), heel.name.as_str()), ("foot_collision_0", "heel"));
/// assert_eq!(toe.X_LG.translation.vector, Vector3::new(0.1, 0.0, 0.0));
/// assert_eq!((heel.geometry.bounding_radius(), heel.mesh.is_none()), (Some(0.03), true));
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Collision {
    /// Name in the file, or `LINK_collision_N`.
    pub name: String,
    /// Pose of the shape in the link frame.
    pub X_LG: Isometry3<f64>,
    /// The shape.
    pub geometry: GeometryDescription,
    /// The solid of a mesh, scaled; `None` for other shapes.
    pub mesh: Option<CollisionMesh>,
    /// Contact properties.
    pub proximity: ProximityProperties,
}

/// The solid that a mesh stands for in contact.
///
/// ```
/// use std::path::Path;
/// use pliant_multibody::{CollisionMesh, RobotOptions, parse_robot};
///
/// # let folder = std::env::temp_dir().join(format!("collision-mesh-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// // A corner of a cube without its last triangle: only its hull is a solid.
/// std::fs::write(folder.join("corner.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n")?;
/// let urdf = br#"<robot name="r"><link name="part"><collision><geometry>
///   <mesh filename="corner.obj"/></geometry></collision></link></robot>"#;
/// let part = parse_robot(urdf, &folder.join("r.urdf"), &RobotOptions::default())?.model;
/// let mesh = part.links()[0].collisions[0].mesh.as_ref().expect("it is a mesh");
/// assert!(matches!(mesh, CollisionMesh::Hull(hull) if hull.faces().len() == 4));
/// assert!((mesh.shape()?.mass_properties(6.0)?.mass - 1.0).abs() < 1e-12);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum CollisionMesh {
    /// The inside of the closed surface of the file.
    Surface(Arc<TriMesh>),
    /// The convex hull of the points of the file, whatever its triangles are.
    Hull(Arc<ConvexHull>),
}

impl CollisionMesh {
    /// The shape in contact.
    ///
    /// # Errors
    /// As [`Shape::mesh`].
    pub fn shape(&self) -> Result<Shape, GeometryError> {
        match self {
            Self::Hull(hull) => Ok(Shape::ConvexHull(hull.clone())),
            Self::Surface(surface) => {
                let triangles: Vec<[u32; 3]> = surface.raw_triangles().collect();
                Shape::mesh(&self.vertices(), &triangles)
            }
        }
    }

    /// Its corners, m.
    #[must_use]
    pub fn vertices(&self) -> Vec<Point3<f64>> {
        match self {
            Self::Hull(hull) => hull.vertices().to_vec(),
            Self::Surface(surface) => {
                let vertices = surface.vertices().iter();
                vertices.map(|v| Point3::from(*v)).collect()
            }
        }
    }
}

/// A visual shape of a link; not used in physics.
///
/// ```
/// use std::path::Path;
/// use pliant_hydroelastic::AnalyticShape;
/// use pliant_multibody::{GeometryDescription, RobotOptions, parse_robot};
///
/// // A material is defined once and used by name.
/// let urdf = br#"<robot name="r"><material name="blue"><color rgba="0 0 1 0.5"/></material><link name="lamp">
///   <visual><geometry><sphere radius="0.1"/></geometry><material name="blue"/></visual>
/// </link></robot>"#;
/// let model = parse_robot(urdf, Path::new("r.urdf"), &RobotOptions::default())?.model;
/// let lamp = &model.links()[0];
/// assert_eq!(lamp.visuals[0].geometry, GeometryDescription::Analytic(AnalyticShape::Sphere { radius: 0.1 }));
/// assert_eq!(lamp.visuals[0].rgba, Some([0.0, 0.0, 1.0, 0.5]));
/// assert!(lamp.collisions.is_empty(), "nothing touches it");
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
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
///
/// ```
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// use pliant_multibody::{CollisionFilterGroup, LinkIdx};
///
/// // Two fingers on a palm that make no contact with each other.
/// # let mut builder = ModelBuilder::new("gripper");
/// # for name in ["palm", "left", "right"] {
/// #     builder.link(LinkSpec::new(name, SpatialInertia::solid_sphere(1.0, 0.1)));
/// # }
/// # builder.joint(JointSpec::new("left slide", JointKind::Prismatic, "palm", "left"));
/// # builder.joint(JointSpec::new("right slide", JointKind::Prismatic, "palm", "right"));
/// builder.collision_filter_group(CollisionFilterGroup {
///     name: "fingers".to_owned(),
///     members: vec!["left".to_owned(), "right".to_owned()],
///     ignored_groups: vec!["fingers".to_owned()],
/// });
/// let gripper = builder.build()?;
/// assert_eq!(gripper.filtered_links(), [(LinkIdx(1), LinkIdx(2))]);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollisionFilterGroup {
    /// Name of the group.
    pub name: String,
    /// Names of the links in it.
    pub members: Vec<String>,
    /// Names of the groups with which contact is excluded; the group's own name excludes contact within it.
    pub ignored_groups: Vec<String>,
}
