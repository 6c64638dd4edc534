//! Soft bodies come to rest under their weight: on shapes, on compliant shapes and on each other.

use super::test_world::Outcome;
use super::{Case, CaseKind, CaseLength, Finding};
use crate::runner::{RunOptions, run as run_scene};
use crate::scene::{ParameterOverride, Scene, SceneOptions};

pub(super) const CASE: Case = Case {
    name: "soft-rest",
    about: "soft bodies on a half space, on shapes and on each other come to rest, and their supports carry their weight",
    kind: CaseKind::Function(run),
    needs: None,
};

/// A soft cube of 1 kg, 1 mm above a support.
const CUBE: &str = include_str!("soft_rest/cube.toml");
/// N.
const WEIGHT: f64 = 9.81;
const FORCE_WITHIN: f64 = 1e-5 * WEIGHT;
/// m/s, from the kinetic energy of 1 kg.
const SPEED_MAX: f64 = 1e-6;

/// What the cube lies on.
struct Support {
    name: &'static str,
    text: &'static str,
}

const SUPPORTS: [Support; 5] = [
    Support {
        name: "a half space",
        text: "[[fixed]]\nname = \"support\"\nshape = { half_space = {} }",
    },
    Support {
        name: "a box of its own width",
        text: "[[fixed]]\nname = \"support\"\nshape = { box = { size = [0.1, 0.1, 0.1] } }\npose = { position = [0, 0, -0.05] }",
    },
    Support {
        name: "a narrower box",
        text: "[[fixed]]\nname = \"support\"\nshape = { box = { size = [0.07, 0.05, 0.1] } }\npose = { position = [0, 0, -0.05] }",
    },
    Support {
        name: "a compliant half space",
        text: "[[fixed]]\nname = \"support\"\nshape = { half_space = {} }
material = { hydroelastic = \"compliant\", hydroelastic_modulus = 1e6, slab_thickness = 0.05 }",
    },
    Support {
        name: "a compliant box",
        text: "[[fixed]]\nname = \"support\"\nshape = { box = { size = [0.3, 0.3, 0.1] } }\npose = { position = [0, 0, -0.05] }
material = { hydroelastic = \"compliant\", hydroelastic_modulus = 1e6 }",
    },
];

/// A soft slab of 0.224 kg, on the cube.
const UPPER: &str = "[[fem]]
name = \"upper\"
mesh = { box = { size = [0.08, 0.07, 0.04], cells = [3, 3, 2] } }
constitutive_material = { youngs_modulus = \"E\", poissons_ratio = 0.3 }
pose = { position = [0.004, 0.002, \"s + 0.022\"] }
";

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    let (time_steps, moduli) = match length {
        CaseLength::Quick => ([1e-2].as_slice(), [2e4].as_slice()),
        CaseLength::Full => (
            [1e-3, 2e-3, 5e-3, 1e-2, 2e-2].as_slice(),
            [5e3, 2e4, 1e5, 1e6].as_slice(),
        ),
    };
    for support in &SUPPORTS {
        for &time_step_s in time_steps {
            for &modulus in moduli {
                let text = format!("{CUBE}\n{}\n", support.text);
                let of = format!(
                    "soft-rest, {}, E = {modulus:.0e} Pa, {} ms",
                    support.name,
                    1e3 * time_step_s
                );
                add(&of, &text, (time_step_s, modulus), WEIGHT, &mut findings)?;
            }
        }
    }
    let text = format!("{CUBE}\n{}\n{UPPER}", SUPPORTS[0].text);
    let of = "soft-rest, a cube under a slab";
    add(of, &text, (1e-2, 2e4), 1.224 * WEIGHT, &mut findings)?;
    Ok(findings)
}

/// Adds the force on the support and the speed at the end of a scene.
fn add(
    of: &str,
    text: &str,
    (time_step_s, modulus): (f64, f64),
    weight: f64,
    findings: &mut Vec<Finding>,
) -> Outcome<()> {
    let modulus: ParameterOverride = format!("E={modulus}").parse()?;
    let options = SceneOptions {
        parameters: vec![modulus],
        time_step_s: Some(time_step_s),
        ..SceneOptions::default()
    };
    let scene = Scene::parse("soft_rest.toml", text, &options)?;
    let outcome = run_scene(&scene, &RunOptions::default(), &mut |_| {})?;
    let last = outcome.series.times_s().len() - 1;
    let value = |name: &str| {
        let column = scene.observables.iter().position(|o| o.name.name == name);
        outcome.series.at(last, column.unwrap_or_default())
    };
    findings.push(Finding::equals(
        format!("{of}: force (N)"),
        value("force"),
        weight,
        FORCE_WITHIN,
        "the weight, ρ V g",
    ));
    findings.push(Finding::at_most(
        format!("{of}: speed (m/s)"),
        (2.0 * value("energy")).sqrt(),
        SPEED_MAX,
        "at rest",
    ));
    Ok(())
}
