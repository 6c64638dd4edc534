//! Buckling loads of straight, twisted, bent and closed rods.

use crate::support::all_hold::all_hold;
use pliant_der::known_answers;

#[test]
fn a_column_buckles_at_eulers_load() {
    all_hold(known_answers::euler_loads());
}

#[test]
fn a_compressed_column_buckles_above_eulers_load_and_not_below() {
    all_hold(known_answers::compressed_column());
}

#[test]
fn a_twisted_rod_buckles_at_the_critical_moment() {
    all_hold(known_answers::twisted_columns());
}

#[test]
fn tension_raises_the_buckling_moment_of_a_twisted_rod() {
    all_hold(known_answers::twist_under_tension());
}

#[test]
fn a_pinned_shaft_under_torque_and_force_buckles_at_greenhills_load() {
    all_hold(known_answers::greenhill());
}

#[test]
fn michells_ring_buckles_at_the_critical_twist() {
    all_hold(known_answers::twisted_ring());
}

#[test]
fn a_strip_under_a_tip_force_has_the_lateral_torsional_buckling_load() {
    all_hold(known_answers::strip_under_tip_force());
}

#[test]
fn a_strip_under_its_own_weight_has_the_lateral_torsional_buckling_load() {
    all_hold(known_answers::strip_under_weight());
}

#[test]
fn a_naturally_curved_rod_under_its_weight_buckles_sideways() {
    all_hold(known_answers::natural_circle());
}
