//! The keys of drives.

use crate::scene::schema::{Key, REQUIRED, TableSchema, ValueKind};

pub(in crate::scene) static TABLES: [&TableSchema; 10] = [
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
pub(in crate::scene) const INTERPOLATION: Key = Key {
    name: "interpolation",
    value: ValueKind::Choice(&["cubic", "linear", "hold"]),
    unit: "",
    default: "`cubic`",
    about: "interpolation between knots: smooth without overshoot, linear, or piecewise constant; values are constant before the first and after the last knot",
};
pub(in crate::scene) const AT: Key = Key {
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

pub(super) static JOINT_TARGETS: TableSchema = TableSchema {
    name: "[[joint_targets]]",
    keys: &[
        MODEL,
        JOINTS,
        INTERPOLATION,
        FILE,
        knots_or_file("`{ at_s, positions }`: where the actuators of these joints shall be"),
    ],
};
pub(super) static POSITIONS_KNOT: TableSchema = TableSchema {
    name: "[[joint_targets.knots]], [[joint_motions.knots]]",
    keys: &[AT, POSITIONS, KEYFRAME],
};
pub(super) static FRAME_TARGETS: TableSchema = TableSchema {
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
pub(super) static POSE_KNOT: TableSchema = TableSchema {
    name: "[[frame_targets.knots]], [[body_motions.knots]]",
    keys: &[
        AT,
        Key {
            name: "pose",
            value: ValueKind::Described("pose"),
            unit: "",
            default: REQUIRED,
            about: "in the world. Unless `interpolation` is `hold`, rotations take the shorter way from knot to knot: an angle of `rpy` that changes by π or more between two knots is an error where the orientation counts. `quat_wxyz` holds at most half a turn, so split longer turns over several knots",
        },
    ],
};
pub(super) static JOINT_EFFORTS: TableSchema = TableSchema {
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
pub(super) static EFFORTS_KNOT: TableSchema = TableSchema {
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
pub(super) static JOINT_MOTIONS: TableSchema = TableSchema {
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
pub(super) static BODY_MOTIONS: TableSchema = TableSchema {
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
pub(super) static LOADS: TableSchema = TableSchema {
    name: "[[loads]]",
    keys: &[
        Key {
            name: "on",
            value: ValueKind::Described("name"),
            unit: "",
            default: REQUIRED,
            about: "a body, `MODEL/LINK`, or `SOFT/REGION`. A region shares the force by the area at the start of the faces whose corners it contains; without such a face by volume, along a line by length, between single points equally. A whole soft body shares it by mass",
        },
        Key {
            name: "point",
            value: ValueKind::Vector3,
            unit: "m",
            default: "[0, 0, 0]",
            about: "point of application, in the frame of the body",
        },
        Key {
            name: "axes",
            value: ValueKind::Choice(&["world", "body"]),
            unit: "",
            default: "`world`",
            about: "axes of force and torque; `body`: the axes of the body, link or frame in the middle of each step, as of a thruster. For rigid bodies",
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
pub(super) static LOAD_KNOT: TableSchema = TableSchema {
    name: "[[loads.knots]]",
    keys: &[
        AT,
        Key {
            name: "force",
            value: ValueKind::Vector3,
            unit: "N",
            default: "[0, 0, 0]",
            about: "in `axes`",
        },
        Key {
            name: "torque",
            value: ValueKind::Vector3,
            unit: "N·m",
            default: "[0, 0, 0]",
            about: "in `axes`",
        },
    ],
};
