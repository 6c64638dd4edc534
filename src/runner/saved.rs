//! Files that a run goes on from: JSON, written beside its place and renamed, so that no half of one is ever there.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Checkpoint, RunInputs};
use crate::scene::{Digest, budget};

/// Why a file of a run, a [`Checkpoint`] or [`RunInputs`], could not be read or written.
///
/// ```
/// use pliant::runner::{Checkpoint, RunInputs, SavedError};
///
/// let path = std::env::temp_dir().join("pliant_saved_error_example.json");
/// RunInputs::new("box-stack").save(&path)?;
/// // A list of inputs is no checkpoint.
/// let error = Checkpoint::load(&path).unwrap_err();
/// assert!(matches!(&error, SavedError::Content { path: file, .. } if *file == path));
/// assert!(error.to_string().contains("--checkpoint-every")); // the remedy
/// # std::fs::remove_file(&path)?;
/// assert!(matches!(Checkpoint::load(&path), Err(SavedError::File { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SavedError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Its content is something else.
    #[error("{}: is no {expected}: {source}; name {remedy}", path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// What it should be.
        expected: &'static str,
        /// Place and reason.
        source: serde_json::Error,
        /// What such a file comes from.
        remedy: &'static str,
    },
}

/// Of the program, in checkpoints.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A checkpoint with what tells whether the file was changed.
#[derive(Serialize, Deserialize)]
struct Sealed<C> {
    /// Version of the program that wrote it.
    pliant: String,
    checksum: String,
    checkpoint: C,
}

fn save(value: &impl Serialize, path: &Path) -> Result<(), SavedError> {
    let beside = path.with_extension("partial");
    let fault = |source| SavedError::File {
        path: path.to_owned(),
        source,
    };
    let text = serde_json::to_vec(value).map_err(|e| fault(e.into()))?;
    let written = fs::File::create(&beside).and_then(|mut file| {
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    });
    if written.is_err() {
        let _gone = fs::remove_file(&beside);
    }
    written.map_err(fault)
}

fn load<T: DeserializeOwned>(
    path: &Path,
    expected: &'static str,
    remedy: &'static str,
) -> Result<T, SavedError> {
    let text = budget::read(path, budget::FILE_BYTES).map_err(|source| SavedError::File {
        path: path.to_owned(),
        source,
    })?;
    serde_json::from_slice(&text).map_err(|source| SavedError::Content {
        path: path.to_owned(),
        expected,
        source,
        remedy,
    })
}

impl Checkpoint {
    /// Writes the file.
    ///
    /// # Errors
    /// [`SavedError::File`].
    pub fn save(&self, path: &Path) -> Result<(), SavedError> {
        let sealed = Sealed {
            pliant: VERSION.into(),
            checksum: self.checksum(),
            checkpoint: self,
        };
        save(&sealed, path)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`SavedError`], also for a file that was changed.
    pub fn load(path: &Path) -> Result<Self, SavedError> {
        let (expected, remedy) = (
            "checkpoint of `pliant run`",
            "a file that `--checkpoint-every` or an interrupted run has written",
        );
        let sealed: Sealed<Self> = load(path, expected, remedy)?;
        let refused = |reason: String| {
            Err(SavedError::Content {
                path: path.to_owned(),
                expected,
                source: serde::de::Error::custom(reason),
                remedy,
            })
        };
        if sealed.pliant != VERSION {
            let saved = sealed.pliant;
            return refused(format!(
                "pliant {saved:?} has written it, and this is {VERSION:?}, whose steps may differ"
            ));
        }
        if sealed.checkpoint.checksum() != sealed.checksum {
            let reason =
                "its content does not have its checksum: it was changed after it was written";
            return refused(reason.into());
        }
        Ok(sealed.checkpoint)
    }

    /// Of the bytes of its content.
    fn checksum(&self) -> String {
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        Digest::of(&bytes).to_string()
    }
}

impl RunInputs {
    /// Writes the file.
    ///
    /// # Errors
    /// [`SavedError::File`].
    pub fn save(&self, path: &Path) -> Result<(), SavedError> {
        save(self, path)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`SavedError`].
    pub fn load(path: &Path) -> Result<Self, SavedError> {
        load(
            path,
            "list of inputs of `pliant run`",
            "an inputs.json that `pliant run --live` has written",
        )
    }
}
