//! MJCF files, the format of MuJoCo.
//!
//! Everything in a file is either used, listed in the [`LoadReport`](pliant_hydroelastic::mesh::LoadReport), or an error, each
//! with its line. Equal remarks are one entry with their number.
//!
//! | in the file | read as |
//! |---|---|
//! | `<include>`, `<compiler>`, `<default>` classes with `childclass`, `<frame>` | as MuJoCo does |
//! | the world | the root link `world`; shapes fixed in it belong to the link `worldbody` |
//! | a body | a link of that name; without joints it is welded to its parent |
//! | a body with several joints, or with a joint that is not at its origin | further massless links `JOINT_link` |
//! | hinge, slide, ball and free joints; `ref` | revolute or continuous, prismatic, ball, floating; the model starts where the file shows it |
//! | `range`, `damping`, `stiffness`, `springref`, `frictionloss`, `armature`, `actuatorfrcrange` | limits, passive forces, rotor inertia, effort limit |
//! | `shellinertia` of a geom, `inertia="shell"` of a mesh | the inertia of the surface; densities are kg/m² |
//! | `gravcomp` | a force against the weight of the link |
//! | `<inertial>`, or the masses and densities of geoms | the inertia of the link; `boundmass`, `boundinertia`, `balanceinertia`, `settotalmass` are applied |
//! | a geom that touches nothing (`contype` and `conaffinity` 0) | a visual shape |
//! | a geom of the groups 3 and above | a collision shape that is not drawn |
//! | any other geom | a collision shape and a visual shape |
//! | a mesh in contact | its convex hull |
//! | a plane | a half space, on links that do not move |
//! | a height field | a closed mesh, on links that do not move |
//! | `friction`, if given | the friction coefficients of the shape, the second one with `condim` 4 and 6, the third one with `condim` 6 |
//! | two geoms of the file | the larger friction and `condim` of the two, or those of the geom with the larger `priority`; `condim` 1 is no friction |
//! | a geom and a shape outside of the file | the combination of the scene; the other shape counts as `condim` 3 |
//! | `<pair>` | contact of two geoms with the friction of the pair, whatever the masks and exclusions are |
//! | `contype`, `conaffinity`, `<exclude>`, parents and children | pairs of links without contact; masks act only between bodies of the file |
//! | `motor`, `position`, `velocity`, `general` on a joint or a fixed tendon | effort limits, and gains of its drive; targets are positions of the joint and lengths of the tendon |
//! | `dampratio` of `position`, `springdamper` of a joint | gains relative to the inertia at the positions that the file shows |
//! | a fixed tendon | limits, a spring with a damper and a drive on a linear combination of joints; `frictionloss` and `armature` have no effect, and are suspicious |
//! | `<equality><joint>` | a coupled joint, or one at a constant position |
//! | `<equality><connect>`, `<equality><weld>` | a constraint that closes a loop; `solref` and `solimp` have no effect: it is near rigid |
//! | a site | a named frame |
//! | `<mujocoinclude>`, or no `<worldbody>` | a part that other files include: what they define is left out, and suspicious |
//! | `<replicate>` | copies in frames, with the suffixes of MuJoCo; what refers to them from elsewhere names a copy |
//! | `<key>` with `name` and `qpos` | a named set of joint positions |
//! | spatial tendons, other equalities, other actuators (such as `adhesion`), sensors, velocities and controls of keys, solver settings | reported, without effect |
//! | `composite`, `flexcomp`, `attach`, height fields from PNG images, planes and height fields that move | an error |
//!
//! Unlike in MuJoCo, a body and a parent that is fixed in the world do not touch.

mod actuators;
mod assets;
mod body;
mod compiler;
mod defaults;
mod equality;
mod filter;
mod fragment;
mod geom;
mod height_field;
mod include;
mod inertial;
mod inertial_gains;
mod joints;
mod keyframes;
mod link_shapes;
mod mesh_inertia;
mod names;
mod orientation;
mod replicate;
mod shape_pairs;
mod shell_inertia;
mod tendons;
mod world;

use std::path::Path;

use crate::builder::ModelBuilder;
use crate::error::MultibodyError;
use crate::markup::{Element, Remarks};
use crate::model::Root;
use crate::robot_file::{LoadedModel, RobotOptions, read_with};
use assets::Assets;
use compiler::Compiler;
use defaults::Defaults;
pub(crate) use inertial::sum as sum_of_inertias;
pub(crate) use mesh_inertia::{MeshSolid, unit_density as inertia_of_mesh};
use world::Tree;

/// Reads an MJCF file. What it uses, repairs and reports is in the [module's table](self).
///
/// ```
/// use std::path::Path;
/// use pliant_multibody::{JointKind, RobotOptions, mjcf};
///
/// // A free ball of 0.1 m with the density 1000 kg/m³ that MuJoCo assumes.
/// let text = br#"<mujoco><worldbody><body name="ball"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"#;
/// let ball = mjcf::parse_mjcf(text, Path::new("ball.xml"), &RobotOptions::default())?.model;
/// assert!(ball.joints().iter().any(|joint| joint.kind == JointKind::Floating));
/// assert!((ball.moving_mass() - 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3).abs() < 1e-12);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
///
/// # Errors
/// As [`read_robot`](crate::read_robot).
pub fn read_mjcf(
    path: impl AsRef<Path>,
    options: &RobotOptions,
) -> Result<LoadedModel, MultibodyError> {
    read_with(path.as_ref(), options, parse_mjcf)
}

