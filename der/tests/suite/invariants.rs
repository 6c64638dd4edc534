//! Conservation laws and invariances of rods.

use std::f64::consts::TAU;

use crate::support::all_hold::all_hold;
use crate::support::close::close;
use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::{BodyState, Control, DeformableModel, Integration, TimeStep};
use pliant_der::{
    Centreline, Closure, Material, NaturalShape, Rayleigh, Rod, RodBuilder, Section, known_answers,
};

/// Free motion over `steps` steps, without contact and control.
fn fly(
    rod: &Rod,
    start: &BodyState,
    time_step: TimeStep,
    gravity: Vector3<f64>,
    steps: usize,
) -> BodyState {
    let none = |_: &BodyState, _| Control::default();
    known_answers::advance_freely(rod, start, time_step, gravity, steps, none).unwrap()
}

fn strip() -> (Section, Material) {
    let section = Section::Rectangle {
        extent_1: 0.02,
        extent_2: 0.008,
    };
    (section, Material::isotropic(2e5, 0.4, 1000.0).unwrap())
}

#[test]
fn rigid_motion_does_not_change_the_energy() {
    let (section, material) = strip();
    let X_WR = Isometry3::new(Vector3::new(0.3, -0.7, 0.2), Vector3::new(1.0, -2.0, 0.5));
    let line = Centreline::trefoil(0.1, 40);
    let axis = Vector3::new(0.0, 0.0, 1.0);
    let build = |line: Centreline, director: Vector3<f64>| {
        let rod = RodBuilder::new(line)
            .section(section, material)
            .director(director)
            .initial_twist(TAU)
            .build()
            .unwrap();
        rod.elastic_energy(&rod.default_state()).unwrap()
    };
    let here = build(line.clone(), axis);
    let there = build(line.transformed(&X_WR), X_WR.rotation * axis);
    close("stretch", there.stretch, here.stretch, 1e-12 * here.total());
    close("bend", there.bend, here.bend, 1e-12 * here.total());
    close("twist", there.twist, here.twist, 1e-12 * here.total());
}

#[test]
fn linear_momentum_is_conserved_angular_momentum_to_first_order_and_no_step_adds_energy() {
    all_hold(known_answers::momenta());
}

#[test]
fn backward_euler_is_of_first_order_and_the_midpoint_rule_of_second() {
    let (rod, start) = known_answers::swinging().unwrap();
    let end = |integration: Integration, steps: usize| {
        let time_step = TimeStep {
            length_s: 0.01 / steps as f64,
            integration,
        };
        let gravity = Vector3::new(0.0, 0.0, -9.81);
        let end = fly(&rod, &start, time_step, gravity, steps);
        nalgebra::DVector::from_vec(end.q)
    };
    let exact = end(Integration::Midpoint, 3200);
    for (integration, ratio, slack) in [
        (Integration::BackwardEuler, 2.0, 0.25),
        (Integration::Midpoint, 4.0, 0.5),
    ] {
        let errors = [200, 400].map(|steps| (end(integration, steps) - &exact).norm());
        close("ratio of errors", errors[0] / errors[1], ratio, slack);
    }
}

#[test]
fn stiffness_damping_does_not_affect_rigid_motion_and_dissipates_bending() {
    let (section, material) = strip();
    let build = |damping: Rayleigh| {
        RodBuilder::new(Centreline::circle(0.1, 16))
            .section(section, material)
            .damping(damping)
            .build()
            .unwrap()
    };
    let damped = build(Rayleigh {
        mass: 0.0,
        stiffness: 0.01,
    });
    let none = Vector3::zeros();
    let (step, steps) = (TimeStep::from(1e-4), 20);
    let fly = |rod: &Rod, start: &BodyState| fly(rod, start, step, none, steps);
    // A circular rod that is naturally straight, hence stressed, and rotates about a diameter.
    let mut turning = damped.default_state();
    let omega = Vector3::new(5.0, 0.0, 0.0);
    for i in 0..16 {
        let v = omega.cross(&damped.position(&turning, i).coords);
        turning.v[4 * i..4 * i + 3].copy_from_slice(v.as_slice());
        let (a, b) = (
            damped.position(&turning, i),
            damped.position(&turning, (i + 1) % 16),
        );
        turning.v[4 * i + 3] = omega.dot(&(b - a).normalize());
    }
    let undamped = build(Rayleigh::default());
    let kinetic = |state: &BodyState| undamped.energy(state, &none).kinetic;
    let (with, without) = (fly(&damped, &turning), fly(&undamped, &turning));
    let kept = kinetic(&with) / kinetic(&without);
    close("energy of turning", kept, 1.0, 2e-3);
    // The same rod, vibrating.
    let mut swinging = damped.default_state();
    for i in 0..16 {
        swinging.v[4 * i] = 0.2 * (TAU * 2.0 * i as f64 / 16.0).cos();
    }
    let (with, without) = (fly(&damped, &swinging), fly(&undamped, &swinging));
    assert!(kinetic(&with) < 0.8 * kinetic(&without));
}

