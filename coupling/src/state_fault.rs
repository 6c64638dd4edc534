//! Whether a state fits a world: states from files and callers are checked before anything is computed from them.

use nalgebra::Vector3;
use pliant_contact_sap::{BodyError, Surface, VelocityLayout};

use crate::penalty_force::{Attachment, AttachmentPlace};
use crate::state::{State, StepperMemory};
use crate::world::{BodyIdx, GeometryIdx, World};

/// Why no step can begin at a state.
///
/// ```
/// # use pliant_coupling::{State, WorldBuilder};
/// use pliant_coupling::StateFault;
///
/// let world = WorldBuilder::default().build()?;
/// let state = State { time_s: f64::NAN, ..world.default_state() };
/// assert!(matches!(world.check_state(&state), Err(StateFault::Number { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StateFault {
    /// It has the parts of another world.
    #[error("the state has {found} {what}, the world {expected}")]
    Count {
        /// Bodies, controls or constraints.
        what: &'static str,
        /// Entries found.
        found: usize,
        /// Entries needed.
        expected: usize,
    },
    /// The state or the control of a body is not one that its model can have.
    #[error("body \"{body}\": {source}")]
    Body {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: BodyError,
    },
    /// A number out of its range.
    #[error("{what} is {value}, {allowed}")]
    Number {
        /// Which.
        what: String,
        /// Its value.
        value: f64,
        /// The range allowed.
        allowed: &'static str,
    },
    /// An entry of the memory of steppers refers to what the world does not have.
    #[error("{what} {entry} of the memory of steppers {reason}")]
    Memory {
        /// Kind of the entry.
        what: &'static str,
        /// Its number.
        entry: usize,
        /// What is wrong.
        reason: String,
    },
}

impl World {
    /// Checks that a step may begin at `state`: lengths, finite numbers, unit quaternions, positive volumes, indices within this world.
    ///
    /// # Errors
    /// [`StateFault`].
    pub fn check_state(&self, state: &State) -> Result<(), StateFault> {
        let n = self.n_bodies();
        for (what, found, expected) in [
            ("bodies", state.bodies.len(), n),
            ("controls", state.controls.len(), n),
            (
                "constraints",
                state.constraints.len(),
                self.parts.constraints.len(),
            ),
        ] {
            if found != expected {
                return Err(StateFault::Count {
                    what,
                    found,
                    expected,
                });
            }
        }
        number(
            || "the time (s)".into(),
            state.time_s,
            state.time_s >= 0.0 && state.time_s.is_finite(),
            "must be finite and not negative",
        )?;
        let each = state.bodies.iter().zip(&state.controls).enumerate();
        for (body, (own, control)) in each {
            let body = BodyIdx(body);
            let checked = self.model(body).check_state(own, control);
            checked.map_err(|source| StateFault::Body {
                body: self.body_name(body).into(),
                source,
            })?;
        }
        self.check_memory(state)
    }

