//! Robot files of any supported format, told apart by their outermost element.

use std::path::Path;

use nalgebra::Isometry3;
use pliant_hydroelastic::mesh::LoadReport;

use crate::error::MultibodyError;
use crate::model::{GravityAction, Model, Root};
use crate::package_map::PackageMap;
use crate::{file_budget, markup, mjcf, sdf, urdf};

/// Options of reading a robot file: what the file does not specify.
///
/// ```
/// use std::path::Path;
/// use pliant_multibody::{RobotOptions, Root, parse_robot};
///
/// let urdf = b"<robot name='box'><link name='box'><inertial><mass value='1'/>\
///     <inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link></robot>";
/// let options = RobotOptions { root: Root::Floating, ..RobotOptions::default() };
/// assert_eq!(parse_robot(urdf, Path::new("box.urdf"), &options)?.model.n_v(), 6);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RobotOptions {
    /// How the root link is attached to the world. The root link of an MJCF file is the file's world.
    pub root: Root,
    /// Whether gravity acts on the robot.
    pub gravity: GravityAction,
    /// Folders for `package://` and relative mesh names.
    pub packages: PackageMap,
}

impl Default for RobotOptions {
    /// Root welded to the world origin, gravity enabled, no packages.
    fn default() -> Self {
        Self {
            root: Root::Fixed(Isometry3::identity()),
            gravity: GravityAction::Enabled,
            packages: PackageMap::default(),
        }
    }
}

/// A model, and a report on its file.
///
/// ```
/// use std::path::Path;
/// use pliant_multibody::{RobotOptions, parse_robot};
///
/// // An element that has no meaning here is reported with its line.
/// let urdf = b"<robot name='r'>\n  <link name='base'/>\n  <gazebo/>\n</robot>";
/// let loaded = parse_robot(urdf, Path::new("r.urdf"), &RobotOptions::default())?;
/// assert_eq!(loaded.model.links().len(), 1);
/// assert!(loaded.report.to_string().starts_with("r.urdf:3: ignored"));
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LoadedModel {
    /// The model.
    pub model: Model,
    /// Named positions of its joints, which only MJCF files have.
    pub keyframes: Vec<Keyframe>,
    /// What was ignored, repaired or suspicious, by line; empty if the file was used exactly as written.
    pub report: LoadReport,
}

/// Named positions of the joints of a file.
///
/// ```
/// use std::path::Path;
/// use pliant_multibody::{RobotOptions, parse_robot};
///
/// // A cart on a rail with a pole, and a position of both: 0.3 m and 1.5 rad.
/// let mjcf = br#"<mujoco model="cart pole"><worldbody><body name="cart"><joint name="slide" type="slide" axis="1 0 0"/>
///   <geom size="0.1"/><body name="pole"><joint name="hinge" axis="0 1 0"/><geom size="0.05" pos="0 0 0.5"/></body></body>
///   </worldbody><keyframe><key name="home" qpos="0.3 1.5"/></keyframe></mujoco>"#;
/// let loaded = parse_robot(mjcf, Path::new("cart_pole.xml"), &RobotOptions::default())?;
/// let home = &loaded.keyframes[0];
/// let mut q = loaded.model.neutral_positions();
/// for (joint, positions) in &home.positions {
///     q[loaded.model.joint(loaded.model.joint_named(joint)?).positions()].copy_from_slice(positions);
/// }
/// assert_eq!((home.name.as_str(), q), ("home", vec![0.3, 1.5]));
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframe {
    /// Its name.
    pub name: String,
    /// The coordinates of each joint, as many as it has, in the order of a model's positions.
    pub positions: Vec<(String, Vec<f64>)>,
}

/// Reads a robot file: URDF (`<robot>`), MJCF (`<mujoco>`) or SDFormat (`<sdf>`).
///
/// # Errors
/// [`MultibodyError::Unreadable`] and [`MultibodyError::NotUrdf`] for the file as a whole, otherwise
/// [`MultibodyError::At`] with the line and the error. Files that the robot refers to are opened only if they have the
/// extension of a mesh, or of a file that the format includes (`.xml`, `.mjcf`, `.sdf`, `model.config`).
pub fn read_robot(
    path: impl AsRef<Path>,
    options: &RobotOptions,
) -> Result<LoadedModel, MultibodyError> {
    read_with(path.as_ref(), options, parse_robot)
}

/// Reads the file at `path` by `parse`.
pub(crate) fn read_with(
    path: &Path,
    options: &RobotOptions,
    parse: fn(&[u8], &Path, &RobotOptions) -> Result<LoadedModel, MultibodyError>,
) -> Result<LoadedModel, MultibodyError> {
    parse(&file_budget::bytes_of(path)?, path, options)
}

/// Reads a robot file from memory. `path` is used in messages, and its folder for the files that it refers to.
///
/// # Errors
/// As [`read_robot`].
pub fn parse_robot(
    bytes: &[u8],
    path: &Path,
    options: &RobotOptions,
) -> Result<LoadedModel, MultibodyError> {
    match markup::outermost(bytes) {
        Some("mujoco" | "mujocoinclude") => mjcf::parse_mjcf(bytes, path, options),
        Some("sdf") => sdf::parse_sdf(bytes, path, options),
        _ => urdf::parse_urdf(bytes, path, options),
    }
}
