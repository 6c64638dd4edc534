//! `<keyframe>`: named positions of all joints.

use super::File;
use super::world::Tree;
use crate::error::MultibodyError;
use crate::markup::Remarks;
use crate::robot_file::Keyframe;

/// The keys with a name and positions; of each other attribute there is a remark.
pub(super) fn read(
    file: &File<'_>,
    tree: &Tree,
    remarks: &mut Remarks,
) -> Result<Vec<Keyframe>, MultibodyError> {
    // Coordinates come in the order of the joints in the file, the depth of the tree first.
    let joints = tree.joints.iter().map(|joint| &joint.spec);
    let joints: Vec<_> = joints.filter(|joint| joint.kind.n_q() > 0).collect();
    let n_q: usize = joints.iter().map(|joint| joint.kind.n_q()).sum();
    let mut keyframes: Vec<Keyframe> = Vec::new();
    for key in file.in_sections("keyframe") {
        if key.tag != "key" {
            remarks.left_out(key);
            continue;
        }
        remarks.only_attributes(key, &["name", "qpos"]);
        let Some(name) = key.attribute("name").map(str::trim) else {
            remarks.ignored(&key.place, "<key> without a name");
            continue;
        };
        let subject = format!("key \"{name}\"");
        let Some(qpos) = key.numbers("qpos", usize::MAX, &subject)? else {
            remarks.ignored(&key.place, "<key> without qpos");
            continue;
        };
        if qpos.len() != n_q {
            let text = format!(
                "qpos has {} numbers, but the joints have {n_q} coordinates",
                qpos.len()
            );
            return Err(key.error(&subject, text));
        }
        if keyframes.iter().any(|earlier| earlier.name == name) {
            return Err(key.error(&subject, "is defined twice; names of keys must be unique"));
        }
        let mut rest = &qpos[..];
        let positions = joints.iter().map(|joint| {
            let (own, others) = rest.split_at(joint.kind.n_q());
            rest = others;
            (joint.name.clone(), own.to_vec())
        });
        keyframes.push(Keyframe {
            name: name.to_owned(),
            positions: positions.collect(),
        });
    }
    Ok(keyframes)
}
