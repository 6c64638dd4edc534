//! Location of the files that a scene names.

use std::path::{Path, PathBuf};

use super::error::remedy;
use super::{budget, bundled};

/// A file's content and path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum BundledOrPath {
    /// Part of the program.
    Bundled(&'static str),
    /// On disk.
    Path(PathBuf),
}

impl BundledOrPath {
    /// The content.
    ///
    /// # Errors
    /// The reason that the operating system gives.
    fn read(&self) -> std::io::Result<Vec<u8>> {
        match self {
            Self::Bundled(text) => Ok(text.as_bytes().to_vec()),
            Self::Path(path) => budget::read(path, budget::FILE_BYTES),
        }
    }

    /// Its name in messages if the scene calls it `written`.
    fn path<'a>(&'a self, written: &'a str) -> &'a Path {
        match self {
            Self::Bundled(_) => Path::new(written),
            Self::Path(path) => path,
        }
    }
}

/// The file `written`: relative to the scene file, to the working directory, or a bundled robot or mesh.
fn find_file(folder: Option<&Path>, written: &str) -> Option<BundledOrPath> {
    let beside = folder.map(|folder| folder.join(written));
    let here = PathBuf::from(written);
    if let Some(path) = beside.into_iter().chain([here]).find(|path| path.is_file()) {
        return Some(BundledOrPath::Path(path));
    }
    bundled::file(written).map(BundledOrPath::Bundled)
}

/// The files in the folder of `written`, as a scene in `folder` would write them.
fn beside(folder: Option<&Path>, written: &str) -> Vec<String> {
    let within = Path::new(written).parent().unwrap_or(Path::new(""));
    let place = folder.unwrap_or(Path::new("")).join(within);
    let place = match place.as_os_str().is_empty() {
        true => Path::new("."),
        false => &place,
    };
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    files
        .map(|entry| within.join(entry.file_name()).display().to_string())
        .collect()
}

/// The content and the path of the file that a scene in `folder` calls `written`.
///
/// # Errors
/// That there is none, with the nearest one by name, or the reason that the operating system gives.
pub(crate) fn open(folder: Option<&Path>, written: &str) -> Result<(Vec<u8>, PathBuf), String> {
    let Some(file) = find_file(folder, written) else {
        let place = match folder {
            Some(folder) if !folder.as_os_str().is_empty() => {
                format!("{}, the working directory", folder.display())
            }
            _ => "the working directory".into(),
        };
        let bundled = bundled::files().map(|(path, _)| (*path).to_owned());
        let known: Vec<String> = bundled.chain(beside(folder, written)).collect();
        return Err(format!(
            "no file {written:?} in {place}, or among the bundled ones{}",
            remedy(written, known.iter().map(String::as_str))
        ));
    };
    let bytes = file
        .read()
        .map_err(|error| format!("{written:?} cannot be read: {error}"))?;
    Ok((bytes, file.path(written).to_owned()))
}
