//! Images of the present state, by ray casting, which needs neither a browser nor a GPU.

use std::f64::consts::PI;
use std::ops::Deref;

use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};

use super::{ParticleDetail, Simulation};
use crate::recording::{
    Anchor, CameraPlace, DEFAULT_FIELD_OF_VIEW, Frame, Image, ImageSensor, Stage, framed,
};
use crate::scene::Scene;

/// Most pixels along a side.
const SIDE_MAX: usize = 4096;
/// From what moves towards a camera whose scene does not place it: from the front, a little from above.
const FREE_DIRECTION: Vector3<f64> = Vector3::new(0.58, -0.73, 0.35);

/// Where an image is taken from.
///
/// ```
/// use nalgebra::Point3;
/// use pliant::runner::{Simulation, View};
/// use pliant::scene::{Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a ball"
///     simulation = { smoke_s = 1 }
///     [[bodies]]
///     name = "ball"
///     shape = { sphere = { radius = 0.1 } }
/// "#;
/// let scene = Scene::parse("ball.toml", text, &SceneOptions::default())?;
/// let view = View::At { eye: Point3::new(1.0, 0.0, 0.0), target: Point3::origin(), field_of_view: 0.6 };
/// // The pixel in the middle: the ball begins 0.9 m away.
/// let image = Simulation::new(&scene)?.image(&view, [3, 3])?;
/// assert!((image.depths[4] - 0.9).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum View {
    /// The first camera of the scene.
    #[default]
    FirstCamera,
    /// The camera of this name; `main` is that of `[camera]`.
    Camera(String),
    /// From a point towards another, z up.
    At {
        /// The camera's position, m, world frame.
        eye: Point3<f64>,
        /// What is at the centre of the image, m, world frame.
        target: Point3<f64>,
        /// Vertical field of view, rad, between 0 and π.
        field_of_view: f64,
    },
}

/// An image that cannot be taken.
///
/// ```
/// use pliant::runner::{ImageError, Simulation, View};
/// use pliant::scene::{Scene, SceneOptions};
///
/// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
/// let mut simulation = Simulation::new(&scene)?;
/// let error = simulation.image(&View::Camera("left".into()), [60, 40]).unwrap_err();
/// assert!(matches!(&error, ImageError::NoCamera { available, .. } if available.contains("main")));
/// assert_eq!(simulation.image(&View::FirstCamera, [0, 40]).unwrap_err(), ImageError::Size(0, 40));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// There is no such camera.
    #[error("no camera {name:?}; there are: {available}")]
    NoCamera {
        /// The name asked for.
        name: String,
        /// Those of the scene.
        available: String,
    },
    /// The camera moves along with something.
    #[error("camera {0:?} follows a body, which only the replay does; give an eye and a target")]
    Follows(String),
    /// The view has no direction, or its field of view is out of range.
    #[error("{0}")]
    View(String),
    /// The size is out of range.
    #[error("an image has 1 to {SIDE_MAX} pixels along each side, not {0} x {1}")]
    Size(usize, usize),
}

impl<S: Deref<Target = Scene>> Simulation<S> {
    /// What is seen now from `view`, of this width and height in pixels. What is drawn and how is that of image sensors: colours without
    /// shadows, exact depths.
    ///
    /// ```
    /// use pliant::runner::{Simulation, View};
    /// use pliant::scene::{Scene, SceneOptions};
    ///
    /// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
    /// let image = Simulation::new(&scene)?.image(&View::FirstCamera, [60, 40])?;
    /// assert_eq!(image.colors.len(), 60 * 40);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ImageError`].
    pub fn image(&mut self, view: &View, size: [usize; 2]) -> Result<Image, ImageError> {
        let [width, height] = size;
        if size.iter().any(|side| !(1..=SIDE_MAX).contains(side)) {
            return Err(ImageError::Size(width, height));
        }
        let assembly = &self.run.assembly;
        let frame = assembly.picture.frame(
            &assembly.world,
            &self.state,
            self.report.as_ref(),
            &mut self.run.patches,
            &assembly.directory,
            ParticleDetail::Shown,
        );
        let (eye, target, field_of_view) = match view {
            View::At {
                eye,
                target,
                field_of_view,
            } => (*eye, *target, *field_of_view),
            View::FirstCamera => self.of_camera(None, &frame, size)?,
            View::Camera(name) => self.of_camera(Some(name), &frame, size)?,
        };
        if !(field_of_view > 0.0 && field_of_view < PI) {
            let fault = format!("a field of view of {field_of_view} rad is not between 0 and π");
            return Err(ImageError::View(fault));
        }
        let sensor = ImageSensor {
            name: String::new(),
            anchor: Anchor::World,
            X_BS: looking(&eye, &target)?,
            size,
            field_of_view,
        };
        let visuals = self.run.assembly.picture.visuals();
        let stage = self.stage.get_or_insert_with(|| Stage::new(visuals));
        Ok(stage.image(visuals, &sensor, &frame))
    }

