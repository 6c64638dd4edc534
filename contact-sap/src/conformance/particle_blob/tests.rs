use super::*;
use crate::body::{Control, Load, MaterialPoint, StepInput};
use crate::conformance::check_body;
use crate::conformance::free_flight::fly;
use crate::conformance::probe::Probe;

const DT: f64 = 0.005;

fn blob() -> ParticleBlob {
    ParticleBlob::new(BlobSettings {
        n: 3,
        ..BlobSettings::default()
    })
    .unwrap()
}

fn shaken(blob: &ParticleBlob) -> BodyState {
    let mut probe = Probe::new(22);
    let mut state = blob.default_state();
    state
        .q
        .iter_mut()
        .for_each(|q| *q += 0.002 * probe.number());
    state
        .v
        .iter_mut()
        .for_each(|v| *v += 0.1 + 0.1 * probe.number());
    for history in state.history.chunks_exact_mut(HISTORY) {
        history.iter_mut().for_each(|c| *c += 0.5 * probe.number());
        history[9] = 1.0 + 0.02 * probe.number();
    }
    state
}

#[test]
fn a_blob_is_a_body() {
    let blob = blob();
    let mut control = Control::default();
    for loaded in [false, true] {
        if loaded {
            control.loads.push(Load {
                point: MaterialPoint::on_vertex(4),
                force_W: Vector3::new(0.1, -0.2, 0.05),
                torque_W: Vector3::zeros(),
            });
        }
        let gravity = Vector3::new(0.0, 0.0, -9.81);
        let input = StepInput {
            time_step: DT.into(),
            gravity,
            control: &control,
        };
        check_body(&blob, &shaken(&blob), &input).unwrap();
    }
    // On the nodes and midway between them some weights are exactly zero.
    let gravity = Vector3::zeros();
    let input = StepInput {
        time_step: DT.into(),
        gravity,
        control: &control,
    };
    check_body(&blob, &blob.default_state(), &input).unwrap();
}

#[test]
fn momenta_are_conserved_in_free_flight_while_the_number_of_velocities_changes() {
    let blob = blob();
    let start = shaken(&blob);
    let flight = fly(&blob, &start, DT, 60);
    let speeds: f64 = start.v.iter().map(|v| v.abs()).sum();
    let size = blob.particle_mass() * speeds;
    assert!(flight.linear.norm() <= 1e-12 * size, "{:?}", flight.linear);
    assert!(
        flight.angular.norm() <= 1e-12 * size,
        "{:?}",
        flight.angular
    );
    assert!(flight.dofs.len() > 2, "{:?}", flight.dofs);
}

#[test]
fn a_squeezed_blob_springs_back() {
    let blob = blob();
    let mut state = blob.default_state();
    for history in state.history.chunks_exact_mut(HISTORY) {
        history[9] = 0.9;
    }
    let outwards = |state: &BodyState| -> f64 {
        let centre = blob
            .settings
            .corner_W
            .coords
            .add_scalar(blob.settings.spacing);
        (0..blob.n_particles())
            .map(|p| (vector(&state.q, p) - centre).dot(&vector(&state.v, p)))
            .sum()
    };
    let control = Control::default();
    let input = StepInput {
        time_step: DT.into(),
        gravity: Vector3::zeros(),
        control: &control,
    };
    let mut step = blob.new_step();
    step.begin(&state, &input).unwrap();
    step.linearise_start(&mut Vec::new()).unwrap();
    let v = crate::conformance::free_flight::free_velocity(step.dynamics());
    let mut next = BodyState::default();
    let _ = step.advance(&v, &mut next).unwrap();
    assert!(outwards(&next) > 0.0);
    assert!(next.history.chunks_exact(HISTORY).all(|h| h[9] > 0.9));
}

#[test]
fn bad_settings_states_and_controls_are_refused() {
    assert!(
        ParticleBlob::new(BlobSettings {
            n: 0,
            ..BlobSettings::default()
        })
        .is_err()
    );
    assert!(
        ParticleBlob::new(BlobSettings {
            cell: -1.0,
            ..BlobSettings::default()
        })
        .is_err()
    );
    let blob = blob();
    let held = Control {
        held: vec![Some(0.0)],
        ..Control::default()
    };
    let input = StepInput {
        time_step: DT.into(),
        gravity: Vector3::zeros(),
        control: &held,
    };
    assert!(
        blob.new_step()
            .begin(&blob.default_state(), &input)
            .is_err()
    );
    let none = Control::default();
    let input = StepInput {
        control: &none,
        ..input
    };
    let mut far = blob.default_state();
    far.q[0] = 1e12;
    assert!(blob.new_step().begin(&far, &input).is_err());
    // A burst that would turn a particle inside out.
    let mut step = blob.new_step();
    step.begin(&blob.default_state(), &input).unwrap();
    let inwards: Vec<f64> = (0..step.start_velocity().len())
        .map(|i| -1e4 * i as f64)
        .collect();
    assert!(step.advance(&inwards, &mut BodyState::default()).is_err());
}
