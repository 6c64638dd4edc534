//! Table I of Li and Chou (2025).

use super::{PaperRow, Printed};
use crate::scene_run::SceneRun;

/// Table I. The paper's belt has contacts as many as polygons; ours unites those of one plane.
pub(super) fn rows() -> Vec<PaperRow> {
    let run = |name, scene, settings, time_step_s, length_s| SceneRun {
        time_step_s: Some(time_step_s),
        ..SceneRun::bundled(name, scene, settings, length_s)
    };
    let row = |run, dofs, contacts, rate, target| PaperRow {
        run,
        printed: Some(Printed {
            dofs,
            contacts,
            rate,
            target,
            points: None,
        }),
    };
    vec![
        row(
            run("knot", "knot-at-speed", &[], 1e-4, 0.4717),
            1205.0,
            (58.0, 164),
            0.002,
            0.03,
        ),
        row(
            run("pulley", "crowned-pulley", &[], 3e-3, 6.0),
            202.0,
            (804.0, 917),
            0.037,
            0.15,
        ),
        row(
            run("gripper", "entangling-gripper", &[], 1e-3, 8.6),
            6283.0,
            (104.0, 200),
            0.013,
            0.10,
        ),
        row(
            run("shoelace", "shoelace", &["edges=200"], 2e-3, 4.5),
            816.0,
            (164.0, 591),
            0.088,
            0.30,
        ),
        row(
            run("rings", "ring-chain", &["rings=100"], 8e-4, 1.0),
            8000.0,
            (396.0, 396),
            0.012,
            0.08,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_takes_the_papers_step() {
        for row in rows() {
            let step_s = row.run.load().unwrap().simulation.time_step_s;
            assert_eq!(Some(step_s), row.run.time_step_s, "{}", row.run.name);
        }
    }
}
