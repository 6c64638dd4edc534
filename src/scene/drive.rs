//! Targets of joints and end effectors, prescribed motion, efforts and loads over time.

use nalgebra::{Isometry3, Point3};

use super::error::SceneError;
use super::item::{Item, NamedReference};
use super::model::{JointValues, ModelEntry, keyframe};
use super::pose::pose;
use super::read::each;
use super::schema::{Key, REQUIRED, TableSchema, ValueKind};
use super::table::TableReader;
use super::track::{PoseTrack, Track, TrackInterpolation};
use super::trajectory::Columns;

pub(super) static TABLES: [&TableSchema; 10] = [
    &JOINT_TARGETS,
    &POSITIONS_KNOT,
    &FRAME_TARGETS,
    &POSE_KNOT,
    &JOINT_EFFORTS,
    &EFFORTS_KNOT,
    &JOINT_MOTIONS,
    &BODY_MOTIONS,
    &LOADS,
    &LOAD_KNOT,
];

const MODEL: Key = Key {
    name: "model",
    value: ValueKind::Described("name"),
    unit: "",
    default: REQUIRED,
    about: "one of `[[models]]`",
};
const JOINTS: Key = Key {
    name: "joints",
    value: ValueKind::Described("list of names"),
    unit: "",
    default: "all columns of `file`, or all joints of the first keyframe",
    about: "joints of that model with one degree of freedom each",
};
const FILE: Key = Key {
    name: "file",
    value: ValueKind::Described("path"),
    unit: "",
    default: "none",
    about: "a file in place of `knots`, relative to the scene file or the working directory: CSV, whose first line names the columns `time_s` (s) and joints, or a NumPy archive (`.npz`) with an array for each of them",
};
pub(super) const INTERPOLATION: Key = Key {
    name: "interpolation",
    value: ValueKind::Choice(&["cubic", "linear", "hold"]),
    unit: "",
    default: "`cubic`",
    about: "interpolation between knots: smooth without overshoot, linear, or piecewise constant; values are constant before the first and after the last knot",
};
pub(super) const AT: Key = Key {
    name: "at_s",
    value: ValueKind::Number,
    unit: "s",
    default: REQUIRED,
    about: "time of the knot; times are ascending",
};
const POSITIONS: Key = Key {
    name: "positions",
    value: ValueKind::Described("list of numbers"),
    unit: "rad or m",
    default: "those of `keyframe`",
    about: "one for each joint",
};

const KEYFRAME: Key = Key {
    name: "keyframe",
    value: ValueKind::Described("name"),
    unit: "",
    default: "none",
    about: "instead of `positions`: a keyframe of the model, which has a value for each joint",
};

const fn knots(about: &'static str) -> Key {
    Key {
        name: "knots",
        value: ValueKind::Described("list of tables"),
        unit: "",
        default: REQUIRED,
        about,
    }
}

const fn knots_or_file(about: &'static str) -> Key {
    Key {
        default: "those of `file`",
        ..knots(about)
    }
}

