//! Files that are whole or not there: written beside their place and renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use super::RecordingError;

/// Writes the file `path` by `write`. A file that was there before stays until the new one is complete.
pub(super) fn whole_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), RecordingError>,
) -> Result<(), RecordingError> {
    let beside = beside(path);
    let fault = |source: io::Error| RecordingError::write(path, source);
    let written = File::create(&beside).map_err(fault).and_then(|file| {
        let mut writer = BufWriter::new(file);
        write(&mut writer)?;
        let flushed = writer.into_inner().map_err(io::IntoInnerError::into_error);
        // A name never stands for bytes that are lost with the power.
        let flushed = flushed.and_then(|file| file.sync_all());
        flushed.map_err(fault)?;
        fs::rename(&beside, path).map_err(fault)
    });
    if written.is_err() {
        let _gone = fs::remove_file(&beside);
    }
    written
}

/// `replay.html.partial` for `replay.html`.
pub(super) fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    path.with_file_name(name)
}
