//! A state fits the world of a scene if it has the same sizes.

use pliant_coupling::State;

/// A state of another world.
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{scene}: {}", self.reason())]
pub struct StateMismatch {
    /// Name of the scene.
    pub scene: String,
    /// What the state has.
    pub found: String,
    /// What the world has.
    pub expected: String,
}

impl StateMismatch {
    /// What differs, and the remedy, without the name of the scene.
    pub(in crate::runner) fn reason(&self) -> String {
        let Self {
            found, expected, ..
        } = self;
        format!(
            "the state has {found}, the scene's world {expected}; load it into the scene that saved it"
        )
    }
}

/// Compares the sizes of a state with those of one of the scene's world.
pub(in crate::runner) fn check_sizes(
    scene: &str,
    state: &State,
    own: &State,
) -> Result<(), StateMismatch> {
    let counts = |state: &State| (state.bodies.len(), state.constraints.len());
    let (found, expected) = match counts(state) == counts(own) {
        false => {
            let text = |state| {
                let (bodies, constraints) = counts(state);
                format!("{bodies} bodies and {constraints} constraints")
            };
            (text(state), text(own))
        }
        true => {
            let sizes =
                |state: &State, i: usize| (state.bodies[i].q.len(), state.bodies[i].v.len());
            let differs = |i: &usize| sizes(state, *i) != sizes(own, *i);
            let Some(i) = (0..own.bodies.len()).find(differs) else {
                return Ok(());
            };
            let ((q, v), (own_q, own_v)) = (sizes(state, i), sizes(own, i));
            (
                format!("{q} positions and {v} velocities of body {i}"),
                format!("{own_q} and {own_v}"),
            )
        }
    };
    Err(StateMismatch {
        scene: scene.into(),
        found,
        expected,
    })
}
