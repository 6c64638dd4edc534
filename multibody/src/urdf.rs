//! URDF files as written for ROS, with Drake's extensions.
//!
//! Everything in a file is either used or listed in the [`LoadReport`], with its line. Used are: `<link>` with
//! `<inertial>`, `<collision>`, `<visual>`, `<material>`; `<joint>` of all kinds (`ball` as in Drake) with `<limit>`,
//! `<dynamics>`, `<mimic>`; `<transmission>` for gear ratio, rotor inertia and gains; `<frame>`; collision filter groups;
//! `drake:proximity_properties`, `drake:declare_convex`, `drake:acceleration`. URDF has no springs: use the attributes
//! `spring_stiffness` and `spring_reference` of `<dynamics>`, or Gazebo's `<springStiffness>` and `<springReference>`.
//!
//! | in the file | read as |
//! |---|---|
//! | an unphysical inertia | as written, and suspicious |
//! | `friction` not below the joint's effort limit | no dry friction, and suspicious: the actuator could never move the joint |
//! | `effort="0"`, `velocity="0"` | no limit, and suspicious |
//! | revolute or prismatic joint without `<limit>` | no limits, and suspicious |
//! | a transmission other than a simple gear | a simple gear, and suspicious |
//! | universal and screw joints, xacro macros | an error with the remedy |
//! | a joint that mimics a fixed joint | fixed where the coupling holds it, and suspicious |
//! | `<inertial>` with `<density>` (kg/m³) and without `<mass>` | the inertia of the collision shapes, as in SAPIEN |
//! | `<inertial>` without `<mass>` and `<density>` | massless, and suspicious |
//! | missing or unmapped visual mesh | shape omitted, and suspicious; its colour is that of the collision shapes |
//! | a sphere of radius 0 | shape omitted, and suspicious |
//! | missing or unmapped collision mesh | an error |
//! | collision mesh that bounds no solid | its convex hull, and suspicious |

mod document;
mod joints;
mod links;
mod meshes;
mod shapes;
mod transmissions;

use std::collections::BTreeMap;
use std::path::Path;

use nalgebra::{Isometry3, Translation3, Unit, UnitQuaternion, Vector3};
use pliant_hydroelastic::mesh::{LoadReport, Severity};
use roxmltree::Node;

use crate::builder::{JointSpec, LinkSpec, ModelBuilder};
use crate::error::MultibodyError;
use crate::file_budget;
use crate::geometry::CollisionFilterGroup;
use crate::joint::JointKind;
use crate::markup::Place;
use crate::model::{CouplerLaw, Model};
use crate::package_map::PackageMap;
use crate::robot_file::{LoadedModel, RobotOptions, read_with};
use document::{Document, Reader};
pub(crate) use meshes::{collision_mesh, unsupported};

/// Reads a URDF file. What it uses, repairs and reports is in the [module's table](self).
///
/// ```
/// use std::path::Path;
/// use pliant_multibody::{JointKind, RobotOptions, urdf};
///
/// // A joint without limits is a legal robot, with a remark.
/// let text = br#"<robot name="r"><link name="base"/>
///   <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
///   <joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/></joint></robot>"#;
/// let loaded = urdf::parse_urdf(text, Path::new("r.urdf"), &RobotOptions::default())?;
/// assert_eq!(loaded.model.joints()[0].kind, JointKind::Revolute);
/// assert!(loaded.report.to_string().starts_with("r.urdf:3: suspicious: "));
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
///
/// # Errors
/// [`MultibodyError::Unreadable`] and [`MultibodyError::NotUrdf`] for the file as a whole, otherwise
/// [`MultibodyError::At`] with the line and the error. Files that the robot refers to are opened only if they have the
/// extension of a mesh.
pub fn read_urdf(
    path: impl AsRef<Path>,
    options: &RobotOptions,
) -> Result<LoadedModel, MultibodyError> {
    read_with(path.as_ref(), options, parse_urdf)
}

/// Reads URDF from memory. `path` is used in messages, and its folder for relative mesh names.
///
/// # Errors
/// As [`read_urdf`].
pub fn parse_urdf(
    bytes: &[u8],
    path: &Path,
    options: &RobotOptions,
) -> Result<LoadedModel, MultibodyError> {
    let mut report = LoadReport::default();
    file_budget::check_size(bytes, path)?;
    let text = Document::decode(bytes, path)?;
    let text = Document::declare_prefixes(text, path, &mut report)?;
    let xml = Document::parse(&text, path)?;
    let mut reader = Reader::new(path, &xml, report, &options.packages);
    let robot = Robot::read(&mut reader)?;
    let model = robot
        .build(options)
        .map_err(|error| robot.located(error, path))?;
    robot.check_inertias(&model, &mut reader);
    let report = reader.into_report();
    Ok(LoadedModel {
        model,
        keyframes: Vec::new(),
        report,
    })
}

