//! A rubber cylinder between two plates: its force-displacement curve under mesh refinement: order of convergence and limit.

use super::test_world::Outcome;
use super::{Case, CaseKind, CaseLength, Finding};
use crate::runner::{RunLength, RunOptions, run as run_scene};
use crate::scene::{ParameterOverride, Scene, SceneOptions};

pub(super) const CASE: Case = Case {
    name: "rubber-press",
    about: "the force-displacement curve of a pressed rubber cylinder converges as its mesh is refined",
    kind: CaseKind::Function(run),
    needs: None,
};

/// The load grows by 2.8 kN/m each second: 140 kN/m at 50 s, 1.4 MN/m at 500 s.
const LOAD_RATE: f64 = 2.8e3;
/// A thousandth of the loading time: a relative change of the quasi-static curve of that order.
const TIME_STEP_S: f64 = 0.5;

/// Displacement of the plate (m) under each of the loads (N/m).
fn displacements(rings: u32, loads: &[f64]) -> Outcome<Vec<f64>> {
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
    let outcome = run_scene(
        &scene,
        &RunOptions {
            length,
            ..RunOptions::default()
        },
        &mut |_| {},
    )?;
    let is_way = |name: &str| name == "displacement";
    let column = scene.observables.iter().position(|o| is_way(&o.name.name));
    let (column, times) = (column.unwrap_or_default(), outcome.series.times_s());
    let way = |load: &f64| {
        let row = times.partition_point(|t| *t < load / LOAD_RATE - 0.25 * TIME_STEP_S);
        outcome.series.at(row.min(times.len() - 1), column)
    };
    Ok(loads.iter().map(way).collect())
}

/// Each mesh of a sequence has half the element size of the previous one.
const SEQUENCE: [u32; 3] = [3, 6, 12];
const BETWEEN: [u32; 3] = [4, 8, 16];

/// Orders of convergence of the two sequences: 1.51 and 0.93. Elements come into contact one by one, so that single differences of curves scatter
/// about the first order, that of linear tetrahedra of a nearly incompressible law and of a surface of facets.
const ORDER_MIN: f64 = 0.8;

/// A curve's root mean square distance from that of 16 rings is 17 to 23 mm over its number of rings.
const APART_AT_ONE_RING: f64 = 0.025;

/// Displacements under single loads have relative errors of up to 0.27 over the number of rings.
const OFF_AT_ONE_RING: f64 = 0.3;

/// Half the diameter at 1.4 MN/m: Sussman and Bathe (1987). The only point of their curve that is given in the text. The rest is a
/// figure, as in Han, Masterjohn and Castro (2023), which cannot be read to better than 4 %.
const WAY_AT_LAST: f64 = 0.2;
const WAY_READ_WITHIN: f64 = 0.008;

/// The root mean square of the differences of two curves, m.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
    (squares.sum::<f64>() / a.len() as f64).sqrt()
}

/// Order p of convergence of the curves of three meshes, and Richardson's limit w₃ + (w₃ − w₂)/(2^p − 1) of the displacement under the
/// last load, m.
fn order_and_limit(curves: &[Vec<f64>; 3]) -> (f64, f64) {
    let [coarse, middle, fine] = curves;
    let order = (difference(coarse, middle) / difference(middle, fine)).log2();
    let (w_2, w_3) = (middle[middle.len() - 1], fine[fine.len() - 1]);
    (order, w_3 + (w_3 - w_2) / (order.exp2() - 1.0))
}

/// Convergence of three meshes.
struct Sequence {
    meshes: [u32; 3],
    curves: [Vec<f64>; 3],
    limit: f64,
}

