//! The derivative H of g at an iterate, and its preconditioner.
//!
//! ```text
//! H x = (∂m/∂v) x + JᵀGJ x − δt (Sᵀ δf + ∂(Sᵀf)/∂v x)
//! ```
//!
//! S is constant for vertices of deforming bodies; for frames the second term of the contacts is the derivative of their Jacobians. The
//! preconditioner of a kinematic tree is its diagonal block of H with the contacts' part in full, so for one on fixed objects it is H itself; that of a
//! body with a sparse A is a factor of A with its contacts.

mod blocks_of_contacts;
mod factors_of_contacts;

use nalgebra::{Vector3, Vector6};
use pliant_hydroelastic::Variable;

use super::attached::{Attached, Carrier, Object, OnShape, PointMoved, moved_wrench};
use super::bodies::Bodies;
use super::on_surface::OnSurface;
use super::places::{FramePlace, Places};
use super::preconditioner::Preconditioner;
use super::rows::ScalarRows;
use super::touched::Touched;
use crate::world::BodyIdx;

#[derive(Default)]
pub(super) struct Linearised {
    pub(super) preconditioner: Preconditioner,
    /// ∂(Jᵀw)/∂v of each body with frames, n×n column-major; empty for others.
    turning: Vec<Vec<f64>>,
    /// Of each frame in a product: its motion, and the change of the wrench on it.
    motions: Vec<Vector6<f64>>,
    wrenches: Vec<Vector6<f64>>,
    /// Of each touched vertex: its displacement, and the change of the force on it.
    displacements: Vec<Vector3<f64>>,
    forces: Vec<Vector3<f64>>,
}

/// The contacts of a step, linearised.
pub(super) struct Contacts<'a> {
    pub(super) bodies: &'a Bodies,
    pub(super) places: &'a Places,
    pub(super) touched: &'a Touched,
    pub(super) attached: &'a [Attached],
}

impl Contacts<'_> {
    /// Contacts with a force.
    fn active(&self) -> impl Iterator<Item = &Attached> {
        self.attached.iter().filter(|a| a.is_active())
    }
}

impl Linearised {
    pub(super) fn about(&mut self, contacts: &Contacts<'_>, rows: &mut ScalarRows, v: &[f64]) {
        let Contacts { bodies, places, .. } = contacts;
        self.turning.resize_with(bodies.steps.len(), Vec::new);
        self.turning.iter_mut().for_each(Vec::clear);
        for place in &places.frames {
            let n = bodies.range(place.body).len();
            let turning = &mut self.turning[place.body.0];
            turning.resize(n * n, 0.0);
            let terms = turning.iter_mut().zip(&place.impulse_derivative);
            terms.for_each(|(sum, d)| *sum += d);
        }
        self.preconditioner.gather(bodies);
        rows.linearise(v, bodies, &mut self.preconditioner);
        self.add_blocks_of_vertices(contacts);
        self.add_blocks_of_frames(contacts);
        self.add_to_factors(contacts);
        self.preconditioner.finish();
    }

