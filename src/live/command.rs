//! What a page asks of a run.

use nalgebra::Point3;
use serde::Deserialize;

use super::Pace;

/// A request, as JSON: `{"do": "pause"}`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Command {
    /// Wait after the present step.
    Pause,
    /// Go on.
    Resume,
    /// Go on to the next frame, and wait.
    Step,
    /// Simulated seconds for each second of the clock; `null` for as fast as it can.
    Pace {
        /// The rate.
        rate: Option<f64>,
    },
    /// Pull a point of a body towards a target.
    Drag(Drag),
    /// Let go.
    Release,
    /// Give a parameter of the scene a value.
    Parameter {
        /// Which.
        name: String,
        /// Its value.
        value: f64,
    },
}

/// A pull on a body.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Drag {
    /// Chosen by the page for each grasp; a new number grasps anew.
    pub(super) grasp: u64,
    /// What is pulled.
    #[serde(flatten)]
    pub(super) of: Grasped,
    /// The point of the body where it is grasped: in its own frame for a body, in the world for a soft visual, m.
    pub(super) point: Point3<f64>,
    /// Where the point is pulled to, world frame, m.
    pub(super) target: Point3<f64>,
}

/// A body or a soft visual of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Grasped {
    /// Number of a body.
    Body(usize),
    /// Number among the visuals that deform.
    Soft(usize),
}

/// No scene is larger, m.
const FAR: f64 = 1e6;

impl Command {
    /// Reads a request about a recording of so many bodies.
    pub(super) fn read(body: &[u8], n_bodies: usize) -> Result<Self, String> {
        let command: Self =
            serde_json::from_slice(body).map_err(|error| format!("no command: {error}"))?;
        match &command {
            Self::Pace { rate: Some(rate) } => {
                Pace::at(*rate)?;
            }
            Self::Drag(drag) => drag.check(n_bodies)?,
            _ => {}
        }
        Ok(command)
    }
}

impl Drag {
    fn check(&self, n_bodies: usize) -> Result<(), String> {
        if let Grasped::Body(body) = self.of
            && body >= n_bodies
        {
            return Err(format!("body {body} of {n_bodies}"));
        }
        let numbers = self.point.iter().chain(self.target.iter());
        match numbers.clone().all(|x| x.abs() < FAR) {
            true => Ok(()),
            false => Err(format!("a drag must be within {FAR} m")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_and_bad_ones_refused() {
        let read = |text: &str| Command::read(text.as_bytes(), 2);
        assert_eq!(read(r#"{"do": "pause"}"#), Ok(Command::Pause));
        assert_eq!(
            read(r#"{"do": "pace", "rate": null}"#),
            Ok(Command::Pace { rate: None })
        );
        let drag =
            r#"{"do": "drag", "grasp": 3, "body": 1, "point": [0, 0, 1], "target": [1, 2, 3]}"#;
        let Ok(Command::Drag(drag)) = read(drag) else {
            panic!("{:?}", read(drag));
        };
        assert_eq!((drag.grasp, drag.of), (3, Grasped::Body(1)));
        for (text, expected) in [
            (r#"{"do": "fly"}"#, "fly"),
            (r#"{"do": "pace", "rate": 0}"#, "positive"),
            (
                r#"{"do": "drag", "grasp": 0, "body": 2, "point": [0, 0, 1], "target": [1, 2, 3]}"#,
                "body 2 of 2",
            ),
            (
                r#"{"do": "drag", "grasp": 0, "soft": 0, "point": [0, 0, 1], "target": [1, 2, 1e9]}"#,
                "within",
            ),
            ("", "no command"),
        ] {
            let refused = read(text).expect_err(text);
            assert!(refused.contains(expected), "{refused}");
        }
    }
}
