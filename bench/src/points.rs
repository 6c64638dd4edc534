//! Material points, timed: Table I of Zong, Jiang and Han (2024): their examples as bundled scenes, our time of a step beside the printed one.

use crate::bundled_run::BundledRun;

/// A row: a bundled scene at the paper's step, and what the paper prints for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperRow {
    /// What is run.
    pub run: BundledRun,
    /// Distance of grid nodes as printed, m.
    pub spacing_m: f64,
    /// Particles as printed.
    pub particles: usize,
    /// Velocities n_v as printed, mean over the run.
    pub velocities: f64,
    /// Contacts as printed, mean and most.
    pub contacts: (f64, usize),
    /// Time of a step as printed, s.
    pub step_s: f64,
    /// The project's target: their time over ours.
    pub target: f64,
}

/// Table I; its one ball on a slope are four of ours, one for each friction. The paper's n_v counts velocities, three for each node with mass: 1,576 for two cubes of four cells.
#[must_use]
pub fn paper_rows() -> Vec<PaperRow> {
    let run = |name, scene, settings, length_s| BundledRun {
        name,
        scene,
        settings,
        time_step_s: Some(0.01),
        length_s,
    };
    vec![
        PaperRow {
            run: run("ball on slope", "ball-on-slope", &[], 0.8),
            spacing_m: 0.2,
            particles: 6_777,
            velocities: 1_075.5,
            contacts: (2.6, 6),
            step_s: 1.16,
            target: 20.0,
        },
        PaperRow {
            run: run(
                "dough tearing",
                "dough-tearing",
                &["h=0.02", "ppc=5.5"],
                0.7,
            ),
            spacing_m: 0.02,
            particles: 1_647,
            velocities: 2_974.7,
            contacts: (113.7, 306),
            step_s: 0.86,
            target: 20.0,
        },
        PaperRow {
            run: run("dough rolling", "dough-rolling", &["h=0.02", "ppc=12"], 0.3),
            spacing_m: 0.02,
            particles: 5_863,
            velocities: 5_827.3,
            contacts: (496.3, 723),
            step_s: 7.65,
            target: 50.0,
        },
        PaperRow {
            run: run("water pouring", "liquid-pouring", &[], 0.2),
            spacing_m: 0.01,
            particles: 791,
            velocities: 1_468.1,
            contacts: (312.6, 606),
            step_s: 0.85,
            target: 20.0,
        },
        PaperRow {
            run: run("shake", "close-lift-shake", &["ppc=27"], 0.5),
            spacing_m: 0.01,
            particles: 3_456,
            velocities: 1_576.0,
            contacts: (763.7, 1_626),
            step_s: 1.94,
            target: 20.0,
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_bundled_scene_of_material_points() {
        for row in paper_rows() {
            let name = row.run.name;
            let scene = row.run.load().unwrap();
            assert!(row.run.length_s <= scene.simulation.full_s, "{name}");
            assert_eq!(scene.simulation.time_step_s, 0.01, "{name}");
            assert!(row.run.n_particles().unwrap() > 0, "{name}");
        }
    }

    #[test]
    fn the_shaken_cubes_have_the_papers_particles() {
        let rows = paper_rows();
        let row = rows.iter().find(|row| row.run.name == "shake").unwrap();
        assert_eq!(row.run.n_particles().unwrap(), row.particles);
    }
}
