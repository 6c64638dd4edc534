//! Images of a simulation.

use pliant::recording::Image;
use pliant::runner::{ImageError, View};

use super::Held;

/// Seen by a camera of the scene, or from an eye to a target with a field of view.
pub(super) fn taken(
    held: &mut Held,
    size: [usize; 2],
    camera: Option<String>,
    at: Option<([f64; 3], [f64; 3], f64)>,
) -> Result<Image, ImageError> {
    let view = match (camera, at) {
        (_, Some((eye, target, field_of_view))) => View::At {
            eye: eye.into(),
            target: target.into(),
            field_of_view,
        },
        (Some(name), None) => View::Camera(name),
        (None, None) => View::FirstCamera,
    };
    held.image(&view, size)
}