/// A `<mimic>` as written.
struct Mimic {
    joint: String,
    source: String,
    multiplier: f64,
    offset: f64,
}

/// The contents of the file, before they are validated as a whole.
struct Robot {
    name: String,
    line: u32,
    links: Vec<LinkSpec>,
    joints: Vec<JointSpec>,
    mimics: Vec<Mimic>,
    frames: Vec<(String, String, Isometry3<f64>)>,
    groups: Vec<CollisionFilterGroup>,
    /// For each group, the groups whose members it includes.
    member_groups: Vec<Vec<String>>,
    link_lines: BTreeMap<String, u32>,
    joint_lines: BTreeMap<String, u32>,
}

impl Robot {
    fn read(reader: &mut Reader<'_, '_>) -> Result<Self, MultibodyError> {
        let root = reader.root();
        if reader.tag(root) != "robot" {
            let text = format!(
                "the root element is <{}>, but must be <robot>",
                reader.tag(root)
            );
            return Err(reader.error(root, "file", text));
        }
        let name = root.attribute("name").unwrap_or_default().to_owned();
        reader.only_attributes(root, &["name", "version"]);
        let mut robot = Self {
            name,
            line: reader.line(root),
            links: Vec::new(),
            joints: Vec::new(),
            mimics: Vec::new(),
            frames: Vec::new(),
            groups: Vec::new(),
            member_groups: Vec::new(),
            link_lines: BTreeMap::new(),
            joint_lines: BTreeMap::new(),
        };
        reader.collect_materials(root)?;
        let elements = || root.children().filter(Node::is_element);
        for node in elements() {
            match reader.tag(node) {
                "link" => {
                    let link = reader.link(node)?;
                    robot
                        .link_lines
                        .insert(link.name.clone(), reader.line(node));
                    robot.links.push(link);
                }
                "joint" | "drake:joint" => {
                    let (joint, mimic) = reader.joint(node)?;
                    robot
                        .joint_lines
                        .insert(joint.name.clone(), reader.line(node));
                    robot.joints.push(joint);
                    robot.mimics.extend(mimic);
                }
                "frame" => robot.frames.push(reader.frame(node)?),
                "drake:collision_filter_group" => {
                    if let Some((group, members)) = reader.collision_filter_group(node)? {
                        robot.groups.push(group);
                        robot.member_groups.push(members);
                    }
                }
                "material" | "transmission" | "gazebo" => {}
                tag if tag.starts_with("xacro:") => {
                    let text = format!("<{tag}> is a macro: expand the file with xacro first");
                    return Err(reader.error(node, "robot", text));
                }
                _ => reader.ignored(node, "robot"),
            }
        }
        // These refer to joints and links, which may follow them in the file.
        for node in elements() {
            match reader.tag(node) {
                "transmission" => reader.transmission(node, &mut robot.joints)?,
                "gazebo" => reader.gazebo(node, &mut robot.joints)?,
                _ => {}
            }
        }
        robot.fix_followers(reader);
        robot.check_groups(reader);
        robot.expand_groups(reader);
        Ok(robot)
    }

    /// Joints that follow a fixed joint are fixed where the coupling holds them, and fixed joints follow nothing.
    fn fix_followers(&mut self, reader: &mut Reader<'_, '_>) {
        let index = |joints: &[JointSpec], name: &str| joints.iter().position(|j| j.name == name);
        let mut held: BTreeMap<String, f64> = BTreeMap::new();
        // A chain of couplings is at most as long as their number.
        for _ in 0..self.mimics.len() {
            let is_idle = |mimic: &Mimic| {
                let both = [&mimic.joint, &mimic.source];
                let found = both.map(|name| index(&self.joints, name));
                let ends =
                    found.map(|at| at.is_some_and(|j| self.joints[j].kind == JointKind::Fixed));
                found[1].is_some() && (ends[0] || ends[1])
            };
            let Some(at) = self.mimics.iter().position(is_idle) else {
                return;
            };
            let mimic = self.mimics.swap_remove(at);
            let Some(follower) = index(&self.joints, &mimic.joint) else {
                continue;
            };
            let text = match self.joints[follower].kind {
                JointKind::Fixed => "is fixed, and follows nothing".to_owned(),
                _ => {
                    let of_source = held.get(&mimic.source).copied().unwrap_or_default();
                    let position = mimic.multiplier * of_source + mimic.offset;
                    let fixed = fixed_at(&self.joints[follower], position);
                    self.joints[follower] = fixed;
                    held.insert(mimic.joint.clone(), position);
                    format!(
                        "follows joint \"{}\", which is fixed, and is fixed at {position}",
                        mimic.source
                    )
                }
            };
            let line = self.joint_lines.get(&mimic.joint).copied();
            let text = format!("joint \"{}\": {text}", mimic.joint);
            reader.note(Severity::Suspicious, line.unwrap_or(self.line), text);
        }
    }

