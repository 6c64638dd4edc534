//! What passes through a contact patch, and between what.

use nalgebra::{Point3, Vector3};

/// Two geometries in contact; indices into the [`parts`](super::Recording::parts) of the recording.
///
/// ```
/// use pliant::recording::{Between, Frame, PressurePolygons, Recording, RecordingError};
///
/// let mut recording = Recording::new("a patch", Vec::new(), Vec::new(), Vec::new())?;
/// recording.name_parts(vec!["floor".into(), "box".into()]);
/// let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(Into::into);
/// let frame = |time_s: f64, between: Between| {
///     let mut patches = PressurePolygons::default();
///     patches.push(between, &corners, &[1e3; 3]);
///     Frame { time_s, patches, ..Frame::default() }
/// };
/// recording.push_frame(frame(0.0, Between { a: 1, b: 0 }))?;
/// // There is no third part.
/// let error = recording.push_frame(frame(0.1, Between { a: 1, b: 2 })).unwrap_err();
/// assert!(matches!(error, RecordingError::Count { found: 3, expected: 2, .. }));
/// # Ok::<(), RecordingError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Between {
    /// Geometry A.
    pub a: u32,
    /// Geometry B.
    pub b: u32,
}

/// Net force and moment of the patch of a pair: a mean over the step before the frame, friction and dissipation included. World frame.
///
/// ```
/// use pliant::runner::{RunOptions, run};
/// use pliant::scene::{Scene, SceneOptions};
///
/// # let text = r#"
/// #     schema = 1
/// #     title = "a soft box on a floor"
/// #     simulation = { smoke_s = 0.5, time_step_s = 0.01 }
/// #     [[fixed]]
/// #     name = "floor"
/// #     shape = { half_space = {} }
/// #     material = { hydroelastic = "rigid" }
/// #     [[bodies]]
/// #     name = "box"
/// #     shape = { box = { size = [0.2, 0.2, 0.2] } }
/// #     material = { hydroelastic = "compliant", hydroelastic_modulus = 1e6 }
/// #     mass = 3
/// #     pose = { position = [0, 0, 0.1] }
/// # "#;
/// # let scene = Scene::parse("box.toml", text, &SceneOptions::default())?;
/// // A soft box of 3 kg and 0.2 m at rest: one patch under its whole face carries its weight.
/// let recording = run(&scene, &RunOptions::default(), &mut |_| {})?.recording;
/// let frame = recording.frames().last().ok_or("no frame")?;
/// let [patch] = frame.patch_forces.as_slice() else { panic!("{:?}", frame.patch_forces) };
/// assert!((patch.f_W.norm() - 3.0 * 9.81).abs() < 1e-2);
/// assert!((patch.area - 0.04).abs() < 1e-3);
/// assert!(patch.pressure_max >= patch.f_W.norm() / patch.area);
/// // Which of the two is A says the pair.
/// let parts = recording.parts();
/// assert_ne!(parts[patch.between.a as usize], parts[patch.between.b as usize]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[allow(
    non_snake_case,
    reason = "monogram frame names such as p_WC are the field's notation"
)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchForce {
    /// The pair.
    pub between: Between,
    /// Area, m².
    pub area: f64,
    /// Highest elastic pressure, Pa.
    pub pressure_max: f64,
    /// Centre of pressure, m.
    pub p_WC: Point3<f64>,
    /// Net force on A, N.
    pub f_W: Vector3<f64>,
    /// Net moment on A about the centre of pressure, N·m.
    pub m_W: Vector3<f64>,
}
