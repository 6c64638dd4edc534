//! The loop of an overhand knot: what pulls is carried by bending and, while the knot gets tighter, by friction.

use std::f64::consts::PI;

use super::laboratory::Outcome;
use super::{Case, CaseKind, CaseLength, Finding};
use crate::runner::{RunLength, RunOptions, run as run_scene};
use crate::scene::{ParameterOverride, Scene, SceneOptions};

pub(super) const CASE: Case = Case {
    name: "rod-knot",
    about: "an overhand knot resists the pull with the bending of its loop and the friction of its braid",
    kind: CaseKind::Function(run),
    needs: None,
};

/// h, m, of the bundled scene.
const RADIUS: f64 = 1.5e-3;
/// E, Pa.
const MODULUS: f64 = 1.8e7;
/// The answer is the first term of a series in √(h/R), which is 0.25 here.
const TOLERATED: f64 = 0.2;

/// A pull that grows to `pull` (N) until `ramp_s` and is looked at when `until_s` is over.
struct Pull {
    friction: f64,
    pull: f64,
    ramp_s: f64,
    until_s: f64,
}

impl Pull {
    /// F h²/B and ε = √(h/R), R the radius of the circle that is bent with as much energy as the cord, πB/R.
    fn found(&self) -> Outcome<[f64; 2]> {
        let set = |text: String| text.parse::<ParameterOverride>();
        let options = SceneOptions {
            parameters: vec![
                set(format!("mu={}", self.friction))?,
                set(format!("pull={}", self.pull))?,
                set(format!("ramp={}", self.ramp_s))?,
                // Edges as long as the cord is thick in radius.
                set("edges=300".into())?,
            ],
            ..SceneOptions::default()
        };
        let scene = Scene::load("knot-tightening", &options)?;
        let length = RunLength::Until(self.until_s);
        let outcome = run_scene(
            &scene,
            &RunOptions {
                length,
                ..RunOptions::default()
            },
            &mut |_| {},
        )?;
        let is_energy = |name: &str| name == "energy";
        let column = scene
            .observables
            .iter()
            .position(|o| is_energy(&o.name.name));
        let last = outcome.series.times_s().len() - 1;
        let energy = column.map_or(f64::NAN, |column| outcome.series.at(last, column));
        let stiffness = MODULUS * PI * RADIUS.powi(4) / 4.0;
        let loop_radius = PI * stiffness / energy;
        Ok([
            self.pull * RADIUS * RADIUS / stiffness,
            (RADIUS / loop_radius).sqrt(),
        ])
    }

    fn finding(&self) -> Outcome<Finding> {
        let [force, epsilon] = self.found()?;
        let expected = 0.5 * epsilon.powi(4) + 0.492 * self.friction * epsilon.powi(3);
        Ok(Finding::equals(
            format!(
                "rod-knot: F h2/B at mu {}, sqrt(h/R) = {epsilon:.3}",
                self.friction
            ),
            force,
            expected,
            TOLERATED * expected,
            "Audoly, Clauvelin and Neukirch (2007): eps^4/2 + 0.492 mu eps^3, asymptotically",
        ))
    }
}

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let at_rest = Pull {
        friction: 0.0,
        pull: 0.0573,
        ramp_s: 0.1,
        until_s: 0.7,
    };
    let tightening = Pull {
        friction: 0.1,
        pull: 0.16,
        ramp_s: 0.8,
        until_s: 0.8,
    };
    match length {
        CaseLength::Quick => Ok(vec![at_rest.finding()?]),
        CaseLength::Full => Ok(vec![at_rest.finding()?, tightening.finding()?]),
    }
}
