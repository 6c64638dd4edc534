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

/// A pull that grows to `pull` (N) until `ramp_s` and is followed until `until_s`.
struct Pull {
    friction: f64,
    pull: f64,
    ramp_s: f64,
    until_s: f64,
    /// Of the loop at the start, m.
    loop_radius: f64,
    /// On all motion, 1/s: what the ends feel of it while they are drawn apart looks like friction.
    drag: f64,
}

/// A moment of a knot: F h²/B and ε = √(h/R), R the radius of the circle that is bent with as much energy as the cord, πB/R.
#[derive(Clone, Copy)]
struct Moment {
    force: f64,
    epsilon: f64,
}

impl Pull {
    fn moments(&self) -> Outcome<Vec<Moment>> {
        let set = |text: String| text.parse::<ParameterOverride>();
        let options = SceneOptions {
            parameters: vec![
                set(format!("mu={}", self.friction))?,
                set(format!("pull={}", self.pull))?,
                set(format!("ramp={}", self.ramp_s))?,
                set(format!("loop={}", self.loop_radius))?,
                // Edges at most twice as long as the cord is thick in radius.
                set("edges=300".into())?,
                set(format!("rods.cord.mass_damping={}", self.drag))?,
            ],
            // It moves slowly, and how often strands pass is not asked.
            time_step_s: Some(0.004),
            ..SceneOptions::default()
        };
        let scene = Scene::load("knot-tightening", &options)?;
        let length = RunLength::Until(self.until_s);
        let options = RunOptions {
            length,
            ..RunOptions::default()
        };
        let outcome = run_scene(&scene, &options, &mut |_| {})?;
        let mut names = scene.observables.iter().map(|o| &o.name.name);
        let column = names.position(|name| name == "energy");
        let stiffness = MODULUS * PI * RADIUS.powi(4) / 4.0;
        let moment = |(row, time_s): (usize, &f64)| {
            let energy = column.map_or(f64::NAN, |column| outcome.series.at(row, column));
            let pull = self.pull * (time_s / self.ramp_s).min(1.0);
            Moment {
                force: pull * RADIUS * RADIUS / stiffness,
                epsilon: (RADIUS * energy / (PI * stiffness)).sqrt(),
            }
        };
        let times = outcome.series.times_s().iter().enumerate();
        Ok(times.map(moment).collect())
    }

    fn finding(&self, at: Moment) -> Finding {
        let Moment { force, epsilon } = at;
        let expected = 0.5 * epsilon.powi(4) + 0.492 * self.friction * epsilon.powi(3);
        Finding::equals(
            format!(
                "rod-knot: F h2/B at mu {}, sqrt(h/R) = {epsilon:.3}",
                self.friction
            ),
            force,
            expected,
            TOLERATED * expected,
            "Audoly, Clauvelin and Neukirch (2007): eps^4/2 + 0.492 mu eps^3, asymptotically",
        )
    }

    /// When it comes to rest.
    fn at_rest(&self) -> Outcome<Vec<Finding>> {
        let moments = self.moments()?;
        Ok(moments
            .last()
            .map(|last| self.finding(*last))
            .into_iter()
            .collect())
    }

    /// While it tightens, as the loop passes these ε for good.
    fn passing(&self, epsilons: &[f64]) -> Outcome<Vec<Finding>> {
        let moments = self.moments()?;
        let passing = |epsilon: &f64| {
            let before = moments.iter().rposition(|m| m.epsilon < *epsilon);
            let missed = Moment {
                force: f64::NAN,
                epsilon: *epsilon,
            };
            let pair = before.and_then(|i| Some((moments[i], *moments.get(i + 1)?)));
            let at = pair.map_or(missed, |(a, b)| {
                let s = (epsilon - a.epsilon) / (b.epsilon - a.epsilon);
                Moment {
                    force: a.force + (b.force - a.force) * s,
                    epsilon: *epsilon,
                }
            });
            self.finding(at)
        };
        Ok(epsilons.iter().map(passing).collect())
    }
}

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let frictionless = Pull {
        friction: 0.0,
        pull: 0.0573,
        ramp_s: 0.1,
        until_s: 0.7,
        loop_radius: 0.025,
        drag: 20.0,
    };
    let tightening = Pull {
        friction: 0.1,
        pull: 0.2,
        ramp_s: 3.6,
        until_s: 3.6,
        loop_radius: 0.05,
        drag: 2.0,
    };
    let mut findings = frictionless.at_rest()?;
    if length == CaseLength::Full {
        findings.extend(tightening.passing(&[0.2, 0.25, 0.3])?);
    }
    Ok(findings)
}
