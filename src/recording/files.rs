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

    /// Writes an image of each frame for each image sensor into `folder`, and returns the files and folders: `NAME.npz` with the arrays
    /// `time` (s), `focal_length` (one number, pixels) and `depth` (`<f4`, frames × height × width, m along the optical axis, infinite
    /// where there is nothing), and the folder `NAME` with a colour image `00000.png` for each frame.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn write_images(&self, folder: &Path) -> Result<Vec<PathBuf>, RecordingError> {
        images::write(self, folder)
    }
}
