//! SDFormat files, with Drake's extensions.
//!
//! Everything in a file is either used, listed in the [`LoadReport`](pliant_hydroelastic::mesh::LoadReport), or an error, each
//! with its line. Equal remarks are one entry with their number.
//!
//! | in the file | read as |
//! |---|---|
//! | `<pose relative_to>`, `<frame attached_to>`, `<xyz expressed_in>` | as written; frames become named frames |
//! | `<xyz>` without `expressed_in` | in the frame of the joint; before version 1.5, or with `use_parent_model_frame`, in that of the model |
//! | a frame or a joint as `<parent>` or `<child>` | the link that it is attached to; the joint is in the frame |
//! | the link without a parent | the root link; its pose in the model has no effect, since the caller places it |
//! | a joint with parent `world` | a joint of the root link `world` |
//! | a joint that is not at the origin of its child | a further massless link `JOINT_link` |
//! | a joint that closes a kinematic loop: its child has another parent | a constraint of the kind of the joint |
//! | revolute, continuous, prismatic, ball, fixed joints | the same; a limit of ±1e16 is none |
//! | screw joints | one degree of freedom, the angle, rad, to which limits, damping and efforts refer; `<screw_thread_pitch>` is m per turn, the older `<thread_pitch>` −rad/m |
//! | universal and revolute2 joints | two hinges, `JOINT` about `<axis>` and `JOINT_axis2` about `<axis2>`, with a massless link `JOINT_cross` between them |
//! | `<effort>`, `<velocity>` of 0 | no limit, and suspicious |
//! | `friction` not below the effort limit | no dry friction, and suspicious |
//! | `drake:gear_ratio`, `drake:rotor_inertia`, `drake:controller_gains`, `drake:mimic`, `<mimic>` | drive and couplings |
//! | `<inertial auto>` | from the collision shapes and their `<density>`; a `<mass>` scales it |
//! | a link without `<inertial>` | 1 kg and 1 kg m², as the format prescribes, and suspicious |
//! | `<mu>` of `<ode>`, `<torsional>` with a `<patch_radius>`, `drake:proximity_properties` | contact properties |
//! | the `<diffuse>` colour | the colour of the visual shape |
//! | collision mesh that bounds no solid | its convex hull, and suspicious |
//! | missing visual mesh | shape omitted, and suspicious |
//! | an `<include>`, by `model://` or a path | the model of that file |
//! | models in a model | their links, joints and frames, called `NAME::...` |
//! | several models | one model called like the world: the root of each moves freely in the link `world`, or is fixed in it if it is `static` |
//! | gearbox joints | an error |

mod attributes;
mod auto_inertia;
mod axes;
mod frames;
mod include;
mod joints;
mod links;
mod loops;
mod nested;
mod shapes;
mod torsional;

use std::path::Path;

use pliant_hydroelastic::mesh::Severity;

use crate::builder::{JointSpec, LinkSpec, ModelBuilder};
use crate::error::MultibodyError;
use crate::file_budget::FileBudget;
use crate::geometry::CollisionFilterGroup;
use crate::inertia::SpatialInertia;
use crate::joint::{JointKind, write_floating_position};
use crate::markup::{Element, Place, Remarks};
use crate::model::{CouplerLaw, Root};
use crate::robot_file::{LoadedModel, RobotOptions, read_with};
pub(crate) use auto_inertia::inertia_of_collision;
use frames::Frames;
use include::Loose;

/// Name of the link that stands for the world.
const WORLD: &str = "world";

/// Reads an SDFormat file. What it uses, repairs and reports is in the [module's table](self).
///
/// ```
/// use std::path::Path;
/// use pliant_multibody::{RobotOptions, Root, sdf};
///
/// let text = br#"<sdf version="1.9"><model name="ball"><link name="ball"><inertial><mass>2</mass>
///   <inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link></model></sdf>"#;
/// let options = RobotOptions { root: Root::Floating, ..RobotOptions::default() };
/// let ball = sdf::parse_sdf(text, Path::new("ball.sdf"), &options)?.model;
/// assert_eq!((ball.n_v(), ball.moving_mass()), (6, 2.0));
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
///
/// # Errors
/// As [`read_robot`](crate::read_robot).
pub fn read_sdf(
    path: impl AsRef<Path>,
    options: &RobotOptions,
) -> Result<LoadedModel, MultibodyError> {
    read_with(path.as_ref(), options, parse_sdf)
}

