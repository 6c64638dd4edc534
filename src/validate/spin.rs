//! Soft bars that spin in free flight.

use pliant_fem::LawKind;

use super::test_world::Outcome;
use super::{Case, CaseKind, CaseLength, Finding};
use crate::runner::{RunLength, RunOptions, run as run_scene};
use crate::scene::{Scene, SceneOptions};

pub(super) const CASE: Case = Case {
    name: "spin",
    about: "soft bars that spin keep their angular momentum by every law and rule",
    kind: CaseKind::Function(run),
    needs: None,
};

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    for integration in ["backward-euler", "midpoint"] {
        for law in LawKind::ALL
            .into_iter()
            .filter(|law| *law != LawKind::Linear)
        {
            findings.push(angular_momentum(integration, law)?);
        }
    }
    Ok(findings)
}

const SECONDS: f64 = 2.0;

const BAR: &str = r#"
schema = 1
title = "a soft bar that spins"
[simulation]
time_step_s = 0.005
smoke_s = 2.0
gravity = [0, 0, 0]
integration = "INTEGRATION"
[[fem]]
name = "bar"
mesh = { box = { size = [0.3, 0.1, 0.1], cells = [6, 2, 2] } }
constitutive_material = { law = "LAW", youngs_modulus = 1e6, poissons_ratio = 0.3 }
angular_velocity = [0, 0, 10]
mass_matrix = "consistent"
[[observables]]
name = "L"
quantity = "angular-momentum"
of = "bar"
component = "z"
"#;

/// Largest change of L during 2 s.
fn angular_momentum(integration: &str, law: LawKind) -> Outcome<Finding> {
    let text = BAR
        .replace("INTEGRATION", integration)
        .replace("LAW", law.name());
    let scene = Scene::parse("spin.toml", &text, &SceneOptions::default())?;
    let options = RunOptions {
        length: RunLength::Until(SECONDS),
        ..RunOptions::default()
    };
    let outcome = run_scene(&scene, &options, &mut |_| {})?;
    let at = |row| outcome.series.at(row, 0);
    let rows = outcome.series.times_s().len();
    let changes = (0..rows).map(|row| (at(row) / at(0) - 1.0).abs());
    let name = law.name();
    Ok(Finding::at_most(
        format!(
            "spin: relative change of L of a soft bar in 2 s at 10 rad/s, {name}, {integration}"
        ),
        changes.fold(0.0, f64::max),
        1e-5,
        "conservation: no torque acts; tolerance of the solver",
    ))
}
