//! The quick length of every case with a known answer.

use std::io::Write;

use pliant::validate::{CASES, CaseKind, CaseLength};

#[track_caller]
fn check(name: &str) {
    let case = CASES.iter().find(|case| case.name == name);
    let case = case.expect("a case of this name");
    if let Some(file) = case.missing() {
        assert!(file.starts_with("../shared"), "{file} is missing");
        // Past the test harness's capture, so that CI can count skipped tests.
        writeln!(std::io::stderr(), "SKIPPED {name}: ../shared is missing").expect("stderr");
        return;
    }
    let findings = case.run(CaseLength::Quick).expect("a case that runs");
    assert!(!findings.is_empty(), "{name} found nothing");
    let misses: Vec<_> = findings.iter().filter(|finding| !finding.pass).collect();
    assert!(misses.is_empty(), "{misses:#?}");
}

macro_rules! cases {
    ($($test:ident => $name:literal,)*) => {
        const TESTED: &[&str] = &[$($name),*];
        $(
            #[test]
            fn $test() {
                check($name);
            }
        )*
    };
}

cases! {
    a_pressed_cylinder_converges_under_refinement => "rubber-press",
    soft_bodies_rest => "soft-rest",
    fields_and_tractions_on_soft_bodies_have_their_force => "soft-loads",
    shells_nest_by_parity => "cavities",
    a_clamped_strip_of_cloth_hangs_as_the_elastica => "hanging-strip",
    water_flows_as_its_known_answers => "water",
    elements_bend_by_beam_theory => "beam-bending",
    a_sliding_box_stops_where_it_must => "sliding-box",
    points_and_cloth_slide_by_coulombs_law_in_substeps => "substep-friction",
    a_box_keeps_its_speed_over_flush_tiles => "flush-tiles",
    a_box_on_an_incline_sticks_or_slides_as_coulomb_says => "incline",
    a_box_at_the_limit_of_sliding_sticks_or_slides_in_every_stepper => "ramp",
    attachments_relax_to_the_cone_with_the_right_derivatives => "penalty-relaxation",
    a_block_on_penalty_forces_slides_stops_and_sticks_by_the_discrete_laws => "penalty-slope",
    a_pyramid_stands_on_implicit_friction_and_falls_on_lagged_friction => "penalty-pyramid",
    collisions_rolling_and_wedges_under_penalty_forces => "penalty-motion",
    balls_bricks_and_soft_stacks_under_penalty_forces => "penalty-shapes",
    a_ball_rolls_and_slides_with_the_right_spin => "rolling-ball",
    a_rod_rolls_and_slides_with_the_right_spin => "rolling-rod",
    a_ball_of_points_rolls_as_a_rigid_one_of_equal_points_and_inertia => "points-ball",
    a_cube_of_points_that_spins_keeps_volume_and_angular_momentum => "points-spin",
    a_stack_stands_still => "standing-stack",
    a_gripper_holds_just_above_its_limit => "gripper",
    a_three_legged_table_resists_torque_up_to_its_limit => "three-legged-table",
    an_actuator_saturates_exactly => "pd-actuator",
    momentum_is_kept_in_free_flight => "free-flight",
    a_pendulum_keeps_its_energy_to_first_order => "pendulum",
    a_parallelogram_of_four_bars_swings_like_a_pendulum => "four-bar",
    a_fixed_tendon_shares_its_force_by_its_coefficients => "fixed-tendon",
    a_strut_and_a_rope_reach_equilibrium_at_any_time_step => "equilibria",
    a_nut_falls_on_a_screw_by_its_effective_inertia => "screw",
    a_top_precesses_steadily_and_soft_bars_keep_their_angular_momentum => "spin",
    a_wheel_with_backlash_lags_by_half_of_the_play => "backlash",
    a_ball_rests_in_a_valley_where_it_touches_both_slopes => "valley",
    no_contact_model_acts_before_surfaces_touch => "first-touch",
    a_ball_bounces_to_e_squared_of_its_height => "bouncing-ball",
    torsional_and_rolling_friction_slow_a_ball => "turning-friction",
    a_box_breaks_off_when_the_pull_exceeds_the_attraction => "break-off",
    a_heavy_box_stands_on_a_light_one => "mass-ratio",
    patches_have_the_area_force_and_center_of_closed_forms => "patch",
    patches_of_round_bodies_converge_at_second_order => "patch-round",
    patches_are_invariant_under_motion_and_exchange_of_sides => "patch-symmetry",
    compliant_cubes_rest_within_a_micrometre => "patch-rest",
    a_pushed_box_tips_or_slides_as_it_must => "patch-tipping",
    a_rope_over_a_post_has_the_tensions_of_a_capstan => "capstan-refined",
    bending_and_friction_of_an_overhand_knot_balance_the_pull => "rod-knot",
    strands_of_a_knot_cross_with_an_energy_and_not_with_constraints => "knot-baseline",
    rods_bend_as_the_elastica => "rod-deflections",
    rods_rest_in_the_shapes_of_continuum_theory => "rod-shapes",
    rods_have_the_frequencies_of_beams_and_bars => "rod-frequencies",
    straight_rods_buckle_where_they_must => "rod-buckling",
    rods_leave_their_plane_where_they_must => "rod-sideways",
    twist_of_rods_is_conserved => "rod-turns",
    derivatives_of_rods_are_those_of_dual_numbers => "rod-derivatives",
    rods_take_few_newton_iterations => "rod-iterations",
    measured_tosses_of_a_cube_are_reproduced => "cube-toss",
}

#[test]
fn every_case_is_tested_and_its_name_is_its_own() {
    for case in CASES {
        // Scenes are tested in `bundled_scenes`.
        let tested = TESTED.iter().filter(|name| **name == case.name).count();
        let expected = usize::from(matches!(case.kind, CaseKind::Function(_)));
        assert_eq!(tested, expected, "{}", case.name);
        let same = CASES.iter().filter(|other| other.name == case.name).count();
        assert_eq!(same, 1, "{}", case.name);
    }
}
