//! Gradient and Hessian of the elastic energy.

use crate::support::all_hold::all_hold;
use pliant_der::known_answers;

#[test]
fn gradient_and_hessian_agree_with_hyper_dual_numbers() {
    all_hold(known_answers::derivatives());
}

#[test]
fn an_l_shaped_rod_has_the_strains_and_derivatives_computed_by_hand() {
    all_hold(known_answers::l_shaped_rod());
}
