//! States saved to a file, from which a run continues.

use pliant_coupling::State;
use serde::{Deserialize, Serialize};

use super::RunInputs;
use crate::scene::SceneFingerprint;

/// A state of a scene, as saved: a JSON file.
///
/// A run from it is bitwise identical to the run that saved it. [`run_with_hooks`](super::run_with_hooks) refuses a scene that has changed in a key
/// on which its steps depend.
///
/// ```
/// use pliant::runner::{Assembly, Checkpoint, RunLength, RunOptions, run, run_watched};
/// use pliant::scene::{Scene, SceneFingerprint, SceneOptions};
///
/// let read = |settings: &[&str]| -> Result<Scene, Box<dyn std::error::Error>> {
///     let parameters = settings.iter().map(|s| s.parse()).collect::<Result<_, _>>()?;
///     Ok(Scene::load("box-on-incline", &SceneOptions { parameters, ..SceneOptions::default() })?)
/// };
/// let scene = read(&[])?;
/// let options = RunOptions { length: RunLength::Until(0.1), ..RunOptions::default() };
/// let outcome = run(&scene, &options, &mut |_| {})?;
/// let fingerprint = SceneFingerprint::of(&scene, &Assembly::new(&scene)?.world);
/// let path = std::env::temp_dir().join("pliant_checkpoint_example.json");
/// Checkpoint::new(&outcome.state, &outcome.inputs, &fingerprint).save(&path)?;
///
/// let saved = Checkpoint::load(&path)?;
/// assert_eq!(saved.state, outcome.state);
/// let options = RunOptions { length: RunLength::Until(0.2), saved_from: Some(saved.scene), ..RunOptions::default() };
/// let changed = read(&["bodies.box.mass=3"])?;
/// let error = run_watched(&changed, Some(saved.state), &options, &mut |_, _| std::ops::ControlFlow::Continue(())).err().ok_or("refused")?;
/// assert!(error.to_string().contains("`bodies.box.mass`"));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Its state.
    pub state: State,
    /// What came into the run until then, with the name of the scene.
    pub inputs: RunInputs,
    /// What the steps of the scene depend on.
    pub scene: SceneFingerprint,
}

impl Checkpoint {
    /// Of a run that has got so far.
    pub fn new(state: &State, inputs: &RunInputs, scene: &SceneFingerprint) -> Self {
        Self {
            state: state.clone(),
            inputs: inputs.clone(),
            scene: scene.clone(),
        }
    }
}
