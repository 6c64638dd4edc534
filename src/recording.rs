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
mod error;
mod extent;
mod frame;
mod frame_bytes;
mod images;
#[cfg(feature = "cli")]
mod live;
mod npz;
mod output;
mod packing;
mod page;
mod paraview;
mod particles;
mod spool;
mod store;
mod tables;
mod visual;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use camera::{Camera, CameraPlace, DEFAULT_FIELD_OF_VIEW};
pub use error::RecordingError;
use extent::{Extent, SCALE_SHARE};
pub use frame::{Between, BodyIdx, ContactArrow, Deformed, Frame, PatchForce, PressurePolygons};
pub use images::{Image, ImageSensor};
pub(crate) use images::{Stage, framed};
#[cfg(feature = "cli")]
pub(crate) use live::LivePage;
use npz::NpzWriter;
use output::whole_file;
pub use particles::ParticleStates;
use serde::Serialize;
pub use store::Frames;
use store::{FrameStore, RowStore};
pub use visual::{Anchor, Color, PointsLook, ThreadEnds, ValueScale, Visual, VisualShape};

/// What came into a run from outside: a changed parameter, or a pull on a body.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InputMark {
    /// When it began, s.
    pub from_s: f64,
    /// When it ended, s; `None` for what lasts to the end.
    pub until_s: Option<f64>,
    /// A few words.
    pub text: String,
}

/// A named value over time: one column of the table.
///
/// ```
/// use pliant::recording::{Observable, Recording};
///
/// // A row has a number for each column.
/// let columns = vec![Observable::new("ball.z", "m"), Observable::new("ball.speed", "m/s")];
/// let mut recording = Recording::new("a falling ball", Vec::new(), Vec::new(), columns)?;
/// recording.push_observables(0.0, &[1.0, 0.0])?;
/// assert!(recording.push_observables(0.1, &[0.95]).is_err());
/// assert_eq!(recording.column(0)?, [1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observable {
    /// Unique within a recording; names of one body share the part before the first dot (`box.z`, `box.speed`).
    pub name: String,
    /// Unit, as printed (`m`, `N`, `rad/s`); empty for a pure number. Columns of one unit share a plot.
    pub unit: String,
}

