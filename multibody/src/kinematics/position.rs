//! Poses of all bodies in the world, and directions of all degrees of freedom.

use nalgebra::{Isometry3, Matrix3, Rotation3, UnitQuaternion, Vector3};

use crate::joint::{JointKind, advance, rotation_from_wxyz};
use crate::model::{LinkIdx, Model, NamedFrame};
use crate::spatial::{product, rotate};

#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyPose {
    /// R_WB.
    pub(crate) rotation: Matrix3<f64>,
    /// p_WB.
    pub(crate) origin: Vector3<f64>,
    /// p_WB − p_WP: from the parent's origin to this one, world axes.
    pub(crate) from_parent: Vector3<f64>,
}

/// Poses of all bodies at q. [`update`](Self::update) does not allocate.
///
/// ```
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// # let mut builder = ModelBuilder::new("pendulum");
/// # let mut bob = SpatialInertia::solid_sphere(2.0, 0.1);
/// # bob.com = Vector3::new(1.0, 0.0, 0.0);
/// # builder.link(LinkSpec::new("base", SpatialInertia::zero()));
/// # builder.link(LinkSpec::new("rod", bob));
/// # builder.joint(JointSpec::new("hinge", JointKind::Continuous, "base", "rod").about(Vector3::y()));
/// # let model = builder.build()?;
/// use pliant_multibody::PositionKinematics;
///
/// // A rotation of +90° about y takes the point at 1 m along x of the rod to −z.
/// let mut positions = PositionKinematics::new(&model);
/// positions.update(&model, &[std::f64::consts::FRAC_PI_2]);
/// let p_WQ = positions.point(&model, model.link_named("rod")?, &Vector3::x());
/// assert!((p_WQ - Vector3::new(0.0, 0.0, -1.0)).norm() < 1e-15);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PositionKinematics {
    pub(crate) bodies: Vec<BodyPose>,
    /// Direction of each degree of freedom in world axes, through the origin of its body.
    pub(crate) axes: Vec<Vector3<f64>>,
}

impl PositionKinematics {
    /// A workspace for `model`; call [`update`](Self::update) before reading it.
    pub fn new(model: &Model) -> Self {
        let fixed = BodyPose {
            rotation: Matrix3::identity(),
            origin: Vector3::zeros(),
            from_parent: Vector3::zeros(),
        };
        Self {
            bodies: vec![fixed; model.n_bodies()],
            axes: vec![Vector3::zeros(); model.n_v()],
        }
    }

    /// Computes the poses at `q`. Body 0 is the world; the links of a fixed root have their poses in it.
    ///
    /// # Panics
    /// If `q` does not have n_q entries.
    pub fn update(&mut self, model: &Model, q: &[f64]) {
        assert_eq!(q.len(), model.n_q(), "q must have n_q entries");
        for (i, body) in model.bodies.iter().enumerate().skip(1) {
            let parent = self.bodies[body.parent];
            let to_joint = rotate(&parent.rotation, &body.p_PF);
            let R_WF = product(&parent.rotation, &body.R_PF);
            let q = &q[body.q_start..];
            let axes = &mut self.axes[body.v_start..body.v_end];
            let (rotation, from_parent) = match body.kind {
                JointKind::Revolute | JointKind::Continuous => {
                    axes[0] = z_axis(&R_WF);
                    (rotated_about_z(&R_WF, q[0]), to_joint)
                }
                JointKind::Prismatic => {
                    axes[0] = z_axis(&R_WF);
                    (R_WF, to_joint + axes[0] * q[0])
                }
                JointKind::Screw { lead } => {
                    axes[0] = z_axis(&R_WF);
                    let along = axes[0] * (advance(lead) * q[0]);
                    (rotated_about_z(&R_WF, q[0]), to_joint + along)
                }
                JointKind::Planar => {
                    (0..3).for_each(|k| axes[k] = R_WF.column(k).into_owned());
                    (
                        rotated_about_z(&R_WF, q[2]),
                        to_joint + axes[0] * q[0] + axes[1] * q[1],
                    )
                }
                JointKind::Ball => {
                    (0..3).for_each(|k| axes[k] = R_WF.column(k).into_owned());
                    (product(&R_WF, &matrix(&rotation_from_wxyz(q))), to_joint)
                }
                JointKind::Floating => {
                    (0..6).for_each(|k| axes[k] = R_WF.column(k % 3).into_owned());
                    let along = rotate(&R_WF, &Vector3::new(q[0], q[1], q[2]));
                    (
                        product(&R_WF, &matrix(&rotation_from_wxyz(&q[3..]))),
                        to_joint + along,
                    )
                }
                JointKind::Fixed => (R_WF, to_joint),
            };
            self.bodies[i] = BodyPose {
                rotation,
                origin: parent.origin + from_parent,
                from_parent,
            };
        }
    }

    /// Position of a link's origin in the world, m.
    pub fn link_position(&self, model: &Model, link: LinkIdx) -> Vector3<f64> {
        let link = &model.links[link.0];
        let body = &self.bodies[link.body.0];
        body.origin + rotate(&body.rotation, &link.p_BL)
    }

    /// Rotation matrix R_WL of a link: its columns are the axes of the link frame, expressed in the world.
    pub fn link_rotation(&self, model: &Model, link: LinkIdx) -> Matrix3<f64> {
        let link = &model.links[link.0];
        product(&self.bodies[link.body.0].rotation, &link.R_BL)
    }

    /// Pose of a link's frame in the world, `X_WL`, m.
    pub fn link_pose(&self, model: &Model, link: LinkIdx) -> Isometry3<f64> {
        let rotation = Rotation3::from_matrix_unchecked(self.link_rotation(model, link));
        Isometry3::from_parts(
            self.link_position(model, link).into(),
            UnitQuaternion::from_rotation_matrix(&rotation),
        )
    }

    /// Pose in the world of a frame fixed on a link, `X_WF` = `X_WL` · `X_LF`, m.
    pub fn frame_pose(&self, model: &Model, frame: &NamedFrame) -> Isometry3<f64> {
        self.link_pose(model, frame.link) * frame.X_LF
    }

    /// Position `p_WQ` in the world, m, of a point given by its position `p_LQ` in a link's frame, m.
    pub fn point(&self, model: &Model, link: LinkIdx, p_LQ: &Vector3<f64>) -> Vector3<f64> {
        self.link_position(model, link) + rotate(&self.link_rotation(model, link), p_LQ)
    }
}

#[inline(always)]
fn z_axis(r: &Matrix3<f64>) -> Vector3<f64> {
    Vector3::new(r.m13, r.m23, r.m33)
}

/// R Rz(angle): mixes the first two columns only.
#[inline(always)]
fn rotated_about_z(r: &Matrix3<f64>, angle: f64) -> Matrix3<f64> {
    let (s, c) = angle.sin_cos();
    Matrix3::new(
        r.m11 * c + r.m12 * s,
        r.m12 * c - r.m11 * s,
        r.m13,
        r.m21 * c + r.m22 * s,
        r.m22 * c - r.m21 * s,
        r.m23,
        r.m31 * c + r.m32 * s,
        r.m32 * c - r.m31 * s,
        r.m33,
    )
}

fn matrix(rotation: &UnitQuaternion<f64>) -> Matrix3<f64> {
    *rotation.to_rotation_matrix().matrix()
}
