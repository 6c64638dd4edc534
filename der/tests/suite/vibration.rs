//! Natural frequencies against beam theory.

use crate::support::all_hold::all_hold;
use pliant_contact_sap::DeformableModel;
use pliant_der::known_answers::{self, isotropic, level_rod};

#[test]
fn bending_frequencies_approach_those_of_a_beam() {
    all_hold(known_answers::bending_frequencies());
}

#[test]
fn the_torsion_frequency_has_the_torsion_constant_and_the_polar_moment() {
    all_hold(known_answers::torsion_frequency());
}

#[test]
fn the_axial_frequency_is_that_of_a_bar() {
    all_hold(known_answers::axial_frequency());
}

#[test]
fn a_rod_under_tension_vibrates_like_a_beam_under_tension() {
    all_hold(known_answers::frequencies_under_tension());
}

#[test]
fn a_free_rod_has_six_rigid_motions() {
    let rod = level_rod(40, isotropic(0.7)).build().unwrap();
    let (state, control) = (rod.default_state(), Default::default());
    // Three translations, two rotations across the axis, and one about it.
    assert_eq!(rod.modes_below(&state, &control, 1e-2).unwrap(), 6);
    let lowest = rod.natural_frequency(&state, &control, 6).unwrap();
    let error = lowest / 22.3733 - 1.0;
    assert!(error.abs() < 3e-3, "free-free beam: {error}");
}
