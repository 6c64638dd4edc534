//! An attachment on a rigid object at an iterate, in the object's frame: on the level set of a shape, or on a triangle mesh.

use nalgebra::{Isometry3, Matrix3, Point3, RowVector3, Vector3};
use pliant_hydroelastic::{
    Branch, Facing, MeshPlace, MeshRelaxed, Relaxed, Shape, SignedDistance, Slide, Variable,
    distance_on_side_of, relax_on_level_set,
};

use crate::penalty_force::attachment::AttachmentPlace;
use crate::penalty_force::pull::Pull;
use crate::penalty_force::rolling::Rolling;
use crate::penalty_force::surfaces::MeshSurface;

/// The relaxed attachment and the force.
#[derive(Clone, Debug)]
pub(in crate::penalty_force) struct OnShape {
    /// In the object's frame.
    pub(in crate::penalty_force) relaxed: Relaxed<f64>,
    /// X of the next step on a mesh.
    pub(in crate::penalty_force) place: Option<MeshPlace>,
    /// States of the walk over a mesh.
    pub(in crate::penalty_force) walk_states: Option<usize>,
    /// The part of the force that is left beyond a sharp edge of a mesh, and ∂m/∂Z there.
    share: (f64, RowVector3<f64>),
    /// φ(Z) less the distance that the particle is kept at.
    pub(in crate::penalty_force) signed_distance: f64,
    /// X − W, in the object's frame.
    pub(in crate::penalty_force) offset: Vector3<f64>,
    /// On the particle, N, world axes.
    pub(in crate::penalty_force) force: Vector3<f64>,
    pub(in crate::penalty_force) normal: Vector3<f64>,
    /// κ (1 − G) + κ' (Y − Z') nᵀ, world axes.
    pub(in crate::penalty_force) tangent: Matrix3<f64>,
    /// Of a ball, zero for other particles, world axes: where the force acts relative to its centre and how that changes with it, and the change of the force by
    /// its turn.
    pub(in crate::penalty_force) lever: Vector3<f64>,
    pub(in crate::penalty_force) lever_by_particle: Matrix3<f64>,
    pub(in crate::penalty_force) by_turn: Matrix3<f64>,
}

impl Default for OnShape {
    fn default() -> Self {
        Self {
            relaxed: separate(),
            place: None,
            walk_states: None,
            share: (1.0, RowVector3::zeros()),
            signed_distance: 0.0,
            offset: Vector3::zeros(),
            force: Vector3::zeros(),
            normal: Vector3::zeros(),
            tangent: Matrix3::zeros(),
            lever: Vector3::zeros(),
            lever_by_particle: Matrix3::zeros(),
            by_turn: Matrix3::zeros(),
        }
    }
}

impl OnShape {
    /// The part of the force that is left beyond a sharp edge.
    pub(in crate::penalty_force) fn share(&self) -> f64 {
        self.share.0
    }