impl Sequence {
    fn new(meshes: [u32; 3], loads: &[f64]) -> Outcome<(Self, [Finding; 2])> {
        let [a, b, c] = meshes;
        let curves = [
            displacements(a, loads)?,
            displacements(b, loads)?,
            displacements(c, loads)?,
        ];
        let (order, limit) = order_and_limit(&curves);
        let of = format!("rubber-press, {a}, {b} and {c} rings");
        let findings = [
            Finding::at_least(
                format!("{of}: order of the curve"),
                order,
                ORDER_MIN,
                "under refinement the force-displacement curve converges",
            ),
            Finding::equals(
                format!("{of}: displacement with the finest under the last load (m)"),
                curves[2][loads.len() - 1],
                limit,
                0.02 * limit,
                "Richardson's limit of the three",
            ),
        ];
        let sequence = Self {
            meshes,
            curves,
            limit,
        };
        Ok((sequence, findings))
    }

    /// Estimated error of the finest mesh under the last load, m.
    fn error(&self) -> f64 {
        (self.curves[2][self.curves[2].len() - 1] - self.limit).abs()
    }
}

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let last = match length {
        CaseLength::Quick => 10,
        CaseLength::Full => 50,
    };
    let loads: Vec<f64> = (1..=last).map(|k| 28e3 * f64::from(k)).collect();
    let (one, findings) = Sequence::new(SEQUENCE, &loads)?;
    let mut findings = findings.to_vec();
    if length == CaseLength::Full {
        let (other, of_other) = Sequence::new(BETWEEN, &loads)?;
        findings.extend(of_other);
        compare_limits(&one, &other, &mut findings);
        compare_meshes(&one, &other, &mut findings);
    }
    Ok(findings)
}

fn compare_limits(one: &Sequence, other: &Sequence, findings: &mut Vec<Finding>) {
    findings.push(Finding::equals(
        "rubber-press: limits of the two sequences at 1400 kN/m (m)".into(),
        one.limit,
        other.limit,
        one.error() + other.error(),
        "two independent sequences: their limits differ by no more than the estimated errors of their finest meshes",
    ));
    for of in [one, other] {
        let [a, b, c] = of.meshes;
        findings.push(Finding::equals(
            format!(
                "rubber-press, {a}, {b} and {c} rings: limit of the displacement at 1400 kN/m (m)"
            ),
            of.limit,
            WAY_AT_LAST,
            WAY_READ_WITHIN,
            "Sussman and Bathe (1987): the plates approach by half a diameter",
        ));
    }
}

/// Every other mesh against the finest of all: the table in the crate's readme.
fn compare_meshes(one: &Sequence, other: &Sequence, findings: &mut Vec<Finding>) {
    let finest = &other.curves[2];
    let of_one = one.meshes.iter().zip(&one.curves);
    let of_other = other.meshes.iter().zip(&other.curves).take(2);
    for (rings, curve) in of_one.chain(of_other) {
        let (rings, by_rings) = (*rings, 1.0 / f64::from(*rings));
        findings.push(Finding::at_most(
            format!(
                "rubber-press, {rings} rings: distance of the curve from that of 16 rings (m, root mean square)"
            ),
            difference(curve, finest),
            APART_AT_ONE_RING * by_rings,
            "the first order in the size of elements",
        ));
        for k in [9, 19, 29, 39, 49] {
            findings.push(Finding::equals(
                format!(
                    "rubber-press, {rings} rings: displacement at {} kN/m (m)",
                    28 * (k + 1)
                ),
                curve[k],
                finest[k],
                OFF_AT_ONE_RING * by_rings * finest[k],
                "16 rings, to the first order in the size of elements",
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_limit_of_a_known_convergence_are_found() {
        // w = 0.3 + C h^1.5 under each load.
        let curve = |h: f64| {
            (1..=3)
                .map(|k| 0.3 + 0.01 * f64::from(k) * h.powf(1.5))
                .collect()
        };
        let (order, limit) = order_and_limit(&[curve(1.0), curve(0.5), curve(0.25)]);
        assert!((order - 1.5).abs() < 1e-9 && (limit - 0.3).abs() < 1e-12);
    }
}
