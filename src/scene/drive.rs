//! Targets of joints and end effectors, prescribed motion, efforts and loads over time.

mod joints;
mod tables;

use std::f64::consts::PI;

use nalgebra::{Isometry3, Point3, Vector3};

use super::error::SceneError;
use super::item::{Item, NamedReference};
use super::model::ModelEntry;
use super::pose::pose_and_angles;
use super::read::each;
use super::schema::TableSchema;
use super::table::TableReader;
use super::track::{PoseTrack, Track, TrackInterpolation};
use joints::joints;
pub(super) use tables::{AT, INTERPOLATION, TABLES};
use tables::{
    BODY_MOTIONS, EFFORTS_KNOT, FRAME_TARGETS, JOINT_EFFORTS, JOINT_MOTIONS, JOINT_TARGETS,
    LOAD_KNOT, LOADS, POSE_KNOT, POSITIONS_KNOT,
};

/// Values over time for some joints of a model.
///
/// ```
/// use pliant::scene::{Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a reaching arm"
///     simulation = { smoke_s = 1 }
///     [[models]]
///     name = "arm"
///     file = "robots/arm7.urdf"
///     actuators = { "*" = { proportional = 100, derivative = 10 } }
///     [[joint_targets]]
///     model = "arm"
///     joints = ["joint_2", "joint_4"]
///     interpolation = "hold"
///     knots = [{ at_s = 0, positions = [0, 0] }, { at_s = 0.5, positions = [0.6, -0.4] }]
/// "#;
/// let reach = &Scene::parse("arm.toml", text, &SceneOptions::default())?.drives.joint_targets[0];
/// assert_eq!((reach.model.name.as_str(), reach.joints[1].name.as_str()), ("arm", "joint_4"));
/// // A column of the track for each joint.
/// let mut targets = [0.0; 2];
/// reach.track.value(0.6, &mut targets);
/// assert_eq!(targets, [0.6, -0.4]);
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
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
pub(crate) struct FrameTarget {
    /// `MODEL/FRAME`.
    pub(crate) frame: NamedReference,
    /// Whether the orientation is controlled.
    pub(crate) follow: Follow,
    /// Target poses in the world.
    pub(crate) track: PoseTrack,
}

/// Which part of a pose is controlled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follow {
    /// Position and orientation.
    Pose,
    /// Position only.
    Position,
}

/// Prescribed motion of a body.
#[derive(Clone, Debug)]
pub(crate) struct BodyMotion {
    /// One of `[[bodies]]`.
    pub(crate) body: NamedReference,
    /// Its pose over time.
    pub(crate) track: PoseTrack,
}

/// Axes of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadAxes {
    World,
    /// Those of what the load is on.
    Body,
}

/// Force and torque over time.
#[derive(Clone, Debug)]
pub(crate) struct LoadEntry {
    /// A body or link.
    pub(crate) on: NamedReference,
    /// Point of application, in the frame of the body, m.
    pub(crate) point: Point3<f64>,
    /// Axes of force and torque.
    pub(crate) axes: LoadAxes,
    /// Force (N), then torque (N·m).
    pub(crate) track: Track,
}

/// All drives of a scene.
///
/// ```
/// use pliant::scene::{Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a pushed arm"
///     simulation = { smoke_s = 1 }
///     [[models]]
///     name = "arm"
///     file = "robots/arm7.urdf"
///     [[joint_efforts]]
///     model = "arm"
///     joints = ["joint_2"]
///     interpolation = "linear"
///     knots = [{ at_s = 0, efforts = [8] }, { at_s = 0.5, efforts = [0] }]
/// "#;
/// let drives = Scene::parse("arm.toml", text, &SceneOptions::default())?.drives;
/// assert_eq!((drives.joint_efforts.len(), drives.joint_targets.len()), (1, 0));
/// let mut effort = [0.0];
/// drives.joint_efforts[0].track.value(0.25, &mut effort);
/// assert_eq!(effort, [4.0]); // N·m
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Drives {
    /// Position targets of actuators.
    pub joint_targets: Vec<JointDrive>,
    /// Pose targets of end effectors.
    pub(crate) frame_targets: Vec<FrameTarget>,
    /// Feed-forward efforts.
    pub joint_efforts: Vec<JointDrive>,
    /// Prescribed joint motion.
    pub joint_motions: Vec<JointDrive>,
    /// Prescribed body motion.
    pub(crate) body_motions: Vec<BodyMotion>,
    /// Forces and torques.
    pub(crate) loads: Vec<LoadEntry>,
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

/// How a rotation gets from one knot to the next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turns {
    /// Along the shorter way, which angles that turn by π or more lack, or which is another than they say.
    ShorterWay,
    /// At once, or it does not matter.
    Jump,
}

impl Turns {
    fn of(interpolation: TrackInterpolation) -> Self {
        match interpolation {
            TrackInterpolation::Linear | TrackInterpolation::Cubic => Self::ShorterWay,
            TrackInterpolation::Hold => Self::Jump,
        }
    }
}

fn pose_knots(
    table: &TableReader<'_>,
    turns: Turns,
) -> Result<Vec<(f64, Isometry3<f64>)>, SceneError> {
    let mut before: Option<Vector3<f64>> = None;
    read_knots(&table.required("knots")?, &POSE_KNOT, |knot| {
        let item = knot.required("pose")?;
        let (pose, rpy) = pose_and_angles(&item)?;
        if let (Some(from), Some(to)) = (before, rpy)
            && turns == Turns::ShorterWay
        {
            let turn = (to - from).amax();
            // Half a turn, but for round-off.
            if turn > PI - 1e-9 {
                return Err(item.out_of_range(
                    format!("a turn of {turn:.4} rad from the knot before"),
                    "must be less than π for each angle of `rpy`, as rotations take the shorter way; add knots between, or count the angles on past π",
                ));
            }
        }
        before = rpy;
        Ok(pose)
    })
}

fn frame_target(item: &Item<'_>) -> Result<FrameTarget, SceneError> {
    let table = item.table(&FRAME_TARGETS)?;
    let interpolation = table.choice_or_first("interpolation", &INTERPOLATIONS)?;
    let follow = table.choice_or_first(
        "follow",
        &[("pose", Follow::Pose), ("position", Follow::Position)],
    )?;
    let turns = match follow {
        Follow::Pose => Turns::of(interpolation),
        Follow::Position => Turns::Jump,
    };
    let target = FrameTarget {
        frame: table.required("frame")?.reference()?,
        follow,
        track: PoseTrack::new(interpolation, &pose_knots(&table, turns)?),
    };
    table.finish();
    Ok(target)
}

fn body_motion(item: &Item<'_>) -> Result<BodyMotion, SceneError> {
    let table = item.table(&BODY_MOTIONS)?;
    let interpolation = table.choice_or_first("interpolation", &INTERPOLATIONS)?;
    let motion = BodyMotion {
        body: table.required("body")?.reference()?,
        track: PoseTrack::new(
            interpolation,
            &pose_knots(&table, Turns::of(interpolation))?,
        ),
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
        axes: table.choice_or_first(
            "axes",
            &[("world", LoadAxes::World), ("body", LoadAxes::Body)],
        )?,
        track: Track::new(interpolation, &knots),
    };
    table.finish();
    Ok(load)
}
