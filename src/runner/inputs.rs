//! What comes into a run from outside its scene: changes of parameters and pulls on bodies. A run that is given them again has the same bits.

use std::collections::BTreeMap;

use nalgebra::Vector3;
use pliant_contact_sap::{MaterialPoint, Surface};
use pliant_coupling::{BodyIdx, State, World};
use serde::{Deserialize, Serialize};

use super::hooks::{Push, place};
use crate::recording::InputMark;

/// Changes of parameters and pulls on bodies during a run, by the steps at whose start they came.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant::runner::{Pull, RunInputs, RunOptions, run};
/// use pliant::scene::{Scene, SceneOptions};
/// use pliant_contact_sap::MaterialPoint;
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
/// #     mass = 2
/// # "#;
/// # let scene = Scene::parse("ball.toml", text, &SceneOptions::default())?;
/// // A ball of 2 kg in free fall: a force of twice its weight turns g around.
/// let centre = MaterialPoint::on_frame(0, [0.0; 3].into());
/// let twice = Vector3::new(0.0, 0.0, 2.0 * 2.0 * 9.81);
/// let mut inputs = RunInputs::new(scene.name());
/// inputs.pulls.push(Pull { body: 0, points: vec![centre], first_step: 0, forces: vec![twice; 10] });
/// let options = RunOptions { inputs: Some(inputs.clone()), ..RunOptions::default() };
/// let outcome = run(&scene, &options, &mut |_| {})?;
/// assert!((outcome.state.bodies[0].v[5] - 9.81 * 0.1).abs() < 1e-9);
/// assert_eq!(outcome.inputs, inputs);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunInputs {
    /// Name of the scene.
    pub scene: String,
    /// [Settings](crate::scene::Scene::settings) with which the scene was read.
    pub settings: Vec<String>,
    /// In the order of their steps.
    pub parameters: Vec<ParameterChange>,
    /// In the order of their first steps.
    pub pulls: Vec<Pull>,
}

/// A parameter gets a value at the start of a step.
///
/// ```
/// use pliant::runner::Simulation;
/// use pliant::scene::{Scene, SceneOptions};
///
/// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
/// let mut simulation = Simulation::new(&scene)?;
/// simulation.step(|_| {})?;
/// simulation.set_parameter("mu", 0.1)?;
/// // It was set after one step of 2 ms.
/// let change = &simulation.finish()?.inputs.parameters[0];
/// assert_eq!((change.step, change.time_s), (1, 0.002));
/// assert_eq!((change.name.as_str(), change.value), ("mu", 0.1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterChange {
    /// Number of steps before it.
    pub step: u64,
    /// Time of the run, s.
    pub time_s: f64,
    /// The parameter.
    pub name: String,
    /// Its value from then on.
    pub value: f64,
}

/// A force on some points of a body during consecutive steps.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant::runner::{Pull, RunInputs};
/// use pliant_contact_sap::MaterialPoint;
///
/// // 3 N along x during the steps 4 and 5.
/// let points = vec![MaterialPoint::on_frame(0, [0.0; 3].into())];
/// let pull = Pull { body: 0, points, first_step: 4, forces: vec![Vector3::new(3.0, 0.0, 0.0); 2] };
/// assert_eq!(pull.end_step(), 6);
/// // What has come before step 5 is one step of it.
/// let inputs = RunInputs { pulls: vec![pull], ..RunInputs::new("ball") };
/// assert_eq!(inputs.before(5).pulls[0].forces.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pull {
    /// Number of the body in the world.
    pub body: usize,
    /// The points that share the force equally.
    pub points: Vec<MaterialPoint>,
    /// Number of steps before its first.
    pub first_step: u64,
    /// The force during each step, N, world axes.
    pub forces: Vec<Vector3<f64>>,
}

impl Pull {
    /// Number of steps before the one after its last.
    pub fn end_step(&self) -> u64 {
        self.first_step + self.forces.len() as u64
    }
}

impl RunInputs {
    /// None, for the scene of that name, read without settings.
    pub fn new(scene: impl Into<String>) -> Self {
        Self {
            scene: scene.into(),
            ..Self::default()
        }
    }

