//! The files of a recording: replay, tables, images, series for other programs.

use std::path::{Path, PathBuf};

use super::npz::NpzWriter;
use super::output::whole_file;
use super::{Recording, RecordingError, images, page, paraview, tables};

impl Recording {
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
    /// ```
    /// use pliant::recording::{Observable, Recording};
    ///
    /// let mut recording = Recording::new("a ball", Vec::new(), Vec::new(), vec![Observable::new("ball.z", "m")])?;
    /// recording.push_observables(0.0, &[1.0])?;
    /// recording.push_observables(0.1, &[0.95])?;
    /// let file = std::env::temp_dir().join("pliant_write_csv_example.csv");
    /// recording.write_csv(&file)?;
    /// assert_eq!(std::fs::read_to_string(&file)?, "time [s],ball.z [m]\n0.0,1.0\n0.1,0.95\n");
    /// # std::fs::remove_file(&file)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    /// ```
    /// use pliant::recording::{Frame, Recording};
    ///
    /// let mut recording = Recording::new("nothing", Vec::new(), Vec::new(), Vec::new())?;
    /// recording.push_frame(Frame::default())?;
    /// // There are no patches, so there is no file.
    /// let file = std::env::temp_dir().join("pliant_write_patches_example.npz");
    /// assert!(!recording.write_patches_npz(&file)? && !file.exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    /// ```
    /// use pliant::runner::{RunLength, RunOptions, run};
    /// use pliant::scene::{Scene, SceneOptions};
    ///
    /// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
    /// let options = RunOptions { length: RunLength::Until(0.1), ..RunOptions::default() };
    /// let recording = run(&scene, &options, &mut |_| {})?.recording;
    /// let folder = std::env::temp_dir().join("pliant_write_paraview_example");
    /// let list = recording.write_paraview(&folder)?;
    /// assert!(list.ends_with("replay.pvd"));
    /// // It lists every file over time.
    /// let text = std::fs::read_to_string(&list)?;
    /// for file in std::fs::read_dir(folder.join("vtu"))? {
    ///     assert!(text.contains(file?.file_name().to_str().ok_or("a name")?));
    /// }
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A recording without frames, or an error of the file system.
    pub fn write_paraview(&self, folder: &Path) -> Result<PathBuf, RecordingError> {
        paraview::write(self, folder)
    }

    /// Writes `replay.html`, `observables.csv` and `observables.npz` into `folder`, which is created if necessary, and
    /// returns their paths in this order. Without observables there are no tables.
    ///
    /// ```
    /// use pliant::recording::{Frame, Observable, Recording};
    ///
    /// let mut recording = Recording::new("a ball", Vec::new(), Vec::new(), vec![Observable::new("ball.z", "m")])?;
    /// recording.push_frame(Frame::default())?;
    /// recording.push_observables(0.0, &[1.0])?;
    /// let folder = std::env::temp_dir().join("pliant_write_to_example");
    /// let files = recording.write_to(&folder)?;
    /// let names: Vec<_> = files.iter().filter_map(|file| file.file_name()?.to_str()).collect();
    /// assert_eq!(names, ["replay.html", "observables.csv", "observables.npz"]);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A recording without frames, or an error of the file system.
    pub fn write_to(&self, folder: &Path) -> Result<Vec<PathBuf>, RecordingError> {
        std::fs::create_dir_all(folder).map_err(|source| RecordingError::write(folder, source))?;
        let mut written = vec![folder.join("replay.html")];
        // The small files first: the disk may be full before the end.
        let mut tables = Ok(());
        if !self.observables.is_empty() {
            written.push(folder.join("observables.csv"));
            tables = self.write_csv(&written[1]);
            written.push(folder.join("observables.npz"));
            tables = tables.and(self.write_npz(&written[2]));
        }
        tables.and(self.write_replay(&written[0]))?;
        Ok(written)
    }

    /// Writes an image of each frame for each image sensor into `folder`, and returns the files and folders: `NAME.npz` with the arrays
    /// `time` (s), `focal_length` (one number, pixels) and `depth` (`<f4`, frames × height × width, m along the optical axis, infinite
    /// where there is nothing), and the folder `NAME` with a colour image `00000.png` for each frame.
    ///
    /// ```
    /// use nalgebra::Isometry3;
    /// use pliant::recording::{Anchor, Frame, ImageSensor, Recording};
    ///
    /// let mut recording = Recording::new("a camera in the dark", Vec::new(), Vec::new(), Vec::new())?;
    /// let size = [16, 12];
    /// recording.add_image_sensor(ImageSensor {
    ///     name: "eye".into(),
    ///     anchor: Anchor::World,
    ///     X_BS: Isometry3::identity(),
    ///     size,
    ///     field_of_view: 1.0,
    /// })?;
    /// recording.push_frame(Frame::default())?;
    /// let folder = std::env::temp_dir().join("pliant_write_images_example");
    /// recording.write_images(&folder)?;
    /// assert!(folder.join("eye.npz").is_file() && folder.join("eye/00000.png").is_file());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An error of the file system.
    pub fn write_images(&self, folder: &Path) -> Result<Vec<PathBuf>, RecordingError> {
        images::write(self, folder)
    }
}
