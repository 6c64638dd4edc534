//! Results of a run as plain data, for pictures, plots and tables.
//!
//! A [`Recording`] is independent of worlds and solvers. The code that steps a simulation fills it: first bodies, their
//! appearance ([`Visual`]) and the observables ([`Observable`]), then frames and rows over time.
//! [`Recording::write_to`] writes `replay.html`, `observables.csv` and `observables.npz`.
//!
//! ```
//! use nalgebra::Isometry3;
//! use pliant_hydroelastic::AnalyticShape;
//! use pliant::recording::{Anchor, BodyIdx, Color, Frame, Observable, Recording, Visual};
//!
//! let ball = Visual {
//!     name: "ball".into(),
//!     anchor: Anchor::Body(BodyIdx(0)),
//!     X_BG: Isometry3::identity(),
//!     shape: AnalyticShape::Sphere { radius: 0.1 }.into(),
//!     color: Color::palette(0),
//! };
//! let mut recording = Recording::new("a falling ball", vec!["ball".into()], vec![ball],
//!     vec![Observable::new("ball.z", "m")])?;
//! for k in 0..60 {
//!     let t = f64::from(k) / 60.0;
//!     let z = 5.0 - 0.5 * 9.81 * t * t;
//!     recording.push_frame(Frame { time_s: t, X_WB: vec![Isometry3::translation(0.0, 0.0, z)], ..Frame::default() })?;
//!     recording.push_observables(t, &[z])?;
//! }
//! assert!(recording.replay_html()?.contains("a falling ball"));
//! # Ok::<(), pliant::recording::RecordingError>(())
//! ```

mod camera;
mod color;
mod error;
mod extent;
mod files;
mod frame;
mod frame_bytes;
mod images;
#[cfg(feature = "cli")]
mod live;
mod npz;
pub(crate) use npz::crc_32;
mod observable;
mod output;
mod packing;
mod page;
mod paraview;
mod particles;
mod patch_force;
mod spool;
mod store;
mod tables;
mod visual;

use std::collections::BTreeMap;
use std::path::Path;

pub use camera::{Camera, CameraPlace, DEFAULT_FIELD_OF_VIEW};
pub use color::Color;
pub use error::RecordingError;
use extent::{Extent, SCALE_SHARE};
pub use frame::{BodyIdx, ContactArrow, Deformed, Frame, PressurePolygons};
pub use images::{Image, ImageSensor};
pub(crate) use images::{Stage, framed};
#[cfg(feature = "cli")]
pub(crate) use live::LivePage;
pub(crate) use observable::InputMark;
pub use observable::Observable;
pub use particles::ParticleStates;
pub use patch_force::{Between, PatchForce};
pub use store::Frames;
use store::{FrameStore, RowStore};
pub use visual::{Anchor, PointsLook, ThreadEnds, ValueScale, Visual, VisualShape};

/// The frames and the table of one run. Grows by [`push_frame`](Self::push_frame) and
/// [`push_observables`](Self::push_observables), which check their input.
///
/// It is kept in memory, or in files after [`keep_in`](Self::keep_in).
///
/// ```
/// use nalgebra::Isometry3;
/// use pliant::recording::{Frame, Recording};
///
/// let mut recording = Recording::new("two frames", vec!["ball".into()], Vec::new(), Vec::new())?;
/// let at = |time_s: f64, z: f64| Frame { time_s, X_WB: vec![Isometry3::translation(0.0, 0.0, z)], ..Frame::default() };
/// recording.push_frame(at(0.0, 1.0))?;
/// recording.push_frame(at(0.1, 0.95))?;
/// assert_eq!(recording.frames().times_s(), [0.0, 0.1]);
/// // A frame has a pose for each body.
/// assert!(recording.push_frame(Frame { time_s: 0.2, ..Frame::default() }).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Recording {
    title: String,
    bodies: Vec<String>,
    visuals: Vec<Visual>,
    observables: Vec<Observable>,
    cameras: Vec<Camera>,
    image_sensors: Vec<ImageSensor>,
    inputs: Vec<InputMark>,
    parts: Vec<String>,
    frames: FrameStore,
    /// Number of contacts in each frame.
    contact_counts: Vec<u32>,
    extent: Extent,
    /// The vertices that the triangles of each deforming visual use; `None` where all points are drawn.
    drawn: Vec<Option<Vec<u32>>>,
    rows: RowStore,
}

