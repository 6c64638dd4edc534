//! Table I of Zong, Jiang and Han (2024).

use super::{PaperRow, Printed, PrintedPoints};
use crate::scene_run::{SceneRun, SceneSource};

/// Δt of all examples, s.
const STEP_S: f64 = 0.01;

/// Table I; its ball on a slope is one of the four of the bundled scene. The paper's n_v counts velocities, three for each node with mass: 1,576 for two cubes of four cells.
pub(super) fn rows() -> Vec<PaperRow> {
    let run = |name, scene, settings, length_s| SceneRun {
        time_step_s: Some(STEP_S),
        ..SceneRun::bundled(name, scene, settings, length_s)
    };
    let one_ball = SceneRun {
        name: "ball on slope",
        scene: SceneSource::Text(include_str!("../../scenes/one-ball-on-slope.toml")),
        settings: &[],
        time_step_s: Some(STEP_S),
        length_s: 0.8,
    };
    // The paper prints the time of a step, in s; targets are times its rate.
    let row = |run, (spacing_m, count), dofs, contacts, step_s, target| PaperRow {
        run,
        printed: Some(Printed {
            dofs,
            contacts,
            rate: STEP_S / step_s,
            target: target * STEP_S / step_s,
            points: Some(PrintedPoints { spacing_m, count }),
        }),
    };
    vec![
        row(one_ball, (0.2, 6_777), 1_075.5, (2.6, 6), 1.16, 20.0),
        row(
            run("dough tearing", "dough-tearing", &[], 2.05),
            (0.02, 1_647),
            2_974.7,
            (113.7, 306),
            0.86,
            20.0,
        ),
        row(
            run(
                "dough rolling",
                "dough-rolling",
                &["h=0.02", "length=0.48"],
                3.7,
            ),
            (0.02, 5_863),
            5_827.3,
            (496.3, 723),
            7.65,
            20.0,
        ),
        row(
            run("water pouring", "liquid-pouring", &[], 2.8),
            (0.01, 791),
            1_468.1,
            (312.6, 606),
            0.85,
            20.0,
        ),
        row(
            run("shake", "close-lift-shake", &["ppc=27"], 3.0),
            (0.01, 3_456),
            1_576.0,
            (763.7, 1_626),
            1.94,
            20.0,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_takes_the_papers_step() {
        for row in rows() {
            let scene = row.run.load().unwrap();
            assert_eq!(scene.simulation.time_step_s, STEP_S, "{}", row.run.name);
        }
    }

    #[test]
    fn all_rows_have_as_many_particles_as_the_papers() {
        for name in [
            "ball on slope",
            "dough tearing",
            "dough rolling",
            "water pouring",
        ] {
            let rows = rows();
            let row = rows.iter().find(|row| row.run.name == name).unwrap();
            let count = row.printed.unwrap().points.unwrap().count as f64;
            let ours = row.run.n_particles().unwrap() as f64;
            assert!(
                (ours / count - 1.0).abs() < 0.02,
                "{name}: {ours} for {count}"
            );
        }
    }

    #[test]
    fn the_shaken_cubes_have_the_papers_particles() {
        let rows = rows();
        let row = rows.iter().find(|row| row.run.name == "shake").unwrap();
        let points = row.printed.unwrap().points.unwrap();
        assert_eq!(row.run.n_particles().unwrap(), points.count);
    }
}
