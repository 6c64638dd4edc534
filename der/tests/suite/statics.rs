//! Equilibria against analytical solutions: elastica, own weight, natural helices, catenaries, springs.

use crate::support::all_hold::all_hold;
use pliant_der::known_answers;

#[test]
fn a_cantilever_with_a_tip_force_follows_the_elastica() {
    all_hold(known_answers::tip_force());
}

#[test]
fn the_elastica_is_approached_with_second_order() {
    all_hold(known_answers::tip_force_convergence());
}

#[test]
fn a_cantilever_under_its_own_weight_follows_the_master_curve() {
    all_hold(known_answers::own_weight());
}

#[test]
fn the_master_curve_is_approached_with_the_known_errors() {
    all_hold(known_answers::own_weight_convergence());
}

#[test]
fn a_rod_of_constant_natural_curvature_and_twist_relaxes_to_its_helix() {
    all_hold(known_answers::natural_helix());
}

#[test]
fn a_hanging_rope_is_a_catenary() {
    all_hold(known_answers::catenary());
}

#[test]
fn a_helical_spring_has_its_axial_flexibility() {
    all_hold(known_answers::helical_spring());
}
