//! Table I of Han, Masterjohn and Castro (2023).

use super::{PaperRow, Printed};
use crate::scene_run::SceneRun;

/// Table I, and the cantilevers, for which the paper prints no rate.
pub(super) fn rows() -> Vec<PaperRow> {
    let run = SceneRun::bundled;
    // Targets are times the paper's rate.
    let row = |run, dofs, contacts, rate, target| PaperRow {
        run,
        printed: Some(Printed {
            dofs,
            contacts,
            rate,
            target: target * rate,
            points: None,
        }),
    };
    vec![
        row(
            run("cylinder", "cylinder-press", &[], 1.0),
            3796.0,
            (248.3, 335),
            0.06,
            10.0,
        ),
        row(
            run("arch, mu 1", "masonry-arch", &[], 20.0),
            225.0,
            (320.2, 364),
            6.29,
            5.0,
        ),
        row(
            run("arch, mu 0.2", "masonry-arch", &["mu=0.2"], 20.0),
            225.0,
            (259.5, 357),
            7.26,
            5.0,
        ),
        row(
            run("teddy", "bubble-gripper-teddy", &[], 5.0),
            2043.0,
            (236.5, 464),
            0.37,
            10.0,
        ),
        row(
            run("hand", "hand-holds-ball", &[], 6.0),
            410.0,
            (380.7, 863),
            1.13,
            5.0,
        ),
        PaperRow {
            run: run("cantilevers", "cantilever", &[], 1.0),
            printed: None,
        },
        row(
            run("chain", "torus-chain", &["links=100"], 2.0),
            90_000.0,
            (3880.2, 5663),
            0.020,
            10.0,
        ),
        row(
            run("torus", "torus-refinement", &["fine=4"], 10.0),
            28_800.0,
            (53.0, 394),
            0.017,
            10.0,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_has_the_papers_step() {
        for row in rows() {
            let scene = row.run.load().unwrap();
            let dt = match row.run.name {
                "arch, mu 1" | "arch, mu 0.2" => 0.04,
                "teddy" | "chain" | "torus" => 0.02,
                _ => 0.01,
            };
            assert_eq!(scene.simulation.time_step_s, dt, "{}", row.run.name);
        }
    }
}
