//! The table of Han, Masterjohn and Castro (2023): their examples as bundled scenes, our rate beside the printed one.

use crate::bundled_run::BundledRun;

/// A row: a bundled scene at the paper's step and size, and what the paper prints for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperRow {
    /// What is run.
    pub run: BundledRun,
    /// Simulated over real time as printed; none where nothing is.
    pub rate: Option<f64>,
    /// Contacts as printed, mean and most.
    pub contacts: Option<(f64, usize)>,
    /// Degrees of freedom as printed.
    pub dofs: Option<usize>,
    /// The project's target: our rate over theirs.
    pub target: Option<f64>,
}

/// Table I, and the cantilever, for which the paper prints no rate.
#[must_use]
pub fn paper_rows() -> Vec<PaperRow> {
    let sized = |name, scene, settings, length_s| PaperRow {
        run: BundledRun {
            name,
            scene,
            settings,
            time_step_s: None,
            length_s,
        },
        rate: None,
        contacts: None,
        dofs: None,
        target: None,
    };
    let row = |name, scene, length_s| sized(name, scene, &[], length_s);
    vec![
        PaperRow {
            rate: Some(0.06),
            contacts: Some((248.3, 335)),
            dofs: Some(3796),
            target: Some(10.0),
            ..row("cylinder", "cylinder-press", 1.0)
        },
        PaperRow {
            rate: Some(6.29),
            contacts: Some((320.2, 364)),
            dofs: Some(225),
            target: Some(5.0),
            ..row("arch, mu 1", "masonry-arch", 20.0)
        },
        PaperRow {
            rate: Some(7.26),
            contacts: Some((259.5, 357)),
            dofs: Some(225),
            target: Some(5.0),
            ..sized("arch, mu 0.2", "masonry-arch", &["mu=0.2"], 20.0)
        },
        PaperRow {
            rate: Some(0.37),
            contacts: Some((236.5, 464)),
            dofs: Some(2043),
            target: Some(10.0),
            ..row("teddy", "bubble-gripper-teddy", 5.0)
        },
        PaperRow {
            rate: Some(1.13),
            contacts: Some((380.7, 863)),
            dofs: Some(410),
            target: Some(5.0),
            ..row("hand", "hand-holds-ball", 6.0)
        },
        row("cantilevers", "cantilever", 1.0),
        PaperRow {
            rate: Some(0.020),
            contacts: Some((3880.2, 5663)),
            dofs: Some(90_000),
            target: Some(10.0),
            ..sized("chain", "torus-chain", &["links=100"], 0.4)
        },
        PaperRow {
            rate: Some(0.017),
            contacts: Some((53.0, 394)),
            dofs: Some(28_800),
            target: Some(10.0),
            ..sized("torus", "torus-refinement", &["fine=4"], 0.4)
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_bundled_scene_at_the_papers_step() {
        for row in paper_rows() {
            let scene = row.run.load().unwrap();
            let dt = match row.run.name {
                "arch, mu 1" | "arch, mu 0.2" => 0.04,
                "teddy" | "chain" | "torus" => 0.02,
                _ => 0.01,
            };
            assert_eq!(scene.simulation.time_step_s, dt, "{}", row.run.name);
            assert!(
                row.run.length_s <= scene.simulation.full_s,
                "{}",
                row.run.name
            );
        }
    }
}
