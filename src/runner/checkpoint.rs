//! States saved to a file, from which a run goes on.

use pliant_coupling::State;
use serde::{Deserialize, Serialize};

use super::RunInputs;

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
/// let outcome = run(&scene, &options, &mut |_| {})?;
/// let path = std::env::temp_dir().join("pliant_checkpoint_example.json");
/// Checkpoint::new(&outcome.state, &outcome.inputs).save(&path)?;
/// assert_eq!(Checkpoint::load(&path)?.state, outcome.state);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Its state.
    pub state: State,
    /// What came into the run until then, with the name of the scene.
    pub inputs: RunInputs,
}

impl Checkpoint {
    /// Of a run that has got so far.
    pub fn new(state: &State, inputs: &RunInputs) -> Self {
        Self {
            state: state.clone(),
            inputs: inputs.clone(),
        }
    }
}
