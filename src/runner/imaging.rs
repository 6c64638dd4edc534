//! Image sensors and cameras of a scene: what carries them, and what they follow, in the recording.

use super::assembly::{Assembly, FrameRef};
use crate::recording::{Anchor, BodyIdx, Camera, ImageSensor};
use crate::scene::{NameKind, NamedReference, Scene, SceneError};

/// The image sensors of `scene`; the links that carry them are recorded.
pub(super) fn sensors(
    scene: &Scene,
    assembly: &mut Assembly,
) -> Result<Vec<ImageSensor>, SceneError> {
    let mut sensors = Vec::new();
    for entry in &scene.image_sensors {
        let (anchor, X_BF) = match assembly.directory.frame(scene, &entry.on)? {
            FrameRef::World(X_WF) => (Anchor::World, X_WF),
            FrameRef::Link { body, link, X_LF } => {
                let row = assembly.picture.row_of(&entry.on.name, body, link);
                (Anchor::Body(BodyIdx(row)), X_LF)
            }
        };
        sensors.push(ImageSensor {
            name: entry.name.name.clone(),
            anchor,
            X_BS: X_BF * entry.pose,
            size: entry.size,
            field_of_view: entry.field_of_view,
        });
    }
    Ok(sensors)
}

/// The cameras of `scene`; the links that they follow are recorded.
pub(super) fn cameras(scene: &Scene, assembly: &mut Assembly) -> Result<Vec<Camera>, SceneError> {
    let mut cameras = Vec::new();
    for entry in &scene.cameras {
        let follow = entry.follow.as_ref();
        cameras.push(Camera {
            name: entry.name.clone(),
            place: entry.place,
            field_of_view: entry.field_of_view,
            follow: follow
                .map(|reference| followed(scene, assembly, reference))
                .transpose()?,
        });
    }
    Ok(cameras)
}

/// The name in the recording of what a camera follows.
fn followed(
    scene: &Scene,
    assembly: &mut Assembly,
    reference: &NamedReference,
) -> Result<String, SceneError> {
    let allowed = [NameKind::Body, NameKind::Model, NameKind::Soft];
    let (kind, head, _) = scene.names.find(&scene.text, reference, &allowed)?;
    if kind == NameKind::Soft {
        return Ok(head.to_owned());
    }
    Ok(match assembly.directory.frame(scene, reference)? {
        FrameRef::World(_) => reference.name.clone(),
        FrameRef::Link { body, link, .. } => {
            let row = assembly.picture.row_of(&reference.name, body, link);
            assembly.picture.names()[row].clone()
        }
    })
}
