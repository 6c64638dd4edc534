//! The derivative H of g at an iterate, and its preconditioner.
//!
//! ```text
//! H x = (∂m/∂v) x + JᵀGJ x − δt (Sᵀ δf + ∂(Sᵀf)/∂v x)
//! ```
//!
//! S is constant for particles of deforming bodies; for frames the second term of the contacts is the derivative of their Jacobians. The
//! preconditioner is the diagonal blocks of H with the contacts' part in full, so for one body on fixed objects it is H itself.

use nalgebra::{Vector3, Vector6};

use super::BodyFault;
use super::attached::{Attached, Carrier};
use super::blocks::Blocks;
use super::bodies::Bodies;
use super::places::{FramePlace, Places};
use super::rows::ScalarRows;
use crate::world::BodyIdx;

#[derive(Default)]
pub(super) struct Linearised {
    preconditioner: Blocks,
    /// ∂(Jᵀw)/∂v of each body with frames, n×n column-major; empty for others.
    turning: Vec<Vec<f64>>,
    /// Of each frame in a product: its motion, and the change of the wrench on it.
    motions: Vec<Vector6<f64>>,
    changes: Vec<Vector6<f64>>,
    scratch: Vec<f64>,
}

impl Linearised {
    pub(super) fn about(
        &mut self,
        bodies: &mut Bodies,
        places: &mut Places,
        rows: &mut ScalarRows,
        attached: &[Attached],
        v: &[f64],
    ) -> Result<(), BodyFault> {
        places.linearise(bodies)?;
        self.turning.resize_with(bodies.steps.len(), Vec::new);
        self.turning.iter_mut().for_each(Vec::clear);
        for place in &places.frames {
            let n = bodies.range(place.body).len();
            let turning = &mut self.turning[place.body.0];
            turning.resize(n * n, 0.0);
            if let Some(end) = bodies.steps[place.body.0].as_end_frames() {
                end.add_impulse_derivative(place.frame, &place.impulse, turning);
            }
        }
        self.preconditioner.gather(&bodies.steps, &bodies.offsets);
        rows.linearise(v, &mut self.preconditioner);
        self.precondition_columns(bodies, places, attached);
        self.precondition_frames(bodies, places, attached);
        self.preconditioner.invert();
        Ok(())
    }

    /// Adds δt² Sᵀ k(1 − G) S of particles of deforming bodies.
    fn precondition_columns(&mut self, bodies: &Bodies, places: &Places, attached: &[Attached]) {
        let dt = bodies.time_step.length_s;
        for contact in attached.iter().filter(|a| a.is_active()) {
            if !matches!(contact.carriers(places).0, Carrier::Columns) {
                continue;
            }
            // Columns are in the order of the velocities, and so are the blocks.
            let blocks = &mut self.preconditioner;
            let runs = contact
                .columns
                .chunk_by(|(i, _), (j, _)| blocks.is_one_block(*i as usize, *j as usize));
            let runs: Vec<_> = runs.collect();
            for run in runs {
                for (j, b) in run {
                    let pull = contact.at.tangent * b * (dt * dt);
                    for (i, a) in run {
                        blocks.add(*i as usize, *j as usize, a.dot(&pull));
                    }
                }
            }
        }
    }

