//! Images of a recording by ray casting: colour and depth as a camera on a body sees them.
//!
//! One ray goes through the centre of each pixel. Colours are those of the visuals, lit from the camera's side; there are no shadows, and what is
//! more transparent than opaque is not seen.

mod bvh;
mod framing;
mod png;
mod primitive;
mod view;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use nalgebra::Isometry3;

use super::npz::NpzWriter;
use super::output::whole_file;
use super::{Anchor, Recording, RecordingError};
pub(crate) use framing::framed;
pub use view::Image;
pub(crate) use view::Stage;

/// A camera that takes an image of every frame. It looks along the z axis of its own frame S, with x to the right and y down.
///
/// ```
/// use nalgebra::Isometry3;
/// use pliant::recording::{Anchor, ImageSensor};
///
/// // 480 rows over a vertical field of view of 90°: the focal length is half of the height.
/// let sensor = ImageSensor {
///     name: "wrist".into(),
///     anchor: Anchor::World,
///     X_BS: Isometry3::identity(),
///     size: [640, 480],
///     field_of_view: std::f64::consts::FRAC_PI_2,
/// };
/// assert!((sensor.focal_length() - 240.0).abs() < 1e-12); // pixels
/// ```
#[allow(
    non_snake_case,
    reason = "monogram frame names such as X_BS are the field's notation"
)]
#[derive(Clone, Debug, PartialEq)]
pub struct ImageSensor {
    /// Name, of which the names of its files are made.
    pub name: String,
    /// What it is attached to.
    pub anchor: Anchor,
    /// Its pose in the frame of the anchor.
    pub X_BS: Isometry3<f64>,
    /// Width and height, pixels.
    pub size: [usize; 2],
    /// Vertical field of view, rad, in (0, π).
    pub field_of_view: f64,
}

impl ImageSensor {
    /// What is wrong with it in `recording`, if anything.
    pub(super) fn fault(&self, recording: &Recording) -> Option<String> {
        let n_bodies = recording.bodies().len();
        let sensors = recording.image_sensors();
        if matches!(self.anchor, Anchor::Body(body) if body.0 >= n_bodies) {
            return Some(format!("it is on a body beyond the last of {n_bodies}"));
        }
        if self.size.contains(&0) {
            return Some("its images have no pixels".into());
        }
        if !(self.field_of_view > 0.0 && self.field_of_view < std::f64::consts::PI) {
            let reason = format!(
                "its field of view of {} rad is not in (0, π)",
                self.field_of_view
            );
            return Some(reason);
        }
        let is_taken = sensors.iter().any(|other| other.name == self.name);
        is_taken.then(|| "another image sensor has this name".into())
    }

    /// Focal length, pixels; the principal point is the centre of the image.
    pub fn focal_length(&self) -> f64 {
        0.5 * self.size[1] as f64 / (0.5 * self.field_of_view).tan()
    }
}

/// Writes the images of all sensors into `folder` and returns the files and folders.
pub(super) fn write(recording: &Recording, folder: &Path) -> Result<Vec<PathBuf>, RecordingError> {
    let mut written = Vec::new();
    for sensor in recording.image_sensors() {
        let pictures = folder.join(&sensor.name);
        fs::create_dir_all(&pictures).map_err(|error| RecordingError::write(&pictures, error))?;
        let archive = folder.join(format!("{}.npz", sensor.name));
        whole_file(&archive, |file| {
            let mut npz = NpzWriter::new(&archive, file);
            let times = recording.frames().times_s();
            npz.column("time", times.iter().copied())?;
            let focal_length = [sensor.focal_length()];
            npz.column("focal_length", focal_length.into_iter())?;
            let [width, height] = sensor.size;
            let shape = [times.len(), height, width];
            let stage = Stage::new(recording.visuals());
            npz.array::<f32>("depth", &shape, |array| {
                let mut number = 0;
                recording.frames().each(|frame| {
                    let image = stage.image(recording.visuals(), sensor, frame);
                    let file = pictures.join(format!("{number:05}.png"));
                    number += 1;
                    whole_file(&file, |out| {
                        let bytes = png::encode(sensor.size, &image.colors);
                        out.write_all(&bytes)
                            .map_err(|error| RecordingError::write(&file, error))
                    })?;
                    image.depths.iter().try_for_each(|depth| array.put(*depth))
                })
            })?;
            npz.finish()
        })?;
        written.extend([archive, pictures]);
    }
    Ok(written)
}

#[cfg(test)]
mod tests;
