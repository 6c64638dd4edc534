//! Cameras of the replay.

use nalgebra::{Point3, Vector3};

/// Vertical field of view of a camera that says nothing of it, rad.
pub const DEFAULT_FIELD_OF_VIEW: f64 = 0.6;

/// A camera of the replay; the first of a recording is that of the initial view.
///
/// ```
/// use nalgebra::Point3;
/// use pliant::recording::{Camera, CameraPlace, DEFAULT_FIELD_OF_VIEW, Recording};
///
/// let mut recording = Recording::new("a scene", Vec::new(), Vec::new(), Vec::new())?;
/// let (eye, target) = (Point3::new(2.0, 0.0, 1.0), Point3::origin());
/// let side = Camera { name: "side".into(), place: CameraPlace::At { eye, target }, field_of_view: DEFAULT_FIELD_OF_VIEW, follow: None };
/// recording.add_camera(side.clone())?;
/// // A camera looks somewhere.
/// assert!(recording.add_camera(Camera { name: "blind".into(), place: CameraPlace::At { eye, target: eye }, ..side }).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// Its name in the menu.
    pub name: String,
    /// Where it stands at first.
    pub place: CameraPlace,
    /// Vertical field of view, rad, between 0 and π.
    pub field_of_view: f64,
    /// Name of the body or of the visual that it moves along with.
    pub follow: Option<String>,
}

/// Where a camera stands at first; lengths in m, world frame.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant::recording::{Camera, CameraPlace, DEFAULT_FIELD_OF_VIEW, Recording, RecordingError};
///
/// let mut recording = Recording::new("a scene", Vec::new(), Vec::new(), Vec::new())?;
/// let camera = |name: &str, place: CameraPlace| Camera { name: name.into(), place, field_of_view: DEFAULT_FIELD_OF_VIEW, follow: None };
/// // From the right and a little above, as far away as is needed.
/// recording.add_camera(camera("side", CameraPlace::From(Vector3::new(1.0, 0.0, 0.3))))?;
/// recording.add_camera(camera("free", CameraPlace::Free))?;
/// let nowhere = camera("nowhere", CameraPlace::From(Vector3::zeros()));
/// assert!(matches!(recording.add_camera(nowhere), Err(RecordingError::Camera { name, .. }) if name == "nowhere"));
/// # Ok::<(), RecordingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CameraPlace {
    /// At a given point.
    At {
        /// The camera's position.
        eye: Point3<f64>,
        /// The point it looks at and orbits around.
        target: Point3<f64>,
    },
    /// In this direction from what moves, where that fills the picture.
    From(Vector3<f64>),
    /// As [`From`](Self::From), in a direction that the player chooses.
    Free,
}

impl Camera {
    /// What is invalid, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        let finite = |v: &Vector3<f64>| v.iter().all(|x| x.is_finite());
        let sound = match self.place {
            CameraPlace::At { eye, target } => {
                finite(&eye.coords) && finite(&target.coords) && eye != target
            }
            CameraPlace::From(direction) => finite(&direction) && direction.norm() > 0.0,
            CameraPlace::Free => true,
        };
        let open = 0.0 < self.field_of_view && self.field_of_view < std::f64::consts::PI;
        match (sound, open) {
            (false, _) => Some("its place is not finite, or it looks nowhere".into()),
            (_, false) => Some(format!(
                "its field of view is {} rad; it must lie between 0 and π",
                self.field_of_view
            )),
            _ => None,
        }
    }
}