static JOINT_TARGETS: TableSchema = TableSchema {
    name: "[[joint_targets]]",
    keys: &[
        MODEL,
        JOINTS,
        INTERPOLATION,
        FILE,
        knots_or_file("`{ at_s, positions }`: where the actuators of these joints shall be"),
    ],
};
static POSITIONS_KNOT: TableSchema = TableSchema {
    name: "[[joint_targets.knots]], [[joint_motions.knots]]",
    keys: &[AT, POSITIONS, KEYFRAME],
};
static FRAME_TARGETS: TableSchema = TableSchema {
    name: "[[frame_targets]]",
    keys: &[
        Key {
            name: "frame",
            value: ValueKind::Described("`MODEL/FRAME`"),
            unit: "",
            default: REQUIRED,
            about: "a link or named frame; targets of the actuators between it and the root follow by differential inverse kinematics",
        },
        Key {
            name: "follow",
            value: ValueKind::Choice(&["pose", "position"]),
            unit: "",
            default: "`pose`",
            about: "whether the orientation is controlled, too",
        },
        INTERPOLATION,
        knots(
            "`{ at_s, pose }`: where it shall be. With the first knot at 0 the robot starts there, its joints solved for from `positions`; otherwise joint targets hold until then",
        ),
    ],
};
static POSE_KNOT: TableSchema = TableSchema {
    name: "[[frame_targets.knots]], [[body_motions.knots]]",
    keys: &[
        AT,
        Key {
            name: "pose",
            value: ValueKind::Described("pose"),
            unit: "",
            default: REQUIRED,
            about: "in the world",
        },
    ],
};
static JOINT_EFFORTS: TableSchema = TableSchema {
    name: "[[joint_efforts]]",
    keys: &[
        MODEL,
        JOINTS,
        INTERPOLATION,
        FILE,
        knots_or_file(
            "`{ at_s, efforts }`: added to what the actuators of these joints do, within their limits; on joints without an actuator within the file's limit",
        ),
    ],
};
static EFFORTS_KNOT: TableSchema = TableSchema {
    name: "[[joint_efforts.knots]]",
    keys: &[
        AT,
        Key {
            name: "efforts",
            value: ValueKind::Described("list of numbers"),
            unit: "N·m or N",
            default: REQUIRED,
            about: "one for each joint",
        },
    ],
};
static JOINT_MOTIONS: TableSchema = TableSchema {
    name: "[[joint_motions]]",
    keys: &[
        MODEL,
        JOINTS,
        INTERPOLATION,
        FILE,
        knots_or_file(
            "`{ at_s, positions }`: exactly where these joints are, whatever it takes; they start at their first value",
        ),
    ],
};
static BODY_MOTIONS: TableSchema = TableSchema {
    name: "[[body_motions]]",
    keys: &[
        Key {
            name: "body",
            value: ValueKind::Described("name"),
            unit: "",
            default: REQUIRED,
            about: "one of `[[bodies]]`",
        },
        INTERPOLATION,
        knots(
            "`{ at_s, pose }`: exactly where the body is, whatever it takes; it starts at the first pose",
        ),
    ],
};
static LOADS: TableSchema = TableSchema {
    name: "[[loads]]",
    keys: &[
        Key {
            name: "on",
            value: ValueKind::Described("name"),
            unit: "",
            default: REQUIRED,
            about: "a body, `MODEL/LINK`, or `SOFT/REGION`, whose points share the force equally",
        },
        Key {
            name: "point",
            value: ValueKind::Vector3,
            unit: "m",
            default: "[0, 0, 0]",
            about: "point of application, in the frame of the body",
        },
        Key {
            name: "interpolation",
            value: ValueKind::Choice(&["linear", "cubic", "hold"]),
            unit: "",
            default: "`linear`",
            about: "as above",
        },
        knots("`{ at_s, force, torque }`"),
    ],
};
static LOAD_KNOT: TableSchema = TableSchema {
    name: "[[loads.knots]]",
    keys: &[
        AT,
        Key {
            name: "force",
            value: ValueKind::Vector3,
            unit: "N",
            default: "[0, 0, 0]",
            about: "world axes",
        },
        Key {
            name: "torque",
            value: ValueKind::Vector3,
            unit: "N·m",
            default: "[0, 0, 0]",
            about: "world axes",
        },
    ],
};

/// Values over time for some joints of a model.
#[derive(Clone, Debug)]
pub struct JointDrive {
    /// The model.
    pub model: NamedReference,
    /// Its joints.
    pub joints: Vec<NamedReference>,
    /// One value for each joint.
    pub track: Track,
}

/// Target poses of a frame.
#[derive(Clone, Debug)]
pub struct FrameTarget {
    /// `MODEL/FRAME`.
    pub frame: NamedReference,
    /// Whether the orientation is controlled.
    pub follow: Follow,
    /// Target poses in the world.
    pub track: PoseTrack,
}

/// Which part of a pose is controlled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// Position and orientation.
    Pose,
    /// Position only.
    Position,
}

/// Prescribed motion of a body.
#[derive(Clone, Debug)]
pub struct BodyMotion {
    /// One of `[[bodies]]`.
    pub body: NamedReference,
    /// Its pose over time.
    pub track: PoseTrack,
}

/// Force and torque over time.
#[derive(Clone, Debug)]
pub struct LoadEntry {
    /// A body or link.
    pub on: NamedReference,
    /// Point of application, in the frame of the body, m.
    pub point: Point3<f64>,
    /// Force (N), then torque (N·m), world axes.
    pub track: Track,
}

/// All drives of a scene.
#[derive(Clone, Debug, Default)]
pub struct Drives {
    /// Position targets of actuators.
    pub joint_targets: Vec<JointDrive>,
    /// Pose targets of end effectors.
    pub frame_targets: Vec<FrameTarget>,
    /// Feed-forward efforts.
    pub joint_efforts: Vec<JointDrive>,
    /// Prescribed joint motion.
    pub joint_motions: Vec<JointDrive>,
    /// Prescribed body motion.
    pub body_motions: Vec<BodyMotion>,
    /// Forces and torques.
    pub loads: Vec<LoadEntry>,
}

