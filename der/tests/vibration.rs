//! Natural frequencies of a clamped rod against beam theory.

#[path = "support/unit_rod.rs"]
mod unit_rod;

use std::f64::consts::PI;

use pliant_contact_sap::DeformableModel;
use pliant_der::{End, EndCondition, RodProperties};
use unit_rod::{close, isotropic, level_rod};

/// Frequencies of number `index` relative to `expected` at 8, 16, 32 and 64 edges, minus 1.
#[track_caller]
fn check(properties: RodProperties, index: usize, expected: f64, known: [f64; 4]) {
    for (edges, known) in [8, 16, 32, 64].into_iter().zip(known) {
        let rod = level_rod(edges, properties)
            .end(End::Start, EndCondition::Clamped { tangent: None })
            .build()
            .unwrap();
        let found = rod
            .natural_frequency(&rod.default_state(), &rod.default_control(), index)
            .unwrap();
        let what = format!("error of frequency {index} at {edges} edges");
        close(&what, found / expected - 1.0, known, 0.08 * known.abs());
    }
}

#[test]
fn bending_frequencies_approach_those_of_a_beam() {
    // Bending in the other plane and twist are far above.
    let strip = RodProperties {
        bend_2: 1e4,
        twist: 1e4,
        ..isotropic(1.0)
    };
    let table = [
        (3.516015, [-1.3e-2, -3.3e-3, -8.3e-4, -2.1e-4]),
        (22.034492, [-6.2e-2, -1.7e-2, -4.2e-3, -1.1e-3]),
        (61.697214, [-1.2e-1, -3.4e-2, -8.8e-3, -2.2e-3]),
    ];
    for (index, (expected, known)) in table.into_iter().enumerate() {
        check(strip, index, expected, known);
    }
}

#[test]
fn the_torsion_frequency_takes_the_torsion_constant_for_stiffness_and_the_polar_moment_for_inertia()
{
    // GJ and ρI_p of a 5:1 strip: J = 0.29132, I_p = 2.16667 in units of ab³.
    let strip = RodProperties {
        bend_1: 1e4,
        bend_2: 1e4,
        twist: 0.29132,
        spin_inertia: 2.16667,
        ..isotropic(1.0)
    };
    let expected = 0.5 * PI * f64::sqrt(0.29132 / 2.16667);
    check(strip, 0, expected, [-1.6e-3, -4e-4, -1e-4, -2.5e-5]);
}

#[test]
fn the_axial_frequency_is_that_of_a_bar() {
    let bar = RodProperties {
        stretch: 1.0,
        bend_1: 1e4,
        bend_2: 1e4,
        twist: 1e4,
        ..isotropic(1.0)
    };
    check(bar, 0, 0.5 * PI, [-1.6e-3, -4e-4, -1e-4, -2.5e-5]);
}

#[test]
fn a_free_rod_has_six_motions_without_frequency_and_a_spin() {
    let rod = level_rod(40, isotropic(0.7)).build().unwrap();
    let (state, control) = (rod.default_state(), Default::default());
    // Three translations, two turns, one spin; the turn about its own axis is the spin.
    assert_eq!(rod.modes_below(&state, &control, 1e-2).unwrap(), 6);
    let lowest = rod.natural_frequency(&state, &control, 6).unwrap();
    close("free-free beam", lowest / 22.3733 - 1.0, 0.0, 3e-3);
}
