//! An attached particle at an iterate: its force, and how that changes.
//!
//! On an object with a frame (c, R), with particle Z, Y = P(X, Z) there, f = k (Y − Z) and G = ∂Y/∂Z:
//!
//! ```text
//! δf = −k (1 − G)(δZ − δc − θ × (Z − c)) + θ × f
//! ```
//!
//! where the object moves by δc and turns by θ. With damping k is κ of the depth (`pull`). The second term turns the force with the object. f acts at Z on the particle and −f at Z on the
//! object; since f is parallel to Y − Z that is the same as −f at Y. On a deforming surface the force acts on the vertices of a triangle: see
//! `on_surface`; between two edges on their ends: see `on_edges`.

mod on_shape;

use nalgebra::{Point3, Vector3, Vector6};
use pliant_hydroelastic::{Branch, MeshPlace, Variable};

use super::attachment::{Attachment, AttachmentMotion, AttachmentPlace, EdgeCrossing};
use super::bodies::Bodies;
use super::line_search::Sliding;
use super::on_edges::OnEdges;
use super::on_surface::OnSurface;
use super::places::{Mounted, Places};
use super::pull::Pull;
use super::rolling::Rolling;
use crate::report::ContactForce;
use crate::world::{BodyIdx, World};
pub(super) use on_shape::OnShape;

/// A particle and the attachment that it had at the start of the step.
#[derive(Clone, Debug)]
pub(super) struct Attached {
    pub(super) attachment: Attachment,
    pub(super) pull: Pull,
    /// Of the object and of the particle.
    pub(super) bodies: [Option<BodyIdx>; 2],
    /// Of a ball of a rigid shape, m; 0 for other particles.
    pub(super) radius: f64,
    pub(super) at_start: AtStart,
    /// What the particle moves with.
    pub(super) carrier: Carrier,
    /// Z at the iterate, world frame.
    pub(super) particle: Point3<f64>,
    pub(super) object: Object,
}

/// A contact at the start of the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtStart {
    /// Below the surface, m; 0 outside.
    pub(super) depth: f64,
    /// Outwards from the object.
    pub(super) normal_W: Vector3<f64>,
    /// Bound of what the spring stores, J.
    pub(super) energy: f64,
}

/// The attachment on its object, at an iterate.
#[derive(Clone, Debug)]
pub(super) enum Object {
    /// On a rigid one, with what carries it.
    Shape(Box<OnShape>, Carrier),
    /// On a deforming surface, by the place of its vertices.
    Surface(Box<OnSurface>, usize),
    /// Between edges of two deforming surfaces, or of one.
    Edges(Box<OnEdges>),
}

/// A vertex that takes a part of the force of a contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Of its body.
    pub(super) place: usize,
    pub(super) vertex: u32,
    /// Negative on the object.
    pub(super) weight: f64,
}

/// What a side of a contact moves with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Carrier {
    World,
    /// One of the frames.
    Frame(usize),
    /// One of the touched vertices.
    Vertex(usize),
}

/// How a particle moves: its displacement, the turn of its frame, and the frame's origin or the particle itself.
pub(super) struct PointMoved {
    pub(super) by: Vector3<f64>,
    pub(super) turn: Vector3<f64>,
    pub(super) origin: Vector3<f64>,
}

/// Changes of force and wrenches by a change of velocities: on the particle, and the wrenches about the origins of the frames of particle and
/// object, held where they are in the world.
pub(super) struct Response {
    pub(super) force: Vector3<f64>,
    pub(super) on_particle: Vector6<f64>,
    pub(super) on_object: Vector6<f64>,
}

impl Object {
    /// Where an attachment on a geometry is kept.
    pub(super) fn of(places: &Places, attachment: &Attachment) -> Self {
        if let AttachmentPlace::Crossing(crossing) = &attachment.place
            && let (Mounted::Vertices(first), Mounted::Vertices(second)) = (
                places.mounted(attachment.particles),
                places.mounted(attachment.object),
            )
        {
            return Self::Edges(Box::new(OnEdges::new(crossing, [first, second])));
        }
        match places.mounted(attachment.object) {
            Mounted::Fixed(_) => Self::Shape(Box::default(), Carrier::World),
            Mounted::Frame(place, _) => Self::Shape(Box::default(), Carrier::Frame(place)),
            Mounted::Vertices(place) => Self::Surface(Box::default(), place),
        }
    }
}

