//! `[[models]]`: articulated robots from URDF, MJCF and SDFormat files.

use nalgebra::{Isometry3, Vector3};

use super::body::{GRAVITY, GravityEntry};
use super::error::{SceneError, SceneFault, remedy};
use super::item::{Item, NamedReference};
use super::material::{Materials, Surface};
use super::pose::pose;
use super::schema::{Key, LIST_OF_TABLES, REQUIRED, TableSchema, ValueKind};
use super::table::Context;

pub(super) static TABLES: [&TableSchema; 3] = [&MODEL, &ATTACHED, &ACTUATOR];

/// Shares of the weight of links that are carried.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CompensationEntry {
    FromFile,
    Whole(f64),
    Links(Vec<(NamedReference, f64)>),
}

/// Values of some joints, as many as each has coordinates.
pub(crate) type JointValues = Vec<(NamedReference, Vec<f64>)>;

static MODEL: TableSchema = TableSchema {
    name: "[[models]]",
    keys: &[
        Key {
            name: "name",
            value: ValueKind::Text,
            unit: "",
            default: REQUIRED,
            about: "name of the model; its links are `NAME/LINK`, its joints `NAME/JOINT`",
        },
        Key {
            name: "file",
            value: ValueKind::Described("path"),
            unit: "",
            default: REQUIRED,
            about: "path of the file, URDF, MJCF or SDFormat by its content: relative to the scene file, to the working directory, or the name of a bundled robot",
        },
        Key {
            name: "packages",
            value: ValueKind::Described("table of package name = path"),
            unit: "",
            default: "none",
            about: "folders that `package://NAME/...` in the file refers to",
        },
        Key {
            name: "root",
            value: ValueKind::Choice(&["fixed", "floating"]),
            unit: "",
            default: "`fixed`",
            about: "whether the root link is welded to the world or free; the root link of an MJCF file is its world",
        },
        Key {
            name: "pose",
            value: ValueKind::Described("pose"),
            unit: "",
            default: "identity",
            about: "pose of the root link in the world; the initial pose of a floating root",
        },
        Key {
            name: "velocity",
            value: ValueKind::Vector3,
            unit: "m/s",
            default: "[0, 0, 0]",
            about: "initial velocity of a floating root, world axes",
        },
        Key {
            name: "angular_velocity",
            value: ValueKind::Vector3,
            unit: "rad/s",
            default: "[0, 0, 0]",
            about: "initial angular velocity of a floating root, world axes",
        },
        Key {
            name: "gravity",
            value: ValueKind::Choice(&["acts", "absent"]),
            unit: "",
            default: "`acts`",
            about: "`absent`: gravity does not act on the model",
        },
        Key {
            name: "gravity_compensation",
            value: ValueKind::Described("number, or table of link = number"),
            unit: "",
            default: "as in the file",
            about: "share of the weight of its links, or of single ones, that is carried for them, at their centres of mass: 1 is all of it, more makes a link buoyant",
        },
        Key {
            name: "material",
            value: ValueKind::Described("name or table"),
            unit: "",
            default: "`default`",
            about: "surface material of shapes for which the file gives none",
        },
        Key {
            name: "color",
            value: ValueKind::Described("3 or 4 numbers in 0..1"),
            unit: "",
            default: "the file's",
            about: "color of all its shapes in the replay",
        },
        Key {
            name: "colors",
            value: ValueKind::Described("table of link = 3 or 4 numbers in 0..1"),
            unit: "",
            default: "`color`",
            about: "colors of single links in the replay",
        },
        Key {
            name: "attached",
            value: ValueKind::Described(LIST_OF_TABLES),
            unit: "",
            default: "none",
            about: "`[[models.attached]]`: further robots, such as grippers, welded to this one",
        },
        Key {
            name: "positions",
            value: ValueKind::Described(
                "table of joint = number or list, or the name of a keyframe",
            ),
            unit: "rad or m",
            default: "as in the file",
            about: "initial joint positions, by joint or as a keyframe of the model or of its MJCF file, which are also the targets of actuators without a trajectory; mimic joints follow their joint; lists for planar (x, y, angle), ball (`quat_wxyz`) and floating joints (x, y, z, `quat_wxyz`)",
        },
        Key {
            name: "keyframes",
            value: ValueKind::Described("table of name = table of joint = number or list"),
            unit: "rad or m",
            default: "none",
            about: "named joint positions, for `positions` and for knots of `[[joint_targets]]` and `[[joint_motions]]`",
        },
        Key {
            name: "velocities",
            value: ValueKind::Described("table of joint = number or list"),
            unit: "rad/s or m/s",
            default: "0 each",
            about: "initial joint velocities; lists for planar (rates of x, y, angle), ball (angular velocity) and floating joints (angular, then linear), in the axes of the parent frame",
        },
        Key {
            name: "held",
            value: ValueKind::Described("list of joint names"),
            unit: "",
            default: "none",
            about: "joints locked at their initial positions",
        },
        Key {
            name: "actuators",
            value: ValueKind::Described("table of joint = `[models.actuators.JOINT]`"),
            unit: "",
            default: "none",
            about: "joints and fixed tendons under implicit PD control; `\"*\"` stands for all joints that are not named",
        },
        Key {
            name: "backlash",
            value: ValueKind::Described("table of joint = number >= 0"),
            unit: "rad or m",
            default: "none",
            about: "full width of the play between a joint and what drives it, the joint that it mimics or its actuator: it moves freely within half of it on either side of where it would be without; the motor of an actuator stands at its target",
        },
    ],
};

