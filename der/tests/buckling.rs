//! Loads at which straight, twisted, bent and closed rods lose their stability.

#[path = "support/unit_rod.rs"]
mod unit_rod;

use std::f64::consts::PI;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, Control, DeformableModel};
use pliant_der::{
    Centreline, Closure, End, EndCondition, EquilibriumSettings, NaturalShape, NaturalStrain, Rod,
    RodBuilder, RodProperties,
};
use unit_rod::{close, critical, hold, isotropic, level_rod, pull};

const CLAMPED: EndCondition = EndCondition::Clamped { tangent: None };

fn is_stable(rod: &Rod, state: &BodyState, control: &Control) -> bool {
    rod.modes_below(state, control, 0.0).unwrap() == 0
}

/// The compressive force at which a straight rod buckles, its ends held laterally at least.
fn euler(rod: &Rod, control: &Control) -> f64 {
    critical(100.0, |p| {
        let mut state = rod.default_state();
        let rest = rod.default_state();
        for node in 0..rod.n_dofs().div_ceil(4) {
            state.q[4 * node] = rest.q[4 * node] * (1.0 - p / isotropic(1.0).stretch);
        }
        is_stable(rod, &state, control)
    })
}

#[test]
fn a_column_buckles_at_eulers_load() {
    for (edges, known) in [(8, -1.28e-2), (16, -3.20e-3), (32, -7.9e-4)] {
        let rod = level_rod(edges, isotropic(0.7))
            .pin(0)
            .pin(edges)
            .build()
            .unwrap();
        let mut control = rod.default_control();
        hold(&rod, &mut control, [rod.angle_dof(0).unwrap()]);
        let found = euler(&rod, &control) / (PI * PI) - 1.0;
        close("pinned column", found, known, 0.05 * known.abs());

        let rod = level_rod(edges, isotropic(0.7))
            .end(End::Start, CLAMPED)
            .build()
            .unwrap();
        let found = euler(&rod, &rod.default_control()) / (0.25 * PI * PI) - 1.0;
        close("clamped and free column", found, 0.0, 1.1 * known.abs());

        let rod = level_rod(edges, isotropic(0.7))
            .end(End::Start, CLAMPED)
            .end(End::Finish, CLAMPED)
            .build()
            .unwrap();
        let found = euler(&rod, &rod.default_control()) / (4.0 * PI * PI) - 1.0;
        close("clamped column", found, 0.0, 5.0 * known.abs());
    }
}

#[test]
fn a_twisted_rod_buckles_at_its_moment() {
    for (edges, known) in [(16, 0.917), (32, 0.975), (64, 0.9934)] {
        let twist = 1.0 / 1.3;
        let rod = level_rod(edges, isotropic(twist))
            .end(End::Start, CLAMPED)
            .end(End::Finish, CLAMPED)
            .build()
            .unwrap();
        let control = rod.default_control();
        let rest = rod.default_state();
        // A joint that twists bends the more easily: the error depends on GJ/EI.
        let moment = critical(20.0, |moment| {
            let mut state = rest.clone();
            for i in 0..=edges + 1 {
                // The angle at the middle of each edge, clamps at 0 and 1.
                let place = ((i as f64 - 0.5) / edges as f64).clamp(0.0, 1.0);
                state.q[4 * i + 3] = place * moment / twist;
            }
            is_stable(&rod, &state, &control)
        });
        close("moment", moment / 8.98682, known, 2e-3);
    }
}

#[test]
fn michells_ring_buckles_at_its_twist() {
    let twist = 1.0 / 1.3;
    for (edges, known) in [(20, 1.0813), (40, 1.0197), (80, 1.0049)] {
        let length = edges as f64 * 2.0 * (PI / edges as f64).sin();
        let ring = |total: f64| {
            RodBuilder::new(Centreline::circle(1.0, edges))
                .properties(isotropic(twist))
                .natural_shape(NaturalShape::Uniform(NaturalStrain {
                    twist_rate: -total / length,
                    ..NaturalStrain::default()
                }))
                .build()
                .unwrap()
        };
        // Six rigid motions and a spin of all sections have no frequency; more of them near zero are buckling.
        let neutral = |total: f64| {
            let rod = ring(total);
            rod.modes_below(&rod.default_state(), &Control::default(), 1e-3)
                .unwrap()
        };
        assert_eq!(neutral(1.0), 7);
        let total = critical(25.0, |total| neutral(total) == 7);
        let expected = 2.0 * PI * f64::sqrt(3.0) / twist;
        close("twist of the ring", total / expected, known, 3e-4);
    }
}

