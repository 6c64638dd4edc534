//! Loads at which straight, twisted, bent and closed rods lose their stability.

use crate::support::all_hold::all_hold;
use pliant_der::known_answers;

#[test]
fn a_column_buckles_at_eulers_load() {
    all_hold(known_answers::euler_loads());
}

#[test]
fn a_pressed_column_is_seen_to_buckle_above_eulers_load_and_not_below() {
    all_hold(known_answers::pressed_column());
}

#[test]
fn a_twisted_rod_buckles_at_its_moment() {
    all_hold(known_answers::twisted_columns());
}

#[test]
fn tension_raises_the_moment_at_which_a_twisted_rod_buckles() {
    all_hold(known_answers::twist_under_tension());
}

#[test]
fn a_pinned_shaft_buckles_under_torque_and_force_as_greenhill_found() {
    all_hold(known_answers::greenhill());
}

#[test]
fn michells_ring_buckles_at_its_twist() {
    all_hold(known_answers::twisted_ring());
}

#[test]
fn an_upright_strip_tips_over_under_a_force_at_its_tip() {
    all_hold(known_answers::strip_under_tip_force());
}

#[test]
fn an_upright_strip_tips_over_under_its_own_weight() {
    all_hold(known_answers::strip_under_weight());
}

#[test]
fn a_naturally_curved_rod_falls_out_of_its_plane() {
    all_hold(known_answers::natural_circle());
}