    /// Evaluates the pull on the particle at `z`.
    pub(in crate::penalty_force) fn evaluate(
        &mut self,
        object: (Option<&Shape>, Option<&MeshSurface>),
        pose: &Isometry3<f64>,
        pull: &Pull,
        slide: Slide,
        place: &AttachmentPlace,
        (z, rolling): (&Point3<f64>, Option<&Rolling>),
    ) {
        let in_object = pose.inverse_transform_point(z);
        let rolled = match (object, place, rolling) {
            ((Some(shape), _), AttachmentPlace::InFrame(old), Some(rolling)) => {
                Some(rolling.roll(shape, old, &in_object))
            }
            _ => None,
        };
        let (pulled, outwards) = match (object, place) {
            ((Some(shape), _), AttachmentPlace::InFrame(old)) => {
                let old = rolled.as_ref().map_or(old, |rolled| &rolled.attachment);
                self.on_level_set(shape, pull, slide, old, &in_object)
            }
            ((_, Some(surface)), AttachmentPlace::OnMesh { place, facing }) => {
                self.on_mesh(surface, pull, place, *facing, &in_object)
            }
            _ => return,
        };
        let rotation = pose.rotation.to_rotation_matrix();
        let in_world = |m: &Matrix3<f64>| rotation.matrix() * m * rotation.matrix().transpose();
        self.normal = rotation * self.relaxed.normal;
        self.by_turn = Matrix3::zeros();
        if let Some(rolled) = &rolled {
            self.lever = rotation * rolled.offset;
            self.lever_by_particle = in_world(&rolled.offset_by_centre);
        }
        (self.force, self.tangent) = match self.relaxed.branch {
            Branch::Separate => (Vector3::zeros(), Matrix3::zeros()),
            Branch::Stick | Branch::Slip => {
                let (whole, slope) = pull.secant(-self.signed_distance);
                let (share, share_by) = &self.share;
                let kappa = whole * share;
                let arm = self.relaxed.attachment - pulled;
                let mut yielding = (Matrix3::identity() - self.relaxed.by_particle) * kappa;
                if slope != 0.0 {
                    yielding += arm * outwards.transpose() * (slope * share);
                }
                yielding -= arm * share_by * whole;
                if let Some(rolled) = &rolled {
                    let by_attachment = self.relaxed.by_attachment * kappa;
                    yielding -= by_attachment * rolled.by_centre;
                    self.by_turn = in_world(&(by_attachment * rolled.by_turn));
                }
                (rotation * (arm * kappa), in_world(&yielding))
            }
        };
    }

    /// The point that is pulled, and the gradient of the signed distance there.
    fn on_level_set(
        &mut self,
        shape: &Shape,
        pull: &Pull,
        slide: Slide,
        old: &Point3<f64>,
        z: &Point3<f64>,
    ) -> (Point3<f64>, Vector3<f64>) {
        let distance = |p: &Point3<f64>| {
            let bare = shape.signed_distance(p);
            SignedDistance {
                value: bare.value - pull.distance,
                ..bare
            }
        };
        self.relaxed = relax_on_level_set(distance, pull.friction, slide, old, z);
        let at_particle = distance_on_side_of(old, distance, z);
        self.signed_distance = at_particle.value;
        self.offset = old - (z - at_particle.gradient * at_particle.value);
        (*z, at_particle.gradient)
    }

    /// The point that is pulled: the particle, less its distance along the normal of the triangle of X; and that normal.
    fn on_mesh(
        &mut self,
        surface: &MeshSurface,
        pull: &Pull,
        place: &MeshPlace,
        facing: Facing,
        z: &Point3<f64>,
    ) -> (Point3<f64>, Vector3<f64>) {
        let vertices = surface.at_end(&[]);
        let walk = &surface.walk;
        let normal = walk.plane(vertices, place.triangle).0 * facing.sign();
        let kept = z - normal * pull.distance;
        let mut out = MeshRelaxed::default();
        walk.relax(vertices, pull.friction, facing, place, &kept, &mut out);
        let old = walk.point(vertices, place);
        self.signed_distance = (kept - old).dot(&normal);
        self.offset = old - (kept - normal * self.signed_distance);
        self.place = out.kept;
        self.walk_states = Some(out.states);
        self.share = (out.share.value, out.share.by(Variable::Particle));
        self.relaxed = Relaxed {
            branch: out.branch,
            attachment: out.point(walk, vertices).unwrap_or(old),
            normal: out.normal,
            by_particle: out.by_particle(walk, vertices),
            ..separate()
        };
        (kept, normal)
    }
}

fn separate() -> Relaxed<f64> {
    Relaxed {
        branch: Branch::Separate,
        attachment: Point3::origin(),
        normal: Vector3::zeros(),
        slide: Slide::Planar,
        by_particle: Matrix3::zeros(),
        by_attachment: Matrix3::zeros(),
    }
}
