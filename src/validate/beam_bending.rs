//! A cantilever under its own weight: deflection of each element over that of beam theory.

use super::test_world::Outcome;
use super::{Case, CaseKind, CaseLength, Finding};
use crate::runner::{RunLength, RunOptions, run as run_scene};
use crate::scene::{ParameterOverride, Scene, SceneOptions};

pub(super) const CASE: Case = Case {
    name: "beam-bending",
    about: "a cantilever of a few cells bends under its weight by beam theory, or locks as much as known",
    kind: CaseKind::Function(run),
    needs: None,
};

/// ρgA L⁴/8EI + ρgA L²/2κGA with κ = 5/6, for a beam of 1 × 0.1 × 0.1 m of `n` cells of six tetrahedra across.
const SCENE: &str = r#"
schema = 1
title = "a cantilever under its own weight"
[parameters]
E = 1e8
nu = 0.3
n = 2
[simulation]
time_step_s = 0.1
smoke_s = 4
[[fem]]
name = "beam"
mesh = { box = { size = [1, 0.1, 0.1], cells = ["10*n", "n", "n"] } }
element = "ELEMENT"
constitutive_material = { youngs_modulus = "E", poissons_ratio = "nu" }
density = 1000
mass_damping = 10
regions.root = { half_space = { point = [-0.5, 0, 0], normal = [1, 0, 0] } }
regions.tip = { half_space = { point = [0.5, 0, 0], normal = [-1, 0, 0] } }
fixed = [{ region = "root" }]
[[observables]]
name = "tip"
quantity = "displacement"
of = "beam/tip"
component = "z"
[[observables]]
name = "ratio"
quantity = "expression"
expression = "-tip/(98.1*(1/(8*E*0.1^4/12) + (1 + nu)/(5/6*E*0.01)))"
"#;

/// The deflections of linear elements of an independent program, by n and ν: how much they lock.
const LINEAR: [(u32, f64, f64); 5] = [
    (2, 0.3, 0.5035),
    (2, 0.47, 0.2235),
    (2, 0.499, 0.0239),
    (4, 0.3, 0.7851),
    (4, 0.47, 0.4961),
];

/// Smoothed elements, by n, ν and the largest relative error.
const SMOOTHED: [(u32, f64, f64); 6] = [
    (2, 0.3, 0.03),
    (2, 0.47, 0.03),
    (2, 0.499, 0.03),
    (4, 0.3, 0.02),
    (4, 0.47, 0.02),
    (4, 0.499, 0.02),
];

/// Quadratic elements, by n, ν and the largest relative error.
const QUADRATIC: [(u32, f64, f64); 8] = [
    (1, 0.3, 0.03),
    (1, 0.47, 0.04),
    (1, 0.499, 0.04),
    (2, 0.3, 0.02),
    (2, 0.47, 0.03),
    (2, 0.499, 0.03),
    (4, 0.3, 0.02),
    (4, 0.499, 0.035),
];

/// Deflection over that of beam theory.
fn ratio(element: &str, n: u32, nu: f64) -> Outcome<f64> {
    let parameters: [ParameterOverride; 2] =
        [format!("n={n}").parse()?, format!("nu={nu}").parse()?];
    let options = SceneOptions {
        parameters: parameters.to_vec(),
        ..SceneOptions::default()
    };
    let text = SCENE.replace("ELEMENT", element);
    let scene = Scene::parse("beam-bending.toml", &text, &options)?;
    let length = RunLength::Until(4.0);
    let outcome = run_scene(
        &scene,
        &RunOptions {
            length,
            ..RunOptions::default()
        },
        &mut |_| {},
    )?;
    let last = outcome.series.times_s().len() - 1;
    Ok(outcome.series.at(last, 1))
}

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let across = |n: u32| length == CaseLength::Full || n == 2;
    let mut findings = Vec::new();
    let smoothed = SMOOTHED.into_iter().filter(|(n, ..)| across(*n));
    let smoothed = smoothed.map(|of| ("smoothed", of));
    // Quadratic elements of one cell across have the nodes of two.
    let quadratic = QUADRATIC.into_iter().filter(|(n, ..)| across(2 * n));
    let quadratic = quadratic.map(|of| ("quadratic", of));
    for (element, (n, nu, error)) in smoothed.chain(quadratic) {
        findings.push(Finding::equals(
            format!("beam-bending: {element}, {n} cells across, nu {nu}: deflection over theory"),
            ratio(element, n, nu)?,
            1.0,
            error,
            "Timoshenko beam: q L^4/8EI + q L^2/2kGA",
        ));
    }
    for (n, nu, expected) in LINEAR.into_iter().filter(|(n, ..)| across(*n)) {
        findings.push(Finding::equals(
            format!("beam-bending: linear, {n} cells across, nu {nu}: deflection over theory"),
            ratio("linear", n, nu)?,
            expected,
            0.01,
            "linear tetrahedra of the same mesh in an independent program: they lock",
        ));
    }
    Ok(findings)
}
