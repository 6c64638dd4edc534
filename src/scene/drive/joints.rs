//! Values of joints over time: from knots, keyframes or a file.

use super::{INTERPOLATIONS, JointDrive, read_knots};
use crate::scene::error::SceneError;
use crate::scene::item::{Item, NamedReference};
use crate::scene::model::{JointValues, ModelEntry, keyframe};
use crate::scene::schema::TableSchema;
use crate::scene::table::TableReader;
use crate::scene::track::Track;
use crate::scene::trajectory::Columns;

pub(super) fn joints(
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