    /// Adds the contacts' part of the diagonal block of every body with frames.
    fn precondition_frames(&mut self, bodies: &Bodies, places: &Places, attached: &[Attached]) {
        let dt = bodies.time_step.length_s;
        let mut column = Vec::new();
        for places_of_body in places.frames.chunk_by(|a, b| a.body == b.body) {
            let body = places_of_body[0].body;
            let range = bodies.range(body);
            let n = range.len();
            let of_body = |place: usize| places.frames[place].body == body;
            let touching = attached.iter().filter(|a| a.is_active()).filter(|a| {
                let (particle, object) = a.carriers(places);
                [particle, object]
                    .iter()
                    .any(|c| matches!(c, Carrier::Frame(f) if of_body(*f)))
            });
            let touching: Vec<&Attached> = touching.collect();
            if touching.is_empty() {
                continue;
            }
            let turning = &self.turning[body.0];
            let mut unit = vec![0.0; n];
            for j in 0..n {
                unit[j] = 1.0;
                column.clear();
                column.resize(n, 0.0);
                let motion = |place: usize| match of_body(place) {
                    true => places.frames[place].moved_by(&unit),
                    false => Vector6::zeros(),
                };
                for contact in &touching {
                    let (particle, object) = contact.carriers(places);
                    let response = respond(
                        contact,
                        places,
                        (particle, object),
                        &motion,
                        Vector3::zeros(),
                    );
                    let mut add = |carrier: Carrier, change: &Vector6<f64>| {
                        if let Carrier::Frame(f) = carrier
                            && of_body(f)
                        {
                            places.frames[f].add_generalised(change, -dt, &mut column);
                        }
                    };
                    add(particle, &response.on_particle);
                    add(object, &response.on_object);
                }
                for (i, value) in column.iter().enumerate() {
                    let turned = turning.get(i + n * j).copied().unwrap_or(0.0);
                    self.preconditioner
                        .add(range.start + i, range.start + j, value - turned);
                }
                unit[j] = 0.0;
            }
        }
    }

    /// y −= δt (Sᵀ δf + ∂(Sᵀf)/∂v x).
    pub(super) fn add_contact_product(
        &mut self,
        bodies: &Bodies,
        places: &Places,
        attached: &[Attached],
        x: &[f64],
        y: &mut [f64],
    ) {
        let dt = bodies.time_step.length_s;
        self.motions.clear();
        let motion_of = |place: &FramePlace| place.moved_by(&x[bodies.range(place.body)]);
        self.motions.extend(places.frames.iter().map(motion_of));
        self.changes.clear();
        self.changes.resize(places.frames.len(), Vector6::zeros());
        for contact in attached.iter().filter(|a| a.is_active()) {
            let carriers = contact.carriers(places);
            let velocity = contact.columns.iter().map(|(dof, c)| c * x[*dof as usize]);
            let by_columns = velocity.sum::<Vector3<f64>>() * dt;
            let motions = &self.motions;
            let response = respond(
                contact,
                places,
                carriers,
                &|place| motions[place],
                by_columns,
            );
            match carriers.0 {
                Carrier::Frame(place) => self.changes[place] += response.on_particle,
                Carrier::Columns => {
                    for (dof, column) in &contact.columns {
                        y[*dof as usize] -= dt * column.dot(&response.force);
                    }
                }
                Carrier::World => {}
            }
            if let Carrier::Frame(place) = carriers.1 {
                self.changes[place] += response.on_object;
            }
        }
        for (place, change) in places.frames.iter().zip(&self.changes) {
            place.add_generalised(change, -dt, &mut y[bodies.range(place.body)]);
        }
        for (b, turning) in self
            .turning
            .iter()
            .enumerate()
            .filter(|(_, t)| !t.is_empty())
        {
            let range = bodies.range(BodyIdx(b));
            let (x, y) = (&x[range.clone()], &mut y[range]);
            for (column, x) in turning.chunks_exact(x.len()).zip(x) {
                y.iter_mut().zip(column).for_each(|(y, t)| *y -= t * x);
            }
        }
    }

    pub(super) fn precondition(&mut self, x: &mut [f64]) {
        self.preconditioner.multiply(x, &mut self.scratch);
    }
}

/// Response of a contact whose frames move by `motion` and whose particle, if of a deforming body, by `by_columns`.
fn respond(
    contact: &Attached,
    places: &Places,
    (particle, object): (Carrier, Carrier),
    motion: &dyn Fn(usize) -> Vector6<f64>,
    by_columns: Vector3<f64>,
) -> super::attached::Response {
    let z = contact.at.particle.coords;
    let of_particle = match particle {
        Carrier::World => (Vector3::zeros(), z),
        Carrier::Columns => (by_columns, z),
        Carrier::Frame(place) => {
            let origin = places.frames[place].origin();
            let moved = motion(place);
            let turn = moved.fixed_rows::<3>(0);
            (moved.fixed_rows::<3>(3) + turn.cross(&(z - origin)), origin)
        }
    };
    let of_object = match object {
        Carrier::World | Carrier::Columns => (Vector6::zeros(), z),
        Carrier::Frame(place) => (motion(place), places.frames[place].origin()),
    };
    contact.response(of_particle, of_object)
}