pub(super) const INTERPOLATIONS: [(&str, TrackInterpolation); 3] = [
    ("cubic", TrackInterpolation::Cubic),
    ("linear", TrackInterpolation::Linear),
    ("hold", TrackInterpolation::Hold),
];
const LOAD_INTERPOLATIONS: [(&str, TrackInterpolation); 3] = [
    ("linear", TrackInterpolation::Linear),
    ("cubic", TrackInterpolation::Cubic),
    ("hold", TrackInterpolation::Hold),
];

/// Reads every drive of the scene `table`.
pub(super) fn drives(table: &TableReader<'_>, models: &[ModelEntry]) -> Result<Drives, SceneError> {
    Ok(Drives {
        joint_targets: each(table, "joint_targets", |item| {
            joints(item, models, &JOINT_TARGETS, &POSITIONS_KNOT, "positions")
        })?,
        frame_targets: each(table, "frame_targets", frame_target)?,
        joint_efforts: each(table, "joint_efforts", |item| {
            joints(item, models, &JOINT_EFFORTS, &EFFORTS_KNOT, "efforts")
        })?,
        joint_motions: each(table, "joint_motions", |item| {
            joints(item, models, &JOINT_MOTIONS, &POSITIONS_KNOT, "positions")
        })?,
        body_motions: each(table, "body_motions", body_motion)?,
        loads: each(table, "loads", load)?,
    })
}

