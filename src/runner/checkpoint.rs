//! States saved to a file, from which a run goes on.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pliant_coupling::State;
use serde::{Deserialize, Serialize};

/// A state of a scene, as saved: a JSON file.
///
/// A run from it has the same bits as the run that saved it, if the scene file has not changed.
///
/// ```
/// use pliant::runner::{Checkpoint, RunLength, RunOptions, run};
/// use pliant::scene::{Scene, SceneOptions};
///
/// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
/// let options = RunOptions { length: RunLength::Until(0.1), ..RunOptions::default() };
/// let state = run(&scene, &options, &mut |_| {})?.state;
/// let path = std::env::temp_dir().join("pliant_checkpoint_example.json");
/// Checkpoint::new(&scene, &state).save(&path)?;
/// assert_eq!(Checkpoint::load(&path)?.state, state);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Name of the scene.
    pub scene: String,
    /// Its state.
    pub state: State,
}

/// Why a file is no checkpoint, or could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Its content is something else.
    #[error(
        "{}: is no checkpoint of `pliant run`: {source}; name a file that `--checkpoint-every` or an interrupted run has written",
        path.display()
    )]
    Content {
        /// Which.
        path: PathBuf,
        /// Place and reason.
        source: serde_json::Error,
    },
}

impl Checkpoint {
    /// Of a state of `scene`.
    pub fn new(scene: &crate::scene::Scene, state: &State) -> Self {
        Self {
            scene: scene.name().to_owned(),
            state: state.clone(),
        }
    }

    /// Writes the file beside `path` and renames it, so that no half of one is ever at `path`.
    ///
    /// # Errors
    /// [`CheckpointError::File`].
    pub fn save(&self, path: &Path) -> Result<(), CheckpointError> {
        let beside = path.with_extension("partial");
        let fault = |source| CheckpointError::File {
            path: path.to_owned(),
            source,
        };
        let text = serde_json::to_vec(self).map_err(|e| fault(e.into()))?;
        fs::write(&beside, text).map_err(fault)?;
        fs::rename(&beside, path).map_err(fault)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`CheckpointError`].
    pub fn load(path: &Path) -> Result<Self, CheckpointError> {
        let text = fs::read(path).map_err(|source| CheckpointError::File {
            path: path.to_owned(),
            source,
        })?;
        serde_json::from_slice(&text).map_err(|source| CheckpointError::Content {
            path: path.to_owned(),
            source,
        })
    }
}