    fn check_memory(&self, state: &State) -> Result<(), StateFault> {
        let StepperMemory {
            contacts,
            loads,
            velocity_change,
            frame_forces,
            particle_forces,
            attachments,
            proposed_step_s,
        } = &state.memory;
        let n = self.geometries().len();
        entries("contact", contacts, |x| {
            of_geometries(n, &[x.a, x.b])?;
            finite(x.bristle_deflection_W.as_slice())
        })?;
        ascending("contact", contacts, |x| x.sort_key())?;
        entries("load", loads, |x| {
            of_geometries(n, &[x.a, x.b])?;
            finite(&[x.force_N])
        })?;
        ascending("load", loads, |x| (x.a, x.b))?;
        if velocity_change.len() > state.bodies.len() {
            return Err(StateFault::Count {
                what: "changes of velocity",
                found: velocity_change.len(),
                expected: state.bodies.len(),
            });
        }
        let bodies = velocity_change.iter().zip(&state.bodies).enumerate();
        for (body, (change, own)) in bodies {
            let fixed = self.model(BodyIdx(body)).velocity_layout() == VelocityLayout::Fixed;
            let fits = change.is_empty() || fixed && change.len() <= own.v.len();
            let reason = match fits {
                true => finite(change),
                false => Err(format!(
                    "has {} entries, the body has {} velocities",
                    change.len(),
                    own.v.len()
                )),
            };
            reason.map_err(memory_fault("change of velocity", body))?;
        }
        let mut surface = Surface::default();
        entries("force on a frame", frame_forces, |x| {
            let Some(own) = state.bodies.get(x.body.0) else {
                return Err(format!("is on body {} of {}", x.body.0, state.bodies.len()));
            };
            self.model(x.body).surface(own, &mut surface);
            let frames = surface.frames.len();
            if x.frame as usize >= frames {
                return Err(format!("is on frame {} of {frames}", x.frame));
            }
            finite(x.wrench_W.as_slice())
        })?;
        entries("force on a particle", particle_forces, |x| {
            of_geometries(n, &[x.geometry])?;
            finite(x.force_W.as_slice())
        })?;
        entries("attachment", attachments, |x| {
            of_geometries(n, &[x.object, x.particles])?;
            check_place(x)
        })?;
        ascending("attachment", attachments, Attachment::key)?;
        match proposed_step_s {
            Some(length_s) => number(
                || "the proposed length of a step (s)".into(),
                *length_s,
                *length_s > 0.0 && length_s.is_finite(),
                "must be positive and finite",
            ),
            None => Ok(()),
        }
    }
}

fn number(
    what: impl Fn() -> String,
    value: f64,
    is_allowed: bool,
    allowed: &'static str,
) -> Result<(), StateFault> {
    match is_allowed {
        true => Ok(()),
        false => Err(StateFault::Number {
            what: what(),
            value,
            allowed,
        }),
    }
}

fn memory_fault(what: &'static str, entry: usize) -> impl Fn(String) -> StateFault {
    move |reason| StateFault::Memory {
        what,
        entry,
        reason,
    }
}

fn entries<T>(
    what: &'static str,
    all: &[T],
    mut check: impl FnMut(&T) -> Result<(), String>,
) -> Result<(), StateFault> {
    let mut each = all.iter().enumerate();
    each.try_for_each(|(entry, x)| check(x).map_err(memory_fault(what, entry)))
}

/// Entries are found by bisection, so they must be in order.
fn ascending<T, K: Ord>(
    what: &'static str,
    all: &[T],
    key: impl Fn(&T) -> K,
) -> Result<(), StateFault> {
    let off = |pair: &[T]| key(&pair[0]) > key(&pair[1]);
    match all.windows(2).position(off) {
        None => Ok(()),
        Some(entry) => Err(memory_fault(what, entry + 1)("is out of order".into())),
    }
}

fn of_geometries(n: usize, all: &[GeometryIdx]) -> Result<(), String> {
    match all.iter().find(|geometry| geometry.0 >= n) {
        None => Ok(()),
        Some(geometry) => Err(format!("is of geometry {} of {n}", geometry.0)),
    }
}

fn finite(values: &[f64]) -> Result<(), String> {
    match values.iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(x) => Err(format!("has the number {x}")),
    }
}

fn check_place(attachment: &Attachment) -> Result<(), String> {
    match &attachment.place {
        AttachmentPlace::InFrame(place) => finite(place.coords.as_slice()),
        AttachmentPlace::OnMesh { place, .. } => {
            let weights = Vector3::from(place.weights);
            finite(weights.as_slice())?;
            let are_weights = weights.min() >= -1e-9 && (weights.sum() - 1.0).abs() < 1e-6;
            match are_weights {
                true => Ok(()),
                false => Err(format!(
                    "has the weights {:?}, which are not those of a point of a triangle",
                    place.weights
                )),
            }
        }
        AttachmentPlace::Crossing(crossing) => finite(&crossing.at),
    }
}