impl Observable {
    /// A column `name` with `unit`.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            unit: unit.into(),
        }
    }
}

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

    /// Writes an image of each frame for each image sensor into `folder`, and returns the files and folders: `NAME.npz` with the arrays
    /// `time` (s), `focal_length` (one number, pixels) and `depth` (`<f4`, frames × height × width, m along the optical axis, infinite
    /// where there is nothing), and the folder `NAME` with a colour image `00000.png` for each frame.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn write_images(&self, folder: &Path) -> Result<Vec<PathBuf>, RecordingError> {
        images::write(self, folder)
    }

    /// Adds what came into the run from outside; the replay says so while it lasts.
    pub fn add_input(&mut self, mark: InputMark) {
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

    /// The replay as one self-contained page with player, shapes, frames and plots. It loads nothing from the network.
    ///
    /// Positions are rounded to a 2²⁰th of the range of a body's motion (an error of at most half of that), rotations within 4·10⁻⁵ rad,
    /// contact points and forces to a 2¹⁸th of their range, deforming surfaces and patches to a 2¹⁶th of theirs, pressures to a
    /// 255th of the highest. Plots show at most
    /// 6000 points of a column; thinning keeps every peak.
    ///
    /// # Errors
    /// [`RecordingError::NoFrames`] for a recording without frames.
    pub fn replay_html(&self) -> Result<String, RecordingError> {
        page::html(self, &[])
    }

    /// Writes `replay.html` to `path`.
    ///
    /// # Errors
    /// As [`replay_html`](Self::replay_html), or an error of the file system.
    pub fn write_replay(&self, path: &Path) -> Result<(), RecordingError> {
        whole_file(path, |file| page::write_html(self, &[], path, file))
    }

    /// Writes the table as comma-separated text: a header `time [s],name [unit],…`, then one line a row, each number in
    /// the fewest digits that read back to the same bits.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn write_csv(&self, path: &Path) -> Result<(), RecordingError> {
        whole_file(path, |file| tables::write_csv(self, path, file))
    }

    /// Writes the table for NumPy: an array `time` and one f64 array for each observable, by its name, and the text arrays
    /// `names` and `units` (UTF-8 bytes).
    ///
    /// # Errors
    /// An error of the file system.
    pub fn write_npz(&self, path: &Path) -> Result<(), RecordingError> {
        whole_file(path, |file| {
            tables::write_npz(self, NpzWriter::new(path, file))
        })
    }

    /// Writes deforming visuals for NumPy: the times of the frames as `time`, and for each such visual by its name
    /// `NAME.points` (a row of x, y, z for each point of each frame, frame by frame), `NAME.starts` (the row at which each frame
    /// begins), `NAME.values` (one for each row, or none), and of meshes `NAME.triangles` and `NAME.tetrahedra`. False, and no
    /// file, if there are none.
    ///
    /// Particles whose states are recorded have, for each row of `NAME.points`,
    ///
    /// | name | shape | dtype | |
    /// |---|---|---|---|
    /// | `NAME.id` | n | `<u4` | identifier, constant for each particle |
    /// | `NAME.body` | n | `<u4` | the body it belongs to |
    /// | `NAME.velocity` | n × 3 | `<f8` | world axes, m/s |
    /// | `NAME.mass` | n | `<f8` | kg |
    /// | `NAME.volume` | n | `<f8` | current volume, m³ |
    /// | `NAME.deformation_gradient` | n × 3 × 3 | `<f8` | elastic, F^E; rows are world axes |
    /// | `NAME.plastic_strain` | n | `<f8` | accumulated; NaN for laws without one |
    ///
    /// # Errors
    /// An error of the file system.
    pub fn write_deformed_npz(&self, path: &Path) -> Result<bool, RecordingError> {
        if !tables::has_deformed(self) {
            return Ok(false);
        }
        whole_file(path, |file| {
            tables::write_deformed_npz(self, NpzWriter::new(path, file))
        })?;
        Ok(true)
    }

    /// Writes the patches of all frames for NumPy; false, and no file, if there are none. The arrays:
    ///
    /// | name | shape | |
    /// |---|---|---|
    /// | `time` | frames | s |
    /// | `parts` | parts | names, UTF-8 bytes; the numbers in `…between` are indices into them |
    /// | `patch.frame` | n | the frame that a patch belongs to |
    /// | `patch.between` | n × 2 | its sides A and B |
    /// | `patch.area` | n | m² |
    /// | `patch.pressure_max` | n | highest elastic pressure, Pa |
    /// | `patch.center` | n × 3 | centre of pressure, world frame, m |
    /// | `patch.force` | n × 3 | net force on A, including friction and dissipation, N |
    /// | `patch.moment` | n × 3 | net moment on A about the centre of pressure, N·m |
    /// | `polygon.frame`, `polygon.between` | m, m × 2 | as above, for each polygon |
    /// | `polygon.starts` | m | index of its first corner; its last corner precedes the first of the next polygon |
    /// | `corner.points` | k × 3 | world frame, m |
    /// | `corner.pressure` | k | Pa |
    ///
    /// Forces are means over the step before the frame, polygons those of the frame's own state.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn write_patches_npz(&self, path: &Path) -> Result<bool, RecordingError> {
        if !tables::has_patches(self) {
            return Ok(false);
        }
        whole_file(path, |file| {
            tables::write_patches_npz(self, NpzWriter::new(path, file))
        })?;
        Ok(true)
    }

    /// Writes the frames for ParaView into `folder`: `replay.pvd`, whose path is returned, lists the VTU files under
    /// `vtu/` over time. All positions are in the world frame; a half space becomes a square. Point data: `visual` (the
    /// number of the visual in this recording), `value` (NaN where none was recorded), `force` (N) at contacts, and `pressure`
    /// (Pa) at the corners of patches. Bodies that deform and are filled come as tetrahedra. Particles, where all of a frame come
    /// with their states, have `id`, `body`, `velocity` (m/s), `mass` (kg), `volume` (now, m³), `deformation_gradient` (elastic,
    /// row by row) and `plastic_strain` (NaN where none is kept) besides.
    ///
    /// # Errors
    /// A recording without frames, or an error of the file system.
    pub fn write_paraview(&self, folder: &Path) -> Result<PathBuf, RecordingError> {
        paraview::write(self, folder)
    }

    /// Writes `replay.html`, `observables.csv` and `observables.npz` into `folder`, which is created if necessary, and
    /// returns their paths in this order. Without observables there are no tables.
    ///
    /// # Errors
    /// A recording without frames, or an error of the file system.
    pub fn write_to(&self, folder: &Path) -> Result<Vec<PathBuf>, RecordingError> {
        std::fs::create_dir_all(folder).map_err(|source| RecordingError::write(folder, source))?;
        let mut written = vec![folder.join("replay.html")];
        self.write_replay(&written[0])?;
        if !self.observables.is_empty() {
            written.push(folder.join("observables.csv"));
            self.write_csv(&written[1])?;
            written.push(folder.join("observables.npz"));
            self.write_npz(&written[2])?;
        }
        Ok(written)
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
