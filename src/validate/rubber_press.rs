//! A rubber cylinder between two plates: the force-displacement curve does not depend on the mesh.

use super::laboratory::Outcome;
use super::{Case, CaseKind, CaseLength, Finding};
use crate::runner::{RunLength, RunOptions, run as run_scene};
use crate::scene::{ParameterOverride, Scene, SceneOptions};

pub(super) const CASE: Case = Case {
    name: "rubber-press",
    about: "the force-displacement curve of a pressed rubber cylinder is that of a finer mesh",
    kind: CaseKind::Function(run),
    needs: None,
};

/// The load grows by 2.8 kN/m each second: 700 kN/m at 250 s, 1.4 MN/m at 500 s.
const LOAD_RATE: f64 = 2.8e3;
/// Half a second is a thousandth of the whole stroke, in which a static curve moves by as much.
const TIME_STEP_S: f64 = 0.5;

/// A coarse mesh is off by the square of an element over the contact's width, and a little where elements come in one by one.
const TOLERATED: f64 = 0.03;

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
    let meshes = [6, 8];
    let loads: &[f64] = match length {
        CaseLength::Quick => &[140e3],
        CaseLength::Full => &[140e3, 210e3, 280e3, 350e3],
    };
    let [coarse, fine] = [ways(meshes[0], loads)?, ways(meshes[1], loads)?];
    let curves = loads.iter().zip(coarse.iter().zip(&fine));
    let findings = curves.map(|(load, (coarse, fine))| {
        let [m, n] = meshes;
        Finding::equals(
            format!("rubber-press: way at {} kN/m, {m} rings (m)", load / 1e3),
            *coarse,
            *fine,
            TOLERATED * fine,
            format!("the same with {n} rings: under refinement the curve stays what it is"),
        )
    });
    Ok(findings.collect())
}
