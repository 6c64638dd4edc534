//! A rope over a post: the ratio of its tensions converges to the capstan equation as its edges get shorter.

use std::f64::consts::PI;

use super::test_world::Outcome;
use super::{Case, CaseKind, CaseLength, Finding};
use crate::runner::{RunLength, RunOptions, run as run_scene};
use crate::scene::{ParameterOverride, Scene, SceneOptions};

pub(super) const CASE: Case = Case {
    name: "capstan-refined",
    about: "tensions of a rope over a post converge to the ratio exp(mu phi) as its edges get shorter",
    kind: CaseKind::Function(run),
    needs: None,
};

/// r/R: friction acts at the post's radius, the tension at the rope's.
const ROPE_OVER_POST: f64 = 1.0 / 30.0;

/// One wrap.
#[derive(Clone, Copy)]
struct Wrap {
    /// Kind of contact: `point` or `patch`.
    kind: &'static str,
    /// The angle, in quarter turns.
    quarters: u32,
    friction: f64,
}

impl Wrap {
    /// ln T2/T1 = μφ R/(R + r).
    fn exponent(self) -> f64 {
        let angle = 0.5 * PI * f64::from(self.quarters);
        self.friction * angle / (1.0 + ROPE_OVER_POST)
    }

    /// Mean over the second half of a run of the bundled scene.
    fn log_ratio(self, per_turn: u32) -> Outcome<f64> {
        let set = |text: String| text.parse::<ParameterOverride>();
        let options = SceneOptions {
            parameters: vec![
                set(format!("mu={}", self.friction))?,
                set(format!("wrap={}*pi/2", self.quarters))?,
                set(format!("per_turn={per_turn}"))?,
                set(format!("contact.kind={}", self.kind))?,
            ],
            ..SceneOptions::default()
        };
        let scene = Scene::load("capstan", &options)?;
        let length = RunLength::Until(1.0);
        let outcome = run_scene(
            &scene,
            &RunOptions {
                length,
                ..RunOptions::default()
            },
            &mut |_| {},
        )?;
        let mut verdicts = outcome.summary.expectations.iter();
        let ratio = verdicts.find(|verdict| verdict.observable == "ratio");
        let ratio = ratio.and_then(|verdict| verdict.found);
        Ok(ratio.unwrap_or(f64::NAN).ln())
    }
}

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let (wraps, frictions): (&[u32], &[f64]) = match length {
        CaseLength::Quick => (&[1], &[0.4]),
        CaseLength::Full => (&[1, 2, 3, 4], &[0.2, 0.4]),
    };
    let mut findings = Vec::new();
    for &quarters in wraps {
        for &friction in frictions {
            findings.extend(in_points(quarters, friction, length)?);
            if length == CaseLength::Full {
                findings.extend(in_patches(quarters, friction)?);
            }
        }
    }
    Ok(findings)
}

/// A polygon with contact points: the error is proportional to the edge length.
fn in_points(quarters: u32, friction: f64, length: CaseLength) -> Outcome<Vec<Finding>> {
    let wrap = Wrap {
        kind: "point",
        quarters,
        friction,
    };
    let refinements: &[(u32, f64)] = match length {
        CaseLength::Quick => &[(20, 0.04), (40, 0.02)],
        CaseLength::Full => &[(20, 0.04), (40, 0.02), (80, 0.0125)],
    };
    let expected = wrap.exponent();
    let name = format!("capstan-refined: points, {quarters}/2 pi, mu {friction}");
    let (mut findings, mut errors) = (Vec::new(), Vec::new());
    for &(per_turn, tolerated) in refinements {
        let found = wrap.log_ratio(per_turn)?;
        errors.push((expected - found).abs());
        findings.push(Finding::equals(
            format!("{name}, {per_turn} corners a turn: ln T2/T1"),
            found,
            expected,
            tolerated * expected,
            "Euler and Eytelwein, mu phi R/(R + r); the error of a polygon is proportional to its edge",
        ));
    }
    let halvings = (errors.len() - 1) as f64;
    let order = (errors[0] / errors[errors.len() - 1]).log2() / halvings;
    findings.push(Finding::at_least(
        format!("{name}: order of the error in the length of an edge"),
        order,
        0.6,
        "first-order convergence to the continuum",
    ));
    Ok(findings)
}

/// Patches: the pressure is spread along the edges, so coarse ropes have smaller errors.
fn in_patches(quarters: u32, friction: f64) -> Outcome<Vec<Finding>> {
    let wrap = Wrap {
        kind: "patch",
        quarters,
        friction,
    };
    let expected = wrap.exponent().exp();
    // Slip spreads from the pulled end; with much friction it lags behind the pull.
    let refinements = if friction > 0.3 {
        [(20, 0.06), (80, 0.015)]
    } else {
        [(20, 0.02), (80, 0.005)]
    };
    let found = |(per_turn, tolerated): (u32, f64)| {
        Ok(Finding::equals(
            format!(
                "capstan-refined: patches, {quarters}/2 pi, mu {friction}, {per_turn} corners a turn: T2/T1"
            ),
            wrap.log_ratio(per_turn)?.exp(),
            expected,
            tolerated * expected,
            "Euler and Eytelwein, exp(mu phi R/(R + r))",
        ))
    };
    refinements.into_iter().map(found).collect()
}