/// Removes a quotation mark after the number in the text of an element, as other readers do: the robots of Drake have one.
fn remove_quotes_after_numbers(element: &mut Element, remarks: &mut Remarks) {
    if let Some(number) = element.text.strip_suffix('"')
        && number.parse::<f64>().is_ok()
    {
        let text = format!(
            "<{}> {}: the quotation mark is left out",
            element.tag, element.text
        );
        remarks.add(Severity::Repaired, &element.place, text);
        element.text.pop();
    }
    for child in &mut element.children {
        remove_quotes_after_numbers(child, remarks);
    }
}

/// Reads SDFormat from memory. `path` is used in messages, and its folder for meshes.
///
/// # Errors
/// As [`read_robot`](crate::read_robot).
pub fn parse_sdf(
    bytes: &[u8],
    path: &Path,
    options: &RobotOptions,
) -> Result<LoadedModel, MultibodyError> {
    let mut budget = FileBudget::default();
    let root = budget.parse(bytes, path)?;
    let mut remarks = Remarks::default();
    let mut found = include::models(&root, path, (&options.packages, budget), &mut remarks)?;
    remove_quotes_after_numbers(&mut found.model, &mut remarks);
    let element = &found.model;
    if let (Root::Floating, [_, ..]) = (options.root, &found.loose[..]) {
        let text = "has several models, whose world cannot float; make the root fixed";
        return Err(element.error("file", text));
    }
    let name = element.required("name", "<model>")?;
    report_model(element, &mut remarks)?;
    let frames = Frames::read(element)?;
    let file = File {
        path,
        frames: &frames,
        options,
    };
    let mut builder = ModelBuilder::new(name);
    builder.root(options.root).gravity(options.gravity);
    let mut links: Vec<(LinkSpec, Place)> = Vec::new();
    for link in element.children.iter().filter(|e| e.tag == "link") {
        let spec = links::link(&file, link, &mut remarks)?;
        links.push((spec, link.place.clone()));
    }
    let mut read = Vec::new();
    for joint in element.children.iter().filter(|e| e.tag == "joint") {
        read.push(joints::joint(&file, joint, &mut remarks)?);
    }
    let is_several = !found.loose.is_empty();
    if is_several || read.iter().any(|joint| joint.spec.parent == WORLD) {
        let world = LinkSpec::new(WORLD, SpatialInertia::zero());
        links.insert(0, (world, element.place.clone()));
    }
    let specs: Vec<LinkSpec> = links.iter().map(|(link, _)| link.clone()).collect();
    let (in_tree, in_loops) = loops::split(&specs, read);
    let mut joints: Vec<(JointSpec, Place)> = Vec::new();
    for joint in in_tree {
        let place = &joint.element.place;
        let (specs, massless) = joint.in_tree();
        for massless in massless {
            links.push((
                LinkSpec::new(massless, SpatialInertia::zero()),
                place.clone(),
            ));
        }
        joints.extend(specs.into_iter().map(|spec| (spec, place.clone())));
        if joint.second.is_some() {
            for group in loops::overlap(&joint.spec) {
                builder.collision_filter_group(group);
            }
        }
        let of_second = joint.second.and_then(|second| second.mimic);
        for mimic in joint.mimic.into_iter().chain(of_second) {
            let law = CouplerLaw::linear(mimic.multiplier, mimic.offset);
            builder.coupler(mimic.joint, mimic.source, law);
        }
    }
    for joint in &in_loops {
        let (constraint, groups) = loops::constraint(joint, &mut remarks)?;
        builder.loop_constraint(constraint);
        for group in groups {
            builder.collision_filter_group(group);
        }
    }
    for loose in &found.loose {
        let joint = root_joint(loose, &specs, &joints, &frames, element)?;
        joints.extend(joint.map(|joint| (joint, element.place.clone())));
    }
    for (link, _) in &links {
        builder.link(link.clone());
    }
    for (joint, _) in &joints {
        builder.joint(joint.clone());
    }
    for frame in element.children.iter().filter(|e| e.tag == "frame") {
        let name = frame.required("name", "<frame>")?;
        let (link, X_LF) = frames.on_link(name, frame)?;
        builder.frame(name, link, X_LF);
    }
    let groups = "drake:collision_filter_group";
    for group in element.children.iter().filter(|e| e.tag == groups) {
        builder.collision_filter_group(filter_group(group)?);
    }
    let place_of = |places: &[(String, Place)], name: &String| {
        let mut all = places.iter();
        all.find(|(known, _)| known == name).map(|(_, p)| p.clone())
    };
    let named = |(link, place): &(LinkSpec, Place)| (link.name.clone(), place.clone());
    let link_places: Vec<_> = links.iter().map(named).collect();
    let named = |(joint, place): &(JointSpec, Place)| (joint.name.clone(), place.clone());
    let joint_places: Vec<_> = joints.iter().map(named).collect();
    let model = builder.build().map_err(|error| {
        error.located_by(
            |link| place_of(&link_places, link),
            |joint| place_of(&joint_places, joint),
            &element.place,
        )
    })?;
    for (link, place) in &links {
        for flaw in link.inertia.flaws(None) {
            let text = format!("link \"{}\": {flaw}; used as written", link.name);
            remarks.suspicious(place, text);
        }
    }
    Ok(LoadedModel {
        model,
        keyframes: Vec::new(),
        report: remarks.into_report(),
    })
}