/// What must be held so that a rod in the x-z plane stays there.
fn plane_only(rod: &Rod) -> Control {
    let mut control = rod.default_control();
    let n = rod.n_dofs();
    hold(
        rod,
        &mut control,
        (0..n).filter(|i| i % 4 == 1 || i % 4 == 3),
    );
    control
}

#[track_caller]
fn at_rest(rod: &Rod, start: &BodyState, gravity: f64, control: &Control) -> BodyState {
    let gravity = Vector3::new(0.0, 0.0, -gravity);
    rod.equilibrium(start, &gravity, control, &EquilibriumSettings::default())
        .unwrap()
        .state
}

/// Stiff in the plane of the load, x-z.
fn upright_strip() -> RodProperties {
    RodProperties {
        stretch: 1e8,
        bend_1: 1e4,
        bend_2: 1.0,
        twist: 1.0,
        ..isotropic(1.0)
    }
}

#[test]
fn an_upright_strip_tips_over_under_a_force_at_its_tip() {
    for (edges, known) in [(16, 1.0018), (32, 1.0006), (64, 1.0002)] {
        let rod = level_rod(edges, upright_strip())
            .end(End::Start, CLAMPED)
            .build()
            .unwrap();
        let force = critical(8.0, |p| {
            let mut plane = plane_only(&rod);
            plane.loads.push(pull(edges, Vector3::new(0.0, 0.0, -p)));
            let state = at_rest(&rod, &rod.default_state(), 0.0, &plane);
            is_stable(&rod, &state, &rod.default_control())
        });
        close("force", force / 4.01260, known, 3e-4);
    }
}

#[test]
fn an_upright_strip_tips_over_under_its_own_weight() {
    for (edges, known) in [(16, 1.0033), (32, 1.0010), (64, 1.0004)] {
        let rod = level_rod(edges, upright_strip())
            .end(End::Start, CLAMPED)
            .build()
            .unwrap();
        let weight = critical(25.0, |w| {
            let state = at_rest(&rod, &rod.default_state(), w, &plane_only(&rod));
            is_stable(&rod, &state, &rod.default_control())
        });
        close("weight", weight / 12.8537, known, 3e-4);
    }
}

#[test]
fn a_naturally_curved_rod_falls_out_of_its_plane() {
    for (turn, results) in [
        (1.5 * PI, [(16, 12.12), (32, 12.28), (64, 12.32)]),
        (2.0 * PI, [(16, 21.72), (32, 22.37), (64, 22.55)]),
    ] {
        for (edges, known) in results {
            // A circle of total angle `turn`, level at the clamp, curving up; its polygon has length 1.
            let radius = 0.5 / edges as f64 / (0.5 * turn / edges as f64).sin();
            let line = Centreline::curve(Closure::Open, edges, |u| {
                let (sin, cos) = (turn * u).sin_cos();
                Point3::new(radius * sin, 0.0, radius * (1.0 - cos))
            });
            let tangent = Some(Vector3::x());
            let rod = RodBuilder::new(line)
                .properties(isotropic(2.0 / 3.0))
                .director(Vector3::y())
                .natural_shape(NaturalShape::AsBuilt)
                .end(End::Start, EndCondition::Clamped { tangent })
                .build()
                .unwrap();
            let weight = critical(40.0, |w| {
                let state = at_rest(&rod, &rod.default_state(), w, &plane_only(&rod));
                is_stable(&rod, &state, &rod.default_control())
            });
            close(&format!("weight at {edges} edges"), weight, known, 0.015);
        }
    }
}
