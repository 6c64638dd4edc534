//! Poses: `{ position = [x, y, z], rpy = [roll, pitch, yaw] }`.

use std::f64::consts::TAU;

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};

use super::error::SceneError;
use super::item::Item;
use super::schema::{Key, TableSchema, ValueKind};

pub(super) static TABLES: [&TableSchema; 1] = [&POSE];

static POSE: TableSchema = TableSchema {
    name: "pose",
    keys: &[
        Key {
            name: "position",
            value: ValueKind::Vector3,
            unit: "m",
            default: "[0, 0, 0]",
            about: "where the frame's origin is",
        },
        Key {
            name: "rpy",
            value: ValueKind::Vector3,
            unit: "rad",
            default: "[0, 0, 0]",
            about: "roll, pitch, yaw about the fixed axes x, y, z in this order, as in URDF; for degrees write `\"30*deg\"`",
        },
        Key {
            name: "quat_wxyz",
            value: ValueKind::Described("4 numbers"),
            unit: "",
            default: "none",
            about: "instead of `rpy`: a unit quaternion, real part first",
        },
    ],
};

/// The pose of a table, or the identity.
pub(super) fn pose(item: Option<&Item<'_>>) -> Result<Isometry3<f64>, SceneError> {
    let Some(item) = item else {
        return Ok(Isometry3::identity());
    };
    Ok(pose_and_angles(item)?.0)
}

/// A pose, with its roll, pitch and yaw if they give it.
pub(super) fn pose_and_angles(
    item: &Item<'_>,
) -> Result<(Isometry3<f64>, Option<Vector3<f64>>), SceneError> {
    let table = item.table(&POSE)?;
    let position = table.vector3_or_zero("position")?;
    let rpy = table.vector3_or_zero("rpy")?;
    // Copies may turn more than once, by multiples of pi.
    let in_degrees = |angle: &&f64| angle.abs() > TAU && angle.fract() == 0.0;
    if let Some(angle) = rpy.iter().find(in_degrees) {
        return Err(table.conflict(format!(
            "`rpy` has the angle {angle} rad, more than a turn; for degrees write \"{angle}*deg\""
        )));
    }
    let quaternion = table.optional("quat_wxyz");
    let angles = quaternion.is_none().then_some(rpy);
    let rotation = match quaternion {
        None => UnitQuaternion::from_euler_angles(rpy.x, rpy.y, rpy.z),
        Some(_) if table.optional("rpy").is_some() => {
            return Err(table.conflict("`rpy` and `quat_wxyz` are both given; keep one"));
        }
        Some(item) => unit_quaternion(&item)?,
    };
    table.finish();
    let pose = Isometry3::from_parts(Translation3::from(position), rotation);
    Ok((pose, angles))
}

fn unit_quaternion(item: &Item<'_>) -> Result<UnitQuaternion<f64>, SceneError> {
    let [w, x, y, z] = item.numbers::<4>()?;
    let q = Quaternion::new(w, x, y, z);
    // Quaternions with three digits have a norm that is off by up to 1e-3; a larger error is a mistake, such as xyzw order.
    if (q.norm() - 1.0).abs() > 1e-2 {
        return Err(item.out_of_range(
            format!("[{w}, {x}, {y}, {z}]"),
            &format!("must have length 1, it has {:.4}", q.norm()),
        ));
    }
    Ok(UnitQuaternion::from_quaternion(q))
}