impl Attached {
    pub(super) fn evaluate(
        &mut self,
        world: &World,
        places: &Places,
        slide: pliant_hydroelastic::Slide,
    ) {
        let Attachment {
            object,
            particles,
            place,
            ..
        } = self.attachment;
        self.particle = places.particle(particles, self.attachment.of_particle());
        match &mut self.object {
            Object::Shape(on_shape, _) => {
                let shape = world.geometries()[object.0].shape.as_ref();
                let surface = places.surface(object);
                let pose = places.pose(object);
                let rolling = (self.radius > 0.0).then(|| Rolling {
                    radius: self.radius,
                    turn: places.turned(particles, object),
                });
                let on = (shape, surface);
                let particle = (&self.particle, rolling.as_ref());
                on_shape.evaluate(on, &pose, &self.pull, slide, &place, particle);
            }
            Object::Surface(on_surface, _) => {
                if let (Some(surface), AttachmentPlace::OnMesh { place, facing }) =
                    (places.surface(object), place)
                {
                    let vertices = surface.at_end(&places.vertices);
                    let on = (&surface.walk, vertices);
                    on_surface.evaluate(on, &self.pull, facing, &place, &self.particle);
                }
            }
            Object::Edges(on_edges) => {
                if let AttachmentPlace::Crossing(crossing) = &place {
                    on_edges.evaluate(&places.vertices, &self.pull, crossing);
                    self.particle = on_edges.points[0];
                }
            }
        }
    }

    /// Whether one of its bodies is moving.
    pub(super) fn moves(&self, bodies: &Bodies) -> bool {
        self.bodies.iter().flatten().any(|b| bodies.is_moving(*b))
    }

    /// Differentiates the last evaluation, where that is not done with it.
    pub(super) fn linearise(&mut self, places: &Places) {
        match &mut self.object {
            Object::Shape(..) => {}
            Object::Surface(on_surface, _) => {
                if let Some(surface) = places.surface(self.attachment.object) {
                    let vertices = surface.at_end(&places.vertices);
                    on_surface.linearise(&surface.walk, vertices, &self.pull);
                }
            }
            Object::Edges(on_edges) => on_edges.linearise(&self.pull),
        }
    }

    pub(super) fn branch(&self) -> Branch {
        match &self.object {
            Object::Shape(on_shape, _) => on_shape.relaxed.branch,
            Object::Surface(on_surface, _) => on_surface.relaxed.branch,
            Object::Edges(on_edges) => on_edges.relaxed.branch,
        }
    }

    pub(super) fn is_active(&self) -> bool {
        self.branch() != Branch::Separate
    }

    /// States of the walk over a triangle mesh.
    pub(super) fn walk_states(&self) -> Option<usize> {
        match &self.object {
            Object::Shape(on_shape, _) => on_shape.walk_states,
            Object::Surface(on_surface, _) => Some(on_surface.relaxed.states),
            Object::Edges(_) => None,
        }
    }

    /// On the particle, N, world axes.
    pub(super) fn force(&self) -> &Vector3<f64> {
        match &self.object {
            Object::Shape(on_shape, _) => &on_shape.force,
            Object::Surface(on_surface, _) => &on_surface.force,
            Object::Edges(on_edges) => &on_edges.force,
        }
    }

    /// Replaces the force of the last evaluation.
    pub(super) fn set_force(&mut self, force: Vector3<f64>) {
        match &mut self.object {
            Object::Shape(on_shape, _) => on_shape.force = force,
            Object::Surface(on_surface, _) => on_surface.force = force,
            Object::Edges(on_edges) => on_edges.force = force,
        }
    }

