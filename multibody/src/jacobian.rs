//! Jacobians of points on links.

use nalgebra::{DMatrix, Vector3};

use crate::joint::DofKind;
use crate::kinematics::PositionKinematics;
use crate::model::{DofIdx, LinkIdx, Model};
use crate::spatial::{Twist, Wrench};

/// The twist at a point displaced by `arm`, for a unit rate of one degree of freedom with direction `d`.
#[inline(always)]
pub(crate) fn column(kind: DofKind, d: &Vector3<f64>, arm: &Vector3<f64>) -> Twist {
    match kind {
        DofKind::Angular => Twist {
            angular: *d,
            linear: d.cross(arm),
        },
        DofKind::Linear => Twist {
            angular: Vector3::zeros(),
            linear: *d,
        },
        DofKind::Screw { advance } => Twist {
            angular: *d,
            linear: d.cross(arm) + d * advance,
        },
    }
}

/// The nonzero columns of the Jacobian of `link` at the world point `p_WQ`, from the tip to the root. A column is the twist
/// [ω; v] (world axes, v of the point) for a unit rate of the degree of freedom.
///
/// ```text
/// rotation about d through p_B: [d; d × (p_Q − p_B)]        translation along d: [0; d]        screw: their sum, the second × lead/2π
/// ```
///
/// `positions` are those of an update at the wanted q. Degrees of freedom that do not move the link have no column.
pub fn jacobian_columns<'a>(
    model: &'a Model,
    positions: &'a PositionKinematics,
    link: LinkIdx,
    p_WQ: &'a Vector3<f64>,
) -> impl Iterator<Item = (DofIdx, Twist)> + 'a {
    let tip = model.links[link.0].body.0;
    core::iter::successors(Some(tip), |&b| (b != 0).then(|| model.bodies[b].parent)).flat_map(
        move |b| {
            let body = &model.bodies[b];
            let arm = p_WQ - positions.bodies[b].origin;
            (body.v_start..body.v_end).rev().map(move |k| {
                (
                    DofIdx(k),
                    column(model.dof_kind[k], &positions.axes[k], &arm),
                )
            })
        },
    )
}

/// The 6 × n_v Jacobian of `link` at the world point `p_WQ`, rows [ω; v] in world axes.
///
/// # Panics
/// If `jacobian` is not 6 × n_v.
///
/// ```
/// use nalgebra::{DMatrix, Vector3};
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, PositionKinematics, SpatialInertia};
/// use pliant_multibody::point_jacobian;
///
/// // A point 2 m from a hinge about z: its velocity is 2 m per radian, across the arm.
/// # let mut builder = ModelBuilder::new("door");
/// # builder.link(LinkSpec::new("frame", SpatialInertia::zero()));
/// # builder.link(LinkSpec::new("leaf", SpatialInertia::solid_box(10.0, Vector3::new(1.0, 0.04, 2.0))));
/// # builder.joint(JointSpec::new("hinge", JointKind::Continuous, "frame", "leaf").about(Vector3::z()));
/// # let model = builder.build()?;
/// # let mut positions = PositionKinematics::new(&model);
/// # positions.update(&model, &[0.0]);
/// let mut jacobian = DMatrix::zeros(6, 1);
/// point_jacobian(&model, &positions, model.link_named("leaf")?, &Vector3::new(2.0, 0.0, 0.0), &mut jacobian);
/// assert_eq!(jacobian.as_slice(), [0.0, 0.0, 1.0, 0.0, 2.0, 0.0]); // (ω, v)
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
pub fn point_jacobian(
    model: &Model,
    positions: &PositionKinematics,
    link: LinkIdx,
    p_WQ: &Vector3<f64>,
    jacobian: &mut DMatrix<f64>,
) {
    assert_eq!(jacobian.shape(), (6, model.n_v()), "a Jacobian is 6 × n_v");
    let (columns, _) = jacobian.as_mut_slice().as_chunks_mut::<6>();
    columns.fill([0.0; 6]);
    // The same traversal as `jacobian_columns`; loops over slices take a fifth of the time of the iterator.
    let mut at = model.links[link.0].body.0;
    while at != 0 {
        let body = &model.bodies[at];
        let dofs = body.v_start..body.v_end;
        let arm = p_WQ - positions.bodies[at].origin;
        let of_body = columns[dofs.clone()].iter_mut();
        let directions = positions.axes[dofs.clone()].iter();
        for ((entries, d), kind) in of_body.zip(directions).zip(&model.dof_kind[dofs]) {
            let Twist { angular, linear } = column(*kind, d, &arm);
            *entries = [
                angular.x, angular.y, angular.z, linear.x, linear.y, linear.z,
            ];
        }
        at = body.parent;
    }
}

/// Adds Jᵀ F to `tau`, n_v entries: the generalised force (N m for rotations, N for translations) of a wrench on `link`, in world axes
/// about the world point `p_WQ`.
///
/// ```
/// use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, PositionKinematics, SpatialInertia};
/// use pliant_multibody::{Wrench, add_wrench};
///
/// // A push of 3 N on a door, 2 m from its hinge and across it: 6 N m.
/// # let mut builder = ModelBuilder::new("door");
/// # builder.link(LinkSpec::new("frame", SpatialInertia::zero()));
/// # builder.link(LinkSpec::new("leaf", SpatialInertia::solid_box(10.0, Vector3::new(1.0, 0.04, 2.0))));
/// # builder.joint(JointSpec::new("hinge", JointKind::Continuous, "frame", "leaf").about(Vector3::z()));
/// # let model = builder.build()?;
/// # let mut positions = PositionKinematics::new(&model);
/// # positions.update(&model, &[0.0]);
/// let push = Wrench { torque: Vector3::zeros(), force: Vector3::y() * 3.0 };
/// let mut tau = [0.0];
/// add_wrench(&model, &positions, model.link_named("leaf")?, &Vector3::new(2.0, 0.0, 0.0), &push, &mut tau);
/// assert_eq!(tau, [6.0]);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
pub fn add_wrench(
    model: &Model,
    positions: &PositionKinematics,
    link: LinkIdx,
    p_WQ: &Vector3<f64>,
    wrench: &Wrench,
    tau: &mut [f64],
) {
    for (DofIdx(k), column) in jacobian_columns(model, positions, link, p_WQ) {
        tau[k] += wrench.power(&column);
    }
}
