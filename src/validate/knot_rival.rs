//! The fourfold knot at 0.8 m/s with soft contact: an energy of the distance lets strands through where constraints of the same
//! stiffness hold them.

use super::laboratory::Outcome;
use super::{Case, CaseKind, CaseLength, Finding};
use crate::runner::{RunLength, RunOptions, run as run_scene};
use crate::scene::{ParameterOverride, Scene, SceneOptions};

pub(super) const CASE: Case = Case {
    name: "knot-rival",
    about: "a knot slips through contact that is an energy, and not through constraints as soft",
    kind: CaseKind::Function(run),
    needs: None,
};

/// N/m, so soft that strands sink into each other.
const STIFFNESS: f64 = 1e3;

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    const SOURCE: &str = "Li and Chou (2025), V-B and Fig. 1c";
    let run_length = match length {
        CaseLength::Quick => RunLength::Smoke,
        CaseLength::Full => RunLength::Full,
    };
    let name = |model: &str| format!("knot-rival: strands that went through each other, {model}");
    let constrained = passages("lagged", run_length)?;
    let in_energy = passages("energy", run_length)?;
    Ok(vec![
        Finding::equals(name("constraints"), constrained, 0.0, 0.0, SOURCE),
        Finding::at_least(name("energy"), in_energy, 1.0, SOURCE),
    ])
}

/// How often strands pass in `knot-at-speed` with a contact model.
fn passages(model: &str, length: RunLength) -> Outcome<f64> {
    let set = |text: String| text.parse::<ParameterOverride>();
    let options = SceneOptions {
        parameters: vec![
            set(format!("materials.default.stiffness={STIFFNESS}"))?,
            set(format!("contact.model={model}"))?,
        ],
        ..SceneOptions::default()
    };
    let scene = Scene::load("knot-at-speed", &options)?;
    let outcome = run_scene(
        &scene,
        &RunOptions {
            length,
            ..RunOptions::default()
        },
        &mut |_| {},
    )?;
    let mut verdicts = outcome.summary.expectations.iter();
    let passages = verdicts.find(|verdict| verdict.observable == "passages");
    Ok(passages
        .and_then(|verdict| verdict.found)
        .unwrap_or(f64::NAN))
}