    /// y −= δt (Sᵀ δf + ∂(Sᵀf)/∂v x).
    pub(super) fn add_contact_product(
        &mut self,
        contacts: &Contacts<'_>,
        x: &[f64],
        y: &mut [f64],
    ) {
        let Contacts {
            bodies,
            places,
            touched,
            ..
        } = contacts;
        let dt = bodies.time_step.length_s;
        self.motions.clear();
        let motion_of = |place: &FramePlace| place.moved_by(&x[bodies.range(place.body)]);
        self.motions.extend(places.frames.iter().map(motion_of));
        self.wrenches.clear();
        self.wrenches.resize(places.frames.len(), Vector6::zeros());
        touched.displacements(x, dt, &mut self.displacements);
        self.forces.clear();
        self.forces.resize(touched.len(), Vector3::zeros());
        for contact in contacts.active() {
            let motion = Motion {
                frames: &|place| self.motions[place],
                vertices: &|vertex| self.displacements[vertex],
            };
            match &contact.object {
                Object::Shape(on_shape, object) => {
                    let response = on_rigid(contact, on_shape, *object, places, &motion);
                    match contact.carrier {
                        Carrier::Frame(place) => self.wrenches[place] += response.on_particle,
                        Carrier::Vertex(vertex) => self.forces[vertex] += response.force,
                        Carrier::World => {}
                    }
                    if let Carrier::Frame(place) = object {
                        self.wrenches[*place] += response.on_object;
                    }
                }
                Object::Surface(on_surface, place) => {
                    let dz = displacement(contact, places, &motion).by;
                    let changes = on_deforming(on_surface, &dz, |vertex| {
                        self.displacements[touched.known(*place, vertex)]
                    });
                    match contact.carrier {
                        Carrier::Frame(frame) => {
                            let arm = contact.particle.coords - places.frames[frame].origin();
                            self.wrenches[frame] +=
                                moved_wrench(&arm, &changes[0], &dz, contact.force());
                        }
                        Carrier::Vertex(vertex) => self.forces[vertex] += changes[0],
                        Carrier::World => {}
                    }
                    for (load, change) in contact.loads(places).zip(&changes[1..]) {
                        self.forces[touched.known(load.place, load.vertex)] += change;
                    }
                }
                Object::Edges(on_edges) => {
                    let ends = on_edges
                        .ends
                        .map(|(place, vertex)| touched.known(place, vertex));
                    for (by, moved) in on_edges.by.iter().zip(ends) {
                        for (by, end) in by.iter().zip(ends) {
                            self.forces[end] += by * self.displacements[moved];
                        }
                    }
                }
            }
        }
        touched.add_generalised(&self.forces, -dt, y);
        for (place, change) in places.frames.iter().zip(&self.wrenches) {
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

    pub(super) fn precondition(&mut self, bodies: &Bodies, x: &mut [f64]) {
        self.preconditioner.apply(bodies, x);
    }
}

/// How frames and touched vertices move.
struct Motion<'a> {
    frames: &'a dyn Fn(usize) -> Vector6<f64>,
    vertices: &'a dyn Fn(usize) -> Vector3<f64>,
}

/// How the particle of a contact moves.
fn displacement(contact: &Attached, places: &Places, motion: &Motion<'_>) -> PointMoved {
    let z = contact.particle.coords;
    let without_frame = |by: Vector3<f64>| PointMoved {
        by,
        turn: Vector3::zeros(),
        origin: z,
    };
    match contact.carrier {
        Carrier::World => without_frame(Vector3::zeros()),
        Carrier::Vertex(vertex) => without_frame((motion.vertices)(vertex)),
        Carrier::Frame(place) => {
            let origin = places.frames[place].origin();
            let moved = (motion.frames)(place);
            let turn = moved.fixed_rows::<3>(0).into_owned();
            PointMoved {
                by: moved.fixed_rows::<3>(3) + turn.cross(&(z - origin)),
                turn,
                origin,
            }
        }
    }
}

/// The response of a contact on a rigid object.
fn on_rigid(
    contact: &Attached,
    on_shape: &OnShape,
    object: Carrier,
    places: &Places,
    motion: &Motion<'_>,
) -> super::attached::Response {
    let of_object = match object {
        Carrier::World | Carrier::Vertex(_) => (Vector6::zeros(), contact.particle.coords),
        Carrier::Frame(place) => ((motion.frames)(place), places.frames[place].origin()),
    };
    contact.response(on_shape, &displacement(contact, places, motion), of_object)
}

/// The changes of the forces on a particle and on the triangle of its attachment.
fn on_deforming(
    on_surface: &OnSurface,
    dz: &Vector3<f64>,
    vertex: impl Fn(u32) -> Vector3<f64>,
) -> [Vector3<f64>; 4] {
    let mut changes = [Vector3::zeros(); 4];
    for (variable, by) in on_surface.variables.iter().zip(&on_surface.by) {
        let moved = match variable {
            Variable::Particle => *dz,
            Variable::Vertex(v) => vertex(*v),
        };
        for (change, by) in changes.iter_mut().zip(by) {
            *change += by * moved;
        }
    }
    changes
}
