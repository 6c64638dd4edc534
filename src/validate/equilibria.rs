//! Equilibria of rods under loads, which must not depend on the time step.

use super::test_world::Outcome;
use super::{Case, CaseKind, CaseLength, Finding, finding};
use crate::runner::{RunOptions, run as run_scene};
use crate::scene::{Scene, SceneOptions};

pub(super) const CASE: Case = Case {
    name: "equilibria",
    about: "a strut and a rope reach the equilibrium of their loads at any time step",
    kind: CaseKind::Function(run),
    needs: None,
};

const SCENES: [(&str, &str); 2] = [
    ("strut", include_str!("equilibria/strut.toml")),
    ("rope", include_str!("equilibria/rope.toml")),
];

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let time_steps_s: &[f64] = match length {
        CaseLength::Quick => &[0.02, 0.005],
        CaseLength::Full => &[0.02, 0.005, 0.0005],
    };
    let mut findings = Vec::new();
    for (name, text) in SCENES {
        for &time_step_s in time_steps_s {
            let options = SceneOptions {
                time_step_s: Some(time_step_s),
                ..SceneOptions::default()
            };
            let scene = Scene::parse(name, text, &options)?;
            let summary = run_scene(&scene, &RunOptions::default(), &mut |_| {})?.summary;
            let case = format!("equilibria: {name} at {} ms,", 1e3 * time_step_s);
            let verdicts = summary.expectations.iter();
            findings.extend(verdicts.map(|verdict| finding(&case, verdict)));
        }
    }
    Ok(findings)
}
