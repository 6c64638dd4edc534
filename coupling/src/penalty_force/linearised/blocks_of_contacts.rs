//! What contacts add to the diagonal blocks of H.

use nalgebra::{Matrix3, Vector3, Vector6};
use pliant_hydroelastic::Variable;

use super::{Contacts, Linearised, Motion, displacement, on_deforming, on_rigid};
use crate::penalty_force::attached::{Attached, Carrier, Object, PointMoved, moved_wrench};

impl Linearised {
    /// Adds −δt² cᵀ(∂f/∂x) c of every touched vertex with itself.
    pub(super) fn add_blocks_of_vertices(&mut self, contacts: &Contacts<'_>) {
        let dt = contacts.bodies.time_step.length_s;
        let mut own = vec![Matrix3::zeros(); contacts.touched.len()];
        for contact in contacts.active() {
            match &contact.object {
                Object::Shape(on_shape, _) => {
                    if let Carrier::Vertex(vertex) = contact.carrier {
                        own[vertex] += on_shape.tangent;
                    }
                }
                Object::Surface(on_surface, _) => {
                    for (variable, by) in on_surface.variables.iter().zip(&on_surface.by) {
                        match (variable, contact.carrier) {
                            (Variable::Particle, Carrier::Vertex(vertex)) => own[vertex] -= by[0],
                            (Variable::Particle, _) => {}
                            (Variable::Vertex(v), _) => {
                                let mut loads = contact.loads(contacts.places).zip(&by[1..]);
                                if let Some((load, by)) = loads.find(|(load, _)| load.vertex == *v)
                                {
                                    own[contacts.touched.known(load.place, *v)] -= by;
                                }
                            }
                        }
                    }
                }
                Object::Edges(on_edges) => {
                    for (k, (place, vertex)) in on_edges.ends.iter().enumerate() {
                        own[contacts.touched.known(*place, *vertex)] -= on_edges.by[k][k];
                    }
                }
            }
        }
        for (vertex, stiffness) in own.iter().enumerate() {
            // Columns are in the order of the velocities, and so are the blocks.
            let blocks = self.preconditioner.blocks_mut();
            let columns = contacts.touched.columns(vertex);
            let runs: Vec<_> = columns
                .chunk_by(|(i, _), (j, _)| blocks.is_one_block(*i as usize, *j as usize))
                .collect();
            for run in runs {
                for (j, b) in run {
                    let pull = stiffness * b * (dt * dt);
                    for (i, a) in run {
                        blocks.add(*i as usize, *j as usize, a.dot(&pull));
                    }
                }
            }
        }
    }

    /// Adds the contacts' part of the diagonal block of every body with frames.
    pub(super) fn add_blocks_of_frames(&mut self, contacts: &Contacts<'_>) {
        let Contacts { bodies, places, .. } = contacts;
        let dt = bodies.time_step.length_s;
        let mut column = Vec::new();
        for places_of_body in places.frames.chunk_by(|a, b| a.body == b.body) {
            let body = places_of_body[0].body;
            let range = bodies.range(body);
            let n = range.len();
            let of_body = |carrier: Carrier| match carrier {
                Carrier::Frame(place) if places.frames[place].body == body => Some(place),
                _ => None,
            };
            let object_of = |a: &Attached| match a.object {
                Object::Shape(_, object) => of_body(object),
                Object::Surface(..) | Object::Edges(_) => None,
            };
            let touching: Vec<&Attached> = contacts
                .active()
                .filter(|a| of_body(a.carrier).or(object_of(a)).is_some())
                .collect();
            if touching.is_empty() {
                continue;
            }
            let turning = &self.turning[body.0];
            let mut unit = vec![0.0; n];
            for j in 0..n {
                unit[j] = 1.0;
                column.clear();
                column.resize(n, 0.0);
                let motion = Motion {
                    frames: &|place| match places.frames[place].body == body {
                        true => places.frames[place].moved_by(&unit),
                        false => Vector6::zeros(),
                    },
                    vertices: &|_| Vector3::zeros(),
                };
                for contact in &touching {
                    let mut add = |place: Option<usize>, change: &Vector6<f64>| {
                        if let Some(place) = place {
                            places.frames[place].add_generalised(change, -dt, &mut column);
                        }
                    };
                    match &contact.object {
                        Object::Shape(on_shape, object) => {
                            let response = on_rigid(contact, on_shape, *object, places, &motion);
                            add(of_body(contact.carrier), &response.on_particle);
                            add(of_body(*object), &response.on_object);
                        }
                        Object::Surface(on_surface, _) => {
                            let PointMoved { by: dz, origin, .. } =
                                displacement(contact, places, &motion);
                            let [change, ..] = on_deforming(on_surface, &dz, |_| Vector3::zeros());
                            let arm = contact.particle.coords - origin;
                            let change = moved_wrench(&arm, &change, &dz, contact.force());
                            add(of_body(contact.carrier), &change);
                        }
                        Object::Edges(_) => {}
                    }
                }
                for (i, value) in column.iter().enumerate() {
                    let turned = turning.get(i + n * j).copied().unwrap_or(0.0);
                    let blocks = self.preconditioner.blocks_mut();
                    blocks.add(range.start + i, range.start + j, value - turned);
                }
                unit[j] = 0.0;
            }
        }
    }
}
