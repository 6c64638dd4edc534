//! A rubber cylinder between two plates, on meshes each twice as fine as the one before: the force-displacement curve converges.

use super::laboratory::Outcome;
use super::{Case, CaseKind, CaseLength, Finding};
use crate::runner::{RunLength, RunOptions, run as run_scene};
use crate::scene::{ParameterOverride, Scene, SceneOptions};

pub(super) const CASE: Case = Case {
    name: "rubber-press",
    about: "the force-displacement curve of a pressed rubber cylinder converges under refinement (Richardson)",
    kind: CaseKind::Function(run),
    needs: None,
};

/// The load grows by 2.8 kN/m each second: 700 kN/m at 250 s, 1.4 MN/m at 500 s.
const LOAD_RATE: f64 = 2.8e3;
/// Half a second is a thousandth of the whole stroke, in which a static curve moves by as much.
const TIME_STEP_S: f64 = 0.5;

/// The plate's way (m) under each of the loads (N/m).
fn ways(rings: u32, loads: &[f64]) -> Outcome<Vec<f64>> {
    let rings: ParameterOverride = format!("rings={rings}").parse()?;
    let options = SceneOptions {
        parameters: vec![rings],
        time_step_s: Some(TIME_STEP_S),
        ..SceneOptions::default()
    };
    let scene = Scene::load("cylinder-press", &options)?;
    let end_s = loads
        .iter()
        .fold(0.0, |end: f64, load| end.max(load / LOAD_RATE));
    let length = RunLength::Until(end_s);
    let outcome = run_scene(&scene, &RunOptions { length }, &mut |_| {})?;
    let is_way = |name: &str| name == "displacement";
    let column = scene.observables.iter().position(|o| is_way(&o.name.name));
    let (column, times) = (column.unwrap_or_default(), outcome.series.times_s());
    let way = |load: &f64| {
        let row = times.partition_point(|t| *t < load / LOAD_RATE - 0.25 * TIME_STEP_S);
        outcome.series.at(row.min(times.len() - 1), column)
    };
    Ok(loads.iter().map(way).collect())
}

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let (meshes, loads): (&[u32], &[f64]) = match length {
        CaseLength::Quick => (&[3, 6, 12], &[70e3, 140e3]),
        CaseLength::Full => (&[4, 7, 14, 28], &[140e3, 350e3, 700e3, 1050e3, 1400e3]),
    };
    let curves: Vec<Vec<f64>> = meshes
        .iter()
        .map(|rings| ways(*rings, loads))
        .collect::<Outcome<_>>()?;
    let mut findings = Vec::new();
    for (k, load) in loads.iter().enumerate() {
        let at: Vec<f64> = curves.iter().map(|curve| curve[k]).collect();
        let steps: Vec<f64> = at.windows(2).map(|pair| pair[0] - pair[1]).collect();
        let [.., before, last] = steps[..] else {
            continue;
        };
        let (name, finest) = (load / 1e3, at[at.len() - 1]);
        let order = (before / last).abs().log2();
        // What a sequence of that order still lacks.
        let left = last / ((before / last).abs() - 1.0);
        findings.push(Finding::at_least(
            format!("rubber-press: order at {name} kN/m, towards {:.5} m", finest - left),
            order,
            0.8,
            "linear tetrahedra: second order where it is smooth, less at the ends of the contact, where pressure begins with a kink and elements come in one by one",
        ));
        findings.push(Finding::at_most(
            format!("rubber-press: what the finest mesh lacks at {name} kN/m, of the way"),
            (left / finest).abs(),
            match length {
                CaseLength::Quick => 0.1,
                CaseLength::Full => 0.03,
            },
            "Richardson's extrapolation from the last three meshes",
        ));
    }
    Ok(findings)
}
