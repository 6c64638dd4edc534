//! How much is read of a robot: one budget for its file and for all files that it includes, since files that include one another may
//! describe a robot of any size. It is checked before memory is taken.

use std::path::{Path, PathBuf};

use pliant_hydroelastic::mesh::read_bounded;

use crate::error::MultibodyError;
use crate::markup::{self, Element};

/// Bytes of a robot file and of all that it includes: a hundred times the largest published ones.
pub(crate) const BYTES: u64 = 64 << 20;
/// Elements, comments and texts of these files; an element takes about 300 bytes of memory.
pub(crate) const NODES: u32 = 2_000_000;
/// Included files.
const FILES: u32 = 1000;

/// What may still be read of a robot.
pub(crate) struct FileBudget {
    bytes: u64,
    nodes: u32,
    files: u32,
}

impl Default for FileBudget {
    fn default() -> Self {
        Self {
            bytes: BYTES,
            nodes: NODES,
            files: FILES,
        }
    }
}

impl FileBudget {
    /// The outermost element of the file at `path`, which has the content `bytes`.
    ///
    /// # Errors
    /// More bytes or elements than are left, and text that is not well-formed XML.
    pub(crate) fn parse(&mut self, bytes: &[u8], path: &Path) -> Result<Element, MultibodyError> {
        check_size(bytes, path)?;
        let left = self.bytes.checked_sub(bytes.len() as u64);
        self.bytes = left.ok_or_else(|| too_much(path))?;
        let (element, nodes) = markup::parse(bytes, path, self.nodes)?;
        self.nodes -= nodes;
        Ok(element)
    }

    /// The outermost element of an included file.
    ///
    /// # Errors
    /// As [`FileBudget::parse`], more files than are left, and files that cannot be read.
    pub(crate) fn read(&mut self, path: &Path) -> Result<Element, MultibodyError> {
        let left = self.files.checked_sub(1);
        self.files = left.ok_or_else(|| too_much(path))?;
        let bytes = bytes_of(path)?;
        self.parse(&bytes, path)
    }
}

/// The content of a robot file, at most [`BYTES`].
pub(crate) fn bytes_of(path: &Path) -> Result<Vec<u8>, MultibodyError> {
    read_bounded(path, BYTES).map_err(|error| MultibodyError::Unreadable {
        file: PathBuf::from(path),
        error,
    })
}

/// Refuses a file in memory that is longer than one that would be read.
pub(crate) fn check_size(bytes: &[u8], path: &Path) -> Result<(), MultibodyError> {
    if bytes.len() as u64 > BYTES {
        return Err(MultibodyError::NotUrdf {
            file: path.to_owned(),
            text: format!(
                "has more than {} MiB, the most that is read of a robot; move its meshes and images to files of their own",
                BYTES >> 20
            ),
        });
    }
    Ok(())
}

fn too_much(path: &Path) -> MultibodyError {
    MultibodyError::NotUrdf {
        file: path.to_owned(),
        text: format!(
            "with it, the files of the robot are more than {FILES} or have more than {} MiB, the most that is read; include each file once",
            BYTES >> 20
        ),
    }
}