    /// ½ k |Y − Z|², J.
    pub(super) fn energy(&self) -> f64 {
        let share = match &self.object {
            Object::Shape(on_shape, _) => on_shape.share(),
            Object::Surface(on_surface, _) => on_surface.relaxed.share.value,
            Object::Edges(on_edges) => on_edges.relaxed.fading,
        };
        let kappa = self.pull.secant(self.sliding().depth).0;
        let weight = kappa * kappa * share;
        match self.is_active() && weight > 0.0 {
            true => 0.5 * self.pull.stiffness * self.force().norm_squared() / weight,
            false => 0.0,
        }
    }

    /// Of the object at Y, world axes.
    pub(super) fn normal(&self) -> Vector3<f64> {
        match &self.object {
            Object::Shape(on_shape, _) => on_shape.normal,
            Object::Surface(on_surface, _) => on_surface.relaxed.normal,
            Object::Edges(on_edges) => on_edges.relaxed.normal,
        }
    }

    /// The vertices of deforming surfaces that the force acts on beside the particle: their places, and the part of the force that each takes.
    pub(super) fn loads(&self, places: &Places) -> impl Iterator<Item = Load> + use<> {
        let loads = match &self.object {
            Object::Shape(..) => [None; 4],
            Object::Surface(on_surface, place) => {
                let surface = places.surface(self.attachment.object);
                match (on_surface.place(), surface) {
                    (Some(MeshPlace { triangle, weights }), Some(surface)) => {
                        let corners = surface.walk.triangle(*triangle);
                        let load = |k: usize| Load {
                            place: *place,
                            vertex: corners[k],
                            weight: -weights[k],
                        };
                        [Some(load(0)), Some(load(1)), Some(load(2)), None]
                    }
                    _ => [None; 4],
                }
            }
            Object::Edges(on_edges) => {
                let weights = on_edges.weights();
                std::array::from_fn(|k| {
                    let (place, vertex) = on_edges.ends[k];
                    Some(Load {
                        place,
                        vertex,
                        weight: weights[k],
                    })
                })
            }
        };
        loads.into_iter().flatten()
    }

    /// The vertices that the derivative of the force refers to, with the place of their surface.
    pub(super) fn variables(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        // The ends of edges are loaded, and so touched already.
        let found = match &self.object {
            Object::Surface(on_surface, place) => Some((on_surface.variables.iter(), *place)),
            Object::Shape(..) | Object::Edges(_) => None,
        };
        found.into_iter().flat_map(|(variables, place)| {
            variables.filter_map(move |variable| match variable {
                Variable::Vertex(v) => Some((place, *v)),
                Variable::Particle => None,
            })
        })
    }

    /// Where the attachment of the last step is relative to the particle.
    pub(super) fn sliding(&self) -> Sliding {
        let (offset, depth) = match &self.object {
            Object::Shape(on_shape, _) => (on_shape.offset, -on_shape.signed_distance),
            Object::Surface(on_surface, _) => (on_surface.offset, on_surface.depth),
            Object::Edges(on_edges) => (on_edges.relaxed.offset, on_edges.relaxed.depth),
        };
        Sliding {
            branch: self.branch(),
            offset: self.pull.friction.stretched(&offset),
            depth,
            friction: self.pull.friction.sticking,
        }
    }

    /// Where the force acts on the particle: at Z, of a ball at its nearest point.
    pub(super) fn point_of_force(&self) -> Point3<f64> {
        match &self.object {
            Object::Shape(on_shape, _) => self.particle + on_shape.lever,
            Object::Surface(..) | Object::Edges(_) => self.particle,
        }
    }

    /// (τ, f) of the force about the origin of a frame.
    pub(super) fn wrench_about(&self, origin: &Vector3<f64>) -> Vector6<f64> {
        wrench(&(self.point_of_force().coords - origin), self.force())
    }

