//! A strip of cloth that hangs from a clamp, against the heavy elastica.

use super::test_world::Outcome;
use super::{Case, CaseKind, CaseLength, Finding};
use crate::runner::{RunOptions, run as run_scene};
use crate::scene::{Scene, SceneOptions};

pub(super) const CASE: Case = Case {
    name: "hanging-strip",
    about: "a clamped strip of cloth hangs as the heavy elastica, whatever its width (Peirce's cantilever)",
    kind: CaseKind::Function(run),
    needs: None,
};

const STRIP: &str = include_str!("hanging_strip/strip.toml");
/// Links of the elastica.
const LINKS: u32 = 2000;
/// Ten edges along the strip; the grid is 1.4 edges wide.
const WITHIN: f64 = 0.03;
/// w l³/B of a strip twice as long as its bending length.
const PEIRCE_WEIGHT: f64 = 8.0;
const SOURCE: &str = "B θ'' = w (l − s) cos θ with θ(0) = 0 and θ'(l) = 0, by shooting; Peirce (1930), The handle of cloth as a measurable quantity";

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let cases: &[(f64, u32)] = match length {
        CaseLength::Quick => &[(10.0, 2)],
        CaseLength::Full => &[
            (10.0, 1),
            (10.0, 2),
            (10.0, 4),
            (10.0, 10),
            (3.0, 4),
            (30.0, 4),
        ],
    };
    let mut findings = Vec::new();
    for (weight, cells) in cases {
        let of = format!("hanging-strip, w l³/B = {weight}, {cells} edges wide");
        let found = hung(*weight, *cells)?;
        let expected = elastica(*weight);
        for (name, found, expected) in [
            ("drop over length", found.0, expected.0),
            ("reach over length", found.1, expected.1),
        ] {
            let name = format!("{of}: {name}");
            findings.push(Finding::equals(
                name,
                found,
                expected,
                WITHIN * expected,
                SOURCE,
            ));
        }
    }
    findings.push(peirce()?);
    Ok(findings)
}

/// The bending length c = ∛(B/w) over the length from the angle at which the strip hangs, as Peirce's test reads it.
fn peirce() -> Outcome<Finding> {
    let (drop, reach) = hung(PEIRCE_WEIGHT, 2)?;
    let angle = drop.atan2(reach);
    let length = ((0.5 * angle).cos() / (8.0 * angle.tan())).cbrt();
    let expected = PEIRCE_WEIGHT.recip().cbrt();
    Ok(Finding::equals(
        "hanging-strip, Peirce's test at 41.5°: bending length over overhang".into(),
        length,
        expected,
        WITHIN * expected,
        "c = l ∛(cos(θ/2)/(8 tan θ)), half of the overhang at 41.5°: Peirce (1930); 1.9 % above the elastica there",
    ))
}

/// Drop and reach of the tip over the length at rest, for the weight w l³/B and a width of so many edges.
fn hung(weight: f64, cells: u32) -> Outcome<(f64, f64)> {
    let width = 0.01 * f64::from(cells);
    let settings = [
        format!("G={weight}"),
        format!("m={cells}"),
        format!("width={width}"),
    ];
    let options = SceneOptions {
        parameters: settings
            .iter()
            .map(|s| s.parse())
            .collect::<Result<_, _>>()?,
        ..SceneOptions::default()
    };
    let scene = Scene::parse("strip.toml", STRIP, &options)?;
    let outcome = run_scene(&scene, &RunOptions::default(), &mut |_| {})?;
    let last = outcome.series.times_s().len() - 1;
    let value = |name: &str| {
        let column = scene.observables.iter().position(|o| o.name.name == name);
        outcome.series.at(last, column.unwrap_or_default())
    };
    Ok((value("drop"), value("reach")))
}

/// Drop and reach of the tip over the length, for the weight w l³/B: a chain of links with hinges between them, and half of one at the clamp.
fn elastica(weight: f64) -> (f64, f64) {
    let h = 1.0 / f64::from(LINKS);
    // From the tip inwards: the angle of the first link, and the tip's offset from there.
    let shoot = |tip: f64| {
        let (mut angle, mut load, mut moment) = (tip, 0.5 * h, 0.0);
        let (mut drop, mut reach) = (0.0, 0.0);
        for link in (0..LINKS).rev() {
            drop += h * angle.sin();
            reach += h * angle.cos();
            moment += load * h * angle.cos();
            let compliance = if link == 0 { 0.5 * h } else { h };
            angle -= weight * moment * compliance;
            load += h;
        }
        (angle, drop, reach)
    };
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        match shoot(middle).0 < 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    let (_, drop, reach) = shoot(low);
    (drop, reach)
}

#[cfg(test)]
mod tests {
    use super::elastica;

    #[test]
    fn a_light_strip_sags_as_a_beam_and_a_heavy_one_as_published() {
        // w l⁴/(8B)
        assert!((elastica(0.01).0 - 0.01 / 8.0).abs() < 1e-6);
        // By integration of the elastica with adaptive steps.
        let (drop, reach) = elastica(10.0);
        assert!((drop - 0.7002).abs() < 1e-4 && (reach - 0.6564).abs() < 1e-4);
    }
}