impl Recording {
    /// An empty recording of `bodies` (displayed names), their visuals, and the columns of the table.
    ///
    /// # Errors
    /// A visual of a body beyond `bodies` or with an invalid shape; two observables of one name.
    pub fn new(
        title: impl Into<String>,
        bodies: Vec<String>,
        visuals: Vec<Visual>,
        observables: Vec<Observable>,
    ) -> Result<Self, RecordingError> {
        for visual in &visuals {
            visual.check(bodies.len())?;
        }
        for (column, observable) in observables.iter().enumerate() {
            if observables[..column]
                .iter()
                .any(|earlier| earlier.name == observable.name)
            {
                return Err(RecordingError::DuplicateObservable {
                    name: observable.name.clone(),
                });
            }
        }
        let deforming = visuals.iter().filter(|visual| visual.shape.deforms());
        let drawn: Vec<_> = deforming
            .map(|visual| match &visual.shape {
                VisualShape::DeformingMesh { triangles, .. } => {
                    Some(page::drawn_vertices(triangles).0)
                }
                _ => None,
            })
            .collect();
        Ok(Self {
            title: title.into(),
            extent: Extent::new(bodies.len(), drawn.len()),
            drawn,
            bodies,
            visuals,
            rows: RowStore::new(observables.len()),
            observables,
            cameras: Vec::new(),
            image_sensors: Vec::new(),
            inputs: Vec::new(),
            parts: Vec::new(),
            frames: FrameStore::default(),
            contact_counts: Vec::new(),
        })
    }

    /// Keeps frames and rows in temporary files in `folder` instead of in memory, which then holds eight bytes for each frame. The files
    /// are gone when the recording is dropped.
    ///
    /// ```
    /// use nalgebra::Isometry3;
    /// use pliant::recording::{Frame, Recording};
    ///
    /// let folder = std::env::temp_dir().join("pliant_keep_in_example");
    /// let mut recording = Recording::new("a long run", vec!["ball".into()], Vec::new(), Vec::new())?;
    /// recording.keep_in(&folder)?;
    /// for k in 0..100 {
    ///     let X_WB = vec![Isometry3::translation(0.0, 0.0, f64::from(k))];
    ///     recording.push_frame(Frame { time_s: f64::from(k), X_WB, ..Frame::default() })?;
    /// }
    /// // They are read back in order.
    /// let mut heights = Vec::new();
    /// recording.frames().each(|frame| {
    ///     heights.push(frame.X_WB[0].translation.z);
    ///     Ok(())
    /// })?;
    /// assert_eq!((heights.len(), heights[99]), (100, 99.0));
    /// drop(recording);
    /// assert_eq!(std::fs::read_dir(&folder)?.count(), 0);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An error of the file system.
    ///
    /// # Panics
    /// If something has been recorded already.
    pub fn keep_in(&mut self, folder: &Path) -> Result<(), RecordingError> {
        assert!(
            self.frames().is_empty() && self.n_rows() == 0,
            "a recording is kept in files from its beginning"
        );
        std::fs::create_dir_all(folder).map_err(|source| RecordingError::write(folder, source))?;
        self.frames = FrameStore::in_file(&folder.join("frames.partial"))?;
        let n_columns = self.observables.len();
        self.rows = RowStore::in_file(n_columns, &folder.join("rows.partial"))?;
        Ok(())
    }

    /// Adds a camera; the first is that of the initial view. Without any, what moves fills the picture.
    ///
    /// # Errors
    /// A camera that looks nowhere, or follows something that is neither a body nor a visual.
    pub fn add_camera(&mut self, camera: Camera) -> Result<(), RecordingError> {
        let unknown = || {
            let name = camera.follow.as_ref()?;
            let known = self.bodies.contains(name) || self.visuals.iter().any(|v| v.name == *name);
            (!known).then(|| format!("it follows {name:?}, which is neither a body nor a visual"))
        };
        match camera.fault().or_else(unknown) {
            Some(reason) => Err(RecordingError::Camera {
                name: camera.name,
                reason,
            }),
            None => {
                self.cameras.push(camera);
                Ok(())
            }
        }
    }

    /// Adds a camera that takes images: [`write_images`](Self::write_images).
    ///
    /// ```
    /// use nalgebra::Isometry3;
    /// use pliant::recording::{Anchor, ImageSensor, Recording};
    ///
    /// let mut recording = Recording::new("a scene", Vec::new(), Vec::new(), Vec::new())?;
    /// let eye = ImageSensor {
    ///     name: "eye".into(),
    ///     anchor: Anchor::World,
    ///     X_BS: Isometry3::identity(),
    ///     size: [16, 12],
    ///     field_of_view: 1.0,
    /// };
    /// recording.add_image_sensor(eye.clone())?;
    /// // Names of files are made of the name, so it is unique.
    /// assert!(recording.add_image_sensor(eye).is_err());
    /// assert_eq!(recording.image_sensors().len(), 1);
    /// # Ok::<(), pliant::recording::RecordingError>(())
    /// ```
    ///
    /// # Errors
    /// A body beyond the last, no pixels, a field of view that is not in (0, π), or a name that is taken.
    pub fn add_image_sensor(&mut self, sensor: ImageSensor) -> Result<(), RecordingError> {
        match sensor.fault(self) {
            Some(reason) => Err(RecordingError::Camera {
                name: sensor.name,
                reason,
            }),
            None => {
                self.image_sensors.push(sensor);
                Ok(())
            }
        }
    }

