//! Validation of state and control at the beginning of a step: lengths, finite values, valid loads.

use pliant_contact_sap::{BodyError, BodyState, Control, MaterialPoint, Primitive};

use crate::model::{LinkIdx, Model};

/// Rejects a state or control that does not fit the model.
pub(super) fn check(model: &Model, state: &BodyState, control: &Control) -> Result<(), BodyError> {
    check_lengths(model, state, control)?;
    let arrays = [
        ("q", &state.q),
        ("v", &state.v),
        ("history", &state.history),
        ("control.position", &control.position),
        ("control.velocity", &control.velocity),
        ("control.effort", &control.effort),
    ];
    for (name, values) in arrays {
        if let Some(k) = values.iter().position(|x| !x.is_finite()) {
            return Err(BodyError::NotFinite {
                location: format!("{name}[{k}]"),
                value: values[k],
            });
        }
    }
    for (k, held) in control.held.iter().enumerate() {
        if let Some(value) = held.filter(|v| !v.is_finite()) {
            return Err(BodyError::NotFinite {
                location: format!("control.held[{k}]"),
                value,
            });
        }
    }
    check_loads(model, control)
}

fn check_lengths(model: &Model, state: &BodyState, control: &Control) -> Result<(), BodyError> {
    let (n_q, n_v) = (model.n_q(), model.n_v());
    for (what, found, expected) in [("q", state.q.len(), n_q), ("v", state.v.len(), n_v)] {
        if found != expected {
            return Err(BodyError::StateLength {
                what,
                found,
                expected,
            });
        }
    }
    // The forces of dry friction; an empty history means zero.
    let (found, expected) = (state.history.len(), model.dry_friction().count());
    if found != expected && found != 0 {
        return Err(BodyError::StateLength {
            what: "history",
            found,
            expected,
        });
    }
    let controls = [
        ("control.position", control.position.len()),
        ("control.velocity", control.velocity.len()),
        ("control.effort", control.effort.len()),
        ("control.held", control.held.len()),
    ];
    for (what, found) in controls {
        // Empty means none. The controls of tendons follow those of the degrees of freedom.
        let expected = match what {
            "control.held" => n_v,
            _ => model.n_controls(),
        };
        if found != expected && found != n_v && found != 0 {
            return Err(BodyError::StateLength {
                what,
                found,
                expected,
            });
        }
    }
    Ok(())
}

/// Rejects orientations of free bodies and ball joints whose quaternion is not of length 1.
pub(super) fn check_quaternions(model: &Model, state: &BodyState) -> Result<(), BodyError> {
    for place in model.quaternions() {
        let q = &state.q[place.clone()];
        let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        if (length - 1.0).abs() > 1e-6 {
            return Err(BodyError::Model(format!(
                "the quaternion in the entries {} to {} of q has length {length}; divide it by its length",
                place.start,
                place.end - 1
            )));
        }
    }
    Ok(())
}

fn check_loads(model: &Model, control: &Control) -> Result<(), BodyError> {
    for (k, load) in control.loads.iter().enumerate() {
        let vectors = [&load.force_W, &load.torque_W, &load.point.offset];
        let numbers = vectors.into_iter().flat_map(|v| v.iter());
        if let Some(&value) = numbers.into_iter().find(|x| !x.is_finite()) {
            return Err(BodyError::NotFinite {
                location: format!("control.loads[{k}]"),
                value,
            });
        }
        link_of(model, &load.point)
            .map_err(|error| BodyError::Model(format!("control.loads[{k}]: {error}")))?;
    }
    Ok(())
}

/// The link of a material point.
pub(super) fn link_of(model: &Model, p: &MaterialPoint) -> Result<LinkIdx, BodyError> {
    let n_links = model.links().len();
    match p.primitive {
        Primitive::Frame(link) if (link as usize) < n_links => Ok(LinkIdx(link as usize)),
        point => Err(BodyError::NoSuchPoint {
            point,
            available: format!("{n_links} frames, one for each link, and no other primitives"),
        }),
    }
}
