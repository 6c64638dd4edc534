//! The rows, with the paper's time step, friction, stiffness and number of particles. The paper prints no sizes, masses or slopes: those are the scenes'.

use super::PenaltyRow;
use crate::scene_run::SceneRun;

/// A row on one thread.
const fn row(
    name: &'static str,
    scene: &'static str,
    settings: &'static [&'static str],
    (step_s, length_s): (f64, f64),
    frame_s: Option<f64>,
    particles: Option<usize>,
) -> PenaltyRow {
    let mut run = SceneRun::bundled(name, scene, settings, length_s);
    run.time_step_s = Some(step_s);
    PenaltyRow {
        run,
        frame_s,
        threads: 1,
        particles,
    }
}

pub(super) fn rows() -> Vec<PenaltyRow> {
    vec![
        row(
            "wdg_rr",
            "penalty-wedge",
            &[],
            (0.01, 1.0),
            Some(0.05),
            None,
        ),
        row(
            "wdg_rr fall",
            "penalty-wedge",
            &["mu=0.03"],
            (0.01, 1.0),
            Some(0.03),
            None,
        ),
        row(
            "plane_r slide",
            "penalty-incline",
            &["mu=0.1"],
            (0.001, 1.0),
            Some(0.20),
            None,
        ),
        row(
            "plane_r stick",
            "penalty-incline",
            &[],
            (0.001, 1.0),
            Some(0.07),
            None,
        ),
        row(
            "plane_sph roll",
            "penalty-rolling",
            &[],
            (0.005, 1.0),
            Some(0.05),
            None,
        ),
        row(
            "plane_sph slip",
            "penalty-rolling",
            &["mu=0.01"],
            (0.005, 1.0),
            Some(0.04),
            None,
        ),
        row(
            "plane_d slide",
            "penalty-incline-soft",
            &["mu=0.1"],
            (0.001, 1.0),
            Some(0.05),
            Some(8),
        ),
        row(
            "plane_d stick",
            "penalty-incline-soft",
            &[],
            (0.001, 1.0),
            Some(0.01),
            Some(8),
        ),
        row(
            "stack",
            "penalty-stack",
            &[],
            (0.01, 1.0),
            Some(0.12),
            Some(432),
        ),
        row(
            "wdg_dr",
            "penalty-wedge-soft",
            &[],
            (0.002, 0.2),
            Some(0.62),
            Some(169),
        ),
        row(
            "wdg_dr fall",
            "penalty-wedge-soft",
            &["mu=0.002"],
            (0.002, 0.2),
            Some(8.41),
            Some(169),
        ),
        row(
            "wdg_dr_r",
            "penalty-wedge-soft",
            &["mu=0.03"],
            (0.01, 0.2),
            Some(1.26),
            Some(169),
        ),
        row(
            "prmd_rd",
            "penalty-pyramid-soft",
            &[],
            (0.01, 1.0),
            None,
            Some(507),
        ),
        row(
            "prmd_dd",
            "penalty-pyramid-deforming",
            &[],
            (0.002, 0.1),
            Some(0.53),
            Some(676),
        ),
        row(
            "prmd_dd_lag",
            "penalty-pyramid-deforming",
            &["simulation.penalty_friction=lag"],
            (0.002, 0.1),
            Some(0.56),
            Some(676),
        ),
        row(
            "prmd_dd_lagfr",
            "penalty-pyramid-deforming",
            &["simulation.penalty_friction=lagfr"],
            (0.002, 0.1),
            Some(0.58),
            Some(676),
        ),
        row(
            "wdg_rm",
            "penalty-wedge-points",
            &[],
            (0.01, 0.2),
            Some(0.30),
            Some(1_500),
        ),
        row(
            "wdg_rm fall",
            "penalty-wedge-points",
            &["mu=0.1"],
            (0.01, 0.2),
            Some(0.18),
            Some(1_500),
        ),
        row(
            "prmd_rm",
            "penalty-pyramid-points",
            &[],
            (0.01, 0.2),
            Some(4.28),
            Some(1_100),
        ),
        row(
            "prmd_rm slip",
            "penalty-pyramid-points",
            &["mu=0.05"],
            (0.01, 0.2),
            Some(1.02),
            Some(1_100),
        ),
        row(
            "plane_m slide",
            "penalty-incline-points",
            &["mu=0.1"],
            (0.005, 0.2),
            Some(1.44),
            Some(1_300),
        ),
        row(
            "plane_m stick",
            "penalty-incline-points",
            &[],
            (0.005, 0.2),
            Some(2.16),
            Some(1_300),
        ),
        row(
            "iplane_m slide",
            "penalty-incline-points",
            &["mu=0.1", "on_box=1"],
            (0.005, 0.2),
            Some(6.30),
            Some(1_300),
        ),
        row(
            "iplane_m stick",
            "penalty-incline-points",
            &["on_box=1"],
            (0.005, 0.2),
            Some(1.34),
            Some(1_300),
        ),
        row(
            "torus_dr",
            "penalty-tori",
            &[],
            (0.002, 0.3),
            Some(2.17),
            Some(2_600),
        ),
        row(
            "cloth",
            "penalty-cloth",
            &["cells=58"],
            (0.005, 0.5),
            Some(6.73),
            Some(3_800),
        ),
        row(
            "sand_on_sph",
            "penalty-sand-on-sphere",
            &["h=0.0085"],
            (0.001, 0.02),
            Some(597.0),
            Some(64_000),
        ),
        row(
            "bowl",
            "penalty-bowl",
            &["h=0.0044"],
            (0.001, 0.02),
            Some(632.0),
            Some(31_000),
        ),
        PenaltyRow {
            threads: 8,
            ..row(
                "goo_on_sph",
                "penalty-goo-on-sphere",
                &["h=0.0081"],
                (0.001, 0.01),
                Some(147.0),
                Some(120_000),
            )
        },
        PenaltyRow {
            threads: 8,
            ..row(
                "sandbox_cube",
                "penalty-cube-on-sand",
                &["h=0.0101"],
                (0.001, 0.003),
                Some(242.0),
                Some(400_000),
            )
        },
        PenaltyRow {
            threads: 8,
            ..row(
                "sandbox_sph",
                "penalty-sandbox",
                &["h=0.0079"],
                (0.001, 0.003),
                Some(7095.0),
                Some(900_000),
            )
        },
    ]
}

/// A block on more and more corners, and sand on a finer and finer grid.
pub(super) fn growth() -> Vec<PenaltyRow> {
    let on = |name, settings| row(name, "penalty-incline", settings, (0.001, 0.5), None, None);
    let of = |name, settings| row(name, "penalty-sandbox", settings, (0.001, 0.01), None, None);
    vec![
        on("4 contacts", &["simulation.box_particles=2"]),
        on("16 contacts", &["simulation.box_particles=4"]),
        on("64 contacts", &["simulation.box_particles=8"]),
        on("256 contacts", &["simulation.box_particles=16"]),
        on("1024 contacts", &["simulation.box_particles=32"]),
        of("sand, h = 0.1", &["h=0.1"]),
        of("sand, h = 0.07", &["h=0.07"]),
        of("sand, h = 0.05", &["h=0.05"]),
        of("sand, h = 0.035", &["h=0.035"]),
    ]
}
