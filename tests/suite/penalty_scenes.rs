//! Every bundled scene of the penalty-force stepper meets its expectations.

use crate::bundled_scenes::check_scene;

#[test]
fn penalty_forces_stop_roll_and_jam_by_coulombs_law() {
    for settings in [[].as_slice(), &["mu=0.1"]] {
        check_scene("penalty-incline", settings);
    }
    check_scene("penalty-wedge", &[]);
    check_scene("penalty-wedge", &["mu=0.03"]);
    check_scene("penalty-rolling", &[]);
    check_scene("penalty-rolling", &["mu=0.01"]);
}

#[test]
fn penalty_forces_do_not_creep_in_a_grasp() {
    check_scene("penalty-grasp", &["simulation.smoke_s=60"]);
}

#[test]
fn penalty_forces_on_finite_elements() {
    check_scene("penalty-incline-soft", &["mu=0.1"]);
    check_scene("penalty-incline-soft", &[]);
    check_scene("penalty-stack", &[]);
    check_scene("penalty-wedge-soft", &[]);
    check_scene("penalty-pyramid-soft", &[]);
    check_scene("penalty-pyramid-deforming", &[]);
    check_scene("penalty-tori", &[]);
    check_scene("penalty-cloth", &[]);
}

#[test]
fn penalty_forces_on_material_points() {
    for name in [
        "penalty-incline-points",
        "penalty-pyramid-points",
        "penalty-wedge-points",
        "penalty-sand-on-sphere",
        "penalty-sandbox",
        "penalty-goo-on-sphere",
        "penalty-bowl",
        "penalty-cube-on-sand",
    ] {
        check_scene(name, &[]);
    }
}