/// The joint between the world and one of several models; `None` if the file has one.
fn root_joint(
    loose: &Loose,
    links: &[LinkSpec],
    joints: &[(JointSpec, Place)],
    frames: &Frames<'_>,
    user: &Element,
) -> Result<Option<JointSpec>, MultibodyError> {
    let prefix = format!("{}::", loose.name);
    let is_child = |link: &LinkSpec| joints.iter().any(|(joint, _)| joint.child == link.name);
    let mut roots = links
        .iter()
        .filter(|link| link.name.starts_with(&prefix) && !is_child(link));
    let Some(root) = roots.next() else {
        return Ok(None);
    };
    let X_WL = frames.in_model(&root.name, user)?;
    let name = format!("{}_root", loose.name);
    let kind = match loose.is_static {
        true => JointKind::Fixed,
        false => JointKind::Floating,
    };
    let mut joint = JointSpec::new(name, kind, WORLD, &*root.name);
    match kind {
        JointKind::Fixed => joint.X_PJ = X_WL,
        _ => {
            let mut start = vec![0.0; 7];
            write_floating_position(&X_WL, &mut start);
            joint.initial = Some(start);
        }
    }
    Ok(Some(joint))
}

/// A file with what applies to all of its parts.
struct File<'a> {
    path: &'a Path,
    frames: &'a Frames<'a>,
    options: &'a RobotOptions,
}

/// Elements of a model that are not links, joints and frames.
fn report_model(element: &Element, remarks: &mut Remarks) -> Result<(), MultibodyError> {
    attributes::report(element, remarks);
    for child in &element.children {
        match &*child.tag {
            "link" | "joint" | "frame" | "pose" | "drake:collision_filter_group" => {}
            "static" if ["0", "false"].contains(&&*child.text) => {}
            _ => remarks.left_out(child),
        }
    }
    Ok(())
}

fn filter_group(element: &Element) -> Result<CollisionFilterGroup, MultibodyError> {
    let texts = |tag: &str| -> Vec<String> {
        let all = element.children.iter().filter(|e| e.tag == tag);
        all.map(|e| e.text.clone()).collect()
    };
    Ok(CollisionFilterGroup {
        name: element
            .required("name", "<drake:collision_filter_group>")?
            .to_owned(),
        members: texts("drake:member"),
        ignored_groups: texts("drake:ignored_collision_filter_group"),
    })
}