    /// Eye, target and field of view of a camera of the scene, the first by default.
    fn of_camera(
        &self,
        name: Option<&str>,
        frame: &Frame,
        [width, height]: [usize; 2],
    ) -> Result<(Point3<f64>, Point3<f64>, f64), ImageError> {
        let cameras = &self.run.scene.cameras;
        let camera = match name {
            None => cameras.first(),
            Some(name) => Some(
                cameras
                    .iter()
                    .find(|camera| camera.name == name)
                    .ok_or_else(|| ImageError::NoCamera {
                        name: name.into(),
                        available: match cameras.is_empty() {
                            true => "none".into(),
                            false => {
                                let names = cameras.iter().map(|camera| &*camera.name);
                                names.collect::<Vec<_>>().join(", ")
                            }
                        },
                    })?,
            ),
        };
        if let Some(camera) = camera
            && camera.follow.is_some()
        {
            return Err(ImageError::Follows(camera.name.clone()));
        }
        let field_of_view = camera.map_or(DEFAULT_FIELD_OF_VIEW, |camera| camera.field_of_view);
        let direction = match camera.map(|camera| camera.place) {
            Some(CameraPlace::At { eye, target }) => return Ok((eye, target, field_of_view)),
            Some(CameraPlace::From(direction)) => direction,
            Some(CameraPlace::Free) | None => FREE_DIRECTION,
        };
        let nothing = (Point3::origin(), 1.0);
        let visuals = self.run.assembly.picture.visuals();
        let (target, radius) = framed(visuals, frame).unwrap_or(nothing);
        // The smaller of the two fields of view.
        let narrow = (width.min(height)) as f64 / height as f64;
        let half = (narrow * (0.5 * field_of_view).tan()).atan();
        let distance = radius.max(1e-6) / half.sin();
        Ok((
            target + direction.normalize() * distance,
            target,
            field_of_view,
        ))
    }
}

/// The pose of a camera at `eye` that looks at `target` along its z axis, x to the right and y down.
fn looking(eye: &Point3<f64>, target: &Point3<f64>) -> Result<Isometry3<f64>, ImageError> {
    let along = target - eye;
    let length = along.norm();
    if !(length > 0.0 && length.is_finite()) {
        let fault = format!("a camera at {eye} does not look anywhere with its target at {target}");
        return Err(ImageError::View(fault));
    }
    let z = along / length;
    let up = match z.x.hypot(z.y) > 1e-6 {
        true => Vector3::z(),
        false => Vector3::y(),
    };
    let x = z.cross(&up).normalize();
    let axes = Matrix3::from_columns(&[x, z.cross(&x), z]);
    let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes));
    Ok(Isometry3::from_parts(
        Translation3::from(eye.coords),
        rotation,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::SceneOptions;

    const BALL: &str = r#"
schema = 1
title = "A red ball over a floor"
[simulation]
smoke_s = 0.1
[[fixed]]
name = "floor"
shape = { half_space = {} }
color = [0, 0, 1]
[[bodies]]
name = "ball"
shape = { sphere = { radius = 0.5 } }
mass = 1
pose = { position = [0, 0, 1] }
color = [1, 0, 0]
[camera]
direction = [0, -1, 0]
[[cameras]]
name = "above"
eye = [0, 0, 5]
target = [0, 0, 0]
[[cameras]]
name = "beside"
direction = [1, 0, 0]
follow = "ball"
"#;

    fn simulation() -> Simulation<Box<Scene>> {
        let scene = Scene::parse("ball", BALL, &SceneOptions::default()).expect("a legal scene");
        Simulation::new(Box::new(scene)).expect("a legal world")
    }

    #[test]
    fn what_moves_fills_the_image_of_a_direction() {
        let image = simulation().image(&View::FirstCamera, [41, 41]).unwrap();
        assert_eq!(image.size, [41, 41]);
        let is_red = |row: usize, column: usize| {
            let [red, green, blue] = image.colors[41 * row + column];
            red > 80 && green == 0 && blue == 0
        };
        assert!(is_red(20, 20) && !is_red(0, 0));
        // The ball touches the edges of the image but for its facets.
        assert!(is_red(20, 2) && is_red(20, 38) && is_red(2, 20));
    }

    #[test]
    fn depths_are_those_of_the_camera_given() {
        let mut simulation = simulation();
        let above = View::Camera("above".into());
        let image = simulation.image(&above, [3, 3]).unwrap();
        assert!((image.depths[4] - 3.5).abs() < 0.02, "{:?}", image.depths);
        let from_below_the_ball = View::At {
            eye: Point3::new(0.0, -3.0, 0.1),
            target: Point3::new(0.0, -2.0, -0.9),
            field_of_view: 0.1,
        };
        let image = simulation.image(&from_below_the_ball, [1, 1]).unwrap();
        let depth = f64::from(image.depths[0]);
        assert!((depth - 0.1 * 2.0_f64.sqrt()).abs() < 1e-6, "{depth}");
        assert_eq!(image.colors[0][0], 0);
    }

    #[test]
    fn impossible_views_are_refused() {
        let mut simulation = simulation();
        let mut fault = |view: View, size| simulation.image(&view, size).unwrap_err().to_string();
        let unknown = fault(View::Camera("under".into()), [2, 2]);
        assert_eq!(
            unknown,
            "no camera \"under\"; there are: main, above, beside"
        );
        let follows = fault(View::Camera("beside".into()), [2, 2]);
        assert!(follows.contains("give an eye and a target"), "{follows}");
        assert!(fault(View::FirstCamera, [0, 2]).contains("not 0 x 2"));
        let at = |target: [f64; 3], field_of_view| View::At {
            eye: Point3::origin(),
            target: target.into(),
            field_of_view,
        };
        assert!(fault(at([0.0; 3], 1.0), [2, 2]).contains("does not look anywhere"));
        assert!(fault(at([1.0; 3], 4.0), [2, 2]).contains("not between 0 and π"));
    }
}
