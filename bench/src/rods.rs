//! Filaments, timed: Table I of Li and Chou (2025): their examples as bundled scenes, our rate beside the printed one.

use crate::bundled_run::BundledRun;

/// A row: a bundled scene at the paper's step, and what the paper prints for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperRow {
    /// What is run.
    pub run: BundledRun,
    /// Unknowns as printed.
    pub dofs: usize,
    /// Contacts as printed, mean and most.
    pub contacts: (f64, usize),
    /// Simulated over real time as printed.
    pub rate: f64,
    /// The project's target, a rate.
    pub target: f64,
}

/// Table I. The paper's belt has contacts as many as polygons; ours unites those of one plane.
#[must_use]
pub fn paper_rows() -> Vec<PaperRow> {
    let run = |name, scene, settings, time_step_s, length_s| BundledRun {
        name,
        scene,
        settings,
        time_step_s: Some(time_step_s),
        length_s,
    };
    vec![
        PaperRow {
            run: run("knot", "knot-at-speed", &[], 1e-4, 0.1),
            dofs: 1205,
            contacts: (58.0, 164),
            rate: 0.002,
            target: 0.03,
        },
        PaperRow {
            run: run("pulley", "crowned-pulley", &[], 3e-3, 1.2),
            dofs: 202,
            contacts: (804.0, 917),
            rate: 0.037,
            target: 0.15,
        },
        PaperRow {
            run: run("gripper", "entangling-gripper", &[], 1e-3, 2.6),
            dofs: 6283,
            contacts: (104.0, 200),
            rate: 0.013,
            target: 0.10,
        },
        PaperRow {
            run: run("shoelace", "shoelace", &["edges=200"], 2e-3, 4.5),
            dofs: 816,
            contacts: (164.0, 591),
            rate: 0.088,
            target: 0.30,
        },
        PaperRow {
            run: run("rings", "ring-chain", &["rings=100"], 8e-4, 1.0),
            dofs: 8000,
            contacts: (396.0, 396),
            rate: 0.012,
            target: 0.08,
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_bundled_scene_at_the_papers_step() {
        for row in paper_rows() {
            let name = row.run.name;
            let scene = row.run.load().unwrap();
            assert_eq!(
                Some(scene.simulation.time_step_s),
                row.run.time_step_s,
                "{name}"
            );
            assert!(row.run.length_s <= scene.simulation.full_s, "{name}");
        }
    }
}