static ATTACHED: TableSchema = TableSchema {
    name: "[[models.attached]]",
    keys: &[
        Key {
            name: "name",
            value: ValueKind::Text,
            unit: "",
            default: REQUIRED,
            about: "name; its links are `MODEL/NAME/LINK`, its joints `MODEL/NAME/JOINT`, and within the model `NAME/JOINT`",
        },
        Key {
            name: "file",
            value: ValueKind::Described("path"),
            unit: "",
            default: REQUIRED,
            about: "as for the model",
        },
        Key {
            name: "on",
            value: ValueKind::Described("name of a link or frame"),
            unit: "",
            default: REQUIRED,
            about: "the link or frame to which it is welded",
        },
        Key {
            name: "pose",
            value: ValueKind::Described("pose"),
            unit: "",
            default: "identity",
            about: "pose of its root link in the frame of the carrying link",
        },
    ],
};

static ACTUATOR: TableSchema = TableSchema {
    name: "[models.actuators.JOINT]",
    keys: &[
        Key {
            name: "proportional",
            value: ValueKind::NonNegative,
            unit: "N·m/rad or N/m",
            default: "the file's",
            about: "proportional gain Kp; stable for any value",
        },
        Key {
            name: "derivative",
            value: ValueKind::NonNegative,
            unit: "N·m·s/rad or N·s/m",
            default: "the file's",
            about: "derivative gain Kd",
        },
        Key {
            name: "effort_limit",
            value: ValueKind::Described("number >= 0 or `inf`"),
            unit: "N·m or N",
            default: "the file's",
            about: "torque or force at which the actuator saturates; the limit of the file still applies",
        },
    ],
};

/// A robot.
#[derive(Clone, Debug)]
pub(crate) struct ModelEntry {
    /// Name.
    pub(crate) name: NamedReference,
    /// Path of the file, as written.
    pub(crate) file: NamedReference,
    /// `package://` folders, as written.
    pub(crate) packages: Vec<(NamedReference, NamedReference)>,
    /// How the root is connected to the world.
    pub(crate) root: RootEntry,
    /// Pose of the root in the world.
    pub(crate) pose: Isometry3<f64>,
    /// Initial velocity of a floating root, m/s, world axes.
    pub(crate) velocity: Vector3<f64>,
    /// Initial angular velocity of a floating root, rad/s, world axes.
    pub(crate) angular_velocity: Vector3<f64>,
    /// Whether gravity acts on it.
    pub(crate) gravity: GravityEntry,
    /// Shares of the weight of its links that are carried.
    pub(crate) gravity_compensation: CompensationEntry,
    /// Surface material of shapes for which the file gives none.
    pub(crate) surface: Surface,
    /// Colour of all shapes.
    pub(crate) color: Option<[f64; 4]>,
    /// Colours of single links.
    pub(crate) colors: Vec<(NamedReference, [f64; 4])>,
    /// Named joint positions, rad or m.
    pub(crate) keyframes: Vec<(NamedReference, JointValues)>,
    /// Attached robots, in order.
    pub(crate) attached: Vec<AttachedEntry>,
    /// Initial joint positions.
    pub(crate) positions: Positions,
    /// Initial joint velocities, rad/s or m/s; as many as the joint has degrees of freedom.
    pub(crate) velocities: JointValues,
    /// Locked joints.
    pub(crate) held: Vec<NamedReference>,
    /// PD gains by joint name or `*`.
    pub(crate) actuators: Vec<(NamedReference, ActuatorEntry)>,
    /// Width of the play between a joint and what drives it, rad or m.
    pub(crate) backlash: Vec<(NamedReference, f64)>,
}