    /// The cameras that take images.
    pub fn image_sensors(&self) -> &[ImageSensor] {
        &self.image_sensors
    }

    /// Adds what came into the run from outside; the replay says so while it lasts.
    pub(crate) fn add_input(&mut self, mark: InputMark) {
        self.inputs.push(mark);
    }

    /// Sets the names of contact geometries, to which patches refer by index.
    pub fn name_parts(&mut self, parts: Vec<String>) {
        self.parts = parts;
    }

    /// Sets the maximum of the colour scales of `visuals` (indices) to the 99th percentile of their positive values; scales of one name share it.
    /// Scales without a value above their minimum are unchanged.
    pub fn fit_scales(&mut self, visuals: &[usize]) {
        let mut largest: BTreeMap<String, f64> = BTreeMap::new();
        for &index in visuals {
            let soft_idx = self.visuals[..index]
                .iter()
                .filter(|v| v.shape.deforms())
                .count();
            let Some(name) = self.visuals[index]
                .shape
                .scale_mut()
                .map(|s| s.name.clone())
            else {
                continue;
            };
            let values = &self.extent.soft[soft_idx].values;
            let max = values.percentile(SCALE_SHARE).unwrap_or(f64::NEG_INFINITY);
            let known = largest.entry(name).or_insert(max);
            *known = known.max(max);
        }
        for &index in visuals {
            if let Some(scale) = self.visuals[index].shape.scale_mut()
                && largest[&scale.name] > scale.min
            {
                scale.max = largest[&scale.name];
            }
        }
    }

    /// Appends a frame.
    ///
    /// # Errors
    /// A time that is not after the previous one, numbers that are not finite, or counts that do not fit the recording. The
    /// recording is then unchanged and can still be written. An error of the file system, where frames are kept in a file.
    pub fn push_frame(&mut self, frame: Frame) -> Result<(), RecordingError> {
        let last_s = self.frames.times_s().last().copied();
        check_time("frames", frame.time_s, last_s)?;
        frame.check(&self.bodies, &self.visuals, &self.parts)?;
        self.extent.add(&frame, &self.drawn);
        let n_contacts = frame.contact_count();
        self.frames.push(frame)?;
        self.contact_counts.push(n_contacts);
        Ok(())
    }

    /// Appends a row of the table: one value for each observable, in its unit. NaN means that there is no value
    /// and leaves a gap in the plot.
    ///
    /// # Errors
    /// A time that is not after the previous row, a wrong number of values, or an infinite value.
    pub fn push_observables(&mut self, time_s: f64, values: &[f64]) -> Result<(), RecordingError> {
        check_time("observables", time_s, self.rows.last_s())?;
        if values.len() != self.observables.len() {
            return Err(RecordingError::ObservableCount {
                time_s,
                found: values.len(),
                expected: self.observables.len(),
            });
        }
        if let Some(column) = values.iter().position(|value| value.is_infinite()) {
            let what = format!("observable {:?}", self.observables[column].name);
            return Err(RecordingError::NotFinite { what, time_s });
        }
        self.rows.push(time_s, values)
    }

    /// Title of the run.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Names of the moving bodies; [`BodyIdx`] is an index into them.
    pub fn bodies(&self) -> &[String] {
        &self.bodies
    }

    /// Names of contact geometries; [`Between`] holds indices into them.
    pub fn parts(&self) -> &[String] {
        &self.parts
    }

    /// The visuals.
    pub fn visuals(&self) -> &[Visual] {
        &self.visuals
    }

    /// The frames.
    pub fn frames(&self) -> Frames<'_> {
        Frames(&self.frames)
    }

    /// The table's columns.
    pub fn observables(&self) -> &[Observable] {
        &self.observables
    }

    /// Number of rows of the table.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// Times of the table's rows, s.
    ///
    /// # Errors
    /// An error of the file in which they are kept.
    pub fn row_times_s(&self) -> Result<Vec<f64>, RecordingError> {
        self.rows.numbers(0)
    }

    /// The values of one column over [`row_times_s`](Self::row_times_s).
    ///
    /// # Errors
    /// An error of the file in which they are kept.
    ///
    /// # Panics
    /// When there is no such column.
    pub fn column(&self, column: usize) -> Result<Vec<f64>, RecordingError> {
        assert!(
            column < self.observables.len(),
            "column {column} of {} observables",
            self.observables.len()
        );
        self.rows.numbers(1 + column)
    }
}

fn check_time(
    series: &'static str,
    time_s: f64,
    previous_s: Option<f64>,
) -> Result<(), RecordingError> {
    if !time_s.is_finite() {
        return Err(RecordingError::NotFinite {
            what: format!("the time of the {series}"),
            time_s,
        });
    }
    match previous_s {
        Some(previous_s) if time_s <= previous_s => Err(RecordingError::TimeNotIncreasing {
            series,
            time_s,
            previous_s,
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
