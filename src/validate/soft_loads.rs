//! Loads on soft bodies: force fields narrower than elements, and tractions on faces.

use super::test_world::Outcome;
use super::{Case, CaseKind, CaseLength, Finding, finding};
use crate::runner::{RunOptions, run as run_scene};
use crate::scene::{Scene, SceneOptions};

pub(super) const CASE: Case = Case {
    name: "soft-loads",
    about: "a pulse of force narrower than the elements has its whole force, and a load on a face is a uniform traction",
    kind: CaseKind::Function(run),
    needs: None,
};

const SCENES: [(&str, &str); 2] = [
    ("pulse", include_str!("soft_loads/pulse.toml")),
    ("traction", include_str!("soft_loads/traction.toml")),
];

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let cells: &[u32] = match length {
        CaseLength::Quick => &[2, 3],
        CaseLength::Full => &[1, 2, 3, 4, 5],
    };
    let mut findings = Vec::new();
    for (name, text) in SCENES {
        for &cells in cells {
            let options = SceneOptions {
                parameters: vec![format!("c={cells}").parse()?],
                ..SceneOptions::default()
            };
            let scene = Scene::parse(name, text, &options)?;
            let summary = run_scene(&scene, &RunOptions::default(), &mut |_| {})?.summary;
            let case = format!("soft-loads: {name} on {cells} cells,");
            let verdicts = summary.expectations.iter();
            findings.extend(verdicts.map(|verdict| finding(&case, verdict)));
        }
    }
    Ok(findings)
}