/// Initial joint positions.
#[derive(Clone, Debug)]
pub(crate) enum Positions {
    /// Of some joints, rad or m; as many as each has coordinates.
    Given(JointValues),
    /// Those of a keyframe of the robot's file.
    OfFile(NamedReference),
}

/// A robot that is welded to another.
#[derive(Clone, Debug)]
pub(crate) struct AttachedEntry {
    /// Its name within the model.
    pub(crate) name: NamedReference,
    /// Path of the file, as written.
    pub(crate) file: NamedReference,
    /// The link or frame to which it is welded.
    pub(crate) on: NamedReference,
    /// Pose of its root in the frame of the carrying link.
    pub(crate) pose: Isometry3<f64>,
}

/// How the root of a robot is connected to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RootEntry {
    /// Welded.
    Fixed,
    /// Free.
    Floating,
}

/// PD control of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ActuatorEntry {
    /// Proportional gain Kp; `None`: that of the file.
    pub(crate) proportional: Option<f64>,
    /// Derivative gain Kd; `None`: that of the file.
    pub(crate) derivative: Option<f64>,
    /// Effort limit; `None`: that of the file.
    pub(crate) effort_limit: Option<f64>,
}

/// An element of `[[models]]`.
pub(super) fn model(
    context: &Context,
    item: &Item<'_>,
    materials: &Materials,
) -> Result<ModelEntry, SceneError> {
    let mut table = item.table(&MODEL)?;
    let name = table.required("name")?.new_name()?;
    table.called(&name.name);
    let keyframes = match table.optional("keyframes") {
        None => Vec::new(),
        Some(item) => (item.entries()?.into_iter())
            .map(|(name, values)| Ok((name, joint_values(&values)?)))
            .collect::<Result<_, SceneError>>()?,
    };
    let positions = match table.optional("positions") {
        None => Positions::Given(Vec::new()),
        Some(item) if item.is_text() => {
            let reference = item.reference()?;
            let mut known = keyframes.iter();
            match known.find(|(name, _)| name.name == reference.name) {
                Some((_, values)) => Positions::Given(values.clone()),
                None => Positions::OfFile(reference),
            }
        }
        Some(item) => Positions::Given(joint_values(&item)?),
    };
    let velocities = table.optional("velocities");
    let velocities = velocities.map_or(Ok(Vec::new()), |item| joint_values(&item))?;
    let entry = ModelEntry {
        file: table.required("file")?.reference()?,
        packages: match table.optional("packages") {
            None => Vec::new(),
            Some(item) => item
                .entries()?
                .into_iter()
                .map(|(package, path)| Ok((package, path.reference()?)))
                .collect::<Result<_, SceneError>>()?,
        },
        root: table.choice_or_first(
            "root",
            &[
                ("fixed", RootEntry::Fixed),
                ("floating", RootEntry::Floating),
            ],
        )?,
        pose: pose(table.optional("pose").as_ref())?,
        velocity: table.vector3_or_zero("velocity")?,
        angular_velocity: table.vector3_or_zero("angular_velocity")?,
        gravity: table.choice_or_first("gravity", &GRAVITY)?,
        gravity_compensation: compensation(table.optional("gravity_compensation").as_ref())?,
        surface: materials.surface(context, table.optional("material").as_ref())?,
        color: super::body::color(&table)?,
        attached: match table.optional("attached") {
            None => Vec::new(),
            Some(item) => item
                .tables()?
                .iter()
                .map(attached)
                .collect::<Result<_, _>>()?,
        },
        colors: match table.optional("colors") {
            None => Vec::new(),
            Some(item) => (item.entries()?.into_iter())
                .map(|(link, value)| Ok((link, super::body::rgba(&value)?)))
                .collect::<Result<_, SceneError>>()?,
        },
        keyframes,
        positions,
        velocities,
        held: table
            .optional("held")
            .map_or(Ok(Vec::new()), |item| item.references())?,
        actuators: match table.optional("actuators") {
            None => Vec::new(),
            Some(item) => item
                .entries()?
                .into_iter()
                .map(|(joint, value)| Ok((joint.clone(), actuator(&joint.name, &value)?)))
                .collect::<Result<_, SceneError>>()?,
        },
        backlash: match table.optional("backlash") {
            None => Vec::new(),
            Some(item) => (item.entries()?.into_iter())
                .map(|(joint, value)| Ok((joint, value.non_negative()?)))
                .collect::<Result<_, SceneError>>()?,
        },
        name,
    };
    if entry.gravity == GravityEntry::Absent
        && entry.gravity_compensation != CompensationEntry::FromFile
    {
        return Err(table.conflict(
            "`gravity_compensation` does nothing with `gravity = \"absent\"`; drop one of the two",
        ));
    }
    let moves = entry.velocity.norm() > 0.0 || entry.angular_velocity.norm() > 0.0;
    if entry.root == RootEntry::Fixed && moves {
        return Err(
            table.conflict("a fixed root has no velocity; set `root = \"floating\"` or drop it")
        );
    }
    table.finish();
    Ok(entry)
}