/// Reads MJCF from memory. `path` is used in messages, and its folder for included files and meshes.
///
/// # Errors
/// As [`read_robot`](crate::read_robot).
pub fn parse_mjcf(
    bytes: &[u8],
    path: &Path,
    options: &RobotOptions,
) -> Result<LoadedModel, MultibodyError> {
    let root = include::expanded(bytes, path)?;
    if !["mujoco", "mujocoinclude"].contains(&&*root.tag) {
        let text = format!(
            "the outermost element is <{}>, but must be <mujoco>",
            root.tag
        );
        return Err(root.error("file", text));
    }
    let mut remarks = Remarks::default();
    let root = fragment::completed(root, &mut remarks);
    let compiler = Compiler::read(&root, &mut remarks)?;
    let root = replicate::expanded(root, &compiler)?;
    let defaults = Defaults::read(&root, &mut remarks)?;
    let assets = Assets::read(&root, &compiler, &defaults, &mut remarks)?;
    let paired = shape_pairs::named(&root);
    let file = File {
        paired: &paired,
        path,
        root: &root,
        compiler: &compiler,
        defaults: &defaults,
        assets: &assets,
        options,
    };
    let mut tree = Tree::read(&file, &mut remarks)?;
    if let (Root::Floating, Some((joint, place))) = (options.root, tree.free_joint()) {
        let text =
            "moves freely in the world of the file, which cannot float too; make the root fixed";
        return Err(place.error(&format!("joint \"{joint}\""), text));
    }
    let mut tendons = tendons::read(&file, &mut tree, &mut remarks)?;
    let ratios = actuators::read(&file, &mut tree, &mut tendons, &mut remarks)?;
    let apart = filter::pairs(&file, &tree, &mut remarks)?;
    let keyframes = keyframes::read(&file, &tree, &mut remarks)?;
    file.report_sections(&mut remarks);

    let name = root.attribute("model").unwrap_or("MuJoCo Model");
    if !ratios.is_empty() || !tree.spring_dampers.is_empty() {
        let model = builder_of(&tree, name, options).build();
        let model = model.map_err(|error| tree.located(error, &root))?;
        inertial_gains::resolve(&model, &mut tree, &mut tendons, &ratios);
    }
    let mut builder = builder_of(&tree, name, options);
    for tendon in &tendons {
        builder.tendon(tendon.spec.clone());
    }
    for frame in &tree.frames {
        builder.frame(&*frame.name, &*frame.link, frame.X_LF);
    }
    equality::read(&file, &tree, &mut builder, &mut remarks)?;
    shape_pairs::add(&file, &tree, &apart, &mut builder, &mut remarks)?;
    for group in filter::groups(&tree, &apart) {
        builder.collision_filter_group(group);
    }
    let model = builder
        .build()
        .map_err(|error| match tendons::place_of(&error, &tendons) {
            Some(place) => place.at(error),
            None => tree.located(error, &root),
        })?;
    tree.check_inertias(&mut remarks);
    Ok(LoadedModel {
        model,
        keyframes,
        report: remarks.into_report(),
    })
}

/// A builder with the links and joints of the file.
fn builder_of(tree: &Tree, name: &str, options: &RobotOptions) -> ModelBuilder {
    let mut builder = ModelBuilder::new(name);
    builder.root(options.root).gravity(options.gravity);
    for link in &tree.links {
        builder.link(link.spec.clone());
    }
    for joint in &tree.joints {
        builder.joint(joint.spec.clone());
    }
    builder
}

/// A file with what applies to all of its parts.
struct File<'a> {
    /// The geoms that `<pair>` names.
    paired: &'a std::collections::BTreeSet<String>,
    path: &'a Path,
    root: &'a Element,
    compiler: &'a Compiler,
    defaults: &'a Defaults<'a>,
    assets: &'a Assets,
    options: &'a RobotOptions,
}

impl<'a> File<'a> {
    /// The children of all sections of this name.
    fn in_sections(&self, name: &'static str) -> impl Iterator<Item = &'a Element> + use<'a> {
        let sections = self.root.children.iter();
        sections
            .filter(move |section| section.tag == name)
            .flat_map(|section| &section.children)
    }

    /// Sections of which nothing is used.
    fn report_sections(&self, remarks: &mut Remarks) {
        const USED: [&str; 9] = [
            "compiler",
            "default",
            "asset",
            "worldbody",
            "contact",
            "equality",
            "actuator",
            "tendon",
            "keyframe",
        ];
        for section in self.root.children.iter() {
            if section.tag == "option" {
                self.report_gravity(section, remarks);
            }
            if !USED.contains(&&*section.tag) {
                remarks.left_out(section);
            }
        }
        remarks.only_attributes(self.root, &["model"]);
    }

    /// Gravity is a property of the scene: another one in the file would be a surprise.
    fn report_gravity(&self, option: &Element, remarks: &mut Remarks) {
        if let Some(written) = option.attribute("gravity") {
            let numbers: Vec<&str> = written.split_whitespace().collect();
            let usual = ["0 0 -9.81", "0 0 -9.80665", "0 0 -9.8"];
            if !usual.contains(&&*numbers.join(" ")) {
                let text = format!("gravity=\"{written}\" has no effect: set it in the scene");
                remarks.suspicious(&option.place, text);
            }
        }
    }
}
