//! Image sensors of a scene: what carries them, in the recording.

use super::assembly::{Assembly, FrameRef};
use crate::recording::{Anchor, BodyIdx, ImageSensor};
use crate::scene::{Scene, SceneError};

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