fn compensation(item: Option<&Item<'_>>) -> Result<CompensationEntry, SceneError> {
    let Some(item) = item else {
        return Ok(CompensationEntry::FromFile);
    };
    if !item.is_table() {
        return Ok(CompensationEntry::Whole(item.number()?));
    }
    let shares = item.entries()?.into_iter();
    let shares = shares.map(|(link, value)| Ok((link, value.number()?)));
    Ok(CompensationEntry::Links(
        shares.collect::<Result<_, SceneError>>()?,
    ))
}

fn joint_values(item: &Item<'_>) -> Result<JointValues, SceneError> {
    let entries = item.entries()?.into_iter();
    entries
        .map(|(joint, value)| Ok((joint, value.number_or_list()?)))
        .collect()
}

/// The keyframe that `item` names.
pub(super) fn keyframe<'a>(
    keyframes: &'a [(NamedReference, JointValues)],
    item: &Item<'_>,
) -> Result<&'a JointValues, SceneError> {
    let reference = item.reference()?;
    let known = || keyframes.iter().map(|(name, _)| name.name.as_str());
    let found = keyframes
        .iter()
        .find(|(name, _)| name.name == reference.name);
    found.map(|(_, values)| values).ok_or_else(|| {
        item.error(SceneFault::UnknownName {
            what: "keyframe".into(),
            remedy: remedy(&reference.name, known()),
            name: reference.name,
        })
    })
}

fn attached(item: &Item<'_>) -> Result<AttachedEntry, SceneError> {
    let mut table = item.table(&ATTACHED)?;
    let name = table.required("name")?.new_name()?;
    table.called(&name.name);
    let entry = AttachedEntry {
        name,
        file: table.required("file")?.reference()?,
        on: table.required("on")?.reference()?,
        pose: pose(table.optional("pose").as_ref())?,
    };
    table.finish();
    Ok(entry)
}

fn actuator(joint: &str, item: &Item<'_>) -> Result<ActuatorEntry, SceneError> {
    let mut table = item.table(&ACTUATOR)?;
    table.called(joint);
    let effort_limit = match table.optional("effort_limit") {
        None => None,
        Some(item) => {
            let limit = item.number_or_infinity()?;
            if limit < 0.0 {
                return Err(item.out_of_range(limit, "must not be negative; `inf` is allowed"));
            }
            Some(limit)
        }
    };
    let gain = |key| -> Result<Option<f64>, SceneError> {
        let item = table.optional(key);
        item.map(|item| item.non_negative()).transpose()
    };
    let entry = ActuatorEntry {
        proportional: gain("proportional")?,
        derivative: gain("derivative")?,
        effort_limit,
    };
    table.finish();
    Ok(entry)
}