/// The knots of a drive, each read by `value`, with ascending times.
pub(super) fn read_knots<T>(
    list: &Item<'_>,
    schema: &'static TableSchema,
    mut value: impl FnMut(&TableReader<'_>) -> Result<T, SceneError>,
) -> Result<Vec<(f64, T)>, SceneError> {
    let mut knots: Vec<(f64, T)> = Vec::new();
    for element in list.tables()? {
        let knot = element.table(schema)?;
        let at = knot.required("at_s")?;
        let at_s = at.number()?;
        if let Some((before, _)) = knots.last()
            && at_s <= *before
        {
            return Err(at.out_of_range(
                at_s,
                &format!("must be later than the knot before, {before} s"),
            ));
        }
        knots.push((at_s, value(&knot)?));
        knot.finish();
    }
    if knots.is_empty() {
        return Err(list.out_of_range("[]", "must hold at least one knot"));
    }
    Ok(knots)
}

fn joints(
    item: &Item<'_>,
    models: &[ModelEntry],
    schema: &'static TableSchema,
    knot_schema: &'static TableSchema,
    key: &'static str,
) -> Result<JointDrive, SceneError> {
    let table = item.table(schema)?;
    let model = table.required("model")?.reference()?;
    let file = table.optional("file");
    let columns = file.as_ref().map(Columns::open).transpose()?;
    let named = models.iter().find(|entry| entry.name.name == model.name);
    let keyframes = named.map_or(&[][..], |entry| &entry.keyframes);
    let joints = match (table.optional("joints"), &file, &columns) {
        (Some(list), ..) => named_joints(&list)?,
        (None, Some(file), Some(columns)) => columns.joints(file),
        (None, ..) => {
            let knots = table.optional("knots").filter(|_| key == "positions");
            let joints = knots.map(|list| joints_of_keyframe(&list, knot_schema, keyframes));
            let joints = joints.transpose()?.flatten();
            joints.ok_or_else(|| table.missing("joints"))?
        }
    };
    let interpolation = table.choice_or_first("interpolation", &INTERPOLATIONS)?;
    let knots = match (table.optional("knots"), &file, &columns) {
        (Some(_), Some(_), _) => {
            return Err(table.conflict("`file` and `knots` exclude each other; drop one of them"));
        }
        (None, Some(file), Some(columns)) => columns.knots(&joints, file)?,
        (None, ..) => return Err(table.missing("knots")),
        (Some(list), ..) => joint_knots(&list, knot_schema, key, &joints, keyframes)?,
    };
    table.finish();
    Ok(JointDrive {
        model,
        joints,
        track: Track::new(interpolation, &knots),
    })
}

fn named_joints(list: &Item<'_>) -> Result<Vec<NamedReference>, SceneError> {
    let joints = list.references()?;
    match joints.is_empty() {
        true => Err(list.out_of_range("[]", "must name at least one joint")),
        false => Ok(joints),
    }
}

/// Named joint positions of a model.
type Keyframes = [(NamedReference, JointValues)];

/// The joints of the first keyframe that a knot names; `None` if none does.
fn joints_of_keyframe(
    list: &Item<'_>,
    schema: &'static TableSchema,
    keyframes: &Keyframes,
) -> Result<Option<Vec<NamedReference>>, SceneError> {
    for element in list.tables()? {
        let knot = element.table(schema)?;
        if let Some(item) = knot.optional("keyframe") {
            let values = keyframe(keyframes, &item)?.iter();
            return Ok(Some(values.map(|(joint, _)| joint.clone()).collect()));
        }
    }
    Ok(None)
}

/// The value that a keyframe has for each of the joints.
fn values_of(
    keyframe: &JointValues,
    joints: &[NamedReference],
    knot: &TableReader<'_>,
) -> Result<Vec<f64>, SceneError> {
    let value = |joint: &NamedReference| {
        let found = keyframe.iter().find(|(name, _)| name.name == joint.name);
        match found.map(|(_, values)| values.as_slice()) {
            Some([value]) => Ok(*value),
            _ => Err(knot.conflict(format!(
                "the keyframe has no single value for the joint {:?}; add it, or name other `joints`",
                joint.name
            ))),
        }
    };
    joints.iter().map(value).collect()
}

/// Knots with one value at `key` for each of the joints, or a keyframe in place of positions.
fn joint_knots(
    list: &Item<'_>,
    schema: &'static TableSchema,
    key: &'static str,
    joints: &[NamedReference],
    keyframes: &Keyframes,
) -> Result<Vec<(f64, Vec<f64>)>, SceneError> {
    read_knots(list, schema, |knot| {
        let item = match key {
            "positions" => match (knot.optional(key), knot.optional("keyframe")) {
                (Some(_), Some(_)) => {
                    let reason = "`keyframe` and `positions` are both given; keep one";
                    return Err(knot.conflict(reason));
                }
                (None, Some(item)) => {
                    return values_of(keyframe(keyframes, &item)?, joints, knot);
                }
                (Some(item), None) => item,
                (None, None) => return Err(knot.missing(key)),
            },
            _ => knot.required(key)?,
        };
        let values = item.number_list()?;
        if values.len() == joints.len() {
            return Ok(values);
        }
        Err(item.out_of_range(
            format!("{} numbers", values.len()),
            &format!("must be one for each of the {} joints", joints.len()),
        ))
    })
}

fn pose_knots(table: &TableReader<'_>) -> Result<Vec<(f64, Isometry3<f64>)>, SceneError> {
    read_knots(&table.required("knots")?, &POSE_KNOT, |knot| {
        pose(Some(&knot.required("pose")?))
    })
}

fn frame_target(item: &Item<'_>) -> Result<FrameTarget, SceneError> {
    let table = item.table(&FRAME_TARGETS)?;
    let interpolation = table.choice_or_first("interpolation", &INTERPOLATIONS)?;
    let target = FrameTarget {
        frame: table.required("frame")?.reference()?,
        follow: table.choice_or_first(
            "follow",
            &[("pose", Follow::Pose), ("position", Follow::Position)],
        )?,
        track: PoseTrack::new(interpolation, &pose_knots(&table)?),
    };
    table.finish();
    Ok(target)
}

fn body_motion(item: &Item<'_>) -> Result<BodyMotion, SceneError> {
    let table = item.table(&BODY_MOTIONS)?;
    let interpolation = table.choice_or_first("interpolation", &INTERPOLATIONS)?;
    let motion = BodyMotion {
        body: table.required("body")?.reference()?,
        track: PoseTrack::new(interpolation, &pose_knots(&table)?),
    };
    table.finish();
    Ok(motion)
}

fn load(item: &Item<'_>) -> Result<LoadEntry, SceneError> {
    let table = item.table(&LOADS)?;
    let interpolation = table.choice_or_first("interpolation", &LOAD_INTERPOLATIONS)?;
    let mut pulls = false;
    let knots = read_knots(&table.required("knots")?, &LOAD_KNOT, |knot| {
        pulls |= knot.optional("force").is_some() || knot.optional("torque").is_some();
        let (force, torque) = (
            knot.vector3_or_zero("force")?,
            knot.vector3_or_zero("torque")?,
        );
        Ok(force
            .iter()
            .chain(torque.iter())
            .copied()
            .collect::<Vec<f64>>())
    })?;
    if !pulls {
        return Err(table.conflict("does nothing; give some of its knots `force` or `torque`"));
    }
    let load = LoadEntry {
        on: table.required("on")?.reference()?,
        point: table.vector3_or_zero("point")?.into(),
        track: Track::new(interpolation, &knots),
    };
    table.finish();
    Ok(load)
}
