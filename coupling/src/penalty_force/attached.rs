//! An attached particle at an iterate: its force, and how that changes.
//!
//! With particle Z, object frame (c, R), Y = P(X, Z) there, f = k (Y − Z) and G = ∂Y/∂Z:
//!
//! ```text
//! δf = −k (1 − G)(δZ − δc − θ × (Z − c)) + θ × f
//! ```
//!
//! where the object moves by δc and turns by θ. The second term turns the force with the object. f acts at Z on the particle and −f at Z on the
//! object; since f is parallel to Y − Z that is the same as −f at Y.

use nalgebra::{Matrix3, Point3, Vector3, Vector6};
use pliant_hydroelastic::{
    Branch, Relaxed, SignedDistance, Slide, SlidingFriction, relax_on_level_set,
};

use super::attachment::{Attachment, AttachmentPlace};
use super::line_search::Sliding;
use super::places::{Mounted, Places};
use crate::report::ContactForce;
use crate::world::World;

/// A particle and the attachment that it had at the start of the step.
#[derive(Clone, Debug)]
pub(super) struct Attached {
    pub(super) attachment: Attachment,
    pub(super) stiffness: f64,
    pub(super) friction: SlidingFriction<f64>,
    /// The particle is a ball of this radius, m.
    pub(super) radius: f64,
    /// ∂Ż/∂v of a particle of a deforming body, with its velocities.
    pub(super) columns: Vec<(u32, Vector3<f64>)>,
    pub(super) at: Evaluated,
}

/// At an iterate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evaluated {
    /// Z, world frame.
    pub(super) particle: Point3<f64>,
    /// In the object's frame.
    relaxed: Relaxed<f64>,
    /// φ(Z) less the radius.
    signed_distance: f64,
    /// X − W, in the object's frame.
    offset: Vector3<f64>,
    /// On the particle, N, world axes.
    pub(super) force: Vector3<f64>,
    pub(super) normal: Vector3<f64>,
    /// k (1 − G), world axes.
    pub(super) tangent: Matrix3<f64>,
}

impl Default for Evaluated {
    fn default() -> Self {
        Self {
            particle: Point3::origin(),
            relaxed: Relaxed {
                branch: Branch::Separate,
                attachment: Point3::origin(),
                normal: Vector3::zeros(),
                slide: Slide::Planar,
                by_particle: Matrix3::zeros(),
                by_attachment: Matrix3::zeros(),
            },
            signed_distance: 0.0,
            offset: Vector3::zeros(),
            force: Vector3::zeros(),
            normal: Vector3::zeros(),
            tangent: Matrix3::zeros(),
        }
    }
}

/// What a side of a contact moves with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Carrier {
    World,
    /// One of the frames.
    Frame(usize),
    /// The velocities in [`Attached::columns`].
    Columns,
}

/// Changes of force and wrenches by a change of velocities: on the particle, and the wrenches about the origins of the frames of particle and
/// object, held where they are in the world.
pub(super) struct Response {
    pub(super) force: Vector3<f64>,
    pub(super) on_particle: Vector6<f64>,
    pub(super) on_object: Vector6<f64>,
}

impl Attached {
    pub(super) fn evaluate(&mut self, world: &World, places: &Places, slide: Slide) {
        let Attachment {
            object,
            particles,
            particle,
            place,
        } = self.attachment;
        let Some(shape) = &world.geometries()[object.0].shape else {
            return;
        };
        let pose = places.pose(object);
        let z = places.particle(particles, particle as usize);
        let distance = |p: &Point3<f64>| {
            let bare = shape.signed_distance(p);
            SignedDistance {
                value: bare.value - self.radius,
                ..bare
            }
        };
        let AttachmentPlace::InFrame(old) = place;
        let in_object = pose.inverse_transform_point(&z);
        let relaxed = relax_on_level_set(distance, self.friction, slide, &old, &in_object);
        let rotation = pose.rotation.to_rotation_matrix();
        let (force, tangent) = match relaxed.branch {
            Branch::Separate => (Vector3::zeros(), Matrix3::zeros()),
            Branch::Stick | Branch::Slip => {
                let yielding = (Matrix3::identity() - relaxed.by_particle) * self.stiffness;
                (
                    rotation * ((relaxed.attachment - in_object) * self.stiffness),
                    rotation.matrix() * yielding * rotation.matrix().transpose(),
                )
            }
        };
        let at_particle = distance(&in_object);
        let foot = in_object - at_particle.gradient * at_particle.value;
        self.at = Evaluated {
            particle: z,
            signed_distance: at_particle.value,
            offset: old - foot,
            normal: rotation * relaxed.normal,
            relaxed,
            force,
            tangent,
        };
    }