    /// Whether nothing came.
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty() && self.pulls.is_empty()
    }

    /// The part before the step of that number.
    ///
    /// ```
    /// use pliant::runner::{ParameterChange, RunInputs};
    ///
    /// let change = |step: u64, value: f64| ParameterChange { step, time_s: 0.01 * step as f64, name: "mu".into(), value };
    /// let inputs = RunInputs { parameters: vec![change(2, 0.4), change(5, 0.6)], ..RunInputs::new("box-on-incline") };
    /// // A run that goes on from step 5 has had the first change.
    /// let past = inputs.before(5);
    /// assert_eq!(past.parameters, [change(2, 0.4)]);
    /// assert_eq!((past.last_values()["mu"], inputs.last_values()["mu"]), (0.4, 0.6));
    /// ```
    #[must_use]
    pub fn before(&self, step: u64) -> Self {
        let pulls = self.pulls.iter().filter(|pull| pull.first_step < step);
        Self {
            scene: self.scene.clone(),
            settings: self.settings.clone(),
            parameters: (self.parameters.iter())
                .filter(|change| change.step < step)
                .cloned()
                .collect(),
            pulls: pulls
                .cloned()
                .map(|mut pull| {
                    pull.forces.truncate((step - pull.first_step) as usize);
                    pull
                })
                .collect(),
        }
    }

    /// The last value of each parameter that was changed, by its name: the values that hold after all changes.
    pub fn last_values(&self) -> BTreeMap<String, f64> {
        let changes = self.parameters.iter();
        changes
            .map(|change| (change.name.clone(), change.value))
            .collect()
    }

    /// Why they cannot have come into a run of this scene and world; `None` if they can.
    pub(super) fn fault(&self, scene: &str, world: &World, state: &State) -> Option<String> {
        if self.scene != scene {
            return Some(format!(
                "the inputs are those of the scene {:?}",
                self.scene
            ));
        }
        let mut surface = Surface::default();
        for pull in &self.pulls {
            let Some(body_state) = state.bodies.get(pull.body) else {
                let n = state.bodies.len();
                return Some(format!("the inputs pull body {} of {n}", pull.body));
            };
            let model = world.model(BodyIdx(pull.body));
            model.surface(body_state, &mut surface);
            if pull.points.is_empty() || pull.points.iter().any(|p| place(&surface, p).is_none()) {
                let body = pull.body;
                return Some(format!(
                    "the inputs pull a point that body {body} does not have"
                ));
            }
            if pull.forces.iter().any(|f| !f.iter().all(|x| x.is_finite())) {
                return Some("the inputs have a force that is not finite".into());
            }
        }
        None
    }

    /// A note, if they are of a run of the scene with other settings.
    pub(super) fn note_on_settings(&self, now: &[String]) -> Option<String> {
        let text = |settings: &[String]| match settings {
            [] => "none".to_owned(),
            some => some.join(", "),
        };
        (self.settings != now).then(|| {
            format!(
                "the earlier run had the settings {}, this one has {}: together they are not one run without a break",
                text(&self.settings),
                text(now)
            )
        })
    }

    /// The parameters that change at the start of a step.
    pub(super) fn parameters_at(&self, step: u64) -> impl Iterator<Item = (&str, f64)> {
        let changes = self.parameters.iter().filter(move |c| c.step == step);
        changes.map(|change| (change.name.as_str(), change.value))
    }

    /// The pushes during a step.
    pub(super) fn pushes_at(&self, step: u64) -> impl Iterator<Item = Push> {
        let pulls = (self.pulls.iter())
            .filter(move |pull| (pull.first_step..pull.end_step()).contains(&step));
        pulls.map(move |pull| Push {
            body: BodyIdx(pull.body),
            points: pull.points.clone(),
            force_W: pull.forces[(step - pull.first_step) as usize],
        })
    }

    /// Adds the pushes during a step.
    pub(super) fn add_pushes(&mut self, step: u64, pushes: &[Push]) {
        for push in pushes {
            let goes_on = |pull: &&mut Pull| {
                pull.end_step() == step && pull.body == push.body.0 && pull.points == push.points
            };
            match self.pulls.iter_mut().rev().find(goes_on) {
                Some(pull) => pull.forces.push(push.force_W),
                None => self.pulls.push(Pull {
                    body: push.body.0,
                    points: push.points.clone(),
                    first_step: step,
                    forces: vec![push.force_W],
                }),
            }
        }
    }

    /// Marks in the recording of a run with this time step; `bodies` are the names of the bodies of the world.
    pub(super) fn marks<'a>(
        &self,
        bodies: impl Iterator<Item = (&'a str, BodyIdx)>,
        time_step_s: f64,
    ) -> Vec<InputMark> {
        let names: BTreeMap<usize, &str> = bodies.map(|(name, body)| (body.0, name)).collect();
        let changes = self.parameters.iter().enumerate().map(|(at, change)| {
            let mut later = self.parameters[at + 1..].iter();
            InputMark {
                from_s: change.time_s,
                until_s: later.find(|c| c.name == change.name).map(|c| c.time_s),
                text: format!("{} = {}", change.name, change.value),
            }
        });
        let pulls = self.pulls.iter().map(|pull| InputMark {
            from_s: pull.first_step as f64 * time_step_s,
            until_s: Some(pull.end_step() as f64 * time_step_s),
            text: match names.get(&pull.body) {
                Some(name) => format!("{name} is pulled"),
                None => format!("body {} is pulled", pull.body),
            },
        });
        changes.chain(pulls).collect()
    }

    /// A note on each parameter that was changed.
    pub(super) fn notes(&self) -> Vec<String> {
        let note = |(name, value): (String, f64)| {
            let changes = || self.parameters.iter().filter(|c| c.name == name);
            let last_s = changes().next_back().map_or(0.0, |change| change.time_s);
            let times = match changes().count() {
                1 => String::new(),
                n => format!("{n} times, the last time "),
            };
            format!(
                "the parameter `{name}` was changed {times}at {last_s:.6} s to {value}; expectations are those of its first value"
            )
        };
        self.last_values().into_iter().map(note).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(body: usize, x: f64) -> Push {
        Push {
            body: BodyIdx(body),
            points: vec![MaterialPoint::on_vertex(3)],
            force_W: Vector3::new(x, 0.0, 0.0),
        }
    }

    #[test]
    fn pushes_of_consecutive_steps_are_one_pull_and_come_back() {
        let mut inputs = RunInputs::default();
        let steps = [
            (4, vec![push(0, 1.0)]),
            (5, vec![push(0, 2.0), push(1, 9.0)]),
            (7, vec![push(0, 3.0)]),
        ];
        for (step, pushes) in &steps {
            inputs.add_pushes(*step, pushes);
        }

        assert_eq!(inputs.pulls.len(), 3);
        for (step, pushes) in steps {
            assert_eq!(inputs.pushes_at(step).collect::<Vec<_>>(), pushes, "{step}");
        }
        assert_eq!(inputs.pushes_at(6).count(), 0);
        let before = inputs.before(5);
        assert_eq!(before.pulls.len(), 1);
        assert_eq!(before.pulls[0].forces.len(), 1);
    }

    #[test]
    fn a_parameter_has_one_note_and_its_last_value() {
        let mut inputs = RunInputs::default();
        for (step, value) in [(2, 0.5), (9, 0.7)] {
            inputs.parameters.push(ParameterChange {
                step,
                time_s: 0.1 * step as f64,
                name: "mu".into(),
                value,
            });
        }

        assert_eq!(inputs.last_values(), [("mu".into(), 0.7)].into());
        assert_eq!(inputs.parameters_at(2).collect::<Vec<_>>(), [("mu", 0.5)]);
        let notes = inputs.notes();
        assert_eq!(notes.len(), 1);
        assert!(
            notes[0].contains("2 times, the last time at 0.900000 s to 0.7"),
            "{notes:?}"
        );
    }
}
