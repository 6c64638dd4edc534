//! The joint-space mass matrix by the composite rigid body algorithm, O(n · depth).

use crate::body_inertias::BodyInertias;
use crate::inverse_dynamics::along;
use crate::joint::DofKind;
use crate::kinematics::PositionKinematics;
use crate::model::Model;
use crate::spatial::{OriginInertia, Wrench};

/// Fills `entries` (n_v × n_v, column-major, both triangles) with M(q) of the rigid bodies, without rotors. `composite` is a
/// workspace of n_bodies entries.
///
/// Column k is the wrench that a unit acceleration of degree of freedom k requires of the composite body outboard of its
/// joint, projected on the degrees of freedom of this joint and its ancestors. Other entries are zero.
///
/// # Source
/// Featherstone (2008), section 6.2; composite inertias in world axes about each body's origin.
pub(crate) fn composite_rigid_bodies(
    model: &Model,
    positions: &PositionKinematics,
    inertias: &BodyInertias,
    composite: &mut [OriginInertia],
    entries: &mut [f64],
) {
    let n_v = model.n_v();
    assert_eq!(entries.len(), n_v * n_v, "M is n_v × n_v");
    composite.copy_from_slice(&inertias.bodies);
    entries.fill(0.0);
    for i in (1..model.bodies.len()).rev() {
        let body = &model.bodies[i];
        let own = composite[i];
        for k in body.v_start..body.v_end {
            let d = &positions.axes[k];
            let mut wrench = match model.dof_kind[k] {
                DofKind::Angular => Wrench {
                    torque: own.second.times(d),
                    force: d.cross(&own.moment),
                },
                DofKind::Linear => Wrench {
                    torque: own.moment.cross(d),
                    force: d * own.mass,
                },
                DofKind::Screw { advance } => Wrench {
                    torque: own.second.times(d) + own.moment.cross(d) * advance,
                    force: d.cross(&own.moment) + d * (own.mass * advance),
                },
            };
            let mut at = i;
            let mut dofs = body.v_start..k + 1;
            loop {
                for j in dofs {
                    let m = along(model.dof_kind[j], &positions.axes[j], &wrench);
                    entries[k * n_v + j] = m;
                    entries[j * n_v + k] = m;
                }
                let parent = model.bodies[at].parent;
                if parent == 0 {
                    break;
                }
                wrench = wrench.shifted_back(&positions.bodies[at].from_parent);
                at = parent;
                dofs = model.bodies[at].v_start..model.bodies[at].v_end;
            }
        }
        if body.parent != 0 {
            composite[body.parent].add_shifted(&own, &positions.bodies[i].from_parent);
        }
    }
}