    pub(super) fn is_active(&self) -> bool {
        self.at.relaxed.branch != Branch::Separate
    }

    /// Where the attachment of the last step is relative to the particle.
    pub(super) fn sliding(&self) -> Sliding {
        Sliding {
            branch: self.at.relaxed.branch,
            offset: self.at.offset,
            depth: -self.at.signed_distance,
            friction: self.friction.sticking,
        }
    }

    /// What the particle and the object move with.
    pub(super) fn carriers(&self, places: &Places) -> (Carrier, Carrier) {
        let of = |mounted| match mounted {
            Mounted::Fixed(_) => Carrier::World,
            Mounted::Frame(place, _) => Carrier::Frame(place),
            Mounted::Vertices(_) => Carrier::Columns,
        };
        (
            of(places.mounted(self.attachment.particles)),
            of(places.mounted(self.attachment.object)),
        )
    }

    /// (τ, f) of the force at the particle about the origin of a frame.
    pub(super) fn wrench_about(&self, origin: &Vector3<f64>) -> Vector6<f64> {
        wrench(&(self.at.particle.coords - origin), &self.at.force)
    }

    /// The response to a displacement of the particle, with its frame's origin if it has one, and to rotation and displacement of the object's frame.
    pub(super) fn response(
        &self,
        particle: (Vector3<f64>, Vector3<f64>),
        object: (Vector6<f64>, Vector3<f64>),
    ) -> Response {
        let Evaluated {
            particle: z,
            force,
            tangent,
            ..
        } = &self.at;
        let (dz, origin) = particle;
        let (turn, shift) = (object.0.fixed_rows::<3>(0), object.0.fixed_rows::<3>(3));
        let arm = z.coords - object.1;
        let relative = dz - shift - turn.cross(&arm);
        let change = turn.cross(force) - tangent * relative;
        let carried = dz.cross(force);
        let about = |arm: Vector3<f64>| {
            let torque = arm.cross(&change) + carried;
            Vector6::new(torque.x, torque.y, torque.z, change.x, change.y, change.z)
        };
        Response {
            force: change,
            on_particle: about(z.coords - origin),
            on_object: -about(arm),
        }
    }

    /// X of the next step; `None` if the particle has left.
    pub(super) fn kept(&self) -> Option<Attachment> {
        self.is_active().then_some(Attachment {
            place: AttachmentPlace::InFrame(self.at.relaxed.attachment),
            ..self.attachment
        })
    }

    pub(super) fn describe(&self) -> ContactForce {
        let Attachment {
            object, particles, ..
        } = self.attachment;
        let (a, b, sign) = if particles < object {
            (particles, object, 1.0)
        } else {
            (object, particles, -1.0)
        };
        ContactForce {
            a,
            b,
            p_WCa: self.at.particle,
            p_WCb: self.at.particle,
            normal_W: self.at.normal * sign,
            force_W: self.at.force * sign,
            signed_distance: self.at.signed_distance,
            patch: None,
        }
    }
}

fn wrench(arm: &Vector3<f64>, force: &Vector3<f64>) -> Vector6<f64> {
    let torque = arm.cross(force);
    Vector6::new(torque.x, torque.y, torque.z, force.x, force.y, force.z)
}
