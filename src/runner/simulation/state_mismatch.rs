//! States that are not of the world of a scene.

use pliant_coupling::StateFault;

/// A state that the world of a scene cannot have.
///
/// ```
/// use pliant::runner::Simulation;
/// use pliant::scene::{Scene, SceneOptions};
/// use pliant_coupling::State;
///
/// # let text = r#"
/// #     schema = 1
/// #     title = "a ball falls"
/// #     [simulation]
/// #     smoke_s = 0.1
/// #     time_step_s = 0.01
/// #     [[bodies]]
/// #     name = "ball"
/// #     shape = { sphere = { radius = 0.1 } }
/// #     pose = { position = [0, 0, 1] }
/// # "#;
/// # let scene = Scene::parse("ball.toml", text, &SceneOptions::default())?;
/// let mut simulation = Simulation::new(&scene)?;
/// let error = simulation.set_state(State::default()).unwrap_err();
/// assert!(error.to_string().contains("load it into the scene that saved it"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{scene}: {}", self.reason())]
pub struct StateMismatch {
    /// Name of the scene.
    pub scene: String,
    /// What is wrong.
    pub source: StateFault,
}

impl StateMismatch {
    /// What is wrong, and the remedy, without the name of the scene.
    pub(in crate::runner) fn reason(&self) -> String {
        format!("{}; load it into the scene that saved it", self.source)
    }
}