#[test]
fn ten_rotations_of_a_clamp_give_ten_turns_of_twist() {
    all_hold(known_answers::ten_turns());
}

#[test]
fn twist_plus_writhe_is_constant() {
    all_hold(known_answers::link_of_a_closed_rod());
}

#[test]
fn a_restored_state_continues_bit_for_bit() {
    let (rod, start) = known_answers::swinging().unwrap();
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let go = |state: &BodyState, steps| fly(&rod, state, TimeStep::from(2e-3), gravity, steps);
    let half = go(&start, 20);
    let text = serde_json::to_string(&half).unwrap();
    let loaded: BodyState = serde_json::from_str(&text).unwrap();
    assert_eq!(go(&loaded, 20), go(&start, 40));
}

#[test]
fn the_motion_does_not_depend_on_the_direction_of_numbering() {
    let (section, material) = strip();
    let line = Centreline::helix(0.08, 0.1, 0.8, 20);
    let mut backwards = line.clone();
    backwards.nodes.reverse();
    let swing = |line: Centreline, node: fn(usize) -> usize| {
        let rod = RodBuilder::new(line)
            .section(section, material)
            .natural_shape(NaturalShape::Straight)
            .director(Vector3::z().cross(&Vector3::new(0.0, 1.0, 0.2)).normalize())
            .build()
            .unwrap();
        // The same frames from either end: m1 of each edge along the radius.
        let directors: Vec<_> = (0..20)
            .map(|i| {
                let middle = nalgebra::center(
                    &rod.position(&rod.default_state(), i),
                    &rod.position(&rod.default_state(), i + 1),
                );
                Vector3::new(middle.x, middle.y, 0.0).normalize()
            })
            .collect();
        let line = Centreline {
            nodes: (0..21)
                .map(|i| rod.position(&rod.default_state(), i))
                .collect(),
            closure: Closure::Open,
        };
        let rod = RodBuilder::new(line)
            .section(section, material)
            .directors(directors)
            .build()
            .unwrap();
        let end = fly(
            &rod,
            &rod.default_state(),
            TimeStep::from(2e-3),
            Vector3::new(0.0, 0.0, -9.81),
            25,
        );
        (0..21)
            .map(|i| rod.position(&end, node(i)))
            .collect::<Vec<Point3<f64>>>()
    };
    let (forth, back) = (swing(line, |i| i), swing(backwards, |i| 20 - i));
    for (a, b) in forth.iter().zip(&back) {
        assert!((a - b).norm() < 1e-10, "{a} against {b}");
    }
}

#[test]
fn the_motion_of_a_closed_rod_does_not_depend_on_its_first_node() {
    let (section, material) = strip();
    let n = 24;
    let radial = |i: usize| {
        let phi = TAU * (i as f64 + 0.5) / n as f64;
        Vector3::new(phi.cos(), phi.sin(), 0.0)
    };
    let swing = |first: usize| {
        let mut line = Centreline::circle(0.1, n);
        for (i, p) in line.nodes.iter_mut().enumerate() {
            p.z = 0.03 * (2.0 * TAU * i as f64 / n as f64).sin();
        }
        line.nodes.rotate_left(first);
        let directors = (0..n).map(|i| radial((i + first) % n)).collect();
        let rod = RodBuilder::new(line)
            .section(section, material)
            .directors(directors)
            .build()
            .unwrap();
        let none = Vector3::zeros();
        let end = fly(&rod, &rod.default_state(), TimeStep::from(2e-3), none, 25);
        (0..n)
            .map(|i| rod.position(&end, (i + n - first) % n))
            .collect::<Vec<_>>()
    };
    for (a, b) in swing(0).iter().zip(&swing(7)) {
        assert!((a - b).norm() < 1e-10, "{a} against {b}");
    }
}