    /// The response on a rigid object to the motions of the particle and of the object's frame.
    pub(super) fn response(
        &self,
        on_shape: &OnShape,
        particle: &PointMoved,
        object: (Vector6<f64>, Vector3<f64>),
    ) -> Response {
        let OnShape { force, tangent, .. } = on_shape;
        let (turn, shift) = (
            object.0.fixed_rows::<3>(0).into_owned(),
            object.0.fixed_rows::<3>(3),
        );
        let relative = particle.by - shift - turn.cross(&(self.particle.coords - object.1));
        let turning = on_shape.by_turn * (particle.turn - turn);
        let change = turn.cross(force) - tangent * relative + turning;
        let at = self.point_of_force().coords;
        let lever = turn.cross(&on_shape.lever) + on_shape.lever_by_particle * relative;
        let moved = particle.by + lever;
        Response {
            force: change,
            on_particle: moved_wrench(&(at - particle.origin), &change, &moved, force),
            on_object: -moved_wrench(&(at - object.1), &change, &moved, force),
        }
    }

    /// X of the next step; `None` if the particle has left.
    pub(super) fn kept(&self) -> Option<Attachment> {
        let place = match (&self.object, self.attachment.place) {
            _ if !self.is_active() => return None,
            (Object::Shape(on_shape, _), AttachmentPlace::InFrame(_)) => {
                AttachmentPlace::InFrame(on_shape.relaxed.attachment)
            }
            (Object::Shape(on_shape, _), AttachmentPlace::OnMesh { facing, .. }) => {
                let place = on_shape.place?;
                AttachmentPlace::OnMesh { place, facing }
            }
            (Object::Surface(on_surface, _), AttachmentPlace::OnMesh { facing, .. }) => {
                let place = on_surface.kept()?;
                AttachmentPlace::OnMesh { place, facing }
            }
            (Object::Edges(on_edges), AttachmentPlace::Crossing(crossing)) => {
                AttachmentPlace::Crossing(EdgeCrossing {
                    at: on_edges.relaxed.at,
                    ..crossing
                })
            }
            _ => return None,
        };
        let motion = match self.branch() {
            Branch::Slip => AttachmentMotion::Slid,
            Branch::Stick | Branch::Separate => AttachmentMotion::Stuck,
        };
        Some(Attachment {
            place,
            motion,
            ..self.attachment
        })
    }

    pub(super) fn describe(&self) -> ContactForce {
        let Attachment {
            object, particles, ..
        } = self.attachment;
        let normal = self.normal();
        let signed_distance = match &self.object {
            Object::Shape(on_shape, _) => on_shape.signed_distance,
            Object::Surface(on_surface, _) => -on_surface.depth,
            Object::Edges(on_edges) => -on_edges.relaxed.depth,
        };
        let on_object = match &self.object {
            Object::Shape(..) => self.point_of_force(),
            Object::Surface(on_surface, _) => on_surface.point,
            Object::Edges(on_edges) => on_edges.points[1],
        };
        let on_particle = self.point_of_force();
        let (a, b, sign, p_WCa, p_WCb) = if particles <= object {
            (particles, object, 1.0, on_particle, on_object)
        } else {
            (object, particles, -1.0, on_object, on_particle)
        };
        ContactForce {
            a,
            b,
            p_WCa,
            p_WCb,
            normal_W: normal * sign,
            force_W: self.force() * sign,
            torque_W: Vector3::zeros(),
            signed_distance,
            patch: None,
        }
    }
}

/// (τ, f) of a force at the end of `arm`.
fn wrench(arm: &Vector3<f64>, force: &Vector3<f64>) -> Vector6<f64> {
    let torque = arm.cross(force);
    Vector6::new(torque.x, torque.y, torque.z, force.x, force.y, force.z)
}

/// The change of (τ, f) by a change of the force, and by the displacement of where it acts.
pub(super) fn moved_wrench(
    arm: &Vector3<f64>,
    change: &Vector3<f64>,
    shift: &Vector3<f64>,
    force: &Vector3<f64>,
) -> Vector6<f64> {
    let torque = arm.cross(change) + shift.cross(force);
    Vector6::new(torque.x, torque.y, torque.z, change.x, change.y, change.z)
}