    /// Adds the members of member groups, recursively.
    fn expand_groups(&mut self, reader: &mut Reader<'_, '_>) {
        let index = |groups: &[CollisionFilterGroup], name: &str| {
            groups.iter().position(|group| group.name == name)
        };
        for (group, others) in self.groups.iter().zip(&self.member_groups) {
            for other in others.iter().filter(|o| index(&self.groups, o).is_none()) {
                let text = format!(
                    "collision filter group \"{}\" includes group \"{other}\", which is not defined",
                    group.name
                );
                reader.note(Severity::Suspicious, self.line, text);
            }
        }
        // A chain of inclusions is at most as long as the number of groups.
        for _ in 0..self.groups.len() {
            for (g, others) in self.member_groups.iter().enumerate() {
                for other in others {
                    let Some(other) = index(&self.groups, other) else {
                        continue;
                    };
                    for member in self.groups[other].members.clone() {
                        if !self.groups[g].members.contains(&member) {
                            self.groups[g].members.push(member);
                        }
                    }
                }
            }
        }
    }

    /// Removes members that are not links, and reports them.
    fn check_groups(&mut self, reader: &mut Reader<'_, '_>) {
        let links = &self.link_lines;
        for group in &mut self.groups {
            let name = group.name.clone();
            group.members.retain(|member| {
                let known = links.contains_key(member);
                if !known {
                    let text = format!("collision filter group \"{name}\" refers to link \"{member}\", which is not defined");
                    reader.note(Severity::Suspicious, self.line, text);
                }
                known
            });
        }
    }

    fn build(&self, options: &RobotOptions) -> Result<Model, MultibodyError> {
        let mut builder = ModelBuilder::new(&*self.name);
        builder.root(options.root).gravity(options.gravity);
        self.links.iter().for_each(|link| {
            builder.link(link.clone());
        });
        self.joints.iter().for_each(|joint| {
            builder.joint(joint.clone());
        });
        for mimic in &self.mimics {
            builder.coupler(
                &*mimic.joint,
                &*mimic.source,
                CouplerLaw::linear(mimic.multiplier, mimic.offset),
            );
        }
        for (name, link, X_LF) in &self.frames {
            builder.frame(&**name, &**link, *X_LF);
        }
        for group in &self.groups {
            builder.collision_filter_group(group.clone());
        }
        builder.build()
    }

    /// Adds the line of the link or joint that an error refers to.
    fn located(&self, error: MultibodyError, file: &Path) -> MultibodyError {
        let place = |line: u32| Place {
            file: file.into(),
            line,
        };
        error.located_by(
            |link| self.link_lines.get(link).copied().map(place),
            |joint| self.joint_lines.get(joint).copied().map(place),
            &place(self.line),
        )
    }

    /// Reports unphysical inertias, which are used as written.
    fn check_inertias(&self, model: &Model, reader: &mut Reader<'_, '_>) {
        for link in &self.links {
            let com = link.inertia.com;
            let shapes = link.collisions.iter().map(|c| (&c.geometry, &c.X_LG));
            let shapes = shapes.chain(link.visuals.iter().map(|v| (&v.geometry, &v.X_LG)));
            // The size of a link with a mesh is unknown.
            let reach: Option<Vec<f64>> = shapes
                .map(|(g, X)| Some(g.bounding_radius()? + (X.translation.vector - com).norm()))
                .collect();
            let joints = self.joints.iter().filter(|j| j.parent == link.name);
            let ends = joints.map(|j| (j.X_PJ.translation.vector - com).norm());
            let size = reach.map(|r| r.into_iter().chain(ends).fold(com.norm(), f64::max));
            for flaw in link.inertia.flaws(size.filter(|s| *s > 0.0)) {
                let line = self
                    .link_lines
                    .get(&link.name)
                    .copied()
                    .unwrap_or(self.line);
                let text = format!("link \"{}\": {flaw}; used as written", link.name);
                reader.note(Severity::Suspicious, line, text);
            }
        }
        debug_assert_eq!(model.links().len(), self.links.len());
    }
}

/// A joint of one degree of freedom as a fixed one, at this position.
fn fixed_at(joint: &JointSpec, position: f64) -> JointSpec {
    let axis = Unit::try_new(joint.axis, 1e-12).unwrap_or_else(Vector3::x_axis);
    let X_JC = match joint.kind {
        JointKind::Prismatic => {
            Isometry3::from_parts((axis.scale(position)).into(), UnitQuaternion::identity())
        }
        _ => Isometry3::from_parts(
            Translation3::identity(),
            UnitQuaternion::from_axis_angle(&axis, position),
        ),
    };
    let parts = (&*joint.name, &*joint.parent, &*joint.child);
    let mut fixed = JointSpec::new(parts.0, JointKind::Fixed, parts.1, parts.2);
    fixed.X_PJ = joint.X_PJ * X_JC;
    fixed
}
