use super::*;
use crate::body::{Load, StepInput};
use crate::conformance::check_body;
use crate::conformance::free_flight::{Momenta, fly};
use crate::conformance::probe::Probe;

const DT: f64 = 0.005;

fn shaken(net: &MassSpringNet, position: f64, velocity: f64) -> BodyState {
    let mut probe = Probe::new(21);
    let mut state = net.default_state();
    state
        .q
        .iter_mut()
        .for_each(|q| *q += position * probe.number());
    state
        .v
        .iter_mut()
        .for_each(|v| *v += velocity * probe.number());
    state
}

fn small() -> MassSpringNet {
    MassSpringNet::new(NetSettings {
        n: 4,
        ..NetSettings::default()
    })
    .unwrap()
}

#[track_caller]
fn check(net: &MassSpringNet, control: &Control) {
    let input = StepInput {
        time_step: DT.into(),
        gravity: Vector3::new(0.0, 0.0, -9.81),
        control,
    };
    check_body(net, &shaken(net, 0.005, 0.5), &input).unwrap();
}

#[test]
fn a_net_is_a_body() {
    check(&small(), &Control::default());
    check(&MassSpringNet::default(), &Control::default());
    let undamped = NetSettings {
        n: 3,
        damping: 0.0,
        ..NetSettings::default()
    };
    check(&MassSpringNet::new(undamped).unwrap(), &Control::default());
}

#[test]
fn a_net_with_held_nodes_and_loads_is_a_body() {
    let net = small();
    let mut control = net.holding(&[0, 5]);
    control.held[15..18].copy_from_slice(&[Some(0.3), Some(0.0), Some(-0.2)]);
    control.loads.push(Load {
        point: MaterialPoint {
            primitive: Primitive::Triangle(3),
            weights: [0.2, 0.3, 0.5, 0.0],
            offset: Vector3::zeros(),
        },
        force_W: Vector3::new(0.0, 0.4, 0.1),
        torque_W: Vector3::zeros(),
    });
    check(&net, &control);
}

#[test]
fn linear_momentum_is_conserved_in_free_flight() {
    let net = small();
    let start = shaken(&net, 0.005, 0.5);
    let Momenta { linear, .. } = fly(&net, &start, DT, 100);
    let size: f64 = start
        .v
        .iter()
        .map(|v| v.abs() * net.settings.node_mass)
        .sum();
    assert!(linear.norm() <= 1e-12 * size, "{linear:?}");
}

#[test]
fn a_held_node_stays_and_the_rest_hangs_from_it() {
    let net = small();
    let control = net.holding(&[0]);
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let input = StepInput {
        time_step: DT.into(),
        gravity,
        control: &control,
    };
    let (mut state, mut next) = (net.default_state(), BodyState::default());
    let start = at(&state.q, 0);
    let mut step = net.new_step();
    for _ in 0..2000 {
        step.begin(&state, &input).unwrap();
        step.linearise_start(&mut Vec::new()).unwrap();
        let v = crate::conformance::free_flight::free_velocity(step.dynamics());
        let _ = step.advance(&v, &mut next).unwrap();
        std::mem::swap(&mut state, &mut next);
    }
    assert_eq!(at(&state.q, 0), start);
    let lowest = state
        .q
        .chunks_exact(3)
        .map(|x| x[2])
        .fold(f64::INFINITY, f64::min);
    assert!(
        lowest < start.z - 0.09,
        "the far corner hangs a diagonal below: {lowest}"
    );
}

#[test]
fn bad_settings_states_and_controls_are_refused() {
    for settings in [
        NetSettings {
            n: 1,
            ..NetSettings::default()
        },
        NetSettings {
            spacing: 0.0,
            ..NetSettings::default()
        },
        NetSettings {
            node_mass: f64::NAN,
            ..NetSettings::default()
        },
        NetSettings {
            stiffness: -1.0,
            ..NetSettings::default()
        },
    ] {
        assert!(MassSpringNet::new(settings).is_err(), "{settings:?}");
    }
    let net = small();
    let refuses = |state: &BodyState, control: &Control| {
        let input = StepInput {
            time_step: DT.into(),
            gravity: Vector3::zeros(),
            control,
        };
        net.new_step().begin(state, &input).is_err()
    };
    let state = net.default_state();
    assert!(!refuses(&state, &Control::default()));
    let partly = Control {
        held: vec![Some(0.0); 3 * 16 - 1],
        ..Control::default()
    };
    assert!(refuses(&state, &partly));
    let mut one = net.holding(&[]);
    one.held[4] = Some(0.0);
    assert!(refuses(&state, &one));
    let driven = Control {
        effort: vec![0.0; 48],
        ..Control::default()
    };
    assert!(refuses(&state, &driven));
    // Two nodes at one place have no direction between them.
    let mut collapsed = net.default_state();
    collapsed.q.copy_within(0..3, 3);
    let control = Control::default();
    let input = StepInput {
        time_step: DT.into(),
        gravity: Vector3::zeros(),
        control: &control,
    };
    let mut step = net.new_step();
    step.begin(&collapsed, &input).unwrap();
    assert!(step.linearise_start(&mut Vec::new()).is_err());
}
